//! Gates judge a commit, not the user's work tree: their commands cannot read that where the sandbox holds, and what they take from it all
//! the same, or fail to take, is no judgement of the result.
//!
//! Must not judge what a command printed in any other way.

use helix_core::finding::{Fault, FaultKind};
use helix_core::run::Wall;
use helix_core::said::Words;
use helix_language::{fault_with_hint, recorded};

use super::GateContext;
use super::adr::holds;
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
        (!inside.is_empty() && holds(&files, &inside)).then_some(inside)
    };
    let ranges = paths_in(output);
    let named = ranges.into_iter().find_map(|range| {
        let path = output.get(range)?.trim_end_matches('.');
        Some((path.to_owned(), of_project(path)?))
    });
    let Some((path, inside)) = named else { return Ok(None) };
    let message = match walled {
        true => recorded!("gate-elsewhere-wanted", program = program, path = path),
        false => recorded!("gate-elsewhere-read", program = program, path = path),
    };
    Ok(Some(fault_with_hint(FaultKind::Environment, message, remedy(&inside))))
}

/// Whether this is what [`reached`] says.
pub(crate) fn is_elsewhere(words: &Words) -> bool {
    words.says("gate-elsewhere-wanted") || words.says("gate-elsewhere-read")
}

/// What leads to a file in the user's work tree, by its kind.
fn remedy(path: &str) -> Words {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    match ending {
        "py" | "pyi" | "so" | "pyd" => recorded!("gate-elsewhere-python"),
        "js" | "mjs" | "cjs" | "ts" | "mts" | "cts" | "tsx" | "jsx" | "json" => recorded!("gate-elsewhere-node"),
        "rs" | "toml" | "go" | "mod" | "work" | "sum" => recorded!("gate-elsewhere-path"),
        _ => recorded!("gate-elsewhere-other"),
    }
}
