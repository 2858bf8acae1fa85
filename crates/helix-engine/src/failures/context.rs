//! What is known of a failure when it happens: made from a gate's report, a run's facts, a fault or findings.
//!
//! Must not know how failures are classified or remembered.

use std::borrow::Cow;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use helix_core::diagnostic::Diagnostic;
use helix_core::finding::{Fault, FaultKind, Finding, Verdict};
use helix_core::gate_name::GateName;
use helix_core::run::{AgentErrorKind, Ending, LimitKind, Outcome, Retry, RunFacts, StopCause};
use helix_core::said::{Said, Words};
use helix_failure::cause::{self, Cause};
use helix_failure::memory::{AttemptAnswer, AttemptChange, OccurrencePlace, Work, check};
use helix_failure::report::FailurePlace;
use helix_failure::{FailureObservation, HELIX, LogCollector, LogSample, Stream, Termination, gate_cause};
use helix_job::GateReport;
use helix_job::phrases::outcome_words;
use helix_language::{ErrorView, RECORD};
use jiff::Timestamp;

use super::tool::tool_of;

/// Error number of "no such file", which a missing program gives.
const ENOENT: i32 = 2;

/// Where an attempt at some work is made: what all its failures have in common, but for the check that sees them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptSite {
    /// Where they are remembered to have happened.
    pub place: OccurrencePlace,
    /// Where they happened, for people.
    pub report_place: FailurePlace,
}

/// One failure with all that is known of it.
#[derive(Debug, Clone)]
pub struct FailureContext {
    /// Where it is remembered to have happened.
    pub place: OccurrencePlace,
    /// Where it happened, for people.
    pub report_place: FailurePlace,
    /// What the supervisor saw.
    pub observation: FailureObservation,
    pub log: LogSample,
    pub at: Timestamp,
}

impl AttemptSite {
    /// A place of which nothing else is known.
    pub fn new(project: String, work: Work, attempt: u32) -> Self {
        let (document, tried) = match &work {
            Work::Job { .. } => (String::new(), Some(attempt)),
            // A turn is no try of the one before it, and how often a document was refused before says nothing.
            Work::Session { .. } => (String::new(), None),
            Work::Document { document } => (document.clone(), None),
        };
        let report_place = FailurePlace {
            project: project.clone(),
            job: work.job().cloned(),
            phase: work.phase().cloned(),
            turn: work.turn(attempt),
            document,
            attempt: tried,
            ..FailurePlace::default()
        };
        let (check, agent) = (String::new(), String::new());
        let place = OccurrencePlace { project, work, attempt, check, commit: None, agent, run: None };
        Self { place, report_place }
    }

    /// What an attempt here has shown: these checks found nothing. It changed nothing.
    pub fn answer(&self, passed: Vec<String>, at: Timestamp) -> AttemptAnswer {
        let OccurrencePlace { project, work, attempt, commit, .. } = self.place.clone();
        let change = AttemptChange { project, work, attempt, commit, files: Vec::new(), diff: String::new(), at };
        AttemptAnswer { change, passed, failed: Vec::new(), still: Vec::new() }
    }

    /// What this check saw fail here.
    fn failure(&self, check: &str, observation: FailureObservation, log: LogSample, at: Timestamp) -> FailureContext {
        let place = OccurrencePlace { check: check.to_owned(), ..self.place.clone() };
        let report_place = FailurePlace { check: check.to_owned(), ..self.report_place.clone() };
        FailureContext { place, report_place, observation, log, at }
    }
}

