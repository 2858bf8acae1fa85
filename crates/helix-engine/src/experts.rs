//! Domain experts: sub-agents that the Consultant may ask for second opinions, as `experts.toml` describes them.
//!
//! Must not know how an agent's CLI is told of them; the dialects write that.

use std::ops::Range;
use std::path::Path;

use helix_agents::SubAgent;
use helix_core::diagnostic::{Diagnostic, did_you_mean};
use helix_core::source_text::SourceText;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::codes;

/// Name of the file.
pub const EXPERTS_FILE: &str = "experts.toml";
/// Most experts; each costs the Consultant attention in every turn.
const MOST: usize = 16;
/// Longest description in characters: one or two sentences that say when to ask.
const LONGEST_DESCRIPTION: usize = 500;
/// Longest instructions in characters. All experts together must fit into one argument of 128 KiB.
const LONGEST_PROMPT: usize = 6_000;
/// Tools that an expert has when the file names none: it reads and judges.
const READING_TOOLS: [&str; 3] = ["Read", "Glob", "Grep"];
/// Keys of an expert.
const KEYS: [&str; 4] = ["description", "prompt", "model", "tools"];

/// Reads `experts.toml`.
///
/// # Errors
/// All problems of the file, with their places.
pub fn parse_experts(path: &Path, text: &str) -> Result<Vec<SubAgent>, Vec<Diagnostic>> {
    let name = path.display().to_string();
    let source = SourceText::new(&name, text);
    let mut problems = Vec::new();
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let range = error.span().unwrap_or(0..0);
        let problem = source.error(codes::EXPERTS_INVALID, range, error.message().trim());
        problems.push(problem.help("write `[experts.NAME]` sections with `description` and `prompt`"));
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut reader = Reader { source: &source, problems };
    let experts = reader.file(table.get_ref());
    if reader.problems.is_empty() { Ok(experts) } else { Err(reader.problems) }
}

struct Reader<'s> {
    source: &'s SourceText<'s>,
    problems: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn problem(&mut self, range: Range<usize>, message: String, help: impl Into<String>) {
        self.problems.push(self.source.error(codes::EXPERTS_INVALID, range, message).help(help));
    }

    fn file(&mut self, table: &DeTable<'_>) -> Vec<SubAgent> {
        let mut experts = Vec::new();
        for (key, value) in table {
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("experts", DeValue::Table(named)) => {
                    for (name, expert) in named {
                        if experts.len() == MOST {
                            let help = "keep those that are asked often";
                            self.problem(name.span(), format!("there are more than {MOST} experts"), help);
                            break;
                        }
                        experts.extend(self.expert(name.get_ref(), name.span(), expert));
                    }
                }
                ("experts", _) => {
                    let help = "write sections such as `[experts.databases]`";
                    self.problem(value.span(), "`experts` must be a table".into(), help);
                }
                (other, _) => {
                    self.problem(key.span(), format!("unknown key `{other}`"), "write `[experts.NAME]` sections");
                }
            }
        }
        experts
    }

    fn expert(&mut self, name: &str, place: Range<usize>, value: &Spanned<DeValue<'_>>) -> Option<SubAgent> {
        let good = (1..=64).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        if !good {
            let help = "use lower-case letters, digits and '-', at most 64";
            self.problem(place.clone(), format!("`{name}` is no name for an expert"), help);
        }
        let DeValue::Table(table) = value.get_ref() else {
            self.problem(value.span(), format!("the expert `{name}` must be a table"), "write `[experts.NAME]`");
            return None;
        };
        for (key, _) in table {
            let word = key.get_ref().as_ref();
            if !KEYS.contains(&word) {
                let help = match did_you_mean(word, KEYS) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("an expert has {}", KEYS.join(", ")),
                };
                self.problem(key.span(), format!("unknown key `{word}` in the expert `{name}`"), help);
            }
        }
        let description = self.text(name, table, "description", LONGEST_DESCRIPTION, &place, Wanted::Required);
        let prompt = self.text(name, table, "prompt", LONGEST_PROMPT, &place, Wanted::Required);
        let model = self.text(name, table, "model", 100, &place, Wanted::Optional);
        let tools = self.tools(name, table);
        Some(SubAgent { name: name.to_owned(), description: description?, prompt: prompt?, model, tools: tools? })
            .filter(|_| good)
    }

    fn text(
        &mut self,
        name: &str,
        table: &DeTable<'_>,
        key: &str,
        longest: usize,
        place: &Range<usize>,
        wanted: Wanted,
    ) -> Option<String> {
        let Some(value) = table.get(key) else {
            if wanted == Wanted::Required {
                self.problem(place.clone(), format!("the expert `{name}` has no `{key}`"), help_of(key));
            }
            return None;
        };
        match value.get_ref() {
            DeValue::String(text) if text.trim().is_empty() => {
                self.problem(value.span(), format!("`{key}` of the expert `{name}` is empty"), help_of(key));
                None
            }
            DeValue::String(text) if text.chars().count() > longest => {
                let message = format!("`{key}` of the expert `{name}` has more than {longest} characters");
                self.problem(value.span(), message, "say it shorter");
                None
            }
            DeValue::String(text) if text.contains('\0') => {
                let message = format!("`{key}` of the expert `{name}` holds a NUL character");
                self.problem(value.span(), message, "remove it: no process can be given one");
                None
            }
            DeValue::String(text) => Some(text.trim().to_owned()),
            _ => {
                self.problem(value.span(), format!("`{key}` of the expert `{name}` must be a text"), help_of(key));
                None
            }
        }
    }

    fn tools(&mut self, name: &str, table: &DeTable<'_>) -> Option<Vec<String>> {
        let Some(value) = table.get("tools") else { return Some(READING_TOOLS.map(str::to_owned).to_vec()) };
        let help = "write a list of tools such as [\"Read\", \"Grep\"]; leave it out for reading only";
        let DeValue::Array(items) = value.get_ref() else {
            self.problem(value.span(), format!("`tools` of the expert `{name}` must be a list of texts"), help);
            return None;
        };
        let mut tools = Vec::new();
        for item in items {
            match item.get_ref() {
                DeValue::String(tool) if !tool.trim().is_empty() => tools.push(tool.trim().to_owned()),
                _ => {
                    self.problem(item.span(), format!("`tools` of the expert `{name}` must be a list of texts"), help);
                    return None;
                }
            }
        }
        if tools.is_empty() {
            self.problem(value.span(), format!("the expert `{name}` has no tools"), help);
            return None;
        }
        Some(tools)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Required,
    Optional,
}

