//! Comments on issues, pull requests and merge requests, written by the person's own `gh` or `glab`: they know hosts and log-ins.
//!
//! Must not know what a comment says. Nothing is kept: a comment is found again by the first line of its text.

use std::io::ErrorKind;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use helix_core::issue::{Issue, IssuePlace, is_host, is_project};
use helix_core::secrets::redact;
use helix_git::{GitEnvironment, Repository};
use serde::Deserialize;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::error::{CommandError, Exit, codes};

/// Most that a tool may take for one call.
const CALL_LIMIT: Duration = Duration::from_secs(120);
/// Most bytes of an answer that are read: all comments of one issue.
const MOST_READ: u64 = 64 << 20;
/// Remotes in the order in which `gh`, too, looks for the project that people work on.
const REMOTES: [&str; 3] = ["upstream", "github", "origin"];
/// Hosts that need no remote to be known.
const PUBLIC: [&str; 2] = ["github.com", "gitlab.com"];

/// A program that speaks with a host of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tool {
    Gh,
    Glab,
}

/// An issue at its host, and the program that reaches it.
#[derive(Debug)]
pub(crate) struct Thread {
    tool: Tool,
    host: String,
    project: String,
    kind: String,
    number: u64,
}

/// A comment that was written.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) url: String,
    /// Whether it was there before.
    pub(crate) updated: bool,
}

#[derive(Deserialize)]
struct Comment {
    id: u64,
    #[serde(default)]
    body: Option<String>,
}

impl Tool {
    fn program(self) -> &'static str {
        match self {
            Self::Gh => "gh",
            Self::Glab => "glab",
        }
    }

    fn page(self) -> &'static str {
        match self {
            Self::Gh => "https://cli.github.com",
            Self::Glab => "https://gitlab.com/gitlab-org/cli",
        }
    }

    /// What makes it work with a host.
    fn remedy(self, host: &str) -> String {
        let program = self.program();
        format!("install {program} from {} and run `{program} auth login --hostname {host}`", self.page())
    }

    /// The only one that can be meant, if that is clear without asking.
    fn certain(host: &str, kind: &str) -> Option<Self> {
        match (host, kind) {
            ("github.com", _) | (_, "pull") => Some(Self::Gh),
            ("gitlab.com", _) | (_, "merge_requests") => Some(Self::Glab),
            _ => None,
        }
    }

    /// Runs it with this input; gives its standard output, or how it ended and what it said.
    async fn call(self, arguments: &[&str], input: &str) -> Result<Vec<u8>, Failed> {
        let mut command = tokio::process::Command::new(self.program());
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        // Its answer is read by a program, whatever the person likes to see.
        command
            .env("NO_COLOR", "1")
            .env_remove("CLICOLOR_FORCE")
            .env_remove("GH_FORCE_TTY")
            .env("GH_PROMPT_DISABLED", "1");
        let mut child = command.spawn().map_err(|error| match error.kind() {
            ErrorKind::NotFound => Failed::NotInstalled,
            _ => Failed::Said { code: None, words: error.to_string() },
        })?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let write = async move {
            let Some(mut stdin) = stdin else { return };
            // One that reads nothing says why it ended.
            let _closed = stdin.write_all(input.as_bytes()).await;
        };
        let ended = async { tokio::join!(write, all(stdout), all(stderr), child.wait()) };
        let (_, output, said, status) = tokio::time::timeout(CALL_LIMIT, ended).await.map_err(|_elapsed| {
            Failed::Said { code: None, words: format!("no answer within {} s", CALL_LIMIT.as_secs()) }
        })?;
        match status {
            Ok(status) if status.success() => Ok(output),
            Ok(status) => {
                Err(Failed::Said { code: status.code(), words: redact(&String::from_utf8_lossy(&said)).into_owned() })
            }
            Err(error) => Err(Failed::Said { code: None, words: error.to_string() }),
        }
    }
}

/// Why a tool did not do what it was asked.
enum Failed {
    NotInstalled,
    Said { code: Option<i32>, words: String },
}

async fn all(stream: Option<impl tokio::io::AsyncRead + Unpin>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        // What was read until then tells more than the error.
        let _read = stream.take(MOST_READ).read_to_end(&mut bytes).await;
    }
    bytes
}

