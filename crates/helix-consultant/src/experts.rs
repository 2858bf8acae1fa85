//! Domain experts: sub-agents that the Consultant may ask for second opinions, as `experts.toml` describes them.
//!
//! Must not know how an agent's CLI is told of them; the dialects write that.

use std::path::Path;

use helix_agents::SubAgent;
use helix_core::diagnostic::Diagnostic;
use helix_core::document::{FieldCodes, FieldReader, FromNode, Node, Placed, TableOf, Text, read_toml};
use helix_core::mapping;
use helix_core::source_text::SourceText;

use crate::codes;

/// Name of the file.
pub const EXPERTS_FILE: &str = "experts.toml";
/// Helix's own experts.
const BUILT_IN: &str = include_str!("../prompts/experts.toml");
/// Most experts; each costs the Consultant attention in every turn.
const MOST: usize = 16;
/// Tools that an expert has when the file names none: it reads and judges.
const READING_TOOLS: [&str; 3] = ["Read", "Glob", "Grep"];

const FIELD_CODES: FieldCodes = FieldCodes {
    unknown_key: codes::EXPERTS_INVALID,
    duplicate_key: codes::EXPERTS_INVALID,
    missing_key: codes::EXPERTS_INVALID,
    wrong_type: codes::EXPERTS_INVALID,
    unknown_word: codes::EXPERTS_INVALID,
    out_of_range: codes::EXPERTS_INVALID,
    bad_duration: codes::EXPERTS_INVALID,
};

mapping! {
    /// `experts.toml`.
    struct ExpertsFile {
        /// Experts by name.
        experts: TableOf<Expert>;
    }
}

mapping! {
    /// An expert. Its description is one or two sentences; all experts together must fit into one argument of 128 KiB.
    struct Expert {
        /// When to ask.
        description: Short<500>, required = "describe in a sentence what the expert knows and when to ask";
        /// Its instructions.
        prompt: Short<6_000>, required = "describe the expert's role and focus";
        /// Its model.
        model: Short<100>;
        /// What it may use; reading only if absent.
        tools: Vec<Text>;
    }
}

/// A text of at most so many characters that a process can be given as an argument.
struct Short<const LONGEST: usize>;

impl<const LONGEST: usize> FromNode for Short<LONGEST> {
    type Value = String;
    fn from_node(node: &Node, what: &str, reader: &mut FieldReader<'_>) -> Option<String> {
        let text = Text::from_node(node, what, reader)?;
        let (message, help) = if text.chars().count() > LONGEST {
            (format!("{what} has more than {LONGEST} characters"), "shorten it")
        } else if text.contains('\0') {
            (format!("{what} contains a NUL character"), "remove it")
        } else {
            return Some(text.trim().to_owned());
        };
        reader.error(codes::EXPERTS_INVALID, &node.range, message, help);
        None
    }
}

/// Reads `experts.toml`.
///
/// # Errors
/// All problems of the file, with their places.
pub fn parse_experts(path: &Path, text: &str) -> Result<Vec<SubAgent>, Vec<Diagnostic>> {
    let name = path.display().to_string();
    let source = SourceText::new(&name, text);
    let mut reader = FieldReader::new(&source, FIELD_CODES);
    let node = read_toml(text, 0).map_err(|errors| {
        let help = "write `[experts.NAME]` sections with `description` and `prompt`";
        let problem = |(at, message)| source.error(codes::EXPERTS_INVALID, at, message).help(help);
        errors.into_iter().map(problem).collect::<Vec<_>>()
    })?;
    let file = ExpertsFile::from_node(&node, EXPERTS_FILE, &mut reader).unwrap_or_default();
    let named = file.experts.map(|experts| experts.value).unwrap_or_default();
    if let Some((name, _)) = named.get(MOST) {
        let message = format!("more than {MOST} experts");
        reader.error(codes::EXPERTS_INVALID, &name.range, message, "remove some");
    }
    let experts: Vec<SubAgent> =
        named.into_iter().filter_map(|(name, expert)| sub_agent(name, expert.value, &mut reader)).collect();
    if reader.problems.is_empty() { Ok(experts) } else { Err(reader.problems) }
}

/// These experts, and Helix's own that none of them replaces.
pub fn with_built_in(own: Vec<SubAgent>) -> Vec<SubAgent> {
    // A test reads what is built in.
    let built_in = parse_experts(Path::new(EXPERTS_FILE), BUILT_IN).unwrap_or_default();
    let free: Vec<SubAgent> =
        built_in.into_iter().filter(|one| own.iter().all(|other| other.name != one.name)).collect();
    own.into_iter().chain(free).collect()
}

fn sub_agent(name: Placed<String>, expert: Expert, reader: &mut FieldReader<'_>) -> Option<SubAgent> {
    let Placed { value: name, range } = name;
    let good = (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    if !good {
        let message = format!("`{name}` cannot be the name of an expert");
        reader.error(codes::EXPERTS_INVALID, &range, message, "use lower-case letters, digits and '-', at most 64");
    }
    let tools = match expert.tools {
        None => READING_TOOLS.map(str::to_owned).to_vec(),
        Some(tools) if tools.value.is_empty() => {
            let help = "write a list of tools such as [\"Read\", \"Grep\"]; omit it for read-only tools";
            reader.error(codes::EXPERTS_INVALID, &tools.range, format!("the expert `{name}` has no tools"), help);
            return None;
        }
        Some(tools) => tools.value.into_iter().map(|tool| tool.value.trim().to_owned()).collect(),
    };
    let (description, prompt) = (expert.description?.value, expert.prompt?.value);
    Some(SubAgent { name, description, prompt, model: expert.model.map(|model| model.value), tools })
}

#[cfg(test)]
#[path = "experts_test.rs"]
mod tests;
