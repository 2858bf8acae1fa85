//! Failure reports: what failed, why, whether it was seen before, what to do; for terminals, GitHub, programs and prompts.
//!
//! Must not know where failures are remembered or where a report goes. Every text from a log is redacted and made
//! harmless here, once, before any form shows it.

mod build;
mod excerpt;
mod language;
mod markdown;
mod neutral;
mod place;
mod prompt;
mod suggest;
mod terminal;

pub use build::{
    Classification, Reader, Report, ReportRequest, Section, SimilarFailure, SuggestedAction, WhatFailed, Why,
};
pub use excerpt::{Excerpt, ExcerptLine};
pub use language::report_text_in;
pub use neutral::quoted;
pub use place::FailurePlace;
pub use prompt::HISTORY_TOKENS;
pub use suggest::{FEWEST_ACTIONS, MOST_ACTIONS, suggest};
pub use terminal::Look;