impl Thread {
    /// Where an issue is: where its URL says, else at the host of the project's remote.
    ///
    /// A URL that the plan names is one that an agent may have written: report and log-in go only to hosts that are known or that a
    /// remote names. `by_person` is what a person has named at the terminal.
    ///
    /// # Errors
    /// There is no such remote, or no program that is logged in there.
    pub(crate) async fn find(issue: &Issue, by_person: bool, repository: &str) -> Result<Self, CommandError> {
        let (host, project, kind, number) = match issue {
            Issue::Url(url) => {
                let place = url.place();
                let IssuePlace { host, project, kind, number } =
                    place.ok_or_else(|| CommandError::usage(codes::NO_ISSUE, format!("{issue} names no issue")))?;
                if !by_person && !PUBLIC.contains(&host) && !hosts(repository).await?.iter().any(|known| known == host)
                {
                    let message = format!("the issue is at {host}, which no remote of {repository} names");
                    let hint = format!("if that is right, name it yourself: --issue {issue}");
                    return Err(CommandError::usage(codes::NO_CODE_HOST, message).hint(hint));
                }
                (host.to_owned(), project.to_owned(), kind.to_owned(), number)
            }
            Issue::Number(number) => {
                let (host, project) = remote(repository).await?;
                (host, project, "issues".to_owned(), number.get())
            }
        };
        let tool = match Tool::certain(&host, &kind) {
            Some(tool) => tool,
            None => logged_in(&host).await?,
        };
        Ok(Self { tool, host, project, kind, number })
    }

    /// Its address, or that of one of its comments.
    pub(crate) fn url(&self, comment: Option<u64>) -> String {
        let Self { host, project, kind, number, .. } = self;
        let (inner, anchor) = match self.tool {
            Tool::Gh => ("", "issuecomment-"),
            Tool::Glab => ("-/", "note_"),
        };
        let comment = comment.map(|id| format!("#{anchor}{id}")).unwrap_or_default();
        format!("https://{host}/{project}/{inner}{kind}/{number}{comment}")
    }

    /// Writes the comment whose text begins with this line: the one that is there, else a new one.
    ///
    /// # Errors
    /// What the program says, with the remedy.
    pub(crate) async fn write(&self, first_line: &str, text: &str) -> Result<Written, CommandError> {
        let known = self.comments().await?.into_iter().find(|one| is_marked(one, first_line)).map(|one| one.id);
        let (method, path) = match (known, self.tool) {
            (None, _) => ("POST", self.collection()),
            (Some(id), Tool::Gh) => ("PATCH", format!("repos/{}/issues/comments/{id}", self.project)),
            (Some(id), Tool::Glab) => ("PUT", format!("{}/{id}", self.collection())),
        };
        let flags = ["--method", method, "--header", "Content-Type: application/json", "--input", "-"];
        let answer = self.api(&path, &flags, &json!({ "body": text }).to_string()).await?;
        let written: Comment = serde_json::from_slice(&answer).map_err(|error| self.unreadable(&error))?;
        Ok(Written { url: self.url(Some(written.id)), updated: known.is_some() })
    }

    /// All comments, the oldest first. Pages come as one list each, or as one list together.
    async fn comments(&self) -> Result<Vec<Comment>, CommandError> {
        let order = match self.tool {
            Tool::Gh => "",
            Tool::Glab => "&sort=asc&order_by=created_at",
        };
        let path = format!("{}?per_page=100{order}", self.collection());
        let answer = self.api(&path, &["--paginate"], "").await?;
        let pages = serde_json::Deserializer::from_slice(&answer).into_iter::<Vec<Comment>>();
        let pages: Result<Vec<_>, _> = pages.collect();
        Ok(pages.map_err(|error| self.unreadable(&error))?.into_iter().flatten().collect())
    }

    /// Path of its comments. Numbers and names were checked: no part of them means anything else there.
    fn collection(&self) -> String {
        let Self { project, kind, number, .. } = self;
        match self.tool {
            // To GitHub, pull requests are issues.
            Tool::Gh => format!("repos/{project}/issues/{number}/comments"),
            Tool::Glab => format!("projects/{}/{kind}/{number}/notes", project.replace('/', "%2F")),
        }
    }

    async fn api(&self, path: &str, flags: &[&str], input: &str) -> Result<Vec<u8>, CommandError> {
        let arguments = [&["api", "--hostname", self.host.as_str()], flags, &[path]].concat();
        self.tool.call(&arguments, input).await.map_err(|failed| self.refused(failed))
    }

