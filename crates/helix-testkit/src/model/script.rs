//! The form of a script: rules for single requests, scenes for whole conversations.
//!
//! Must not know how a request is matched against it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::Deserialize;
use serde_json::Value;

use super::fault::{Fault, Repeat};
use super::text_test::TextTest;

/// What the endpoint answers. Rules are tried first, in order, then scenes.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Script {
    /// Values for `{{name}}` in replies; what a request yields takes precedence.
    pub variables: BTreeMap<String, String>,
    /// Answers to single requests.
    pub rules: Vec<Rule>,
    pub scenes: Vec<Scene>,
}

/// An answer to every request that fulfils a condition.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Shown in records and errors.
    #[serde(default)]
    pub name: String,
    /// The condition; everything that is given must hold.
    #[serde(default)]
    pub when: When,
    /// For how many requests the rule holds; later ones go on to the next rule.
    #[serde(default)]
    pub times: Repeat,
    pub reply: Reply,
}

/// A conversation that begins with a certain prompt; each of its requests gets the next step.
///
/// The step is the number of assistant messages after the prompt, so that it advances when the previous tool results
/// are in, a repeated request gets the same step, and parallel conversations do not disturb each other. If several
/// scenes fit a conversation, the one whose prompt came last goes on; among those, the first in the script.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// Shown in records and errors; must be unique.
    pub name: String,
    /// What the prompt says (system reminders left out).
    pub prompt: TextTest,
    /// Further conditions on the request.
    #[serde(default)]
    pub when: When,
    /// The steps of every take.
    #[serde(default)]
    pub steps: Vec<Reply>,
    /// Instead of `steps`: the steps of the first conversation or prompt that fits, the second, …; the last one repeats.
    #[serde(default)]
    pub takes: Vec<Vec<Reply>>,
    /// What happens after the last step.
    #[serde(default)]
    pub at_end: AtEnd,
}

impl Scene {
    /// The steps of the `take`-th (from 0) time that the scene is played.
    pub(crate) fn take(&self, take: usize) -> &[Reply] {
        match self.takes.get(take).or(self.takes.last()) {
            Some(steps) => steps,
            None => &self.steps,
        }
    }
}

/// What a scene does with more requests than it has steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AtEnd {
    /// It is a failure of the test.
    #[default]
    Fail,
    /// The last step is given again.
    RepeatLast,
}

/// Conditions on a request; everything that is given must hold.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct When {
    /// The text of the last user message that is not only tool results, without system reminders.
    pub prompt: Option<TextTest>,
    /// Some user message of the conversation, without system reminders.
    pub any_prompt: Option<TextTest>,
    /// The system prompt, including messages of the role `system`.
    pub system: Option<TextTest>,
    /// The model asked for.
    pub model: Option<TextTest>,
    /// A tool result in the last message.
    pub tool_result: Option<ToolResultTest>,
    /// What the last message is.
    pub last: Option<LastMessage>,
    /// The number of the request, from 1.
    pub request: Option<u64>,
    /// A tool that is offered.
    pub has_tool: Option<String>,
    /// A tool that is not offered.
    pub lacks_tool: Option<String>,
    /// Request headers, by lower-case name.
    pub headers: BTreeMap<String, TextTest>,
    /// Whether a stream was asked for.
    pub stream: Option<bool>,
}

/// Conditions on a tool result.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ToolResultTest {
    /// Name of the tool that was called.
    pub tool: Option<String>,
    /// Id of the call.
    pub id: Option<String>,
    pub text: Option<TextTest>,
    /// Whether it is an error.
    pub is_error: Option<bool>,
}

/// Kinds of last messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LastMessage {
    /// A user message with text only.
    Prompt,
    /// A user message with tool results.
    ToolResult,
}

/// What the model answers: thinking, then text, then tool calls; `{{name}}` in any text is replaced.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Reply {
    pub thinking: Option<String>,
    pub text: Option<String>,
    /// Tool calls, all in this one message.
    pub tools: Vec<ToolCall>,
    /// A call of the tool `StructuredOutput` with this input.
    pub structured: Option<Value>,
    /// Instead of `tool_use` (if tools are called) or `end_turn`.
    pub stop_reason: Option<String>,
    /// Figures that differ from the usual 100 input and 20 output tokens.
    pub usage: BTreeMap<String, u64>,
    /// The model named in the answer, instead of the one asked for.
    pub model: Option<String>,
    pub headers: BTreeMap<String, String>,
    /// Milliseconds before the first byte.
    pub first_delay_ms: u64,
    /// Characters per delta; 0 means two deltas per block.
    pub chunk_chars: usize,
    /// Milliseconds before each event of a stream.
    pub chunk_delay_ms: u64,
    pub fault: Option<Fault>,
    /// What must be true of the request, or the test has failed.
    pub expect: Option<When>,
}

impl Reply {
    /// A text that ends the turn.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    pub fn tool(name: impl Into<String>, input: Value) -> Self {
        Self { tools: vec![ToolCall { name: name.into(), input, id: None }], ..Self::default() }
    }

    /// The same reply with something going wrong.
    #[must_use]
    pub fn with_fault(mut self, fault: Fault) -> Self {
        self.fault = Some(fault);
        self
    }
}

/// A tool call of the model.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// Name of the tool.
    pub name: String,
    /// Its input.
    #[serde(default)]
    pub input: Value,
    /// Its id; made up if absent.
    pub id: Option<String>,
}

/// Says why a script cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// The file cannot be read.
    #[error("script {} cannot be read", path.display())]
    Unreadable { path: PathBuf, source: std::io::Error },
    /// It is not of the documented form; the message names line and column.
    #[error("script {place} is not valid: {message}")]
    Malformed {
        /// The file, or `(text)`.
        place: String,
        /// What is wrong and where.
        message: String,
    },
}

impl Script {
    /// A script that answers every request in the same way.
    pub fn always(reply: Reply) -> Self {
        Self { rules: vec![Rule { name: "always".into(), reply, ..Rule::default() }], ..Self::default() }
    }

    /// A script of one scene for every conversation.
    pub fn steps(steps: Vec<Reply>) -> Self {
        Self { scenes: vec![Scene { name: "every conversation".into(), steps, ..Scene::default() }], ..Self::default() }
    }

    /// Reads a script file (YAML or JSON).
    ///
    /// # Errors
    /// [`ScriptError`] with file, line and column.
    pub fn load(path: &Path) -> Result<Self, ScriptError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| ScriptError::Unreadable { path: path.to_owned(), source })?;
        Self::parse(&text, &path.display().to_string())
    }

    fn parse(text: &str, place: &str) -> Result<Self, ScriptError> {
        let malformed = |message: String| ScriptError::Malformed { place: place.to_owned(), message };
        let script: Self = serde_saphyr::from_str(text).map_err(|error| malformed(error.to_string()))?;
        let mut names = std::collections::BTreeSet::new();
        for scene in &script.scenes {
            if !names.insert(&scene.name) {
                return Err(malformed(format!("two scenes are named {:?}", scene.name)));
            }
            if scene.steps.is_empty() == scene.takes.is_empty() || scene.takes.iter().any(Vec::is_empty) {
                return Err(malformed(format!(
                    "scene {:?} needs either steps or takes, none of them empty",
                    scene.name
                )));
            }
        }
        Ok(script)
    }
}

impl FromStr for Script {
    type Err = ScriptError;

    fn from_str(text: &str) -> Result<Self, ScriptError> {
        Self::parse(text, "(text)")
    }
}