impl FailureContext {
    /// A gate's failure, with the log of its command (empty for gates without one); `None` if the gate passed.
    pub fn of_gate(
        site: &AttemptSite,
        index: usize,
        report: &GateReport,
        log: LogSample,
        at: Timestamp,
    ) -> Option<Self> {
        let mut observation = own(&report.gate);
        if let Some(command) = &report.command {
            observation.tool = tool_of(&command.argv);
            observation.argv = command.argv.clone();
            observation.termination =
                command.exit_code.map_or(Termination::Unknown, |code| Termination::Exited { code });
        }
        // A wall that the command may have met says how to open it.
        observation.remedy =
            report.notes().filter(|note| note.says("gate-sandbox")).map(|note| RECORD.words(&note)).collect();
        let said = match &report.verdict {
            Verdict::Pass => return None,
            Verdict::Fail { findings } => {
                observation.own_cause = own_cause(&report.gate, findings);
                findings_text(findings)
            }
            Verdict::Inconclusive { fault } => {
                let nothing = nothing_checked(report, fault).filter(|_| !names_a_missing_program(&log));
                observation.own_cause = nothing.or_else(|| by_words(&ErrorView::of_fault(fault).words()));
                observed(&mut observation, fault)
            }
        };
        // What Helix itself found out of the log is the cause; the rest of the log is about something else.
        let known = observation.own_cause.is_some() || has_others_failures(report);
        // A log says more than what a gate made of it; where there is none, or it is silent, the gate's words count.
        let is_silent = log.lines.iter().all(|line| line.raw.trim().is_empty());
        let is_unsaid = !known && is_silent && report.command.is_some();
        observation.own_cause = observation.own_cause.or(is_unsaid.then_some(&cause::NO_REASON));
        let log = if known || is_silent { LogSample::from_texts(&said, "") } else { log };
        let mut failure = site.failure(&check::gate(index, &report.gate), observation, log, at);
        failure.report_place.log =
            report.command.as_ref().map(|command| command.output_file.clone()).unwrap_or_default();
        Some(failure)
    }

    /// The failure of an agent's run; `None` if the run completed, or was stopped because somebody asked.
    pub fn of_run(site: &AttemptSite, dialect: &str, facts: &RunFacts, at: Timestamp) -> Option<Self> {
        let outcome = Outcome::from_facts(facts);
        if outcome.retry() == Retry::Accept || matches!(outcome, Outcome::LocalCommand | Outcome::Cancelled) {
            return None;
        }
        let Said { message, hint } = outcome_words(&outcome);
        let own_limit = outcome == Outcome::LimitReached { limit: LimitKind::Budget };
        let observation = FailureObservation {
            tool: dialect.to_owned(),
            phase: "agent".into(),
            termination: Termination::from(&facts.ending),
            http_status: facts.terminal.as_ref().and_then(|terminal| terminal.http_status),
            api_error_type: facts.declared_error.and_then(error_type).map(str::to_owned),
            deadline_passed: matches!(facts.stopped, Some(StopCause::Deadline | StopCause::Stalled)),
            own_cause: by_words(&message).or(own_limit.then_some(&cause::BUDGET)),
            needs_person: outcome.retry() == Retry::Never,
            remedy: site.place.work.job().map(|_| RECORD.words(&hint)).unwrap_or_default(),
            ..FailureObservation::default()
        };
        let not_started = match &facts.ending {
            Ending::NotStarted { reason, .. } => RECORD.words(reason),
            _ => String::new(),
        };
        let terminal = facts.terminal.as_ref().map_or("", |terminal| terminal.message.as_str());
        let repeated = facts.repeated.as_ref().map(|call| call.error.as_str());
        let said = repeated.filter(|error| !error.is_empty()).unwrap_or(terminal);
        // What a provider refused is told by the run; what the agent printed besides is about something else.
        let besides = if facts.declared_error.is_some() { "" } else { facts.stderr_tail.as_str() };
        let log = LogSample::from_texts(said, &format!("{besides}\n{not_started}"));
        Some(site.failure(check::RUN, observation, log, at))
    }

    /// Something around the attempt that failed: git, the disk, an input that is missing.
    pub fn of_fault(site: &AttemptSite, check: &str, fault: &Fault, at: Timestamp) -> Self {
        let mut observation = own(check);
        let said = observed(&mut observation, fault);
        observation.own_cause = unanswered(check, fault).or_else(|| by_words(&ErrorView::of_fault(fault).words()));
        observation.deadline_passed &= observation.own_cause.is_none();
        site.failure(check, observation, LogSample::from_texts(&said, ""), at)
    }

    /// What a check without a log of its own found: the verifier, an integration.
    pub fn of_findings(site: &AttemptSite, check: &str, findings: &[Finding], at: Timestamp) -> Self {
        let observation = FailureObservation { own_cause: own_cause(check, findings), ..own(check) };
        site.failure(check, observation, LogSample::from_texts(&findings_text(findings), ""), at)
    }

