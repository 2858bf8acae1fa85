//! Architecture decision records: one reading, one rule set and one template for all who deal with them.
//!
//! Must not know a disk or an agent: facts about the repository come through [`RepoFacts`].

mod adr_text;
mod check;
mod claims;
mod code_spans;
pub mod codes;
mod complete;
mod concept_words;
mod coverage;
mod evidence;
mod file_name;
mod finalize;
mod form;
mod front_matter;
mod graph;
mod import;
mod index;
mod known;
mod mojibake;
mod path_index;
mod renumber;
mod rules;
mod search;
mod site;
mod style;
mod syntax;
mod template;
mod tree;
mod unfilled;
mod words;

pub use adr_text::AdrText;
pub use check::{NoRepo, RepoFacts, Standing, check, check_as};
pub use claims::{ClaimIndex, Claimant};
pub use complete::complete;
pub use coverage::{
    Block, Concept, ConceptCoverage, ConceptKind, CoveredBy, blocks_of_adr, blocks_of_plan, concepts, coverage,
};
pub use evidence::{Evidence, Proof, UnusableEvidence};
pub use file_name::{Numbering, id_of_file, next_number, number_of_file_name, title_slug};
pub use finalize::{Acceptance, RewriteError};
pub use form::AdrForm;
pub use front_matter::{FileClaims, FrontMatter};
pub use graph::{AdrEdge, AdrGraph, AdrNode, Cycle, Link};
pub use import::{ImportError, Imported, import};
pub use index::{index_markdown, is_generated_index};
pub use known::KnownAdrs;
pub use mojibake::{Mojibake, mojibake, repair_mojibake};
pub use renumber::{ByNumber, Renamed, Renumbering};
pub use rules::{Condition, MIN_CRITERIA, Offer, Requirement, Rule, built_in_rules, parse_rules, rules_markdown};
pub use search::{Found, search};
pub use site::{SITE_MARK, SiteFile, SiteWords, site};
pub use style::{Naming, Style};
pub use syntax::Adr;
pub use template::{TemplateRequest, template};
pub use tree::{CodeBlock, Criterion, Section};
pub use words::{AdrId, ChangeScope, Classification, ComponentType, InvalidAdrId, Language, SectionKind, Status};
