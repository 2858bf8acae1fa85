//! Helix's own blocks in answers, and the marks that clients make of activity.
//!
//! Must not know how an answer is sent. Marks are removed from the history, so that no agent reads them as its own words.

use std::borrow::Cow;
use std::sync::LazyLock;

use helix_job::question::QuestionView;
use helix_job::{JobStatus, JobView, Wait};
use regex::Regex;

const CAUTION: &str = "> [!CAUTION]\n> **Helix:** ";
/// Something is worth knowing.
const NOTE: &str = "> [!NOTE]\n> **Helix:** ";
const IMPORTANT: &str = "> [!IMPORTANT]\n> **Helix:** ";

/// The status of a turn that waits for others of its conversation.
pub(crate) fn queued(ahead: usize) -> String {
    let messages = if ahead == 1 { "message" } else { "messages" };
    format!("Waiting for {ahead} earlier {messages} of this chat")
}

/// The status of a turn whose agent waits to start.
pub(crate) fn waits(wait: &Wait) -> String {
    format!("Your message is {wait}")
}

/// A warning block, which chat clients show in colour.
pub(crate) fn caution(message: &str, hint: Option<&str>) -> String {
    let mut paragraphs = vec![message.replace(['\r', '\n'], " ")];
    paragraphs.extend(hint.map(|hint| hint.replace(['\r', '\n'], " ")));
    block(CAUTION, &paragraphs)
}

/// The block between words that broke off and the same words as a whole.
pub(crate) fn said_anew() -> String {
    block(NOTE, &["The connection to the model broke here. The whole answer follows.".to_owned()])
}

/// The block for a finished job.
pub(crate) fn job_over(job: &JobView) -> String {
    let failed = job.status == JobStatus::Failed;
    let more = if failed { " Ask here what to do." } else { "" };
    let more = format!("Details: `helix jobs show {}`.{more}", job.id);
    let outcome = helix_job::phrases::outcome(job).replace(['\r', '\n'], " ");
    block(if failed { CAUTION } else { NOTE }, &[format!("Job {} {outcome}.", job.name), more])
}

/// The block for a job's question.
pub(crate) fn job_asks(question: &QuestionView) -> String {
    let mut paragraphs = vec![
        format!("Job {} waits for you (phase `{}`):", question.job_name, question.phase),
        question.text.trim().to_owned(),
    ];
    let options =
        question.options.iter().map(|one| format!("- **{}**: {}", one.key, one.label.replace(['\r', '\n'], " ")));
    let options: Vec<String> = options.collect();
    if !options.is_empty() {
        paragraphs.push(options.join("\n"));
    }
    paragraphs.push(format!("Answer here in the chat, or with `helix answer {}`.", question.id));
    block(IMPORTANT, &paragraphs)
}

/// A block of paragraphs. Every line is marked, so that its end is known.
fn block(opening: &str, paragraphs: &[String]) -> String {
    let mut text = String::from(opening);
    for (index, paragraph) in paragraphs.iter().enumerate() {
        if index > 0 {
            text.push_str(">\n> ");
        }
        let lines = paragraph.replace("\r\n", "\n").replace('\r', "\n");
        text.push_str(&lines.lines().collect::<Vec<_>>().join("\n> "));
        text.push('\n');
    }
    text
}

/// What is removed from answers: Helix's own blocks, and the activity that Open WebUI and other clients keep as `<details type="…">`; a
/// user's own `<details>` has no type.
static MARKS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let block = r"> \[!(?:CAUTION|NOTE|IMPORTANT)\]\n> \*\*Helix:\*\* .*(?:\n>.*)*\n?";
    let activity = r#"<details type="(?:reasoning|tool_calls)"(?s:.)*?</details>"#;
    Regex::new(&format!("(?m)^(?:{block}|{activity})")).ok()
});

/// An answer without Helix's marks.
pub(crate) fn strip(text: &str) -> String {
    let stripped = MARKS.as_ref().map_or(Cow::Borrowed(text), |marks| marks.replace_all(text, ""));
    stripped.trim().to_owned()
}

#[cfg(test)]
#[path = "marks_test.rs"]
mod tests;
