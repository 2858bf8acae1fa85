//! Architecture decision records: one reading, one rule set and one template for all who deal with them.
//!
//! Must not know a disk or an agent: facts about the repository come through [`RepoFacts`].

mod check;
pub mod codes;
mod complete;
mod file_name;
mod finalize;
mod front_matter;
mod mojibake;
mod rules;
mod syntax;
mod template;
mod words;

pub use check::{NoRepo, RepoFacts, check};
pub use complete::complete;
pub use file_name::{finalized_file_name, index_markdown, next_number, number_of_file_name};
pub use finalize::RewriteError;
pub use front_matter::{FileClaims, FrontMatter};
pub use mojibake::mojibake;
pub use rules::{Condition, MIN_CRITERIA, Offer, Requirement, Rule, built_in_rules, parse_rules, rules_markdown};
pub use syntax::{Adr, AdrForm, CodeBlock, Criterion, Section};
pub use template::{TemplateRequest, template};
pub use words::{AdrId, ChangeScope, Classification, ComponentType, InvalidAdrId, Language, SectionKind, Status};
