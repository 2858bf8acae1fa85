//! `helix trust`: the user's word that a project's configuration may start programs and open what it names.

use std::path::{Path, PathBuf};

use helix_language::say;
use serde_json::json;

use crate::config::{FILE_NAME, Trust, project_file, state_dir};
use crate::context::Context;
use crate::error::{CommandError, Ended, codes};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Take the trust back
    #[arg(long, conflicts_with = "list")]
    revoke: bool,
    /// List the files that you trust
    #[arg(long)]
    list: bool,
    /// helix.toml of another project [default: the nearest one here or above]
    #[arg(value_name = "FILE", conflicts_with = "list")]
    file: Option<PathBuf>,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Ended {
    let language = context.terminal.language;
    let state_dir = state_dir(&context.environment, &context.overrides)?;
    let trust = Trust::new(&context.environment, &state_dir.value);
    if arguments.list {
        let all = trust.list();
        let rows = all.iter().map(|one| [(one.path.display().to_string(), None)]);
        return context.terminal.list(&json!({ "files": all }), &say!(language, "trust-none"), ["file"], rows);
    }
    if let (true, Some(file)) = (arguments.revoke, &arguments.file) {
        return revoke(context, &trust, &context.path(file));
    }
    let found = project_file(&context.environment, arguments.file.as_deref())?.ok_or_else(|| {
        CommandError::usage(codes::NOT_FOUND, format!("there is no {FILE_NAME} of a project here or above"))
            .hint("change to the project, or name its file; your own configuration needs no trust")
    })?;
    if arguments.revoke {
        return revoke(context, &trust, &found.path);
    }
    let path = found.path.display();
    if found.keys.is_empty() {
        trust.give(&found)?;
        let text = say!(language, "trust-unneeded", path = path.to_string());
        return context.terminal.answer(&json!({ "path": found.path, "keys": [], "files": [] }), &text);
    }
    let files = trust.give(&found)?;
    let mut text = format!("{}\n", say!(language, "trust-given", path = path.to_string()));
    text.extend(
        found.keys.iter().map(|key| format!("  {}\n", say!(language, "trust-key", name = &key.name, line = key.line))),
    );
    if !files.is_empty() {
        text.push_str(&format!("{}\n", say!(language, "trust-with")));
        text.extend(files.iter().map(|file| format!("  {}\n", context.shown(file))));
    }
    text.push_str(&say!(language, "trust-again"));
    context.terminal.answer(&json!({ "path": found.path, "keys": found.keys, "files": files }), &text)
}

fn revoke(context: &Context, trust: &Trust<'_>, path: &Path) -> Ended {
    let was = trust.take_back(path)?;
    let (language, shown) = (context.terminal.language, path.display().to_string());
    let text = match was {
        true => say!(language, "trust-revoked", path = shown),
        false => say!(language, "trust-was-none", path = shown),
    };
    context.terminal.answer(&json!({ "path": path, "revoked": was }), &text)
}
