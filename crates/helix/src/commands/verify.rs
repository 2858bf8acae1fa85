//! `helix verify`: checks evidence that left the machine on which it was made, by itself, against a repository, and by its gates.
//!
//! Must not read the state of the job's host, nor write anything.

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;
use helix_agents::Sandbox;
use helix_core::finding::Verdict;
use helix_core::run::SandboxMode;
use helix_engine::evidence::{BundleError, EvidenceKey, PublicKey, Verified, compare, public_keys, verify};
use helix_engine::work_gates::{PhaseGates, Rerun};
use helix_language::{Language, say};
use helix_store::{kept_key, known_key};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::gates::lines;
use crate::config::workspace_of;
use crate::context::Context;
use crate::error::{CommandError, Ended, Exit, codes};
use crate::files::{open, read_text};
use crate::runtime::unless_stopped;
use crate::terminal::Meaning;

/// Largest file that is looked at, in bytes: one byte more than a bundle may have, so that the engine sees that it is too large.
const MOST: u64 = (64 << 20) + 1;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Bundle of `helix jobs evidence --bundle`; `-` for standard input
    #[arg(value_name = "FILE", required_unless_present = "public_key")]
    file: Option<PathBuf>,
    /// Key that you trust: `ssh-ed25519 AAAA…`, a file with it, or a file of allowed signers; repeat for several [default: the own key]
    #[arg(long, value_name = "KEY|FILE")]
    key: Vec<String>,
    /// Compare commits, trees and files with this repository
    #[arg(long, value_name = "DIR")]
    repo: Option<PathBuf>,
    /// Run the gates again on the result, within walls; runs what the bundle and the repository say
    #[arg(long, requires = "repo")]
    rerun: bool,
    /// Print the public key with which this state directory signs, for others to name
    #[arg(long, exclusive = true)]
    public_key: bool,
}

pub(crate) fn run(context: &Context, arguments: Arguments) -> Ended {
    let Some(file) = arguments.file else { return print_key(context) };
    let known = known(context, &arguments.key)?;
    let mut text = Vec::new();
    let unreadable = |error: std::io::Error| {
        CommandError::usage(codes::INPUT_UNREADABLE, format!("cannot read {}", file.display())).because(&error)
    };
    open(&file, "a bundle of `helix jobs evidence --bundle`")?.take(MOST).read_to_end(&mut text).map_err(unreadable)?;
    let verified = verify(&text, &known).map_err(not_verified)?;
    if let Some(repository) = &arguments.repo {
        let different = compare(&verified, &context.path(repository))?;
        if !different.is_empty() {
            let message = format!("{} is not what the bundle is about", repository.display());
            let error = CommandError::new(Exit::NotVerified, codes::BUNDLE_REPOSITORY, message);
            return Err(different
                .into_iter()
                .fold(error, CommandError::cause)
                .hint("fetch the commits that are missing, or name the repository that the job worked in"));
        }
    }
    let ran = match (&arguments.repo, arguments.rerun) {
        (Some(repository), true) => match rerun(context, &verified, repository)? {
            Some(ran) => Some(ran),
            None => return Ok(Exit::Interrupted),
        },
        _ => None,
    };
    report(context, &verified, arguments.repo.as_deref(), ran)
}

fn print_key(context: &Context) -> Ended {
    let key = own_key(context)?.public().to_string();
    context.terminal.answer(&json!({ "public_key": key }), &key)
}

/// The key that this state directory signs with, made now if there is none.
pub(super) fn own_key(context: &Context) -> Result<EvidenceKey, CommandError> {
    let path = key_file(context)?;
    let key = kept_key(&path).map_err(|error| {
        CommandError::environment(codes::BUNDLE_KEY, format!("cannot read or make the key {}", path.display()))
            .because(&error)
            .hint("check that the state directory exists and is writable; a damaged key has to be removed, and others told")
    })?;
    Ok(EvidenceKey::new(&key))
}

fn key_file(context: &Context) -> Result<PathBuf, CommandError> {
    Ok(context.settings()?.state_dir.value.join(EvidenceKey::FILE))
}

/// The keys that the caller trusts: those that are named, else the own one, if there is one.
fn known(context: &Context, named: &[String]) -> Result<Vec<PublicKey>, CommandError> {
    if named.is_empty() {
        let own = known_key(&key_file(context)?).ok();
        return Ok(own.map(|key| EvidenceKey::new(&key).public()).into_iter().collect());
    }
    let mut known = Vec::new();
    for one in named {
        let text = if one.starts_with("ssh-ed25519 ") { one.clone() } else { read_text(&context.path(one))? };
        let keys = public_keys(&text);
        if keys.is_empty() {
            return Err(CommandError::usage(codes::BUNDLE_KEY, format!("there is no Ed25519 key in {one}")).hint(
                "name a line `ssh-ed25519 AAAA…`, a file with it, or a file of allowed signers without options; \
                 `helix verify --public-key` prints the one of a state directory",
            ));
        }
        known.extend(keys);
    }
    Ok(known)
}

