//! `deploy_success` and `integration_pass`: the commands of a delivery, run once each in one clean checkout, then probes of what they
//! brought about.
//!
//! Must not decide whether a tree may be delivered: whoever calls has put on record that it begins.

use std::sync::Arc;
use std::time::Duration;

use helix_core::evidence::{StepOutcome, StepReport};
use helix_core::finding::{Fault, FaultKind, Finding};
use helix_plan::{Delivery, Probe, split_words};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use super::GateContext;
use super::checkout::{Check, Checked, Checkout, fault_of, run_in, words};
use super::command::{end_text, last_part, leftover_note, tampered};
use super::judgement::{Describe, Judgement, Trouble, finding};
use helix_process::{CommandEnd, ToolEnvironment};

/// The program that makes HTTP probes.
const CURL: &str = "curl";
/// What it says of the status, in a line of its own after the answer.
const STATUS_LINE: &str = "helix-http-status: ";
/// What a process has between its probe's time limit and Helix's own.
const SLACK: Duration = Duration::from_secs(5);

/// What keeps a delivery from being carried out before any of it has begun: a variable that is not set, a program that is
/// nowhere. Found in time, nothing is half done.
pub fn obstacle(delivery: &Delivery, environment: &ToolEnvironment) -> Option<Fault> {
    let unset = delivery.pass_env.iter().find(|name| std::env::var(name).is_err());
    if let Some(name) = unset {
        return Some(Fault {
            kind: FaultKind::Environment,
            message: format!("the variable {name}, which `pass_env` of the gate names, is not set for the host"),
            hint: Some(format!("start the host (`helix serve`, `helix run`) with {name} set")),
        });
    }
    let path = environment.get("PATH").unwrap_or_default();
    let missing = |program: &String| {
        !program.contains('/') && !std::env::split_paths(path).any(|directory| directory.join(program).is_file())
    };
    let program = programs(delivery).into_iter().find(missing)?;
    Some(Fault {
        kind: FaultKind::ToolMissing,
        message: format!("the program {program} was not found"),
        hint: Some(format!("install {program} where Helix finds it: `helix doctor` shows the PATH")),
    })
}

/// The programs that a delivery starts.
pub fn programs(delivery: &Delivery) -> Vec<String> {
    let of_commands = delivery.commands().filter_map(|command| split_words(command).ok()?.into_iter().next());
    let asks = delivery.probes.iter().any(|probe| matches!(probe, Probe::Http { .. }));
    of_commands.chain(asks.then(|| CURL.to_owned())).collect()
}

/// Carries a delivery out. Its answer says what of it was done and seen, in whichever way it ends.
pub(super) async fn deliver(
    context: &Arc<GateContext>,
    gate: &'static str,
    delivery: &Delivery,
    cancel: &CancellationToken,
) -> Result<Judgement, Trouble> {
    let mut findings = Vec::new();
    for command in delivery.commands() {
        findings.extend(tampered(context, command).await?);
    }
    if !findings.is_empty() {
        return Ok(Judgement::of(findings, "the command was changed".into(), Vec::new()));
    }
    let mut environment = context.environment.clone();
    for (name, value) in &delivery.environment {
        environment = environment.with(name, value);
    }
    let mut secrets = Vec::new();
    for name in &delivery.pass_env {
        if let Ok(value) = std::env::var(name) {
            environment = environment.with(name, value.clone());
            secrets.push(value);
        }
    }
    let checkout = Checkout::enter(context, &context.result.commit, cancel).await?;
    let mut course =
        Course { context, gate, delivery, checkout, environment, secrets, steps: Vec::new(), notes: Vec::new() };
    let judgement = match course.run(cancel).await {
        Ok(None) => {
            let summary = format!("{} command(s) and {} probe(s)", delivery.command.len(), delivery.probes.len());
            Judgement::of(Vec::new(), summary, Vec::new())
        }
        Ok(Some(Stop::Finding(finding))) => {
            let summary = finding.message.clone();
            Judgement::of(vec![*finding], summary, Vec::new())
        }
        Ok(Some(Stop::Fault(fault))) => Judgement::faulted(fault),
        Err(Trouble::Cancelled) => return Err(Trouble::Cancelled),
        Err(trouble) => Judgement::faulted(trouble.fault()),
    };
    Ok(judgement.with_steps(course.steps).with_notes(course.notes))
}

