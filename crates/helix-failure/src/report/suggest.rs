//! What to suggest: from what fixed it before, from the cause, from the phase; two to four, and two without the memory's.
//!
//! Must not know how suggestions are measured; the recorder may hold back what comes from the memory.

use std::sync::LazyLock;

use helix_core::said::of_job;
use regex::Regex;

use super::place::FailurePlace;
use crate::advice::actions;
use crate::classify::Classified;
use crate::log::LogSample;
use crate::memory::{Closeness, FailureEnd, PastFailure, SuggestionDraft, SuggestionSource};
use crate::observation::FailureObservation;
use crate::plain::plain_text;
use crate::verdict::{Blame, RetryAdvice};

pub const FEWEST_ACTIONS: usize = 2;
pub const MOST_ACTIONS: usize = 4;
/// What comes from the memory, at most: enough room stays for two others, in case these are held back.
const MOST_PAST: usize = MOST_ACTIONS - FEWEST_ACTIONS;
/// How the step begins that runs the failed test by itself.
const THAT_TEST: &str = "run that test alone";
/// Lines of a log's end in which the name of the failed test is looked for.
const NAMES: usize = 400;

/// Two to four suggestions, most useful first; at least two of them do not come from the memory. No text stands twice.
pub fn suggest(
    observation: &FailureObservation,
    classified: &Classified,
    log: &LogSample,
    place: &FailurePlace,
    similar: &[PastFailure],
) -> Vec<SuggestionDraft> {
    let mut drafts: Vec<SuggestionDraft> = Vec::new();
    let mut add = |text: String, source: SuggestionSource| {
        let text = place.job.as_ref().map_or_else(|| text.clone(), |job| of_job(&text, job));
        let is_said = |draft: &SuggestionDraft| draft.text.ends_with(text.trim_start_matches("then run "));
        if !text.is_empty() && !drafts.iter().any(is_said) && drafts.len() < MOST_ACTIONS {
            drafts.push(SuggestionDraft { text, source });
        }
    };
    for past in similar.iter().filter(|past| past_step(past).is_some()).take(MOST_PAST) {
        let source = SuggestionSource::PastFix { fingerprint: past.known.diagnosis.fingerprint.clone() };
        add(past_step(past).unwrap_or_default(), source);
    }
    // Helix's own diagnostics say how to fix what they refuse.
    add(own_hint(log, classified).unwrap_or_else(|| observation.remedy.clone()), SuggestionSource::Cause);
    let mut of_cause = actions(&observation.tool, classified).into_iter();
    add(of_cause.next().unwrap_or_default(), SuggestionSource::Cause);
    // The failed test alone is the shortest way to see whether a change helped.
    let alone = failed_test(&observation.tool, log);
    add(alone.clone().unwrap_or_default(), SuggestionSource::Phase);
    add(of_phase(classified, place).unwrap_or_default(), SuggestionSource::Phase);
    // What is said with the test's name need not be said without.
    for step in of_cause.filter(|step| alone.is_none() || !step.starts_with(THAT_TEST)) {
        add(step, SuggestionSource::Cause);
    }
    drafts
}

/// What Helix's own diagnostic that names the cause says to do about it: the line after it.
fn own_hint(log: &LogSample, classified: &Classified) -> Option<String> {
    let decided = &classified.evidence.decided_by;
    let own = decided.starts_with("rule:helix.") || decided.starts_with("fact:check=");
    let cause = classified.cause_line.as_ref().filter(|_| own)?;
    let next = log.lines.iter().find(|line| line.stream == cause.stream && line.number == cause.number + 1)?;
    let hint = plain_text(&next.raw);
    let hint = hint.trim();
    let hint = hint.strip_prefix("hint: ").or_else(|| hint.strip_prefix("How to fix: "))?;
    Some(hint.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// What the end of a past failure teaches; nothing if it was given up or its end is not known.
fn past_step(past: &PastFailure) -> Option<String> {
    let (which, it) = match past.closeness {
        Closeness::Exact => ("this failure", "it"),
        Closeness::Near { score: _ } => ("a similar failure", "that one"),
    };
    match &past.known.end {
        FailureEnd::Fixed { link, fixes: _ } => {
            let files: Vec<String> =
                link.change.files.iter().filter(|file| is_path(file)).take(3).map(|file| format!("`{file}`")).collect();
            let more = link.change.files.len().saturating_sub(files.len());
            let what = match (files.as_slice(), more) {
                ([], _) => "a change".to_owned(),
                (files, 0) => format!("a change of {}", files.join(", ")),
                (files, more) => format!("a change of {} and {more} more", files.join(", ")),
            };
            let commit = link.change.commit.as_ref().and_then(|commit| commit.as_str().get(..12));
            let commit = commit.map(|commit| format!(" (commit `{commit}`)")).unwrap_or_default();
            Some(format!("{which} was gone after {what}{commit}: check whether the same change fixes {it} here"))
        }
        FailureEnd::WentAway => Some(format!(
            "retry as is first: {which} went away without a change before (seen {} times)",
            past.known.count
        )),
        FailureEnd::GaveUp | FailureEnd::Open => None,
    }
}

fn is_path(file: &str) -> bool {
    file.len() <= 120 && file.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '@' | '+'))
}

