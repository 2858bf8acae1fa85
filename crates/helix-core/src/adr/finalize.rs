//! Rewrites single values of the front matter and leaves every other byte as it is.
//!
//! Must not write files: it turns one text into another.

use std::ops::Range;

use super::check::status_word;
use super::syntax::Adr;
use super::words::{AdrId, SectionKind, Status};

/// Why an ADR cannot be rewritten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RewriteError {
    /// There is no place to write to.
    #[error("the ADR has no front matter with `{key}`")]
    NoKey {
        /// The key.
        key: &'static str,
    },
}

impl Adr {
    /// The text with another id and state, also in the section Status where that names one, in its language [46]; comments,
    /// order and spacing stay.
    ///
    /// # Errors
    /// [`RewriteError`] when the front matter has no readable `adr_id` or `status`.
    pub fn with_id_and_status(&self, id: AdrId, status: Status) -> Result<String, RewriteError> {
        let front = self.front.as_ref().ok_or(RewriteError::NoKey { key: "adr_id" })?;
        let id_place = front.adr_id.as_ref().ok_or(RewriteError::NoKey { key: "adr_id" })?.range.clone();
        let status_place = front.status.as_ref().ok_or(RewriteError::NoKey { key: "status" })?.range.clone();
        // Quoted, so that no reader takes 012 for a number.
        let id = match id {
            AdrId::Number(number) => format!("\"{number:03}\""),
            AdrId::Draft => "draft".into(),
        };
        let mut edits = vec![(id_place, id), (status_place, status.word().to_owned())];
        let section = self.section(SectionKind::Status);
        if let Some((place, _, language)) = section.and_then(|section| status_word(&self.source, section.body.clone()))
        {
            edits.push((place, status.word_in(language).to_owned()));
        }
        edits.sort_by_key(|(range, _)| range.start);
        Ok(replace(&self.source, &edits))
    }
}

/// Replaces ranges, which are in order and do not overlap.
pub(super) fn replace(text: &str, edits: &[(Range<usize>, String)]) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut done = 0;
    for (range, new) in edits {
        out.push_str(text.get(done..range.start).unwrap_or_default());
        out.push_str(new);
        done = range.end;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    out
}
