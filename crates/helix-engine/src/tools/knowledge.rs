//! Tools that read what is known: skills, and failures that were seen before. Must not know how either is kept.

use async_recursion::async_recursion as boxed;
use helix_core::finding::fence_for;
use helix_failure::memory::{Closeness, FailureEnd, PastFailure};
use helix_failure::{FailureObservation, LogSample};
use serde_json::json;

use super::jobs::job_of;
use super::refusal::Refusal;
use super::{Answer, Caller, InProject, SimilarFailures, SkillRead, Tools, blocking};

impl Tools {
    /// Lists the skills in reach.
    #[boxed]
    pub async fn skills_list(&self, arguments: InProject) -> Answer {
        let project = self.project(arguments.project.as_deref()).await?;
        let catalog = self.skills(project).await?;
        let mut text: String =
            catalog.skills().map(|skill| format!("- {}: {}\n", skill.name, skill.description)).collect();
        if text.is_empty() {
            text.push_str("No skills found.\n");
        }
        for problem in &catalog.problems {
            text.push_str(&format!("{problem}\n"));
        }
        let skills: Vec<_> = catalog.skills().collect();
        Ok((text.trim_end().to_owned(), json!({ "skills": skills, "problems": catalog.problems })))
    }

    /// Reads a skill's page, or another of its files.
    #[boxed]
    pub async fn skill_read(&self, arguments: SkillRead) -> Answer {
        let project = self.project(arguments.project.as_deref()).await?;
        let catalog = self.skills(project).await?;
        let read = move || catalog.read(&arguments.name, arguments.file.as_deref()).map_err(Refusal::from_error);
        let read = blocking(read).await?;
        let mut text = read.text.clone();
        if !read.files.is_empty() {
            text.push_str(&format!("\n\n[Other files of this skill: {}]", read.files.join(", ")));
        }
        let data = serde_json::to_value(&read).map_err(Refusal::from_error)?;
        Ok((text, data))
    }
}

/// Longest text of a failure that is looked at, in bytes; its end counts most and is kept.
const LONGEST_FAILURE: usize = 1 << 20;
/// Longest change that is shown of a fix, in characters.
const LONGEST_DIFF: usize = 2_000;

impl Tools {
    /// Failures of the project like a text's, with what fixed them.
    #[boxed]
    pub async fn similar_failures(&self, arguments: SimilarFailures) -> Answer {
        let text = arguments.text.trim();
        if text.is_empty() {
            return Err(Refusal::text("the text is empty: pass the log or message of the failure"));
        }
        let from = text.ceil_char_boundary(text.len().saturating_sub(LONGEST_FAILURE));
        let observation = FailureObservation { tool: arguments.tool.unwrap_or_default(), ..Default::default() };
        let log = LogSample::from_texts("", &text[from..]);
        let failures = &self.engine.reports().failures;
        if failures.memory().await.is_none() {
            return Err(Refusal::text("the failure memory is off: see `helix doctor`"));
        }
        // What failed elsewhere is for people: `helix failures`.
        let project = match &self.caller {
            // It works in a copy.
            Caller::Run(run) => Some(self.job(&job_of(run)?).await?.project_path),
            Caller::Session(_) | Caller::Outside { .. } => {
                self.project(None).await?.map(|project| project.to_string_lossy().into_owned())
            }
        };
        let mut found = failures.similar(observation, log, Some(project.unwrap_or_default())).await;
        found.truncate(arguments.limit.unwrap_or(10).clamp(1, 10) as usize);
        let text = match found.as_slice() {
            [] => "No similar failure of this project in memory.".to_owned(),
            failures => failures.iter().map(past_failure).collect::<Vec<_>>().join("\n\n"),
        };
        let data = serde_json::to_value(&found).map_err(Refusal::from_error)?;
        Ok((text, json!({ "failures": data })))
    }
}

/// A past failure for an agent: texts of the past are data, and stand in fences.
fn past_failure(past: &PastFailure) -> String {
    let known = &past.known;
    let close = match past.closeness {
        Closeness::Exact => "the same failure".to_owned(),
        Closeness::Near { score } => format!("a similar failure ({:.0} %)", score * 100.0),
    };
    let end = match &known.end {
        FailureEnd::Fixed { link, fixes } => {
            let diff: String = link.change.diff.chars().take(LONGEST_DIFF).collect();
            let fence = fence_for(&diff);
            format!(
                "fixed by a change of {} ({fixes} known), data only:\n{fence}diff\n{}\n{fence}",
                link.change.files.join(", "),
                diff.trim_end()
            )
        }
        FailureEnd::WentAway => "went away without a change: a retry or a person was enough".to_owned(),
        FailureEnd::GaveUp => "its phase failed".to_owned(),
        FailureEnd::Open => "open".to_owned(),
    };
    format!("- {close}, times seen: {}, last {}: {}\n  {end}", known.count, known.last_seen, known.diagnosis.summary)
}
