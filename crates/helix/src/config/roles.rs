//! Who looks at results, who advises, when a person is asked, and what bounds a job: `[verifier]`, `[adviser]`, `[escalation]`,
//! `[questions]` and the limits of `[jobs]`.
//!
//! Must not know how a job is carried out: it fills in the job's own policy.

use std::path::PathBuf;
use std::time::Duration;

use helix_core::diagnostic::did_you_mean;
use helix_job::{AskPerson, Escalation, Policy, QUESTION_SECONDS, Role, Roles};

use super::document::{Document, Section, Written};
use super::layer::Layer;
use super::settings::{Finder, Setting};
use crate::codes;

/// Words of `[escalation] person`.
const PERSON: [&str; 2] = ["ask", "never"];

/// What one file says.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct RolesLayer {
    /// `[verifier] agent`.
    verifier_agent: Option<Written<String>>,
    /// `[verifier] model`.
    verifier_model: Option<Written<String>>,
    /// `[adviser] agent`.
    adviser_agent: Option<Written<String>>,
    /// `[adviser] model`.
    adviser_model: Option<Written<String>>,
    /// `[adviser] rounds`.
    adviser_rounds: Option<Written<u32>>,
    /// `[escalation] person`.
    person: Option<Written<AskPerson>>,
    /// `[questions] timeout`; `None` in it is `"never"`.
    question_timeout: Option<Written<Option<Duration>>>,
    /// `[jobs] max_turns`.
    max_turns: Option<Written<u32>>,
    /// `[jobs] max_tokens`.
    max_tokens: Option<Written<u64>>,
    /// `[jobs] max_run_time`.
    max_run_time: Option<Written<Duration>>,
    /// `[jobs] max_wait`.
    max_wait: Option<Written<Duration>>,
    /// `[jobs] side_budget_usd`.
    side_budget_usd: Option<Written<f64>>,
}

impl RolesLayer {
    /// Reads the sections of their own.
    pub(crate) fn read(root: &mut Section<'_, '_>, document: &mut Document<'_>) -> Self {
        let mut layer = Self::default();
        if let Some(mut section) = root.section("verifier", document) {
            layer.verifier_agent = section.text("agent", document);
            layer.verifier_model = section.text("model", document);
            section.finish(document);
        }
        if let Some(mut section) = root.section("adviser", document) {
            layer.adviser_agent = section.text("agent", document);
            layer.adviser_model = section.text("model", document);
            layer.adviser_rounds = section.whole("rounds", document);
            section.finish(document);
        }
        if let Some(mut section) = root.section("escalation", document) {
            layer.person = section.text("person", document).and_then(|written| person(written, document));
            section.finish(document);
        }
        if let Some(mut section) = root.section("questions", document) {
            layer.question_timeout = section.duration_or_never("timeout", document);
            section.finish(document);
        }
        layer
    }

    /// Reads the limits that stand in `[jobs]`.
    pub(crate) fn read_limits(&mut self, section: &mut Section<'_, '_>, document: &mut Document<'_>) {
        self.max_turns = section.count("max_turns", document);
        self.max_tokens = section.large_count("max_tokens", document);
        self.max_run_time = section.duration("max_run_time", document);
        self.max_wait = section.duration_or_zero("max_wait", document);
        self.side_budget_usd = section.amount("side_budget_usd", document);
    }
}

fn person(written: Written<String>, document: &mut Document<'_>) -> Option<Written<AskPerson>> {
    let value = match written.value.as_str() {
        "ask" => AskPerson::Ask,
        "never" => AskPerson::Never,
        other => {
            let help = match did_you_mean(other, PERSON) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("write one of: {}", PERSON.join(", ")),
            };
            let message = format!("`escalation.person` cannot be {other:?}");
            document.error(codes::CONFIG_VALUE, written.range, message, Some(help));
            return None;
        }
    };
    Some(Written { value, file: written.file, line: written.line, range: written.range })
}

/// All of it with where it came from.
#[derive(Debug, Clone)]
pub(crate) struct RoleSettings {
    /// Agent that looks at results; a phase's own where absent.
    pub(crate) verifier_agent: Option<Setting<String>>,
    /// Its model.
    pub(crate) verifier_model: Option<Setting<String>>,
    /// Agent that advises.
    pub(crate) adviser_agent: Setting<String>,
    /// Its model.
    pub(crate) adviser_model: Option<Setting<String>>,
    /// How often it is asked about one phase; 0 is never.
    pub(crate) adviser_rounds: Setting<u32>,
    /// Whether a person is asked at last.
    pub(crate) person: Setting<AskPerson>,
    /// How long a question waits; `None` is for ever.
    pub(crate) question_timeout: Setting<Option<Duration>>,
    /// Turns of a job.
    pub(crate) max_turns: Option<Setting<u32>>,
    /// Tokens of a job.
    pub(crate) max_tokens: Option<Setting<u64>>,
    /// Time of all runs of a job.
    pub(crate) max_run_time: Option<Setting<Duration>>,
    /// Longest wait for the reset of a provider's limit; none is as long as it takes.
    pub(crate) max_wait: Option<Setting<Duration>>,
    /// Money for one run of a reviewer or adviser.
    pub(crate) side_budget_usd: Option<Setting<f64>>,
}