fn not_verified(error: BundleError) -> CommandError {
    let (code, hint) = match &error {
        BundleError::Form { .. } => {
            (codes::BUNDLE_FORM, "get the file again, unchanged, as `helix jobs evidence --bundle` wrote it".to_owned())
        }
        BundleError::Signature { .. } => {
            (codes::BUNDLE_SIGNATURE, "do not rely on it: it was changed after it was signed".to_owned())
        }
        BundleError::Unknown { .. } => (
            codes::BUNDLE_UNKNOWN_KEY,
            "get the signer's key from the signer (`helix verify --public-key` prints it there), compare, and name it by --key"
                .to_owned(),
        ),
        BundleError::Contents { helix, .. } => (
            codes::BUNDLE_CONTENTS,
            format!("do not rely on it; it was made by Helix {helix}, and this is {}: if they differ, verify it with that version",
                env!("CARGO_PKG_VERSION")),
        ),
    };
    CommandError::new(Exit::NotVerified, code, error).hint(hint)
}

/// Runs the gates again; `None` when the user interrupts.
fn rerun(context: &Context, verified: &Verified, repository: &Path) -> Result<Option<Vec<PhaseGates>>, CommandError> {
    let venv = context.active_venv().map(|path| path.to_string_lossy().into_owned());
    let evidence = verified.statement.evidence();
    let again = verified.state.active().and_then(|active| Rerun::new(active, evidence, venv));
    let Some(again) = again else {
        return Err(CommandError::usage(codes::CANNOT_BE_DONE, "the job has no integrated result to run gates on")
            .hint("verify it without --rerun"));
    };
    let workspace = workspace_of(&context.environment, &context.overrides, &context.path(repository))?;
    let again = again.prepared(&context.settings()?.state_dir.value, &workspace);
    context.terminal.say(&say!(context.terminal.language, "verify-runs"));
    for (phase, gate) in again.gates() {
        let gate = serde_json::to_string(gate).unwrap_or_else(|_| gate.name().to_owned());
        context.terminal.say(&format!("  {phase}: {gate}"));
    }
    // Nothing of others is run without walls, whatever the environment says of those around this process.
    let sandbox = Sandbox { mode: SandboxMode::Required, ..context.settings()?.sandbox(&context.environment) };
    let (directory, program) = (context.path(repository), context.environment.program.clone());
    context.block_on(async {
        let cancel = CancellationToken::new();
        unless_stopped(again.run(&directory, program, sandbox, &cancel), &cancel).await
    })
}

fn report(context: &Context, verified: &Verified, repository: Option<&Path>, ran: Option<Vec<PhaseGates>>) -> Ended {
    let (statement, terminal, language) = (&verified.statement, &context.terminal, context.terminal.language);
    let evidence = statement.evidence();
    let result = evidence.integration.as_ref().map(|done| &done.result);
    let verdicts = || ran.iter().flatten().flat_map(|phase| &phase.gates).map(|gate| &gate.verdict);
    let is_same = verdicts().all(Verdict::passed);
    let value = json!({
        "verified": is_same,
        "proved": evidence.proved,
        "lacking": evidence.lacking.iter().map(|what| Language::English.words(what)).collect::<Vec<_>>(),
        "signed_by": verified.key.to_string(),
        "made_at": statement.made_at(),
        "job": evidence.job,
        "name": evidence.name,
        "base": evidence.base,
        "commit": result.map(|result| &result.commit),
        "tree": result.map(|result| &result.tree),
        "head": statement.head(),
        "repository": repository,
        "rerun": ran,
    });
    let row = |label, text: String| format!("{:<9} {text}", say!(language, "evidence-label", label = label));
    let mut text = vec![
        format!("{} {}", terminal.paint(Meaning::Strong, &evidence.name), evidence.job),
        say!(language, "verify-signed", key = verified.key.to_string(), time = language.local(statement.made_at())),
        row("base", evidence.base.to_string()),
    ];
    text.extend(result.map(|result| {
        let (commit, tree) = (result.commit.as_str(), result.tree.as_str());
        row("result", say!(language, "evidence-result", commit = commit, tree = tree))
    }));
    text.extend(repository.map(|place| say!(language, "verify-same", place = place.display().to_string())));
    text.extend(ran.iter().flatten().flat_map(|phase| lines(terminal, phase)));
    text.extend(evidence.lacking.iter().map(|what| say!(language, "verify-lacking", what = language.words(what))));
    if ran.is_some() && verdicts().next().is_none() {
        text.push(say!(language, "verify-no-gate"));
    }
    if is_same {
        text.push(match evidence.proved {
            true => terminal.paint(Meaning::Good, &say!(language, "verify-proved")),
            false => terminal.paint(Meaning::Bad, &say!(language, "verify-unproved")),
        });
    }
    terminal.answer(&value, &text.join("\n"))?;
    if verdicts().any(|verdict| matches!(verdict, Verdict::Fail { .. })) {
        let message = "a gate does not pass any more on the result that the bundle calls proved";
        return Err(CommandError::new(Exit::NotVerified, codes::BUNDLE_RERUN, message)
            .hint("the findings are above; a test that depends on time, network or machine may be why"));
    }
    if !is_same {
        return Err(CommandError::environment(codes::BUNDLE_RERUN, "a gate could not be run again")
            .hint("install what its line above says is missing, or take a machine with working walls"));
    }
    Ok(if evidence.proved { Exit::Success } else { Exit::NotProved })
}
