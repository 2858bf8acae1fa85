//! The rule table: one file per family of speakers.
//!
//! Must not know how matches are weighed.

pub(crate) mod agents;
mod compilers;
mod general;
mod helix;
mod languages;
mod system;
mod tools;

use super::rule::Rule;

pub fn all() -> impl Iterator<Item = &'static Rule> {
    let families =
        [helix::RULES, agents::RULES, compilers::RULES, languages::RULES, system::RULES, tools::RULES, general::RULES];
    families.into_iter().flatten()
}
