//! The JSON types of the HTTP API, for clients in Rust. Must not hold any behaviour.

pub use crate::api::adrs::AdrList;
pub use crate::api::job_request::{JobRequest, PhaseFilter};
pub use crate::api::jobs::{Accepted, CancelRequest, JobList, ResumeRequest, RetryRequest};
pub use crate::api::questions::{AnswerRequest, QuestionList};
pub use crate::api::sessions::{SessionDetail, SessionList};
pub use crate::openai::{ErrorBody, ErrorEnvelope};
pub use crate::problem::Problem;
pub use rmcp::model::CallToolResult;
