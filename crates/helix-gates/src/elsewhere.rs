//! Gates judge a commit, not the user's work tree: their commands cannot read that where the sandbox holds, and what they take from it all
//! the same, or fail to take, is no judgement of the result.
//!
//! Must not judge what a command printed in any other way.

use helix_core::finding::{Fault, FaultKind};
use helix_core::run::Wall;

use super::GateContext;
use helix_git::GitError;
use helix_process::{CommandEnd, CommandRun, below, paths_in};

/// Why a command's end says nothing about the result: it names a file of the project in the user's work tree, which it could not read, or
/// may well have read where nothing keeps it from that.
pub(crate) fn reached(
    context: &GateContext,
    program: &str,
    run: &CommandRun,
    output: &str,
) -> Result<Option<Fault>, GitError> {
    let walled = run.walls.as_ref().is_some_and(|walls| walls.holds(Wall::Files));
    let names_it = context.users_tree.to_str().is_some_and(|users| output.contains(users));
    if walled && run.end == CommandEnd::Exited(0) || !names_it {
        return Ok(None);
    }
    let files = context.files()?;
    let of_project = |path: &str| {
        let inside = below(path.as_ref(), &context.users_tree)?.into_os_string().into_string().ok()?;
        let directory = format!("{inside}/");
        let next = files.range(inside.clone()..).next();
        let is_there = files.contains_key(&inside) || next.is_some_and(|(known, _)| known.starts_with(&directory));
        (!inside.is_empty() && is_there).then_some(inside)
    };
    let ranges = paths_in(output);
    let named = ranges.into_iter().find_map(|range| {
        let path = output.get(range)?.trim_end_matches('.');
        Some((path.to_owned(), of_project(path)?))
    });
    let Some((path, inside)) = named else { return Ok(None) };
    let how = if walled { "wants to read" } else { "may have read" };
    Ok(Some(Fault {
        kind: FaultKind::Environment,
        message: format!("{program} {how} {path}: this is your work tree, not the result that the gate checks"),
        hint: Some(remedy(&inside)),
        said: None,
    }))
}

/// What leads to a file in the user's work tree, by its kind.
fn remedy(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    match ending {
        "py" | "pyi" | "so" | "pyd" => "an editable install leads there: install the result itself in the gate's command (`sh -c 'pip install -q --no-deps . && pytest'`), or the package without `-e`".to_owned(),
        "js" | "mjs" | "cjs" | "ts" | "mts" | "cts" | "tsx" | "jsx" | "json" => "`npm link`, NODE_PATH or a linked package leads there: name the package by its relative path (`file:`, workspaces) and install it in the checkout (`setup = [\"npm ci\"]` under [workspace] in helix.toml)".to_owned(),
        "rs" | "toml" | "go" | "mod" | "work" | "sum" => "a dependency is named by its absolute path (`path` or `[patch]` of Cargo, `replace` or `use` of Go): name it by its path relative to the file".to_owned(),
        _ => "look for an absolute path in the configuration of the tool, in a link, or in a variable; name it relative to the repository. Data that gates need from outside of it: `readable` under [sandbox] in your own helix.toml".to_owned(),
    }
}