/// Why a delivery does not go on.
enum Stop {
    Finding(Box<Finding>),
    Fault(Fault),
}

/// A delivery while it is carried out.
struct Course<'a> {
    context: &'a Arc<GateContext>,
    gate: &'static str,
    delivery: &'a Delivery,
    checkout: Checkout,
    environment: ToolEnvironment,
    secrets: Vec<String>,
    steps: Vec<StepReport>,
    notes: Vec<String>,
}

/// One try of a probe.
struct Look {
    outcome: StepOutcome,
    seen: String,
    said: String,
    command: Option<helix_core::evidence::CommandEvidence>,
}

impl Course<'_> {
    async fn run(&mut self, cancel: &CancellationToken) -> Result<Option<Stop>, Trouble> {
        let delivery = self.delivery;
        for (number, command) in delivery.command.iter().enumerate() {
            if let Some(stop) = self.act(number, command, cancel).await? {
                return Ok(Some(stop));
            }
        }
        for (number, probe) in delivery.probes.iter().enumerate() {
            if let Some(stop) = self.look(number, probe, cancel).await? {
                return Ok(Some(stop));
            }
        }
        Ok(None)
    }

    /// Runs a command that acts: once, whatever comes of it.
    async fn act(&mut self, number: usize, command: &str, cancel: &CancellationToken) -> Result<Option<Stop>, Trouble> {
        let argv = match words(command) {
            Ok(argv) => argv,
            Err(fault) => return Ok(Some(Stop::Fault(fault))),
        };
        let limit = self.delivery.timeout.duration();
        let checked = self.command(&argv, limit, &format!(".{number}"), cancel).await?;
        self.notes.extend(leftover_note(&checked.run));
        let fault = fault_of(checked.run.end, &argv, limit, &checked.run.tail);
        let outcome = match (&fault, checked.run.end) {
            (Some(_), _) => StepOutcome::Unknown,
            (None, CommandEnd::Exited(0)) => StepOutcome::Good,
            (None, _) => StepOutcome::Bad,
        };
        let seen = end_text(checked.run.end);
        self.steps.push(StepReport {
            step: format!("`{command}`"),
            outcome,
            seen: seen.clone(),
            tries: 1,
            command: Some(checked.evidence),
        });
        if let Some(fault) = fault {
            // Another try of the agent would begin it again, half done as it may be: that is for a person to decide.
            let message = format!("{}: its effects are unknown", fault.message);
            return Ok(Some(Stop::Fault(Fault { kind: FaultKind::Environment, message, ..fault })));
        }
        Ok((outcome == StepOutcome::Bad).then(|| {
            Stop::Finding(Box::new(
                finding(&format!("{}.command", self.gate), format!("`{command}` failed ({seen})"))
                    .evidence(&last_part(&checked.output))
                    .fix("fix what the output names; effects of the command so far remain"),
            ))
        }))
    }

    /// Makes a probe until it sees what is expected or its tries are used up.
    async fn look(
        &mut self,
        number: usize,
        probe: &Probe,
        cancel: &CancellationToken,
    ) -> Result<Option<Stop>, Trouble> {
        let mut tries = 0;
        let last = loop {
            tries += 1;
            let look = match probe {
                Probe::Http { http, status, contains, .. } => {
                    self.get(number, probe, http, *status, contains.as_deref(), cancel).await?
                }
                Probe::Tcp { tcp, .. } => connect(tcp, probe.timeout().duration(), cancel).await?,
                Probe::Command { command, .. } => self.probe_command(number, probe, command, cancel).await?,
            };
            if look.outcome == StepOutcome::Good || tries > self.delivery.retries {
                break look;
            }
            tokio::select! {
                () = cancel.cancelled() => return Err(Trouble::Cancelled),
                () = tokio::time::sleep(self.delivery.delay.duration()) => {}
            }
        };
        let Look { outcome, seen, said, command } = last;
        let step = probe.words();
        self.steps.push(StepReport { step: step.clone(), outcome, seen: seen.clone(), tries, command });
        Ok((outcome != StepOutcome::Good).then(|| {
            let often = if tries == 1 { String::new() } else { format!(", after {tries} attempts") };
            Stop::Finding(Box::new(
                finding(&format!("{}.probe", self.gate), format!("{step}: {seen}{often}"))
                    .evidence(&said)
                    .fix("fix the cause, or give the gate more `retries` if it needs longer"),
            ))
        }))
    }

    async fn probe_command(
        &self,
        number: usize,
        probe: &Probe,
        command: &str,
        cancel: &CancellationToken,
    ) -> Result<Look, Trouble> {
        let argv = words(command).map_err(|fault| Trouble::Broken(fault.message))?;
        let limit = probe.timeout().duration();
        let checked = self.command(&argv, limit, &format!(".probe-{number}"), cancel).await?;
        let outcome = match checked.run.end {
            CommandEnd::Exited(0) => StepOutcome::Good,
            CommandEnd::Exited(_) => StepOutcome::Bad,
            CommandEnd::Signalled(_) | CommandEnd::TimedOut | CommandEnd::Cancelled => StepOutcome::Unknown,
        };
        let seen = end_text(checked.run.end);
        Ok(Look { outcome, seen, said: last_part(&checked.output), command: Some(checked.evidence) })
    }

    async fn get(
        &self,
        number: usize,
        probe: &Probe,
        url: &str,
        status: u32,
        contains: Option<&str>,
        cancel: &CancellationToken,
    ) -> Result<Look, Trouble> {
        let limit = probe.timeout().duration();
        let seconds = limit.as_secs().to_string();
        let form = format!("\n{STATUS_LINE}%{{http_code}}\n");
        // The user's own configuration of curl does not decide what a probe is, and nothing in the address is a pattern.
        let argv = [CURL, "--disable", "--silent", "--show-error", "--globoff", "--proto", "=http,https"];
        let argv = argv.into_iter().chain(["--max-time", &seconds, "--write-out", &form, "--", url]);
        let argv: Vec<String> = argv.map(str::to_owned).collect();
        let checked = self.command(&argv, limit + SLACK, &format!(".probe-{number}"), cancel).await?;
        let (answer, got) = match checked.output.rsplit_once(STATUS_LINE) {
            Some((answer, rest)) => (answer, rest.lines().next().and_then(|line| line.trim().parse::<u32>().ok())),
            None => (checked.output.as_str(), None),
        };
        let finds = contains.is_none_or(|text| answer.contains(text));
        let (outcome, seen) = match (checked.run.end, got) {
            (CommandEnd::Exited(0), Some(got)) if got != status => {
                (StepOutcome::Bad, format!("status {got}, not {status}"))
            }
            (CommandEnd::Exited(0), Some(got)) if !finds => {
                (StepOutcome::Bad, format!("status {got}, without {:?}", contains.unwrap_or_default()))
            }
            (CommandEnd::Exited(0), Some(got)) => (StepOutcome::Good, format!("status {got}")),
            (end, _) => {
                let said = checked.run.tail.lines().rev().find(|line| line.starts_with("curl: "));
                (StepOutcome::Bad, said.map_or_else(|| format!("no answer ({})", end_text(end)), str::to_owned))
            }
        };
        Ok(Look { outcome, seen, said: last_part(answer), command: Some(checked.evidence) })
    }

    async fn command(
        &self,
        argv: &[String],
        limit: Duration,
        suffix: &str,
        cancel: &CancellationToken,
    ) -> Result<Checked, Trouble> {
        let check = Check { argv, limit, suffix, report: None };
        run_in(self.context, &self.checkout, check, &self.environment, &self.secrets, cancel).await
    }
}

/// Whether somebody accepts a connection.
async fn connect(address: &str, limit: Duration, cancel: &CancellationToken) -> Result<Look, Trouble> {
    let (outcome, seen) = tokio::select! {
        () = cancel.cancelled() => return Err(Trouble::Cancelled),
        connected = tokio::time::timeout(limit, TcpStream::connect(address)) => match connected {
            Ok(Ok(_)) => (StepOutcome::Good, "connected".to_owned()),
            Ok(Err(error)) => (StepOutcome::Bad, error.to_string()),
            Err(_) => (StepOutcome::Bad, format!("no answer within {} s", limit.as_secs())),
        },
    };
    Ok(Look { outcome, seen, said: String::new(), command: None })
}
