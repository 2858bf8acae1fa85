//! What agents are told besides their prompts, and what they may use, for people: `helix doctor` and `helix run --dry-run` say it alike.
//!
//! Must not find it out.

use helix_engine::preview::{AgentMeans, ToldFile};
use helix_language::{Language, say};

/// Whose these are.
pub(super) fn whose(language: Language, means: &AgentMeans) -> String {
    match &means.agent {
        Some(agent) => say!(language, "means-of-agent", agent = agent),
        None => say!(language, "means-of-project"),
    }
}

/// What there is, one kind a line.
pub(super) fn lines(language: Language, means: &AgentMeans) -> Vec<String> {
    let rules: Vec<String> = means.rules.iter().map(|file| told(language, file)).collect();
    let skills: Vec<String> = means.skills.iter().map(|skill| skill.name.clone()).collect();
    let some = |list: &[String]| (!list.is_empty()).then(|| list.join(", "));
    let kinds = [
        some(&rules).map(|list| say!(language, "means-rules", list = list)),
        some(&skills).map(|list| say!(language, "means-skills", list = list)),
        some(&means.tool_servers).map(|list| say!(language, "means-servers", list = list)),
        some(&means.hooks).map(|list| say!(language, "means-hooks", list = list)),
        some(&means.allow).map(|list| say!(language, "means-allow", list = list)),
        some(&means.deny).map(|list| say!(language, "means-deny", list = list)),
        some(&means.ask).map(|list| say!(language, "means-ask", list = list)),
        some(&means.only_told).map(|list| say!(language, "means-only-told", list = list)),
    ];
    kinds.into_iter().flatten().collect()
}

fn told(language: Language, file: &ToldFile) -> String {
    let bytes = file.bytes.to_string();
    match file.applies.as_slice() {
        [] => say!(language, "means-file", path = &file.path, bytes = bytes),
        applies => say!(language, "means-file-for", path = &file.path, bytes = bytes, files = applies.join(", ")),
    }
}
