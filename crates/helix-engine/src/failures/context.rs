//! What is known of a failure when it happens: made from a gate's report, a run's facts, a fault or findings.
//!
//! Must not know how failures are classified or remembered.

use std::fmt::Write;
use std::io::Read;
use std::path::{Path, PathBuf};

use helix_core::diagnostic::Diagnostic;
use helix_core::finding::{Fault, FaultKind, Finding, Verdict};
use helix_core::gate_name::GateName;
use helix_core::ids::{CommitId, RunId};
use helix_core::issue::Issue;
use helix_core::run::{AgentErrorKind, Ending, Outcome, Retry, RunFacts, StopCause};
use helix_failure::memory::{AttemptAnswer, OccurrencePlace, Work, check};
use helix_failure::report::FailurePlace;
use helix_failure::{FailureObservation, Log, LogCollector, OwnCheck, Stream, Termination};
use helix_job::GateReport;
use jiff::Timestamp;

use super::tool::tool_of;

/// Bytes read at once.
const PIECE: usize = 256 * 1024;
/// Error number of "no such file", which a missing program gives.
const ENOENT: i32 = 2;

/// Where an attempt at some work is made: what all its failures have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptSite {
    /// Path of the project's repository.
    pub project: String,
    /// The work that is done: a phase, a session, a document.
    pub work: Work,
    /// The phase's name; empty where there is none.
    pub phase_name: String,
    /// What is to be done: the phase's description, the user's message.
    pub goal: String,
    /// Which try, from 1; in a session the turn's number.
    pub attempt: u32,
    /// How many there may be.
    pub max_attempts: Option<u32>,
    /// The agent profile that works; empty when none does.
    pub agent: String,
    pub run: Option<RunId>,
    /// The commit that is examined.
    pub commit: Option<CommitId>,
    pub adr: Option<String>,
    pub issue: Option<Issue>,
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
    pub log: Log,
    pub at: Timestamp,
}

impl AttemptSite {
    /// A place of which nothing else is known.
    pub fn new(project: String, work: Work, attempt: u32) -> Self {
        Self {
            project,
            work,
            phase_name: String::new(),
            goal: String::new(),
            attempt,
            max_attempts: None,
            agent: String::new(),
            run: None,
            commit: None,
            adr: None,
            issue: None,
        }
    }

    /// What an attempt here has shown: these checks found nothing. It changed nothing.
    pub fn answer(&self, passed: Vec<String>, at: Timestamp) -> AttemptAnswer {
        AttemptAnswer {
            project: self.project.clone(),
            work: self.work.clone(),
            attempt: self.attempt,
            passed,
            failed: Vec::new(),
            still: Vec::new(),
            commit: self.commit.clone(),
            files: Vec::new(),
            diff: String::new(),
            at,
        }
    }

    /// What this check saw fail here.
    fn failure(&self, check: &str, observation: FailureObservation, log: Log, at: Timestamp) -> FailureContext {
        FailureContext { place: self.place(check), report_place: self.report_place(check), observation, log, at }
    }

    fn place(&self, check: &str) -> OccurrencePlace {
        OccurrencePlace {
            project: self.project.clone(),
            work: self.work.clone(),
            attempt: self.attempt,
            check: check.to_owned(),
            commit: self.commit.clone(),
            agent: self.agent.clone(),
            run: self.run.clone(),
        }
    }

    fn report_place(&self, check: &str) -> FailurePlace {
        let (attempt, document) = match &self.work {
            Work::Job { .. } => (Some(self.attempt), String::new()),
            // A turn is no try of the one before it, and how often a document was refused before says nothing.
            Work::Session { .. } => (None, String::new()),
            Work::Document { document } => (None, document.clone()),
        };
        FailurePlace {
            project: self.project.clone(),
            job: self.work.job().cloned(),
            phase: self.work.phase().cloned(),
            turn: self.work.turn(self.attempt),
            document,
            phase_name: self.phase_name.clone(),
            goal: self.goal.clone(),
            attempt,
            max_attempts: self.max_attempts,
            check: check.to_owned(),
            adr: self.adr.clone(),
            issue: self.issue.as_ref().map(ToString::to_string),
            ..FailurePlace::default()
        }
    }
}

