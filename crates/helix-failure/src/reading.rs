//! Prepares a log's lines for the rules: without colours and prefixes, and with what each line's place says of it.
//!
//! Must not know the rules.

use regex::Regex;

use super::json_line::{self, Record};
use super::log::{LogLine, LogSample, Stream};
use super::plain::{last_written, plain_text};

/// Notes and warnings that are verdicts.
const VERDICTS: [&str; 3] = ["note: test did not panic", "WARNING: DATA RACE", "WARNING: Retrying (Retry("];

/// What a line's place or form says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Plain,
    /// It is a title or summary; names of tests prove nothing.
    Heading,
    /// It tells of no failure: passed tests, information, source code.
    Noise,
    /// It warns; that counts only where nothing else explains anything.
    Warning,
    /// A tool said where its failure was raised: this is that line.
    Raised,
    /// The first of those in a report of several.
    RaisedFirst,
    /// The last word of an agent, about a failure.
    AgentResult,
    /// An event of an agent's stream that is no last word.
    AgentEvent,
    /// The last word of an agent, who sees no failure.
    AgentContent,
}

/// One prepared line.
#[derive(Debug)]
pub(super) struct Prepared<'log> {
    pub(super) line: &'log LogLine,
    pub(super) text: String,
    pub(super) mark: Mark,
}

impl Prepared<'_> {
    /// Whether it says nothing of the failure as long as something else does.
    pub(super) fn is_quiet(&self) -> bool {
        matches!(self.mark, Mark::Noise | Mark::Warning)
    }

    /// How far the line is indented, in bytes.
    pub(super) fn indent(&self) -> usize {
        self.line.raw.len() - self.line.raw.trim_start().len()
    }
}

/// The compiled forms that lines are told apart by.
#[derive(Debug)]
pub(super) struct Forms {
    prefix: Regex,
    noise: Regex,
    warning: Regex,
    heading: Regex,
    frame_title: Regex,
    node_error: Regex,
    quoted_error: Regex,
}

impl Forms {
    /// Compiles them.
    ///
    /// # Errors
    /// Never with the patterns as they stand; a test compiles them.
    pub(super) fn new() -> Result<Self, regex::Error> {
        let regex = Regex::new;
        Ok(Self {
            prefix: regex(
                r"^(?:\[?\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?\]?\s+|#\d+ \d+\.\d+ |##\[(?:error|debug|group)\]|\[stderr\] |stderr \| |■ |✘ |│ |[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S+ [\w.@()-]+(?:\[\d+\])?: |\[ *\d+\.\d+\] )+",
            )?,
            noise: regex(concat!(
                r"^(?:ok \d|ok - |ok\s+\S+\s+[\d.]+s|✓|✔|√|PASS\b|--- PASS|=== |\[ +OK +\]|test .* \.\.\. (?:ok|ignored)$)|",
                r" \.\.\. ok$|\bPASSED\b|^\[?(?:INFO|DEBUG|TRACE|NOTICE)\]?(?:\s|:|$)|^(?:npm|pnpm|yarn) (?:WARN|warn|notice)|",
                r"^[✗✖×] (?i:build failed)|^nginx: configuration file .* test failed$|^\S+\s+: ok=\d+ |^from \S+:\d+|^\[C\]: |^stack traceback:|^\[[\d.]+s\]\[(?:warning|info|debug)|^ERROR: Reconnecting|^Claude configuration file not found at: |^(?:HINT|CONTEXT|STATEMENT|QUERY|TIPP|ASTUCE|KONTEXT|CONTEXTE|建议|上下文)\s?[:：]|",
                r"^(?i:don't|do not|never) run |^(?:\w+ )?(?:note|hint|help|info)\b ?(?:\[[^\]]*\])?:|^\d* *\| |^> *\d+ \||^= help:|^(?:level|lvl)=(?:info|warn|debug)"
            ))?,
            warning: regex(
                r"^(?:\w+ )?(?:warning|warn|Warnung|avertissement)\b ?(?:\[[^\]]*\])?:|^\[?(?:WARN|WARNING)\]?(?:\s|:|$)",
            )?,
            heading: regex(
                r"^(?:FAIL(?:ED)?\b|● |not ok \d|--- FAIL|✗|✕|×|✖|\d+\) |_{3,}|={3,}|-{3,}|make(?:\[\d+\])?: \*\*\* \[|npm (?:error|ERR!) (?:code|errno|syscall|path|network This is|engine Unsupported|A complete log)\b|test .* \.\.\. FAILED|\S+ \(\S+\) \.\.\. (?:FAIL|ERROR)|(?:FAIL|ERROR): \w+ \(|→ |(?i:build failed\.?$)|tar: Error is not recoverable|.*Exiting with failure status|Execution of \S+ aborted|Failed \d+/\d+ subtests|zip error: )",
            )?,
            frame_title: regex(r"^(?:.* )?panicked at .*:\d+:\d+:$")?,
            node_error: regex(
                r"^(?:Uncaught |Unhandled |thrown: )?(?:[A-Za-z_$][\w$.]*)?(?:Error|Exception)\b|^Error:|^Caused by:",
            )?,
            quoted_error: regex(r#"^error: ['"](.+)['"]$"#)?,
        })
    }
}

pub(super) fn prepare<'log>(forms: &Forms, log: &'log LogSample) -> Vec<Prepared<'log>> {
    let mut prepared: Vec<_> = log.lines.iter().map(|line| prepare_line(forms, line)).collect();
    for stream in [Stream::Stdout, Stream::Stderr] {
        let indices: Vec<usize> =
            prepared.iter().enumerate().filter(|(_, line)| line.line.stream == stream).map(|(at, _)| at).collect();
        mark_raised(forms, &mut prepared, &indices);
        mark_quoted(&mut prepared, &indices);
    }
    prepared
}

