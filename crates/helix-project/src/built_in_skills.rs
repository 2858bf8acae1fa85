//! Helix's own skills: what an agent should know to work with Helix, for the Helix that it works with.
//!
//! Must not repeat what the code knows: lists of keys, gates and rules are put in where the pages are read.

use helix_adr::rules_markdown;
use helix_plan::{PhaseType, default_gates_markdown, gates_markdown, keys_markdown};

/// The pages.
pub(crate) const PAGES: [&str; 5] = [
    include_str!("../skills/how-helix-works.md"),
    include_str!("../skills/decisions.md"),
    include_str!("../skills/plans-and-workflows.md"),
    include_str!("../skills/evolution.md"),
    include_str!("../skills/verification.md"),
];

/// A page with its lists.
pub(crate) fn with_lists(page: &str) -> String {
    let types: Vec<String> = PhaseType::ALL.iter().map(|kind| format!("`{}`", kind.word())).collect();
    let lists = [
        ("{{ adr_rules }}", rules_markdown as fn() -> String),
        ("{{ gates }}", gates_markdown),
        ("{{ default_gates }}", default_gates_markdown),
        ("{{ keys }}", keys_markdown),
    ];
    let page = page.replace("{{ phase_types }}", &types.join(", "));
    lists
        .iter()
        .fold(page, |page, (name, list)| if page.contains(name) { page.replace(name, list().trim_end()) } else { page })
}

#[cfg(test)]
#[path = "built_in_skills_test.rs"]
mod tests;