impl FailureContext {
    /// A gate's failure, with the log of its command (empty for gates without one); `None` if the gate passed.
    pub fn of_gate(site: &AttemptSite, index: usize, report: &GateReport, log: Log, at: Timestamp) -> Option<Self> {
        let mut observation = own(&report.gate);
        if let Some(command) = &report.command {
            observation.tool = tool_of(&command.argv);
            observation.argv = command.argv.clone();
            observation.termination =
                command.exit_code.map_or(Termination::Unknown, |code| Termination::Exited { code });
        }
        let said = match &report.verdict {
            Verdict::Pass => return None,
            Verdict::Fail { findings } => {
                observation.own_check = concluded(&report.gate, findings);
                told(findings)
            }
            Verdict::Inconclusive { fault } => {
                observation.own_check = nothing_checked(report, fault).filter(|_| !names_a_missing_program(&log));
                observed(&mut observation, fault)
            }
        };
        // What Helix itself found out of the log is the cause; the rest of the log is about something else.
        let known = observation.own_check.is_some() || has_others_failures(report);
        // A log says more than what a gate made of it; where there is none, or it is silent, the gate's words count.
        let log = if known || is_silent(&log) { Log::of_texts(&said, "") } else { log };
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
        let observation = FailureObservation {
            tool: dialect.to_owned(),
            phase: "agent".into(),
            termination: match &facts.ending {
                Ending::Exited { code } => Termination::Exited { code: *code },
                Ending::Signaled { signal } => Termination::Signaled { signal: *signal },
                Ending::NotStarted { errno, .. } => {
                    errno.map_or(Termination::Unknown, |errno| Termination::NotStarted { errno })
                }
                Ending::Unknown => Termination::Unknown,
            },
            http_status: facts.terminal.as_ref().and_then(|terminal| terminal.http_status),
            api_error_type: facts.declared_error.and_then(error_type).map(str::to_owned),
            deadline_passed: matches!(facts.stopped, Some(StopCause::Deadline | StopCause::Stalled)),
            own_check: hidden(facts).then_some(OwnCheck::Sandbox),
            ..FailureObservation::default()
        };
        let not_started = match &facts.ending {
            Ending::NotStarted { reason, .. } => reason.as_str(),
            Ending::Exited { .. } | Ending::Signaled { .. } | Ending::Unknown => "",
        };
        let message = facts.terminal.as_ref().map_or("", |terminal| terminal.message.as_str());
        let repeated = facts.repeated.as_ref().map_or("", |call| call.error.as_str());
        let said = if repeated.is_empty() { message } else { repeated };
        // What a provider refused is told by the run; what the agent printed besides is about something else.
        let besides = if facts.declared_error.is_some() { "" } else { facts.stderr_tail.as_str() };
        let log = Log::of_texts(said, &format!("{besides}\n{not_started}"));
        Some(site.failure(check::RUN, observation, log, at))
    }

    /// Something around the attempt that failed: git, the disk, an input that is missing.
    pub fn of_fault(site: &AttemptSite, check: &str, fault: &Fault, at: Timestamp) -> Self {
        let mut observation = own(check);
        observation.own_check = unanswered(check, fault);
        let said = match observation.own_check {
            Some(_) => fault.message.clone(),
            None => observed(&mut observation, fault),
        };
        site.failure(check, observation, Log::of_texts(&said, ""), at)
    }

    /// What a check without a log of its own found: the verifier, an integration.
    pub fn of_findings(site: &AttemptSite, check: &str, findings: &[Finding], at: Timestamp) -> Self {
        let observation = FailureObservation { own_check: concluded(check, findings), ..own(check) };
        site.failure(check, observation, Log::of_texts(&told(findings), ""), at)
    }

