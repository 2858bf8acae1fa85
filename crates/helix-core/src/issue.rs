//! The issue, pull request or merge request that some work is for: its number, or its URL.
//!
//! Must not know how it is reached.

use std::num::NonZeroU64;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::{FieldReader, FromNode, Node, Value};

/// What is accepted, for messages.
const FORM: &str = "the number of an issue, such as 17, or the URL of an issue, pull request or merge request";

/// An issue: by its number where the repository says which tracker, or by its URL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "the issue must be its number, such as 17, or the URL of an issue, pull request or merge request"
)]
pub enum Issue {
    /// Its number.
    Number(NonZeroU64),
    /// Its URL.
    Url(IssueUrl),
}

crate::text_id! {
    /// The URL of an issue, pull request or merge request on GitHub or GitLab.
    IssueUrl, "issue", is_issue_url, "write it as https://HOST/PROJECT/issues/NUMBER (or pull, -/issues, -/merge_requests)";
}

/// Where a URL says that an issue is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IssuePlace<'a> {
    /// Name of the host, with its port where the URL has one.
    pub host: &'a str,
    /// Path of the project there, such as `owner/name` or `group/subgroup/name`.
    pub project: &'a str,
    /// The collection that it is in: `issues`, `pull` or `merge_requests`.
    pub kind: &'a str,
    /// Its number there.
    pub number: u64,
}

impl IssueUrl {
    /// The parts of the URL; what stands after the number is left out.
    pub fn place(&self) -> Option<IssuePlace<'_>> {
        place(self.as_str())
    }
}

fn is_issue_url(text: &str) -> bool {
    place(text).is_some()
}

fn place(url: &str) -> Option<IssuePlace<'_>> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    let path = rest.split(['?', '#']).next()?;
    let (host, path) = path.split_once('/')?;
    let (project, kind, number) = ["issues", "pull", "merge_requests", "work_items"].iter().find_map(|kind| {
        let (project, rest) = path.rsplit_once(&format!("/{kind}/"))?;
        Some((project, *kind, rest.split('/').next()?.parse::<NonZeroU64>().ok()?.get()))
    })?;
    let project = project.strip_suffix("/-").unwrap_or(project);
    let good = url.len() <= 1024 && url.bytes().all(|byte| byte.is_ascii_graphic());
    let kind = if kind == "work_items" { "issues" } else { kind };
    (good && is_host(host) && is_project(project)).then_some(IssuePlace { host, project, kind, number })
}

/// Whether this is the name of a host, perhaps with a port.
pub fn is_host(text: &str) -> bool {
    let (name, port) = text.split_once(':').unwrap_or((text, "0"));
    let word = |part: &str| {
        !part.is_empty() && !part.starts_with('-') && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    name.split('.').all(word) && port.parse::<u16>().is_ok()
}

/// Whether this is the path of a project: at least two names.
pub fn is_project(text: &str) -> bool {
    let name = |part: &str| {
        let safe = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'+');
        !part.is_empty() && part != "." && part != ".." && part.bytes().all(safe)
    };
    text.contains('/') && text.split('/').all(name)
}

impl FromStr for Issue {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(number) = text.strip_prefix('#').unwrap_or(text).parse() {
            return Ok(Self::Number(number));
        }
        IssueUrl::new(text).map(Self::Url).map_err(|_invalid| format!("it must be {FORM}"))
    }
}

/// As reports name it: `#17`, or the URL.
impl std::fmt::Display for Issue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => write!(f, "#{number}"),
            Self::Url(url) => write!(f, "{url}"),
        }
    }
}

impl FromNode for Issue {
    type Value = Self;

    fn from_node(node: &Node, what: &str, reader: &mut FieldReader<'_>) -> Option<Self> {
        let written = match &node.value {
            Value::Scalar(written) => written.text.parse().ok(),
            Value::Sequence(_) | Value::Mapping(_) => None,
        };
        if written.is_none() {
            reader.wrong_type(node, what, FORM, None);
        }
        written
    }
}

#[cfg(test)]
#[path = "issue_test.rs"]
mod tests;
