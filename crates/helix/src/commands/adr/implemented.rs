//! `helix adr implemented`: what a job's evidence proves is written into its decision.
//!
//! Must not tick anything that no job has proven.

use std::path::{Path, PathBuf};

use clap::Args;
use helix_adr::Status;
use helix_engine::EngineError;
use helix_job::{IntegrationTarget, JobStatus, JobView};
use helix_language::say;
use helix_project::adr_files::AdrDirectory;
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, Ended, Exit, codes};
use crate::offline::{archive, jobs, open_or_missing};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Number or file
    #[arg(value_name = "NUMBER|FILE")]
    adr: String,
    /// Job with the evidence [default: the last merged one for this ADR]
    #[arg(long, value_name = "ID")]
    job: Option<String>,
}

/// Ends with 1 when criteria are left that nothing proves.
pub(super) async fn run(context: &Context, root: &Path, arguments: &Arguments) -> Ended {
    let (id, file) = super::identified(context, &AdrDirectory::open(root)?, &arguments.adr)?;
    let no = |message: String, hint: &str| CommandError::new(Exit::No, codes::CANNOT_BE_DONE, message).hint(hint);
    let job = match &arguments.job {
        Some(job) => job.clone(),
        None => last_job(&jobs(context).await?.jobs, root, &file).ok_or_else(|| {
            let hint = "`helix run` a plan that names it as its `adr`, with the gate `criteria_covered`";
            no(format!("no merged job for {file} here"), hint)
        })?,
    };
    let journal = open_or_missing(context, &job).await?;
    let evidence = archive(context, &journal)?.decision(&job).await.map_err(|error| match error {
        EngineError::Refused { message, .. } => no(message, "choose another job with `--job`; nothing was changed"),
        other => other.into(),
    })?;
    if evidence.adr != file {
        return Err(CommandError::usage(codes::USAGE, format!("job {job} implemented {}, not {file}", evidence.adr))
            .hint("omit --job, or choose a job whose plan has this decision as its `adr`"));
    }
    if evidence.criteria.is_empty() {
        let hint = "add the gate `criteria_covered` to the plan's last phase: it checks the evidence of each criterion";
        return Err(no(format!("job {job} has verified no criteria of {file}"), hint));
    }
    let done = AdrDirectory::prove(root, &id, &evidence.criteria, evidence.approved_by.as_ref())?;
    let value = json!({
        "path": root.join(&done.path), "status": done.status.word(), "met": done.met, "open": done.open,
        "job": evidence.job, "commit": evidence.commit,
    });
    let (met, all) = (done.met.len(), done.met.len() + done.open.len());
    let (language, status) = (context.terminal.language, done.status.word());
    let (path, job, commit) = (done.path.to_string(), evidence.job.as_str(), evidence.commit.as_str());
    let text = say!(
        language,
        "adr-proved",
        file = path,
        status = status,
        met = met,
        criteria = all,
        job = job,
        commit = commit
    );
    context.terminal.answer(&value, &text)?;
    for criterion in &done.open {
        context.terminal.note(&format!("  {}", say!(language, "adr-unproved", criterion = criterion)));
    }
    if done.status == Status::Implemented {
        context.terminal.note(&say!(language, "adr-commit"));
    }
    Ok(if done.open.is_empty() { Exit::Success } else { Exit::No })
}

/// The newest job that carried this decision out in this project and is merged.
fn last_job(jobs: &[JobView], root: &Path, file: &str) -> Option<String> {
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| PathBuf::from(path));
    let here = real(root);
    let merged = |job: &&JobView| {
        job.status == JobStatus::Succeeded
            && job.reverted.is_none()
            && job.adr.as_deref() == Some(file)
            && matches!(job.integration, Some(IntegrationTarget::Branch { .. }))
            && real(Path::new(&job.project_path)) == here
    };
    jobs.iter().find(merged).map(|job| job.id.to_string())
}