    /// What the rule set says of a plan or an ADR. Warnings block nothing and are left out.
    pub fn of_document(site: &AttemptSite, check: &str, diagnostics: &[Diagnostic], at: Timestamp) -> Self {
        let errors: Vec<String> = diagnostics.iter().filter(|one| one.is_error()).map(ToString::to_string).collect();
        site.failure(check, own(check), LogSample::from_texts(&errors.join("\n"), ""), at)
    }
}

/// What Helix's own words for some trouble mean.
fn by_words(words: &Words) -> Option<&'static Cause> {
    let known = [
        ("start-hidden", &cause::SANDBOX_CLOSED),
        ("start-no-sandbox", &cause::NO_SANDBOX),
        ("start-sandbox-required", &cause::NO_SANDBOX),
        ("start-not-executable", &cause::PERMISSION_DENIED),
        ("cause-spent", &cause::JOB_LIMIT),
        ("run-refused", &cause::REFUSAL),
        ("run-silent-exit", &cause::NO_REASON),
    ];
    known.into_iter().find(|(message, _)| words.says(message)).map(|(_, cause)| cause)
}

/// What it means that a check of Helix's own found this, by the rule of what it found first, else by the check's name; `None`
/// where a command's output or a code says it.
fn own_cause(check: &str, findings: &[Finding]) -> Option<&'static Cause> {
    let first = findings.first()?;
    if own_code(&first.rule).is_some() {
        // What a decision lacks is always the same cause; of a plan the code says more.
        return by_name(check).filter(|cause| *cause == &cause::DOCUMENT_INVALID);
    }
    by_rule(&first.rule).or_else(|| by_name(check))
}

fn by_rule(rule: &str) -> Option<&'static Cause> {
    Some(match rule.split_once('.')? {
        ("syntax", _) => &cause::COMPILE_SYNTAX,
        ("files", _) => &cause::RESULT_FILE_MISSING,
        ("outputs", _) => &cause::OUTPUT_UNCHANGED,
        ("docs", _) => &cause::BROKEN_REFERENCE,
        ("criteria", _) => &cause::CRITERION_UNPROVED,
        ("conflicts", _) => &cause::CONFLICT_MARKER,
        ("review", _) => &cause::REVIEW_REJECTED,
        ("approval", _) => &cause::PERSON_REJECTED,
        ("mutation", _) => &cause::TESTS_BLIND,
        ("tests", "fewer" | "skipped" | "weaker" | "expects") => &cause::TESTS_LEFT_OUT,
        ("tests", "known" | "aware" | "undecided" | "unclaimed" | "not_new") => &cause::TESTS_EVADED,
        (_, "health") => &cause::DELIVERY_UNHEALTHY,
        ("gate", "changed") => &cause::GATE_CHANGED,
        ("phase", "nothing_changed") => &cause::NOTHING_CHANGED,
        ("integration", "conflict") => &cause::VCS_CONFLICT,
        ("answer" | "marker", _) => &cause::ANSWER_UNFIT,
        _ => return None,
    })
}

fn by_name(check: &str) -> Option<&'static Cause> {
    match check.rsplit('/').next()? {
        check::VERIFY => Some(&cause::REVIEW_REJECTED),
        name => gate_cause(GateName::from_word(name)?),
    }
}

/// A reviewer that gave no usable answer, in time or at all; what kept it from being asked says more itself.
fn unanswered(check: &str, fault: &Fault) -> Option<&'static Cause> {
    let silent = matches!(fault.kind, FaultKind::Timeout | FaultKind::Unreadable);
    let reviews = by_name(check) == Some(&cause::REVIEW_REJECTED);
    (silent && reviews).then_some(&cause::REVIEW_UNANSWERED)
}

/// Whether the log of a test command also has failures that were there before the job.
fn has_others_failures(report: &GateReport) -> bool {
    let Verdict::Fail { findings } = &report.verdict else { return false };
    let new = findings.iter().filter(|finding| finding.rule == "tests.failed").count();
    report.tests.is_some_and(|tests| new > 0 && usize::try_from(tests.failed).is_ok_and(|failed| failed > new))
}

