//! `deploy_success` and `integration_pass`: the commands of a delivery, run once each in one clean checkout, then probes of what they
//! brought about.
//!
//! Must not decide whether a tree may be delivered: the caller has put on record that it begins.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use helix_core::evidence::{StepOutcome, StepReport};
use helix_core::finding::{Fault, FaultKind};
use helix_core::run::NetworkAccess;
use helix_core::secrets::Secret;
use helix_plan::{Delivery, Probe, split_words};
use tokio::net::TcpStream;

use super::GateContext;
use super::checkout::{Check, Checked, Checkout, words};
use super::command::{as_submitted, end_text, run_notes};
use super::definition::Purpose;
use super::judgement::{Judgement, Trouble, finding, last_part};
use helix_process::{CommandEnd, ToolEnvironment, find_program};

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
            said: None,
        });
    }
    let path = environment.get("PATH").unwrap_or_default();
    // A path is one of the checkout, which is not there yet.
    let missing =
        |program: &String| !program.contains('/') && find_program(program.as_ref(), path, Path::new("/")).is_err();
    let program = programs(delivery).into_iter().find(missing)?;
    Some(Fault {
        kind: FaultKind::ToolMissing,
        message: format!("the program {program} was not found"),
        hint: Some(format!("install {program} where Helix finds it: `helix doctor` shows the PATH")),
        said: None,
    })
}

/// The programs that a delivery starts.
pub fn programs(delivery: &Delivery) -> Vec<String> {
    let of_commands = delivery.commands().filter_map(|command| split_words(command).ok()?.into_iter().next());
    let asks = delivery.probes.iter().any(|probe| matches!(probe, Probe::Http { .. }));
    of_commands.chain(asks.then(|| CURL.to_owned())).collect()
}

/// What is carried out of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryPart {
    /// Its commands, then its probes.
    Deliver,
    /// One check of its health.
    Health,
    /// The commands that take it back.
    Rollback,
}

/// Carries a part of a delivery out. Its answer says what of it was done and seen, in whichever way it ends.
pub(super) async fn deliver(
    context: &Arc<GateContext>,
    gate: &'static str,
    delivery: &Delivery,
    part: DeliveryPart,
) -> Result<Judgement, Trouble> {
    // What is looked after was delivered from this very commit: its commands were looked at then.
    let notes = match part {
        DeliveryPart::Deliver => as_submitted(context, Purpose::Anything, delivery.commands()).await?,
        DeliveryPart::Health | DeliveryPart::Rollback => Vec::new(),
    };
    let mut environment = context.environment.clone();
    for (name, value) in &delivery.environment {
        environment = environment.with(name, value);
    }
    for name in &delivery.pass_env {
        if let Ok(value) = std::env::var(name) {
            helix_process::secrets::hold([Secret { name: name.clone(), value: value.clone() }]);
            environment = environment.with(name, value);
        }
    }
    let checkout = Checkout::enter(context, &context.result.commit).await?;
    let mut course = Course { gate, delivery, checkout, environment, steps: Vec::new(), notes };
    let judgement = match course.run(part).await {
        Ok(()) => {
            let summary = match part {
                DeliveryPart::Deliver => {
                    format!("{} command(s) and {} probe(s)", delivery.command.len(), delivery.probes.len())
                }
                DeliveryPart::Health => "healthy".to_owned(),
                DeliveryPart::Rollback => format!("rolled back by {} command(s)", delivery.rollback.len()),
            };
            Judgement::of(Vec::new(), summary, Vec::new())
        }
        Err(Trouble::Cancelled) => return Err(Trouble::Cancelled),
        Err(trouble) => trouble.judgement(),
    };
    Ok(Judgement { steps: course.steps, ..judgement }.with_notes(course.notes))
}