fn prepare_line<'log>(forms: &Forms, line: &'log LogLine) -> Prepared<'log> {
    let plain = plain_text(&line.raw);
    let shown = last_written(&plain).trim();
    let (text, mark) = match json_line::read(shown) {
        Some(Record::Diagnostic(text)) => (text, Mark::Raised),
        Some(Record::Text(text)) => {
            let mark = plain_mark(forms, &text);
            (text, mark)
        }
        Some(Record::AgentResult(text)) => (text, Mark::AgentResult),
        Some(Record::AgentContent) => (String::new(), Mark::AgentContent),
        Some(Record::AgentEvent) => (String::new(), Mark::AgentEvent),
        Some(Record::Noise) => (String::new(), Mark::Noise),
        None => {
            let text = forms.prefix.replace(shown, "");
            let text = forms.quoted_error.replace(&text, "Error: $1").into_owned();
            let mark = plain_mark(forms, &text);
            (text, mark)
        }
    };
    Prepared { line, text, mark }
}

fn plain_mark(forms: &Forms, text: &str) -> Mark {
    if VERDICTS.iter().any(|verdict| text.starts_with(verdict)) {
        if forms.heading.is_match(text) { Mark::Heading } else { Mark::Plain }
    } else if forms.noise.is_match(text) {
        Mark::Noise
    } else if forms.warning.is_match(text) {
        Mark::Warning
    } else if forms.heading.is_match(text) {
        Mark::Heading
    } else {
        Mark::Plain
    }
}

/// Finds the lines at which tools say that their failure was raised.
fn mark_raised(forms: &Forms, lines: &mut [Prepared<'_>], indices: &[usize]) {
    let mut python: Option<usize> = None;
    let mut frame: Option<usize> = None;
    let mut panic: Option<usize> = None;
    let mut seen_e = false;
    for (position, &at) in indices.iter().enumerate() {
        let raw = &lines[at].line.raw;
        let indent = lines[at].indent();
        let text = lines[at].text.as_str();
        if text.ends_with("Traceback (most recent call last):") {
            python = Some(indent);
            continue;
        }
        if let Some(outer) = python {
            if text.is_empty() || indent > outer {
                lines[at].mark = Mark::Noise;
                continue;
            }
            python = None;
            lines[at].mark = Mark::Raised;
            continue;
        }
        // Source code under a frame of a traceback whose beginning is cut off.
        if text.starts_with("File \"") && text.contains("\", line ") {
            frame = Some(indent);
            continue;
        }
        if frame.is_some_and(|outer| indent > outer) {
            lines[at].mark = Mark::Noise;
            continue;
        }
        frame = None;
        if let Some(title) = panic
            && !text.is_empty()
        {
            panic = None;
            lines[at].mark = Mark::Raised;
            // The message says it, and where it was said is known from the title.
            lines[title].mark = Mark::Noise;
            continue;
        }
        if forms.frame_title.is_match(text) {
            panic = Some(at);
            continue;
        }
        if text.starts_with("[cause]: ") {
            lines[at].mark = Mark::RaisedFirst;
            lines[at].text = lines[at].text.trim_start_matches("[cause]: ").to_owned();
            continue;
        }
        if raw.starts_with("E   ") {
            lines[at].mark = if seen_e { Mark::Raised } else { Mark::RaisedFirst };
            seen_e = true;
            continue;
        }
        if raw.starts_with('>') && text.len() > 1 && raw[1..].starts_with("   ") {
            lines[at].mark = Mark::Noise;
            continue;
        }
        if lines[at].mark == Mark::Plain && forms.node_error.is_match(text) {
            let below = indices[position + 1..].iter().take(8).map(|&below| &lines[below]);
            if below.take_while(|below| !below.text.is_empty()).any(|below| below.text.starts_with("at ")) {
                lines[at].mark = Mark::Raised;
            }
        }
    }
}

/// Marks source code that a caret below it points at, unless the line names its file as a message does.
fn mark_quoted(lines: &mut [Prepared<'_>], indices: &[usize]) {
    let is_caret =
        |text: &str| text.contains('^') && text.bytes().all(|byte| matches!(byte, b'^' | b'~' | b'-' | b' '));
    for pair in indices.windows(2) {
        let text = &lines[pair[0]].text;
        let message = [": error", ": fatal", "rror: ", ": syntax error"].iter().any(|word| text.contains(word));
        let marked = matches!(lines[pair[0]].mark, Mark::Plain | Mark::Raised);
        if !message && marked && is_caret(&lines[pair[1]].text) {
            lines[pair[0]].mark = Mark::Noise;
        }
    }
}

#[cfg(test)]
#[path = "reading_test.rs"]
mod tests;
