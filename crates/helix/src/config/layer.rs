//! What one `helix.toml` says. Every key of the format is read here and nowhere else.
//!
//! Must not know defaults, other files or flags; `settings` puts the layers together.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use helix_core::diagnostic::{Diagnostic, did_you_mean};
use helix_engine::consultant::Validator;
use helix_engine::{DialectName, ExitMeaning, agent_kind};

use super::admission::AdmissionLayer;
use super::chat_api::ChatApiLayer;
use super::conversations::ConversationsLayer;
use super::document::{Document, Section, Written};
use super::failures::FailuresLayer;
use super::roles::RolesLayer;
use crate::codes;

/// The file's values; everything is optional.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Layer {
    /// `[defaults] agent`.
    pub(crate) default_agent: Option<Written<String>>,
    /// `[agents.NAME]`.
    pub(crate) agents: BTreeMap<String, AgentLayer>,
    /// `[consultant] agent`.
    pub(crate) consultant_agent: Option<Written<String>>,
    /// `[consultant] model`.
    pub(crate) consultant_model: Option<Written<String>>,
    /// `[consultant] prompt`, formerly `prompt_file`.
    pub(crate) prompt: Option<Written<String>>,
    /// `[consultant] enforcement`.
    pub(crate) enforcement: Option<Written<Vec<String>>>,
    /// `[consultant] enforcement_retries`.
    pub(crate) enforcement_retries: Option<Written<u32>>,
    /// `[consultant] experts`.
    pub(crate) experts: Option<Written<bool>>,
    /// How conversations are kept company.
    pub(crate) conversations: ConversationsLayer,
    /// `[consultant] turn_timeout`.
    pub(crate) turn_timeout: Option<Written<Duration>>,
    /// `[server] listen`.
    pub(crate) listen: Option<Written<String>>,
    /// `[server] roots`.
    pub(crate) roots: Option<Written<Vec<String>>>,
    /// `[server] token_file`.
    pub(crate) token_file: Option<Written<String>>,
    /// What `[server]` says of chat clients.
    pub(crate) chat_api: ChatApiLayer,
    /// `[jobs] max_parallel`.
    pub(crate) max_parallel: Option<Written<u32>>,
    /// How much may be under way at the same time.
    pub(crate) admission: AdmissionLayer,
    /// `[jobs] linger`.
    pub(crate) linger: Option<Written<Duration>>,
    /// `[jobs] stall`.
    pub(crate) stall: Option<Written<Duration>>,
    /// `[jobs] stop_grace`.
    pub(crate) stop_grace: Option<Written<Duration>>,
    /// `[jobs] budget_usd`.
    pub(crate) budget_usd: Option<Written<f64>>,
    /// Reviewers, advisers, questions and limits.
    pub(crate) roles: RolesLayer,
    /// How failures are remembered.
    pub(crate) failures: FailuresLayer,
    /// `[projects] directory`.
    pub(crate) projects: Option<Written<String>>,
}

/// One agent of the file.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct AgentLayer {
    /// `dialect`.
    pub(crate) dialect: Option<Written<DialectName>>,
    /// `command`.
    pub(crate) command: Option<Written<Vec<String>>>,
    /// `env`.
    pub(crate) env: Option<Written<BTreeMap<String, String>>>,
    /// `pass_env`.
    pub(crate) pass_env: Option<Written<Vec<String>>>,
    /// `model`.
    pub(crate) model: Option<Written<String>>,
    /// `models`.
    pub(crate) models: Option<Written<Vec<String>>>,
    /// `fallback_model`.
    pub(crate) fallback_model: Option<Written<String>>,
    /// `home`.
    pub(crate) home: Option<Written<String>>,
    /// `config_dir`.
    pub(crate) config_dir: Option<Written<String>>,
    /// `trust_exit`.
    pub(crate) trust_exit: Option<Written<bool>>,
}