/// A delivery while it is carried out.
struct Course<'a> {
    gate: &'static str,
    delivery: &'a Delivery,
    checkout: Checkout,
    environment: ToolEnvironment,
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
    async fn run(&mut self, part: DeliveryPart) -> Result<(), Trouble> {
        let delivery = self.delivery;
        let commands = match part {
            DeliveryPart::Deliver => &delivery.command,
            DeliveryPart::Rollback => &delivery.rollback,
            DeliveryPart::Health => return self.check_health().await,
        };
        for (number, command) in commands.iter().enumerate() {
            self.act(number, command).await?;
        }
        if part == DeliveryPart::Rollback {
            return Ok(());
        }
        for (number, probe) in delivery.probes.iter().enumerate() {
            self.look(number, probe).await?;
        }
        Ok(())
    }

    async fn check_health(&mut self) -> Result<(), Trouble> {
        let Some(health) = &self.delivery.health else { return Ok(()) };
        for (number, command) in health.command.iter().enumerate() {
            let limit = health.timeout.duration();
            let Look { outcome, seen, said, command: evidence } =
                self.looking_command(&format!(".{number}"), limit, command).await?;
            let step = format!("`{command}`");
            let failed = format!("unhealthy: {step}: {seen}");
            self.steps.push(StepReport { step, outcome, seen, attempts: 1, command: evidence });
            if outcome != StepOutcome::Good {
                return Err(self.failed("health", failed, &said, "look at what the command says, and at the target"));
            }
        }
        Ok(())
    }

    /// Why the delivery does not go on: one of its parts failed.
    fn failed(&self, part: &str, message: String, evidence: &str, fix: &str) -> Trouble {
        let found = finding(&format!("{}.{part}", self.gate), &message).evidence(evidence).fix(fix);
        Judgement::of(vec![found], message, Vec::new()).into()
    }

    /// Runs a command that acts: once, whatever comes of it.
    async fn act(&mut self, number: usize, command: &str) -> Result<(), Trouble> {
        let argv = words(command)?;
        let limit = self.delivery.timeout.duration();
        let checked = self.command(&argv, limit, &format!(".{number}")).await?;
        self.notes.extend(run_notes(&checked.run));
        let fault = checked.fault;
        let outcome = match (&fault, checked.run.end) {
            (Some(_), _) => StepOutcome::Unknown,
            (None, CommandEnd::Exited(0)) => StepOutcome::Good,
            (None, _) => StepOutcome::Bad,
        };
        let (step, seen) = (format!("`{command}`"), end_text(checked.run.end));
        let failed = format!("{step} failed ({seen})");
        self.steps.push(StepReport { step, outcome, seen, attempts: 1, command: Some(checked.evidence) });
        match fault {
            // Another try of the agent would begin it again, half done as it may be: that is for a person to decide.
            Some(fault) => {
                let message = format!("{}: its effects are unknown", fault.message);
                Err(Fault { kind: FaultKind::Environment, message, ..fault }.into())
            }
            None if outcome == StepOutcome::Bad => {
                let fix = "fix what the output names; effects of the command so far remain";
                Err(self.failed("command", failed, last_part(&checked.output), fix))
            }
            None => Ok(()),
        }
    }

    /// Makes a probe until it sees what is expected or its attempts are used up.
    async fn look(&mut self, number: usize, probe: &Probe) -> Result<(), Trouble> {
        let mut attempts = 0;
        let Look { outcome, seen, said, command } = loop {
            attempts += 1;
            let look = match probe {
                Probe::Http { http, status, contains, .. } => {
                    self.get(number, probe, http, *status, contains.as_deref()).await?
                }
                Probe::Tcp { tcp, .. } => self.connect(tcp, probe.timeout().duration()).await?,
                Probe::Command { command, timeout } => {
                    self.looking_command(&format!(".probe-{number}"), timeout.duration(), command).await?
                }
            };
            if look.outcome == StepOutcome::Good || attempts > self.delivery.retries {
                break look;
            }
            tokio::select! {
                () = self.checkout.context.cancel.cancelled() => return Err(Trouble::Cancelled),
                () = tokio::time::sleep(self.delivery.delay.duration()) => {}
            }
        };
        let often = if attempts == 1 { String::new() } else { format!(", after {attempts} attempts") };
        let failed = format!("{}: {seen}{often}", probe.words());
        self.steps.push(StepReport { step: probe.words(), outcome, seen, attempts, command });
        if outcome == StepOutcome::Good {
            return Ok(());
        }
        let fix = "fix the cause, or give the gate more `retries` if it needs longer";
        Err(self.failed("probe", failed, &said, fix))
    }

    /// Runs a command that only looks.
    async fn looking_command(&self, suffix: &str, limit: Duration, command: &str) -> Result<Look, Trouble> {
        let argv = words(command)?;
        let checked = self.command(&argv, limit, suffix).await?;
        let outcome = match checked.run.end {
            CommandEnd::Exited(0) => StepOutcome::Good,
            CommandEnd::Exited(_) => StepOutcome::Bad,
            CommandEnd::Signalled(_)
            | CommandEnd::TimedOut
            | CommandEnd::TooMuchOutput
            | CommandEnd::TooMuchMemory
            | CommandEnd::Cancelled => StepOutcome::Unknown,
        };
        let seen = end_text(checked.run.end);
        Ok(Look { outcome, seen, said: last_part(&checked.output).to_owned(), command: Some(checked.evidence) })
    }

    async fn get(
        &self,
        number: usize,
        probe: &Probe,
        url: &str,
        status: u32,
        contains: Option<&str>,
    ) -> Result<Look, Trouble> {
        let limit = probe.timeout().duration();
        let seconds = limit.as_secs().to_string();
        let form = format!("\n{STATUS_LINE}%{{http_code}}\n");
        // The user's own configuration of curl does not decide what a probe is, and nothing in the address is a pattern.
        let argv = [CURL, "--disable", "--silent", "--show-error", "--globoff", "--proto", "=http,https"];
        let argv = argv.into_iter().chain(["--max-time", &seconds, "--write-out", &form, "--", url]);
        let argv: Vec<String> = argv.map(str::to_owned).collect();
        let checked = self.command(&argv, limit + SLACK, &format!(".probe-{number}")).await?;
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
        Ok(Look { outcome, seen, said: last_part(answer).to_owned(), command: Some(checked.evidence) })
    }

    async fn command(&self, argv: &[String], limit: Duration, suffix: &str) -> Result<Checked, Trouble> {
        let check = Check { argv, limit, suffix, variables: &[], report: None, with: &[] };
        // It acts outside of the repository, whatever the phase's agent may do.
        let handle = self.checkout.start(&check, self.environment.clone(), NetworkAccess::Open).await?;
        self.checkout.finish(&check, handle).await
    }

    /// Whether somebody accepts a connection.
    async fn connect(&self, address: &str, limit: Duration) -> Result<Look, Trouble> {
        let (outcome, seen) = tokio::select! {
            () = self.checkout.context.cancel.cancelled() => return Err(Trouble::Cancelled),
            connected = tokio::time::timeout(limit, TcpStream::connect(address)) => match connected {
                Ok(Ok(_)) => (StepOutcome::Good, "connected".to_owned()),
                Ok(Err(error)) => (StepOutcome::Bad, error.to_string()),
                Err(_) => (StepOutcome::Bad, format!("no answer within {} s", limit.as_secs())),
            },
        };
        Ok(Look { outcome, seen, said: String::new(), command: None })
    }
}
