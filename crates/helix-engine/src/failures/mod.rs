//! Failures as the engine meets them: classified, remembered, reported, and their suggestions measured.
//!
//! Must not know what follows from a failure: nothing here decides control flow, and nothing here fails outward.

mod checked_document;
mod context;
mod documents;
mod reports;
mod service;
#[cfg(test)]
mod service_test;
mod tool;

pub use checked_document::Depth;
pub(crate) use context::{AttemptSite, FailureContext, in_project, read_log};
pub(crate) use documents::RefusedDrafts;
pub(crate) use reports::replace;
pub use service::{FailureService, FailureSettings, MemoryUse};