/// Reads a file's text. The layer is only good if there are no errors.
pub(crate) fn read(path: &Path, name: &str, text: &str) -> (Layer, Vec<Diagnostic>) {
    let mut document = Document::new(path, name, text);
    let table = document.parse();
    if !document.diagnostics.is_empty() {
        // What was recovered from broken TOML would only give errors that are not there.
        return (Layer::default(), document.diagnostics);
    }
    let mut root = Section::of("", table.get_ref());
    let mut layer = Layer::default();
    if let Some(mut section) = root.section("defaults", &mut document) {
        layer.default_agent = section.text("agent", &mut document);
        section.finish(&mut document);
    }
    if let Some(agents) = root.section("agents", &mut document) {
        for (name, section) in agents.named(&mut document) {
            layer.agents.insert(name, agent(section, &mut document));
        }
    }
    if let Some(mut section) = root.section("consultant", &mut document) {
        layer.consultant_agent = section.text("agent", &mut document);
        layer.consultant_model = section.text("model", &mut document);
        layer.prompt = section.text("prompt", &mut document);
        let former = section.text("prompt_file", &mut document);
        layer.prompt = layer.prompt.or(former);
        layer.enforcement = section.texts("enforcement", &mut document);
        if let Some(written) = &layer.enforcement {
            check_validators(written, &mut document);
        }
        layer.enforcement_retries = section.whole("enforcement_retries", &mut document);
        layer.experts = section.truth("experts", &mut document);
        layer.turn_timeout = section.duration("turn_timeout", &mut document);
        layer.conversations = ConversationsLayer::read(&mut section, &mut document);
        section.finish(&mut document);
    }
    if let Some(mut section) = root.section("server", &mut document) {
        layer.listen = section.text("listen", &mut document);
        layer.roots = section.texts("roots", &mut document);
        layer.token_file = section.text("token_file", &mut document);
        layer.chat_api = ChatApiLayer::read(&mut section, &mut document);
        section.finish(&mut document);
    }
    layer.roles = RolesLayer::read(&mut root, &mut document);
    if let Some(mut section) = root.section("jobs", &mut document) {
        layer.roles.read_limits(&mut section, &mut document);
        layer.max_parallel = section.count("max_parallel", &mut document);
        layer.admission = AdmissionLayer::read(&mut section, &mut document);
        layer.linger = section.duration("linger", &mut document);
        layer.stall = section.duration("stall", &mut document);
        layer.stop_grace = section.duration("stop_grace", &mut document);
        layer.budget_usd = section.amount("budget_usd", &mut document);
        section.finish(&mut document);
    }
    layer.failures = FailuresLayer::read(&mut root, &mut document);
    if let Some(mut section) = root.section("projects", &mut document) {
        layer.projects = section.text("directory", &mut document);
        section.finish(&mut document);
    }
    root.finish(&mut document);
    (layer, document.diagnostics)
}

/// Every validator must be one that exists: a misspelt one would never look.
fn check_validators(written: &Written<Vec<String>>, document: &mut Document<'_>) {
    let known = Validator::ALL.map(Validator::word);
    for word in written.value.iter().filter(|word| !known.contains(&word.as_str())) {
        let help = match did_you_mean(word, known) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("known: {}", known.join(", ")),
        };
        let message = format!("there is no validator {word:?}");
        document.error(codes::CONFIG_VALUE, written.range.clone(), message, Some(help));
    }
}