impl RoleSettings {
    /// Puts the layers together; the Consultant advises where nobody else is named.
    pub(super) fn of(
        layers: &[(PathBuf, Layer)],
        consultant_agent: &Setting<String>,
        consultant_model: Option<&Setting<String>>,
    ) -> Self {
        let find = Finder { layers };
        let built_in = Escalation::default();
        let adviser_agent = find.first(|layer| layer.roles.adviser_agent.as_ref());
        let own_model = find.first(|layer| layer.roles.adviser_model.as_ref());
        // A model belongs to its agent: that of the Consultant says nothing to another one.
        let adviser_model = match &adviser_agent {
            Some(agent) if agent.value != consultant_agent.value => own_model,
            Some(_) | None => own_model.or_else(|| consultant_model.cloned()),
        };
        Self {
            verifier_agent: find.first(|layer| layer.roles.verifier_agent.as_ref()),
            verifier_model: find.first(|layer| layer.roles.verifier_model.as_ref()),
            adviser_agent: adviser_agent.unwrap_or_else(|| Setting {
                value: consultant_agent.value.clone(),
                origin: format!("consultant.agent ({})", consultant_agent.origin),
            }),
            adviser_model,
            adviser_rounds: find
                .first(|layer| layer.roles.adviser_rounds.as_ref())
                .unwrap_or_else(|| Setting::built_in(built_in.advice_rounds)),
            person: find
                .first(|layer| layer.roles.person.as_ref())
                .unwrap_or_else(|| Setting::built_in(built_in.person)),
            question_timeout: find
                .first(|layer| layer.roles.question_timeout.as_ref())
                .unwrap_or_else(|| Setting::built_in(Some(Duration::from_secs(QUESTION_SECONDS)))),
            max_turns: find.first(|layer| layer.roles.max_turns.as_ref()),
            max_tokens: find.first(|layer| layer.roles.max_tokens.as_ref()),
            max_run_time: find.first(|layer| layer.roles.max_run_time.as_ref()),
            max_wait: find.first(|layer| layer.roles.max_wait.as_ref()),
            side_budget_usd: find.first(|layer| layer.roles.side_budget_usd.as_ref()),
        }
    }

    /// Agents that are named, with the keys that name them.
    pub(super) fn agents(&self) -> Vec<(&'static str, &Setting<String>)> {
        let verifier = self.verifier_agent.as_ref().map(|agent| ("verifier.agent", agent));
        verifier.into_iter().chain([("adviser.agent", &self.adviser_agent)]).collect()
    }

    /// Who reviews and who advises.
    pub(super) fn roles(&self) -> Roles {
        let model = |setting: &Option<Setting<String>>| setting.as_ref().map(|setting| setting.value.clone());
        let adviser = Role { agent: self.adviser_agent.value.clone(), model: model(&self.adviser_model) };
        Roles {
            verifier: self
                .verifier_agent
                .as_ref()
                .map(|agent| Role { agent: agent.value.clone(), model: model(&self.verifier_model) }),
            verifier_model: model(&self.verifier_model).filter(|_| self.verifier_agent.is_none()),
            adviser: (self.adviser_rounds.value > 0).then_some(adviser),
        }
    }

    /// The policy with all that is said here.
    pub(super) fn apply(&self, policy: Policy) -> Policy {
        Policy {
            max_turns: self.max_turns.as_ref().map(|setting| setting.value),
            max_tokens: self.max_tokens.as_ref().map(|setting| setting.value),
            max_run_seconds: self.max_run_time.as_ref().map(|setting| setting.value.as_secs().max(1)),
            max_wait_seconds: self.max_wait.as_ref().map(|setting| setting.value.as_secs()),
            side_budget_usd: self.side_budget_usd.as_ref().map(|setting| setting.value),
            escalation: Escalation { advice_rounds: self.adviser_rounds.value, person: self.person.value },
            question_seconds: self.question_timeout.value.map(|timeout| timeout.as_secs().max(1)),
            ..policy
        }
    }

