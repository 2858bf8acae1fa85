//! Jobs by the names that people use: `12` or `#12`, `last`, the name of a plan, an id or its beginning.
//!
//! Must not know what is done with the job.

use clap::Args;
use helix_job::JobView;
use jiff::Timestamp;

use crate::context::Context;
use crate::error::{CommandError, Ended, codes};
use crate::offline::{jobs, numbers};

/// Stands for the newest job: of the repository that one is in, else of all.
const LAST: &str = "last";

/// The argument that names a job.
pub(crate) const ARGUMENT: &str = "job";

/// Most jobs that a shell offers.
const MOST_COMPLETED: usize = 50;

#[derive(Debug, Args)]
pub(crate) struct Id {
    /// Job number, `last`, name of a plan, job id or a unique prefix
    #[arg(id = ARGUMENT, value_name = "ID")]
    id: String,
}

/// Prints what people call the jobs, the newest first, one in a line: for completion.
pub(crate) async fn print(context: &Context) -> Ended {
    let page = jobs(context).await?;
    let numbers = numbers(&page);
    let mut names: Vec<String> = vec![LAST.to_owned()];
    for job in page.jobs.iter().take(MOST_COMPLETED) {
        names.extend(numbers.get(&job.id).map(ToString::to_string));
        let is_word = job.name.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.'));
        if is_word && !names.contains(&job.name) {
            names.push(job.name.clone());
        }
    }
    if page.jobs.is_empty() {
        names.clear();
    }
    context.terminal.raw(&names.iter().map(|name| format!("{name}\n")).collect::<String>())
}

impl Id {
    /// The id that is meant.
    pub(crate) async fn named(&self, context: &Context) -> Result<String, CommandError> {
        job_id(context, &self.id).await
    }
}

/// The id that a person means; what is no name stays as it is.
///
/// # Errors
/// There is no job of this number, or several of this name.
pub(crate) async fn job_id(context: &Context, said: &str) -> Result<String, CommandError> {
    let page = jobs(context).await?;
    let numbers = numbers(&page);
    let known: Vec<_> = page.jobs.into_iter().filter_map(|job| Some((*numbers.get(&job.id)?, job))).collect();
    let place = &context.environment.directory;
    choose(
        &known,
        said,
        |job| place.starts_with(&job.project_path),
        |job| context.terminal.language.ago(job.created_at, Timestamp::now()),
    )
}

fn choose(
    known: &[(usize, JobView)],
    said: &str,
    is_here: impl Fn(&JobView) -> bool,
    when: impl Fn(&JobView) -> String,
) -> Result<String, CommandError> {
    if said == LAST {
        let newest = known.iter().find(|(_, job)| is_here(job)).or_else(|| known.first());
        return newest.map(|(_, job)| job.id.to_string()).ok_or_else(|| missing("there are no jobs yet".to_owned()));
    }
    let number = said.strip_prefix('#').unwrap_or(said);
    if !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit()) {
        let found = known.iter().find(|(own, _)| own.to_string() == number);
        return found.map(|(_, job)| job.id.to_string()).ok_or_else(|| missing(format!("there is no job {number}")));
    }
    if known.iter().any(|(_, job)| job.id.as_str().starts_with(said)) {
        return Ok(said.to_owned());
    }
    let named: Vec<_> = known.iter().filter(|(_, job)| job.name == said).collect();
    match named.as_slice() {
        [] => Ok(said.to_owned()),
        [(_, only)] => Ok(only.id.to_string()),
        several => {
            let all: Vec<String> =
                several.iter().take(9).map(|(number, job)| format!("{number} ({})", when(job))).collect();
            let error = CommandError::usage(codes::NOT_FOUND, format!("{} jobs are named {said:?}", several.len()));
            Err(error.hint(format!("name one by its number, newest first: {}", all.join(", "))))
        }
    }
}

fn missing(message: String) -> CommandError {
    CommandError::usage(codes::NOT_FOUND, message).hint("`helix jobs list` shows all jobs with their numbers")
}

#[cfg(test)]
#[path = "job_names_test.rs"]
mod tests;