fn agent(mut section: Section<'_, '_>, document: &mut Document<'_>) -> AgentLayer {
    let dialect = section.text("dialect", document).and_then(|written| match written.value.parse::<DialectName>() {
        Ok(value) => Some(Written { value, file: written.file, line: written.line, range: written.range }),
        Err(error) => {
            let known: Vec<&str> = DialectName::ALL.into_iter().map(DialectName::as_str).collect();
            let help = did_you_mean(&written.value, known.iter().copied()).unwrap_or(known[0]);
            document.error(
                codes::CONFIG_VALUE,
                written.range,
                error.to_string(),
                Some(format!("did you mean \"{help}\"?")),
            );
            None
        }
    });
    let command = section.texts("command", document);
    if let Some(command) = command.as_ref().filter(|command| command.value.first().is_none_or(String::is_empty)) {
        let help = Some("name the program first, such as command = [\"claude\"]".to_owned());
        document.error(codes::CONFIG_VALUE, command.range.clone(), "`command` names no program".to_owned(), help);
    }
    let layer = AgentLayer {
        dialect,
        command,
        env: section.text_by_name("env", document),
        pass_env: section.texts("pass_env", document),
        model: section.text("model", document),
        models: section.texts("models", document),
        fallback_model: section.text("fallback_model", document),
        home: section.text("home", document),
        config_dir: section.text("config_dir", document),
        trust_exit: section.truth("trust_exit", document),
    };
    if let (Some(trust), Some(dialect)) = (&layer.trust_exit, &layer.dialect)
        && agent_kind(dialect.value).exit_status == ExitMeaning::Nothing
    {
        let message = format!("`trust_exit` has no meaning for the {} dialect", dialect.value);
        let help = "leave it out: that agent says itself how a run went".to_owned();
        document.error(codes::CONFIG_VALUE, trust.range.clone(), message, Some(help));
    }
    section.finish(document);
    layer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> Vec<String> {
        let (_, diagnostics) = read(Path::new("/p/helix.toml"), "helix.toml", text);
        diagnostics.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_documented_example_is_valid() {
        let page = include_str!("../../../../docs/configuration.md");
        let example = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
        let (layer, diagnostics) = read(Path::new("helix.toml"), "helix.toml", example);
        assert_eq!(diagnostics, []);
        assert_eq!(layer.turn_timeout.unwrap().value, Duration::from_secs(1800));
        assert_eq!(layer.agents["claude"].command.as_ref().unwrap().value, ["claude"]);
        assert!(layer.budget_usd.is_some() && layer.roots.is_some() && layer.projects.is_some());
    }

    #[test]
    fn unknown_keys_are_errors_with_a_place_and_a_suggestion() {
        assert_eq!(
            problems("[server]\nlisten = \"127.0.0.1:1\"\ntokenfile = \"x\"\n\n[job]\n"),
            [
                "helix.toml:3:1: error[HX0902]: unknown key `tokenfile` in [server]\n  hint: did you mean `token_file`?",
                "helix.toml:5:2: error[HX0902]: unknown key `job`\n  hint: did you mean `jobs`?",
            ]
        );
    }

    #[test]
    fn wrong_values_say_what_would_be_right() {
        for (text, part) in [
            ("[jobs]\nmax_parallel = 0\n", "must be a whole number of at least 1"),
            ("[jobs]\nbudget_usd = -1\n", "must be a number above 0"),
            ("[consultant]\nturn_timeout = \"soon\"\n", "must be a length of time"),
            ("[consultant]\nfollow_jobs = \"-1s\"\n", "must be a length of time"),
            ("[server]\nroots = \"/a\"\n", "must be a list of texts"),
            ("[agents.x]\ndialect = \"cloude\"\n", "did you mean \"claude\"?"),
            ("[agents.x]\ncommand = []\n", "names no program"),
            ("[agents.x]\ndialect = \"codex\"\ntrust_exit = true\n", "has no meaning for the codex dialect"),
            ("[agents.x]\ndialect = \"kodex\"\n", "did you mean \"codex\"?"),
            ("[consultant]\nenforcement = [\"step_maker\"]\n", "did you mean \"step_marker\"?"),
            ("[consultant]\nenforcement_retries = -1\n", "must be a whole number"),
            ("[consultant]\nexperts = \"yes\"\n", "must be true or false"),
            ("agents = 3\n", "`agents` must be a table, not integer"),
        ] {
            let found = problems(text);
            assert!(found.len() == 1 && found[0].contains(part), "{text:?}: {found:?}");
        }
    }

    #[test]
    fn broken_toml_has_a_place() {
        let found = problems("[server]\nlisten = \n");
        assert!(found[0].starts_with("helix.toml:2:") && found[0].contains("HX0901"), "{found:?}");
    }
}