    fn refused(&self, failed: Failed) -> CommandError {
        let (tool, host, url) = (self.tool.program(), &self.host, self.url(None));
        let Failed::Said { code, words } = failed else {
            let message = format!("{tool}, which posts to {host}, is not installed");
            return CommandError::environment(codes::NO_CODE_HOST, message).hint(self.tool.remedy(host));
        };
        let has = |status: &str| words.contains(&format!("HTTP {status}"));
        // 4 is gh's exit status for what needs a log-in.
        let error = if has("401") || words.contains("auth login") || (code, self.tool) == (Some(4), Tool::Gh) {
            CommandError::environment(codes::NO_CODE_HOST, format!("{tool} is not logged in to {host}"))
                .hint(format!("run `{tool} auth login --hostname {host}`"))
        } else if has("404") {
            CommandError::usage(codes::COMMENT_REFUSED, format!("there is no {url}, or your account cannot see it"))
                .hint(format!("give the right number or URL with --issue; `{tool} auth status` shows your account"))
        } else {
            CommandError::environment(codes::COMMENT_REFUSED, format!("{tool} could not comment on {url}")).hint(
                format!(
                    "fix what {tool} reports and run the command again: an existing comment is updated, not repeated"
                ),
            )
        };
        words.lines().rev().map(str::trim).find(|line| !line.is_empty()).into_iter().fold(error, CommandError::cause)
    }

    fn unreadable(&self, error: &serde_json::Error) -> CommandError {
        let tool = self.tool.program();
        CommandError::new(Exit::Environment, codes::COMMENT_REFUSED, format!("Helix cannot read the answer of {tool}"))
            .hint(format!("update {tool} and look at {}: the comment may be there", self.url(None)))
            .because(error)
    }
}

fn is_marked(comment: &Comment, first_line: &str) -> bool {
    comment.body.as_deref().and_then(|body| body.lines().next()).is_some_and(|line| line.trim_end() == first_line)
}

/// The program that is logged in to a host that may be GitHub or GitLab.
async fn logged_in(host: &str) -> Result<Tool, CommandError> {
    for tool in [Tool::Gh, Tool::Glab] {
        if tool.call(&["auth", "status", "--hostname", host], "").await.is_ok() {
            return Ok(tool);
        }
    }
    let message = format!("neither gh nor glab is logged in to {host}");
    let hint = format!("{}, or {}", Tool::Gh.remedy(host), Tool::Glab.remedy(host));
    Err(CommandError::environment(codes::NO_CODE_HOST, message).hint(hint))
}

fn refused(message: String) -> CommandError {
    CommandError::environment(codes::NO_CODE_HOST, message).hint("give the issue's URL with --issue")
}

/// Names and addresses of a repository's remotes.
async fn remotes(repository: &str) -> Result<Vec<(String, String)>, CommandError> {
    let path = repository.to_owned();
    let open = move || Repository::open(Path::new(&path), GitEnvironment::from_process()).map(|found| found.remotes());
    let read = helix_process::spawn_blocking(open).await;
    let unread =
        |error: &dyn std::error::Error| refused(format!("cannot read the remotes of {repository}")).because(error);
    let opened = read.map_err(|error| unread(&error))?.map_err(|error| unread(&error))?;
    opened.map_err(|error| unread(&error))
}

/// Hosts of a repository's remotes.
async fn hosts(repository: &str) -> Result<Vec<String>, CommandError> {
    let remotes = remotes(repository).await?;
    Ok(remotes.iter().filter_map(|(_, address)| Some(project_at(address)?.0)).collect())
}

/// Host and path of the project that a repository's remote names.
async fn remote(repository: &str) -> Result<(String, String), CommandError> {
    let remotes = remotes(repository).await?;
    let named = |name: &str| remotes.iter().find(|(known, _)| known == name);
    let (name, address) = (REMOTES.into_iter().find_map(named).or_else(|| remotes.first()))
        .ok_or_else(|| refused(format!("{repository} has no remote")))?;
    project_at(address)
        .ok_or_else(|| refused(format!("the remote {name} of {repository} names no project on GitHub or GitLab")))
}

/// Host and path of the project at the address of a remote; what else the address holds, such as a password, is left out.
fn project_at(address: &str) -> Option<(String, String)> {
    let (authority, path, has_web_port) = match address.split_once("://") {
        Some(("https" | "http", rest)) => rest.split_once('/').map(|(authority, path)| (authority, path, true))?,
        Some(("ssh" | "git" | "git+ssh", rest)) => rest.split_once('/').map(|(host, path)| (host, path, false))?,
        Some(_) => return None,
        None => address.split_once(':').map(|(host, path)| (host, path, false))?,
    };
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = if has_web_port { host } else { host.split(':').next()? };
    let host = match host {
        "ssh.github.com" => "github.com",
        "altssh.gitlab.com" => "gitlab.com",
        other => other,
    };
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    (is_host(host) && is_project(path)).then(|| (host.to_ascii_lowercase(), path.to_owned()))
}

#[cfg(test)]
#[path = "code_host_test.rs"]
mod tests;
