//! The JSON types of the HTTP API, for clients in Rust. Must not hold any behaviour.

pub use crate::api::activity::ActivityFrame;
pub use crate::api::job_request::{JobRequest, PhaseFilter};
pub use crate::api::jobs::{AcceptRequest, Accepted, CheckRequest, ResumeRequest, RetryRequest, RollbackRequest};
pub use crate::api::keys::{KeyList, KeyRequest, KeyView, NewKey};
pub use crate::api::logins::{Login, LoginRequest};
pub use crate::api::questions::{AnswerRequest, QuestionList};
pub use crate::api::sessions::SessionDetail;
pub use crate::openai::{CALL_EVENT, CallFrame, CallKind, CallState, ErrorBody, ErrorEnvelope};
pub use crate::problem::Problem;
pub use helix_engine::keys::Holder;
pub use helix_engine::tools::DraftStart;
pub use helix_engine::{JobPage, SessionPage};
pub use rmcp::model::CallToolResult;