fn help_of(key: &str) -> &'static str {
    match key {
        "description" => "say in a sentence what the expert knows and when to ask",
        "prompt" => "say who the expert is and what to look at",
        _ => "write the name of a model in quotes",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_example_is_valid() {
        let page = include_str!("../../../docs/consultant.md");
        let example = page.split("```toml\n").find(|part| part.contains("[experts.")).unwrap();
        let experts = parse_experts(Path::new("experts.toml"), example.split("```").next().unwrap()).unwrap();
        assert_eq!(experts[0].name, "databases");
        assert_eq!(experts[0].tools, ["Read", "Glob", "Grep"]);
        assert_eq!(experts[0].model.as_deref(), Some("haiku"));
    }

    #[test]
    fn every_problem_has_place_cause_and_remedy() {
        for (text, place, cause) in [
            ("[experts.a]\nprompt = \"x\"\n", "1:10", "no `description`"),
            ("[experts.a]\ndescription = \"x\"\npromt = \"y\"\n", "3:1", "unknown key `promt`"),
            ("[experts.A_b]\ndescription = \"x\"\nprompt = \"y\"\n", "1:10", "no name for an expert"),
            ("[experts.a]\ndescription = 3\nprompt = \"y\"\n", "2:15", "must be a text"),
            ("[experts.a]\ndescription = \"x\"\nprompt = \" \"\n", "3:10", "is empty"),
            ("[experts.a]\ndescription = \"x\"\nprompt = \"y\"\ntools = \"Read\"\n", "4:9", "a list of texts"),
            ("[experts.a]\ndescription = \"x\"\nprompt = \"y\"\ntools = []\n", "4:9", "has no tools"),
            ("[expert.a]\n", "1:2", "unknown key `expert`"),
            ("experts = 1\n", "1:11", "must be a table"),
            ("[experts.a\n", "1:", ""),
        ] {
            let problems = parse_experts(Path::new("e.toml"), text).unwrap_err();
            let shown: Vec<String> = problems.iter().map(ToString::to_string).collect();
            assert!(
                shown.iter().any(|one| one.starts_with(&format!("e.toml:{place}")) && one.contains(cause)),
                "{text:?}: {shown:?}"
            );
            assert!(problems.iter().all(|one| one.help.is_some()), "{shown:?}");
        }
        let long = format!("[experts.a]\ndescription = \"x\"\nprompt = \"{}\"\n", "x".repeat(6_001));
        assert!(parse_experts(Path::new("e.toml"), &long).is_err());
        let many: String = (0..17).map(|n| format!("[experts.a{n}]\ndescription = \"x\"\nprompt = \"y\"\n")).collect();
        assert!(parse_experts(Path::new("e.toml"), &many).is_err());
        assert_eq!(parse_experts(Path::new("e.toml"), "").unwrap(), []);
    }
}
