//! A request of the Messages API as a script looks at it.
//!
//! Must not know the script.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use serde::Serialize;
use serde_json::Value;

/// A request that the endpoint received, and what became of it.
#[derive(Debug, Clone, Serialize)]
pub struct RecordedRequest {
    /// Its number among the requests of the same kind (messages, or others), from 1.
    pub number: u64,
    /// `POST`, `HEAD`, …
    pub method: String,
    pub path: String,
    /// Headers by lower-case name; credentials but [`crate::sandbox::TEST_KEY`] are replaced by `[redacted]`.
    pub headers: BTreeMap<String, String>,
    /// The body; null if there was none.
    pub body: Value,
    /// What answered it: `rule NAME`, `scene NAME take N step N`, `title`, …; absent if nothing did.
    pub answered_by: Option<String>,
}

/// A tool result in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// Id of the call.
    pub id: String,
    /// Name of the tool, found in the conversation; empty if the call is not there.
    pub tool: String,
    pub text: String,
    /// Whether it is an error.
    pub is_error: bool,
}

/// A message of the conversation, reduced to what scripts ask about.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) role: Role,
    /// Text blocks without system reminders.
    pub(crate) prompt: String,
    pub(crate) tool_results: Vec<ToolResult>,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    User,
    Assistant,
    System,
}

/// The request, taken apart.
#[derive(Debug)]
pub(crate) struct RequestView {
    pub(crate) number: u64,
    pub(crate) model: String,
    pub(crate) stream: bool,
    pub(crate) system: String,
    pub(crate) tools: Vec<String>,
    /// Without the messages of the role `system`.
    pub(crate) messages: Vec<Message>,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) conversation: String,
    pub(crate) cwd: Option<String>,
}

static REMINDER: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?s)<system-reminder>.*?</system-reminder>").ok());
static DIRECTORY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?m)(?:Primary working directory|Working directory|working directory): *(\S.*?)\s*$").ok()
});
static SESSION: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"session(?:_id\\?"?: *\\?"|_)([0-9a-f-]{36})"#).ok());

impl RequestView {
    pub(crate) fn new(number: u64, body: &Value, headers: &BTreeMap<String, String>) -> Self {
        let mut system = text_of(body.get("system").unwrap_or(&Value::Null)).join("\n");
        let mut everything = String::new();
        let mut messages = Vec::new();
        let mut called: BTreeMap<String, String> = BTreeMap::new();
        for message in body.get("messages").and_then(Value::as_array).into_iter().flatten() {
            let content = message.get("content").unwrap_or(&Value::Null);
            let text = text_of(content).join("\n");
            everything.push_str(&text);
            everything.push('\n');
            let role = match message.get("role").and_then(Value::as_str) {
                Some("assistant") => Role::Assistant,
                Some("system") => Role::System,
                _ => Role::User,
            };
            if role == Role::System {
                system.push('\n');
                system.push_str(&text);
                continue;
            }
            let mut tool_results = Vec::new();
            for block in content.as_array().into_iter().flatten() {
                let field = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
                match block.get("type").and_then(Value::as_str) {
                    Some("tool_use") => {
                        called.insert(field("id"), field("name"));
                    }
                    Some("tool_result") => tool_results.push(ToolResult {
                        tool: called.get(&field("tool_use_id")).cloned().unwrap_or_default(),
                        id: field("tool_use_id"),
                        text: text_of(block.get("content").unwrap_or(&Value::Null)).join("\n"),
                        is_error: block.get("is_error").and_then(Value::as_bool).unwrap_or(false),
                    }),
                    _ => {}
                }
            }
            let prompt = match REMINDER.as_ref() {
                Some(reminder) => reminder.replace_all(&text, "").trim().to_owned(),
                None => text,
            };
            messages.push(Message { role, prompt, tool_results });
        }
        let user_id = body.pointer("/metadata/user_id").and_then(Value::as_str).unwrap_or_default();
        let session = headers
            .get("x-claude-code-session-id")
            .cloned()
            .or_else(|| SESSION.as_ref()?.captures(user_id)?.get(1).map(|id| id.as_str().to_owned()));
        let first_prompt = messages.first().map(|message| message.prompt.clone()).unwrap_or_default();
        let cwd = DIRECTORY.as_ref().and_then(|directory| {
            let groups = directory.captures(&system).or_else(|| directory.captures(&everything))?;
            Some(groups.get(1)?.as_str().to_owned())
        });
        Self {
            number,
            model: body.get("model").and_then(Value::as_str).unwrap_or_default().to_owned(),
            stream: body.get("stream").and_then(Value::as_bool).unwrap_or(false),
            tools: body
                .get("tools")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(|tool| tool.get("name")?.as_str().map(str::to_owned))
                .collect(),
            conversation: format!("{}\n{first_prompt}", session.unwrap_or_default()),
            system,
            messages,
            headers: headers.clone(),
            cwd,
        }
    }

    /// The last user message with a text of its own (the CLI joins a prompt with open tool results), and its index.
    pub(crate) fn prompt(&self) -> Option<(usize, &str)> {
        let found = self
            .messages
            .iter()
            .enumerate()
            .rev()
            .find(|(_, message)| message.role == Role::User && !message.prompt.is_empty());
        found.map(|(index, message)| (index, message.prompt.as_str()))
    }

    /// Tool results of the last message.
    pub(crate) fn last_tool_results(&self) -> &[ToolResult] {
        self.messages.last().map_or(&[], |message| &message.tool_results)
    }

    /// The variables that every request yields.
    pub(crate) fn variables(&self) -> BTreeMap<String, String> {
        let mut variables = BTreeMap::from([
            ("model".to_owned(), self.model.clone()),
            ("request".to_owned(), self.number.to_string()),
            ("prompt".to_owned(), self.prompt().map(|(_, text)| text.to_owned()).unwrap_or_default()),
        ]);
        if let Some(cwd) = &self.cwd {
            variables.insert("cwd".to_owned(), cwd.clone());
        }
        if let Some(result) = self.last_tool_results().last() {
            variables.insert("tool_result".to_owned(), result.text.clone());
        }
        variables
    }

    /// One line that names the request in errors.
    pub(crate) fn summary(&self) -> String {
        let short = |text: &str| text.chars().take(160).collect::<String>();
        let mut line = format!("request {} (model {:?}, {} messages", self.number, self.model, self.messages.len());
        if let Some((_, prompt)) = self.prompt() {
            line.push_str(&format!(", last prompt {:?}", short(prompt)));
        }
        for result in self.last_tool_results() {
            line.push_str(&format!(", result of {} {:?}", result.tool, short(&result.text)));
        }
        line.push(')');
        line
    }
}

fn text_of(content: &Value) -> Vec<&str> {
    match content {
        Value::String(text) => vec![text],
        Value::Array(blocks) => blocks.iter().filter_map(|block| block.get("text")?.as_str()).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    }
}
