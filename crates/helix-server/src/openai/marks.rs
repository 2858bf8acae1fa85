//! Helix's own blocks in answers, and the marks that clients make of activity.
//!
//! Must not know how an answer is sent. Marks are removed from the history, so that no agent reads them as its own words.

use helix_job::question::QuestionView;
use helix_job::{JobStatus, JobView, Wait};

const CAUTION: &str = "> [!CAUTION]\n> **Helix:** ";
/// Something is worth knowing.
const NOTE: &str = "> [!NOTE]\n> **Helix:** ";
const IMPORTANT: &str = "> [!IMPORTANT]\n> **Helix:** ";
/// How Helix's blocks begin; only these are removed.
const OPENINGS: [&str; 3] = [CAUTION, NOTE, IMPORTANT];

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

/// An answer without Helix's marks.
pub(crate) fn strip(text: &str) -> String {
    let text = strip_blocks(text);
    let text = strip_details(&text);
    text.trim().to_owned()
}

fn strip_blocks(text: &str) -> String {
    let length = |rest: &str| {
        let begins = OPENINGS.iter().any(|opening| rest.starts_with(opening));
        let lines = || rest.split_inclusive('\n').take_while(|line| line.starts_with('>'));
        begins.then(|| lines().map(str::len).sum())
    };
    without(text, "> [!", length)
}

/// A text without the pieces that start a line with `sign` and have a `length`. Linear in the text.
fn without(text: &str, sign: &str, length: impl Fn(&str) -> Option<usize>) -> String {
    let mut kept = String::with_capacity(text.len());
    let (mut copied, mut from) = (0, 0);
    while let Some(found) = text[from..].find(sign) {
        let at = from + found;
        let begins_line = at == 0 || text.as_bytes()[at - 1] == b'\n';
        match begins_line.then(|| length(&text[at..])).flatten() {
            Some(length) => {
                kept.push_str(&text[copied..at]);
                (copied, from) = (at + length, at + length);
            }
            None => from = at + sign.len(),
        }
    }
    kept.push_str(&text[copied..]);
    kept
}

/// Open WebUI and other clients keep activity as `<details type="…">` blocks; a user's own `<details>` has no type.
fn strip_details(text: &str) -> String {
    const OPENINGS: [&str; 2] = ["<details type=\"reasoning\"", "<details type=\"tool_calls\""];
    const CLOSING: &str = "</details>";
    // Where the last one ends: beyond it nothing is closed, and nothing need be looked for.
    let Some(last) = text.rfind(CLOSING) else { return text.to_owned() };
    let (closed, rest) = text.split_at(last + CLOSING.len());
    let length = |rest: &str| {
        let begins = OPENINGS.iter().any(|opening| rest.starts_with(opening));
        begins.then(|| rest.find(CLOSING).map(|end| end + CLOSING.len())).flatten()
    };
    let mut kept = without(closed, "<details type=", length);
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_marks_go_and_everything_else_stays() {
        let block = caution("the provider\nrefuses", Some("wait until 14:00"));
        assert_eq!(block, "> [!CAUTION]\n> **Helix:** the provider refuses\n>\n> wait until 14:00\n");
        assert_eq!(strip(&format!("Half an answer\n\n{block}")), "Half an answer");
        assert_eq!(strip(&format!("{block}\nand on")), "and on");
        let foreign = "> [!CAUTION]\n> mind the gap\n\n<details><summary>log</summary>x</details>";
        assert_eq!(strip(foreign), foreign);
    }

    #[test]
    fn what_helix_says_of_jobs_goes_too() {
        let question: QuestionView = serde_json::from_value(serde_json::json!({
            "id": "j1.page.1", "job": "j1", "job_name": "pages", "phase": "page", "kind": "approval", "status": "open",
            "text": "May it begin?\n\n- first\n> second", "options": [{ "key": "approve", "label": "yes" }],
            "free_text": true, "asked_at": "2026-01-01T00:00:00Z", "expires_at": null,
        }))
        .unwrap();
        let block = job_asks(&question);
        insta::assert_snapshot!(block, @r"
        > [!IMPORTANT]
        > **Helix:** Job pages waits for you (phase `page`):
        >
        > May it begin?
        > 
        > - first
        > > second
        >
        > - **approve**: yes
        >
        > Answer here in the chat, or with `helix answer j1.page.1`.
        ");
        assert_eq!(strip(&format!("It runs.\n\n{block}\n\n{block}")), "It runs.");
    }

    #[test]
    fn marks_without_end_are_read_in_one_pass() {
        // Each of these made an earlier form look through all that follows.
        for piece in ["<details type=\"reasoning\">x\n", "> [!CAUTION]\n", "\n<details type=\"tool_calls\"</details>"] {
            let text = piece.repeat(4_000_000 / piece.len());
            let began = std::time::Instant::now();
            strip(&text);
            assert!(began.elapsed() < std::time::Duration::from_secs(5), "{piece:?} took {:?}", began.elapsed());
        }
    }

    #[test]
    fn activity_that_clients_send_back_goes() {
        let text = "<details type=\"reasoning\" done=\"true\">\nhm\n</details>\nYes.\n<details type=\"tool_calls\" name=\"x\">y</details>\nNo.";
        assert_eq!(strip(text), "Yes.\n\nNo.");
        let open = "<details type=\"reasoning\" done=\"false\">hm";
        assert_eq!(strip(open), open);
    }
}