    /// What `helix doctor` shows: key, value and origin.
    pub(crate) fn origins(&self) -> Vec<(&'static str, serde_json::Value, &str)> {
        let time = |duration: Duration| format!("{} s", duration.as_secs()).into();
        let mut all: Vec<(&'static str, serde_json::Value, &str)> = vec![
            ("adviser.agent", self.adviser_agent.value.clone().into(), &self.adviser_agent.origin),
            ("adviser.rounds", self.adviser_rounds.value.into(), &self.adviser_rounds.origin),
            (
                "escalation.person",
                match self.person.value {
                    AskPerson::Ask => "ask".into(),
                    AskPerson::Never => "never".into(),
                },
                &self.person.origin,
            ),
            (
                "questions.timeout",
                self.question_timeout.value.map_or_else(|| "never".into(), time),
                &self.question_timeout.origin,
            ),
        ];
        let texts = [
            ("verifier.agent", &self.verifier_agent),
            ("verifier.model", &self.verifier_model),
            ("adviser.model", &self.adviser_model),
        ];
        for (key, setting) in texts {
            all.extend(setting.as_ref().map(|setting| (key, setting.value.clone().into(), setting.origin.as_str())));
        }
        all.extend(self.max_turns.as_ref().map(|one| ("jobs.max_turns", one.value.into(), one.origin.as_str())));
        all.extend(self.max_tokens.as_ref().map(|one| ("jobs.max_tokens", one.value.into(), one.origin.as_str())));
        all.extend(self.max_run_time.as_ref().map(|one| ("jobs.max_run_time", time(one.value), one.origin.as_str())));
        all.extend(self.max_wait.as_ref().map(|one| ("jobs.max_wait", time(one.value), one.origin.as_str())));
        all.extend(
            self.side_budget_usd.as_ref().map(|one| ("jobs.side_budget_usd", one.value.into(), one.origin.as_str())),
        );
        all
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::layer::read;

    fn settings(text: &str) -> RoleSettings {
        let (layer, problems) = read(Path::new("/p/helix.toml"), "helix.toml", text);
        assert_eq!(problems, []);
        let consultant = Setting { value: "claude".to_owned(), origin: "built in".into() };
        let model = Setting { value: "opus".to_owned(), origin: "built in".into() };
        RoleSettings::of(&[(PathBuf::from("/p/helix.toml"), layer)], &consultant, Some(&model))
    }

    #[test]
    fn without_a_word_the_consultant_advises_and_a_person_is_asked() {
        let settings = settings("");
        let adviser = Role { agent: "claude".into(), model: Some("opus".into()) };
        assert_eq!(settings.roles(), Roles { adviser: Some(adviser), ..Roles::default() });
        assert_eq!(settings.apply(Policy::default()), Policy::default());
    }

    #[test]
    fn every_key_reaches_the_policy() {
        let settings = settings(
            "[verifier]\nagent = \"other\"\nmodel = \"haiku\"\n[adviser]\nagent = \"third\"\nrounds = 1\n\
             [escalation]\nperson = \"never\"\n[questions]\ntimeout = \"never\"\n\
             [jobs]\nmax_turns = 5\nmax_tokens = 5_000_000_000\nmax_run_time = \"2h\"\nmax_wait = \"90m\"\nside_budget_usd = 0.5\n",
        );
        let roles = settings.roles();
        assert_eq!(roles.verifier, Some(Role { agent: "other".into(), model: Some("haiku".into()) }));
        // The Consultant's model means nothing to another agent.
        assert_eq!(roles.adviser, Some(Role { agent: "third".into(), model: None }));
        let policy = settings.apply(Policy::default());
        assert_eq!(policy.escalation, Escalation { advice_rounds: 1, person: AskPerson::Never });
        assert_eq!((policy.question_seconds, policy.max_turns), (None, Some(5)));
        assert_eq!((policy.max_tokens, policy.max_run_seconds), (Some(5_000_000_000), Some(7200)));
        assert_eq!((policy.side_budget_usd, policy.max_wait_seconds), (Some(0.5), Some(5400)));
        assert!(settings.origins().iter().any(|one| one.0 == "questions.timeout" && one.2 == "/p/helix.toml:10"));
    }

    #[test]
    fn no_wait_is_a_wait_of_nothing() {
        assert_eq!(settings("[jobs]\nmax_wait = \"0s\"\n").apply(Policy::default()).max_wait_seconds, Some(0));
    }

    #[test]
    fn no_rounds_are_no_adviser() {
        assert_eq!(settings("[adviser]\nrounds = 0\n").roles().adviser, None);
    }

    #[test]
    fn wrong_words_are_errors_with_a_place() {
        for (text, part) in [
            (
                "[escalation]\nperson = \"nevr\"\n",
                "helix.toml:2:10: error[HX0903]: `escalation.person` cannot be \"nevr\"\n  hint: did you mean \"never\"?",
            ),
            ("[questions]\ntimeout = \"soon\"\n", "or \"never\""),
            ("[jobs]\nmax_tokens = 0\n", "whole number of at least 1"),
            ("[jobs]\nmax_wait = \"never\"\n", "a length of time"),
            ("[adviser]\nround = 1\n", "did you mean `rounds`?"),
        ] {
            let (_, problems) = read(Path::new("/p/helix.toml"), "helix.toml", text);
            let shown: Vec<String> = problems.iter().map(ToString::to_string).collect();
            assert!(shown.len() == 1 && shown[0].contains(part), "{text:?}: {shown:?}");
        }
    }
}
