//! The rule table: one file per family of speakers.
//!
//! Must not know how matches are weighed.

pub(crate) mod agents;
mod compilers;
mod languages;
mod system;

use super::rule::Rule;

/// All rules.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    [agents::RULES, compilers::RULES, languages::RULES, system::RULES].into_iter().flatten()
}