/// How to run the test that failed alone, where the log names it in its runner's form.
fn failed_test(tool: &str, log: &LogSample) -> Option<String> {
    let lines = log.lines.iter().rev().take(NAMES).collect::<Vec<_>>();
    for (tools, form, command) in TESTS.iter() {
        if !tool.is_empty() && !tools.contains(&tool) {
            continue;
        }
        // Oldest first: later failures are often consequences.
        let name = lines.iter().rev().find_map(|line| {
            let plain = plain_text(&line.raw);
            form.captures(plain.trim()).and_then(|found| found.get(1).map(|name| name.as_str().to_owned()))
        });
        if let Some(name) = name {
            return Some(format!("{THAT_TEST}: `{}`", command.replace("{name}", &name)));
        }
    }
    None
}

type TestForm = (&'static [&'static str], Regex, &'static str);

static TESTS: LazyLock<Vec<TestForm>> = LazyLock::new(|| {
    // Names hold no character that means anything to a shell.
    let forms: [(&'static [&'static str], &str, &'static str); 6] = [
        (&["cargo", "nextest", "bash", "make"], r"^test ([\w:]{1,120}) \.\.\. FAILED", "cargo test {name}"),
        (
            &["pytest", "python", "tox", "bash", "make"],
            r"^(?:FAILED|ERROR) ([\w./-]{1,100}\.py(?:::[\w-]{1,80}){1,3})",
            "pytest {name}",
        ),
        (&["unittest", "python"], r"^(?:FAIL|ERROR): [\w]+ \(([\w.]{1,120})\)", "python -m unittest {name}"),
        (&["go", "bash", "make"], r"^--- FAIL: ([\w/]{1,120})", "go test -run '^{name}$' ./..."),
        (
            &["jest", "npm", "npx", "yarn", "pnpm"],
            r"^● (?:[\w ]{1,60} › )*([A-Za-z][\w ,.-]{2,80})$",
            "npx jest -t '{name}'",
        ),
        (
            &["vitest", "npm", "npx", "yarn", "pnpm"],
            r"^FAIL\s+([\w./-]{1,100}\.(?:test|spec)\.[cm]?[jt]sx?)",
            "npx vitest run {name}",
        ),
    ];
    // Words of ASCII: what all of Unicode calls a word makes the automaton too large.
    let compiled = forms.into_iter().filter_map(|(tools, form, command)| {
        let form = Regex::new(&form.replace(r"\w", "A-Za-z0-9_")).ok()?;
        Some((tools, form, command))
    });
    compiled.collect()
});

/// What the place suggests: where to read on, and how to go on after a change.
fn of_phase(classified: &Classified, place: &FailurePlace) -> Option<String> {
    if let (Some(attempt), Some(most), Some(phase)) = (place.attempt, place.max_attempts, &place.phase)
        && (2..=attempt).contains(&most)
        && classified.retry == RetryAdvice::AfterChange
        && classified.blame == Blame::Agent
    {
        return Some(format!(
            "attempt {attempt} of {most} failed as well: change the approach, split phase `{phase}`, or make its description more precise"
        ));
    }
    if let (Some(job), Some(phase)) = (&place.job, &place.phase) {
        return Some(match classified.retry {
            RetryAdvice::Human => format!("then run `helix jobs resume {job}`"),
            RetryAdvice::Now | RetryAdvice::AfterDelay | RetryAdvice::AfterChange | RetryAdvice::Never => {
                format!("read the whole log of phase `{phase}`: `helix jobs logs {job}`")
            }
        });
    }
    if !place.document.is_empty() {
        let kind =
            if place.document.ends_with(".md") || place.document.ends_with(".markdown") { "adr" } else { "plan" };
        let file = if is_path(&place.document) { place.document.as_str() } else { "FILE" };
        return Some(format!("check it again: `helix {kind} check {file}`"));
    }
    None
}

#[cfg(test)]
#[path = "suggest_test.rs"]
mod tests;
