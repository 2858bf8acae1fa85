//! What Helix reads and writes in a project: decisions, skills, workflows, drafts.
//!
//! Must not know agents, jobs, the journal or HTTP.

pub mod adr_files;
mod built_in_skills;
pub mod chosen;
pub mod codes;
pub mod file_kind;
pub mod front_matter;
pub mod project;
pub mod rules;
pub mod save_check;
pub mod skills;
pub mod survey;
pub mod workflows;