    /// What the rule set says of a plan or an ADR. Warnings block nothing and are left out.
    pub fn of_document(site: &AttemptSite, check: &str, diagnostics: &[Diagnostic], at: Timestamp) -> Self {
        let errors: Vec<String> = diagnostics.iter().filter(|one| one.is_error()).map(ToString::to_string).collect();
        site.failure(check, own(check), Log::of_texts(&errors.join("\n"), ""), at)
    }
}

/// Whether the sandbox kept the agent from starting, as its keeper says it.
fn hidden(facts: &RunFacts) -> bool {
    matches!(&facts.ending, Ending::NotStarted { reason, .. } if reason.contains(": the sandbox hides "))
}

/// Which check of Helix's own found this, by the rule of what it found first, else by the check's name; `None` where a command's
/// output or a code says it.
fn concluded(check: &str, findings: &[Finding]) -> Option<OwnCheck> {
    let first = findings.first()?;
    if own_code(&first.rule).is_some() {
        // What a decision lacks is always the same cause; of a plan the code says more.
        let of_decision =
            |check: &OwnCheck| matches!(check, OwnCheck::Gate(GateName::AdrValid | GateName::AdrComplete));
        return by_name(check).filter(of_decision);
    }
    by_rule(&first.rule).or_else(|| by_name(check)).filter(|check| check.cause().is_some())
}

fn by_rule(rule: &str) -> Option<OwnCheck> {
    Some(match rule.split_once('.')? {
        ("syntax", _) => OwnCheck::Gate(GateName::SyntaxCheck),
        ("files", _) => OwnCheck::Gate(GateName::FilesExist),
        ("outputs", _) => OwnCheck::Gate(GateName::OutputsClaimed),
        ("docs", _) => OwnCheck::Gate(GateName::DocsRefsValid),
        ("criteria", _) => OwnCheck::Gate(GateName::CriteriaCovered),
        ("conflicts", _) => OwnCheck::Gate(GateName::ConflictsResolved),
        ("review", _) => OwnCheck::Verifier,
        ("approval", _) => OwnCheck::Gate(GateName::Approval),
        ("mutation", _) => OwnCheck::Gate(GateName::Mutation),
        ("tests", "fewer" | "skipped" | "weaker" | "expects") => OwnCheck::FewerTests,
        ("tests", "known" | "aware" | "undecided" | "unclaimed" | "not_new") => OwnCheck::EvadedTests,
        (_, "health") => OwnCheck::Unhealthy,
        ("gate", "changed") => OwnCheck::GateChanged,
        ("phase", "nothing_changed") => OwnCheck::NothingChanged,
        ("integration", "conflict") => OwnCheck::Conflict,
        ("answer" | "marker", _) => OwnCheck::Answer,
        _ => return None,
    })
}

fn by_name(check: &str) -> Option<OwnCheck> {
    match check.rsplit('/').next()? {
        check::VERIFY => Some(OwnCheck::Verifier),
        name => GateName::from_word(name).map(OwnCheck::Gate),
    }
}

/// A reviewer that gave no usable answer, in time or at all; what kept it from being asked says more itself.
fn unanswered(check: &str, fault: &Fault) -> Option<OwnCheck> {
    let silent = matches!(fault.kind, FaultKind::Timeout | FaultKind::Unreadable);
    let reviews = matches!(by_name(check), Some(OwnCheck::Verifier | OwnCheck::Gate(GateName::ReviewApproved)));
    (silent && reviews).then_some(OwnCheck::SilentReviewer)
}

/// Whether the log of a test command also has failures that were there before the job.
fn has_others_failures(report: &GateReport) -> bool {
    let Verdict::Fail { findings } = &report.verdict else { return false };
    let new = findings.iter().filter(|finding| finding.rule == "tests.failed").count();
    report.tests.is_some_and(|tests| new > 0 && usize::try_from(tests.failed).is_ok_and(|failed| failed > new))
}

