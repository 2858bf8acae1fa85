//! Failures as the engine meets them: classified, remembered, reported, and their suggestions measured.
//!
//! Must not know what follows from a failure: nothing here decides control flow, and nothing here fails outward.

mod context;
mod desk;
#[cfg(test)]
mod desk_test;
mod documents;
mod drafts;
mod reading;
mod renewal;
mod shelf;
mod tool;

pub use context::{AttemptSite, FailureContext, in_project, read_log};
pub use desk::{AttemptEnd, FailureDesk, FailureSettings, MemoryUse, RecordedFailure};
pub use documents::{Depth, DocumentCheck, Remembering};
pub use helix_store::failures::{FailureFilter, FailurePage};
pub use reading::{Explanation, JobReport, job_reports, last_reports};
pub use shelf::ReportShelf;
pub use tool::tool_of;