/// A check that found nothing to look at says so itself, whatever its command has printed.
fn nothing_checked(report: &GateReport, fault: &Fault) -> Option<&'static Cause> {
    match fault.kind {
        // Tests that failed before the job do so again: their log says why.
        FaultKind::NothingChecked if report.tests.is_some_and(|tests| tests.failed > 0) => None,
        FaultKind::NothingChecked if GateName::from_word(&report.gate) == Some(GateName::TestsPass) => {
            Some(&cause::NO_TESTS)
        }
        FaultKind::NothingChecked => Some(&cause::NOTHING_CHECKED),
        FaultKind::Unreadable => Some(&cause::UNREADABLE),
        FaultKind::Timeout | FaultKind::ToolMissing | FaultKind::Environment | FaultKind::Flaky => None,
    }
}

fn own(check: &str) -> FailureObservation {
    FailureObservation { tool: HELIX.to_owned(), phase: check.to_owned(), ..FailureObservation::default() }
}

/// The API's word for an error, where the classifier knows more of it than what the run says.
fn error_type(error: AgentErrorKind) -> Option<&'static str> {
    match error {
        AgentErrorKind::RateLimit => Some("rate_limit_error"),
        AgentErrorKind::Server => Some("api_error"),
        _ => None,
    }
}

/// What a fault says, as facts and as text.
fn observed(observation: &mut FailureObservation, fault: &Fault) -> String {
    observation.remedy = fault.hint.clone().unwrap_or_default();
    observation.deadline_passed |= fault.kind == FaultKind::Timeout;
    if fault.kind == FaultKind::ToolMissing && observation.termination == Termination::Unknown {
        observation.termination = Termination::NotStarted { errno: ENOENT };
    }
    fault.message.clone()
}

/// Whether a shell or an interpreter says that what it was to start is not there: then nothing was checked for that reason.
fn names_a_missing_program(log: &LogSample) -> bool {
    let is_missing = |line: &str| {
        line.ends_with(": not found") || line.ends_with(": command not found") || line.contains(": No module named ")
    };
    log.lines.iter().any(|line| is_missing(line.raw.trim()))
}

/// Findings in the form in which tools write them.
fn findings_text(findings: &[Finding]) -> String {
    let mut text = String::new();
    for finding in findings {
        let place = finding.place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
        // Writing to a text cannot fail.
        let _written = match own_code(&finding.rule) {
            Some(code) => writeln!(text, "{place}error[{code}]: {}", finding.message),
            None => writeln!(text, "{place}error: {}", finding.message),
        };
        if let Some(fix) = &finding.fix {
            let _written = writeln!(text, "  hint: {}", fix.replace('\n', " "));
        }
        if let Some(evidence) = &finding.evidence {
            text.push_str(evidence);
            text.push('\n');
        }
    }
    text
}

/// The code of Helix's own rule that found something: the last part of names such as `adr.hx0210`.
fn own_code(rule: &str) -> Option<String> {
    let last = rule.rsplit('.').next()?;
    let digits = last.strip_prefix("hx")?;
    (digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit())).then(|| format!("HX{digits}"))
}

/// Names files in checkouts below `worktrees` as they are called in the project: a checkout is gone when somebody reads of it, and
/// the same file has another path in the next one. A checkout is two directories below: `<job>/<name>`.
pub(crate) fn in_project(log: &mut LogSample, worktrees: &Path) {
    let checkout = format!(r"{}/[A-Za-z0-9._-]+/[A-Za-z0-9._-]+/", regex::escape(&worktrees.display().to_string()));
    let Ok(checkout) = regex::Regex::new(&checkout) else { return };
    for line in &mut log.lines {
        if let Cow::Owned(named) = checkout.replace_all(&line.raw, "") {
            line.raw = named;
        }
    }
}

/// Reads a log of any size in bounded memory.
///
/// # Errors
/// What the operating system says.
pub(crate) async fn read_log(path: PathBuf, stream: Stream) -> std::io::Result<LogSample> {
    let reading = helix_process::spawn_blocking(move || LogCollector::new(stream).read(std::fs::File::open(path)?));
    reading.await.map_err(std::io::Error::other)?
}

#[cfg(test)]
#[path = "context_test.rs"]
mod tests;
