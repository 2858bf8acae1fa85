//! `helix jobs report`: a job's report as Markdown, and as one comment on the issue that the job is for.
//!
//! Must not know how a comment reaches its host.

use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use clap::Args;
use helix_core::issue::Issue;
use helix_core::text::short_commit;
use helix_engine::observer::{JobReport, last_reports};
use helix_failure::report::quoted;
use helix_job::phrases::{self, Sign, open_questions};
use helix_job::{IntegrationTarget, JobView, PhaseStatus, PhaseView};
use helix_language::{Language, say};
use serde_json::json;

use crate::code_host::Thread;
use crate::commands::job_names::Id;
use crate::context::Context;
use crate::error::{CommandError, Ended, WRITABLE, codes};
use crate::offline::job;
use crate::terminal::{duration, money};
use crate::watch::reports_of;

/// Most bytes of a comment. GitHub refuses more than 65,536 characters ("Body is too long (maximum is 65536 characters)"), GitLab
/// more than 1,000,000; nobody reads more than that in one comment anyway.
const LONGEST: usize = 65_536;

/// Arguments of `helix jobs report`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    job: Id,
    /// Post it with your gh or glab as a comment on the job's issue; later calls update the comment
    #[arg(long)]
    post: bool,
    /// Show the comment and where it would be posted; post nothing
    #[arg(long, requires = "post")]
    dry_run: bool,
    /// Issue, pull request or merge request to post to: number or URL [default: the job's]
    #[arg(long, value_name = "N|URL", requires = "post")]
    issue: Option<Issue>,
}

pub(super) async fn report(context: &Context, arguments: Arguments) -> Ended {
    let mut view = job(context, &arguments.job.named(context).await?).await?;
    let by_person = arguments.issue.is_some();
    view.issue = arguments.issue.or(view.issue);
    let reports = reports_of(context, &view).await?;
    let parts = parts(&view, &last_reports(&view, &reports));
    if !arguments.post {
        let text = parts.concat();
        let value = json!({ "job": view.id, "issue": view.issue, "markdown": text });
        return context.terminal.answer(&value, text.trim_end());
    }
    let issue = view.issue.as_ref().ok_or_else(|| {
        CommandError::usage(codes::NO_ISSUE, format!("job {} names no issue", view.id))
            .hint("give its number or URL with --issue; a plan names it with `issue: 17`")
    })?;
    let thread = Thread::find(issue, by_person, &view.project_path).await?;
    let text = fitted(&parts, &view);
    if arguments.dry_run {
        let url = thread.url(None);
        context.terminal.note(&say!(context.terminal.language, "comment-shown", url = &url));
        return context.terminal.answer(&json!({ "job": view.id, "issue": url, "markdown": text }), text.trim_end());
    }
    let _alone = alone(&context.settings()?.state_dir.value).await?;
    let written = thread.write(&marker(&view), &text).await?;
    let text = match written.updated {
        true => say!(context.terminal.language, "comment-updated", url = &written.url),
        false => say!(context.terminal.language, "comment-posted", url = &written.url),
    };
    let value = json!({ "job": view.id, "url": written.url, "updated": written.updated });
    context.terminal.answer(&value, &text)
}

/// Waits until no other process of this state directory posts: both would find no comment yet. A process that dies lets go.
async fn alone(state_dir: &Path) -> Result<std::fs::File, CommandError> {
    let path = state_dir.join("comment.lock");
    let lock = move || {
        let file = std::fs::File::options().create(true).append(true).mode(0o600).open(path)?;
        file.lock().map(|()| file)
    };
    let locked = tokio::task::spawn_blocking(lock).await.map_err(std::io::Error::other).flatten();
    locked.map_err(|error| {
        CommandError::environment(codes::OUTPUT_UNWRITABLE, "cannot lock comment.lock in the state directory")
            .hint(WRITABLE)
            .because(&error)
    })
}

/// The line by which the comment is found again, from any machine. Markdown does not show it.
fn marker(view: &JobView) -> String {
    format!("<!-- helix-job: {} -->", view.id)
}

/// The report in parts that can be left out, the most important first. All text from outside is redacted and stands in code spans.
fn parts(view: &JobView, reports: &[&JobReport]) -> Vec<String> {
    let sign = Sign::from(view.status);
    let mut head = format!(
        "{}\n## Helix: {} {} {}\n\n- **Job:** `{}`, {}, {}\n",
        marker(view),
        quoted(&view.name),
        sign.symbol(),
        view.status.word(),
        view.id,
        duration(view.duration_seconds),
        money(view.cost)
    );
    let mut row = |name: &str, value: String| head.push_str(&format!("- **{name}:** {value}\n"));
    match &view.issue {
        Some(issue @ Issue::Number(_)) => row("For", issue.to_string()),
        Some(issue @ Issue::Url(_)) => row("For", quoted(&issue.to_string())),
        None => {}
    }
    let commit = view.commit.as_ref().map_or("", |commit| short_commit(commit.as_str()));
    match &view.integration {
        Some(IntegrationTarget::Branch { branch }) => {
            row("Result", format!("commit `{commit}`, merged into {}", quoted(branch)));
        }
        Some(IntegrationTarget::Beside { branch, why, .. }) => {
            row("Result", format!("commit `{commit}` on branch {}, not merged: {}", quoted(branch), quoted(why)));
        }
        Some(IntegrationTarget::Nowhere) => row("Result", "nothing changed".to_owned()),
        None => {}
    }
    if let Some(error) = &view.error {
        row("Why", quoted(&error.message));
    }
    for (phase, one) in view.phases.iter().flat_map(|phase| phase.accepted.iter().map(move |one| (phase, one))) {
        let by = quoted(&phrases::person(Language::English, &one.by));
        let (gate, why) = (quoted(&one.name), quoted(&one.reason));
        row("Not proved", format!("{by} accepted `{}` although gate {gate} did not pass: {why}", phase.id));
    }
    let questions = open_questions(view).map(|one| format!("- **Waits for an answer:** {}\n", quoted(&one.text)));
    let phases = view.phases.iter().map(phase_line);
    let reports = reports.iter().map(|report| format!("\n{}", report.markdown()));
    let heading = "\n### Phases\n\n".to_owned();
    std::iter::once(head).chain(questions).chain([heading]).chain(phases).chain(reports).collect()
}

fn phase_line(phase: &PhaseView) -> String {
    let gates =
        phase.gates.iter().map(|gate| format!(", {} {}", Sign::from(&gate.verdict).symbol(), quoted(&gate.gate)));
    let (sign, gates) = (Sign::from(phase.status), gates.collect::<String>());
    let why = phase.error.as_ref().filter(|_| phase.status == PhaseStatus::Skipped);
    let why = why.map(|error| format!(": {}", quoted(&error.message))).unwrap_or_default();
    format!("- {} `{}`: {}, attempt {}{gates}{why}\n", sign.symbol(), phase.id, phase.status.word(), phase.attempt)
}

/// The parts that fit into one comment, and where the others are.
fn fitted(parts: &[String], view: &JobView) -> String {
    let note = |left: usize| {
        format!(
            "\n_Shortened: {left} more parts do not fit into a comment. The whole report: `helix jobs report {}`_\n",
            view.id
        )
    };
    let room = LONGEST.saturating_sub(note(parts.len()).len());
    let (mut text, mut left) = (String::new(), 0);
    for part in parts {
        if text.len() + part.len() <= room {
            text.push_str(part);
        } else {
            left += 1;
        }
    }
    if left > 0 {
        text.push_str(&note(left));
    }
    text
}

#[cfg(test)]
#[path = "report_test.rs"]
mod tests;