/// A check that found nothing to look at says so itself, whatever its command has printed.
fn nothing_checked(report: &GateReport, fault: &Fault) -> Option<OwnCheck> {
    match fault.kind {
        FaultKind::NothingChecked if GateName::from_word(&report.gate) == Some(GateName::TestsPass) => {
            Some(OwnCheck::NoTests)
        }
        FaultKind::NothingChecked => Some(OwnCheck::NothingChecked),
        FaultKind::Unreadable => Some(OwnCheck::Unreadable),
        FaultKind::Timeout | FaultKind::ToolMissing | FaultKind::Environment | FaultKind::Flaky => None,
    }
}

/// The tool of everything that Helix finds by itself.
pub(crate) const HELIX: &str = "helix";

fn own(check: &str) -> FailureObservation {
    FailureObservation { tool: HELIX.to_owned(), phase: check.to_owned(), ..FailureObservation::default() }
}

/// The API's word for an error, where the classifier knows it.
fn error_type(error: AgentErrorKind) -> Option<&'static str> {
    match error {
        AgentErrorKind::RateLimit => Some("rate_limit_error"),
        AgentErrorKind::Server => Some("api_error"),
        AgentErrorKind::Authentication => Some("authentication_error"),
        AgentErrorKind::Billing => Some("billing_error"),
        AgentErrorKind::InvalidRequest => Some("invalid_request_error"),
        AgentErrorKind::ModelNotFound => Some("not_found_error"),
        AgentErrorKind::MaxOutputTokens | AgentErrorKind::Unknown => None,
    }
}

/// What a fault says, as facts and as text.
fn observed(observation: &mut FailureObservation, fault: &Fault) -> String {
    match fault.kind {
        FaultKind::Timeout => observation.deadline_passed = true,
        FaultKind::ToolMissing if observation.termination == Termination::Unknown => {
            observation.termination = Termination::NotStarted { errno: ENOENT };
        }
        FaultKind::ToolMissing
        | FaultKind::NothingChecked
        | FaultKind::Unreadable
        | FaultKind::Environment
        | FaultKind::Flaky => {}
    }
    fault.message.clone()
}

/// Whether a shell or an interpreter says that what it was to start is not there: then nothing was checked for that reason.
fn names_a_missing_program(log: &Log) -> bool {
    let is_missing = |line: &str| {
        line.ends_with(": not found") || line.ends_with(": command not found") || line.contains(": No module named ")
    };
    log.lines.iter().any(|line| is_missing(line.raw.trim()))
}

fn is_silent(log: &Log) -> bool {
    log.lines.iter().all(|line| line.raw.trim().is_empty())
}

/// Findings in the form in which tools write them.
fn told(findings: &[Finding]) -> String {
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
pub(crate) fn in_project(log: &mut Log, worktrees: &Path) {
    let root = format!("{}/", worktrees.display());
    for line in log.lines.iter_mut().filter(|line| line.raw.contains(&root)) {
        let mut parts = line.raw.split(root.as_str());
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            match part.splitn(3, '/').collect::<Vec<_>>().as_slice() {
                [job, checkout, rest]
                    if !job.contains(char::is_whitespace) && !checkout.contains(char::is_whitespace) =>
                {
                    text.push_str(rest);
                }
                _ => {
                    text.push_str(&root);
                    text.push_str(part);
                }
            }
        }
        line.raw = text;
    }
}

/// Reads a log of any size in bounded memory.
///
/// # Errors
/// What the operating system says.
pub(crate) async fn read_log(path: PathBuf, stream: Stream) -> std::io::Result<Log> {
    let reading = helix_process::spawn_blocking(move || {
        let mut file = std::fs::File::open(path)?;
        let mut collector = LogCollector::new(stream);
        let mut piece = vec![0_u8; PIECE];
        loop {
            match file.read(&mut piece) {
                Ok(0) => return Ok(collector.finish()),
                Ok(count) => collector.push(piece.get(..count).unwrap_or_default()),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    });
    reading.await.map_err(std::io::Error::other)?
}

#[cfg(test)]
#[path = "context_test.rs"]
mod tests;
