//! `deploy_success` and `integration_pass`: the commands of a delivery, run once each in one clean checkout, then probes of what they
//! brought about.
//!
//! Must not decide whether a tree may be delivered: the caller has put on record that it begins.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use helix_core::evidence::{CommandEvidence, StepOutcome, StepReport};
use helix_core::finding::{Fault, FaultKind};
use helix_core::run::NetworkAccess;
use helix_core::said::Words;
use helix_core::secrets::Secret;
use helix_plan::{Delivery, Probe, split_words};
use tokio::net::TcpStream;

use super::GateContext;
use super::checkout::{Check, Checked, Checkout, words};
use super::command::{as_submitted, end_words, run_notes};
use super::definition::Purpose;
use super::judgement::{Judgement, Trouble, fault, finding, last_part, retold};
use helix_language::{RECORD, recorded};
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
        return Some(fault(FaultKind::Environment, recorded!("gate-delivery-unset", name = name)));
    }
    let path = environment.get("PATH").unwrap_or_default();
    // A path is one of the checkout, which is not there yet.
    let missing =
        |program: &String| !program.contains('/') && find_program(program.as_ref(), path, Path::new("/")).is_err();
    let program = programs(delivery).into_iter().find(missing)?;
    Some(fault(FaultKind::ToolMissing, recorded!("gate-delivery-program", program = program)))
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
        DeliveryPart::Deliver => {
            let acts: Vec<&str> = delivery.command.iter().chain(&delivery.rollback).map(String::as_str).collect();
            let looks: Vec<&str> = delivery.commands().filter(|one| !acts.contains(one)).collect();
            let mut notes = as_submitted(context, Purpose::Delivery, acts).await?;
            notes.extend(as_submitted(context, Purpose::Anything, looks).await?);
            notes
        }
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
                    recorded!("gate-delivered", commands = delivery.command.len(), probes = delivery.probes.len())
                }
                DeliveryPart::Health => recorded!("gate-healthy"),
                DeliveryPart::Rollback => recorded!("gate-rolled-back", commands = delivery.rollback.len()),
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
    notes: Vec<Words>,
}

/// One try of a probe.
struct Look {
    outcome: StepOutcome,
    seen: Words,
    said: String,
    command: Option<CommandEvidence>,
}

impl Course<'_> {
    async fn run(&mut self, part: DeliveryPart) -> Result<(), Trouble> {
        let delivery = self.delivery;
        let (commands, probes) = match part {
            DeliveryPart::Deliver => (&delivery.command, delivery.probes.as_slice()),
            DeliveryPart::Rollback => (&delivery.rollback, [].as_slice()),
            DeliveryPart::Health => return self.check_health().await,
        };
        for (number, command) in commands.iter().enumerate() {
            self.act(number, command).await?;
        }
        for (number, probe) in probes.iter().enumerate() {
            self.look(number, probe).await?;
        }
        Ok(())
    }

    async fn check_health(&mut self) -> Result<(), Trouble> {
        let Some(health) = &self.delivery.health else { return Ok(()) };
        for (number, command) in health.command.iter().enumerate() {
            let limit = health.timeout.duration();
            let look = self.looking_command(&format!(".{number}"), limit, command).await?;
            let step = format!("`{command}`");
            let failed = recorded!("gate-unhealthy", step = &step, seen = &look.seen);
            self.seen("health", step, look, 1, failed)?;
        }
        Ok(())
    }

    /// Records a step. It is an error if it is not good.
    fn seen(&mut self, part: &str, step: String, look: Look, attempts: u32, failed: Words) -> Result<(), Trouble> {
        let Look { outcome, seen, said, command } = look;
        self.steps.push(StepReport { step, outcome, seen: RECORD.words(&seen), said: seen.own(), attempts, command });
        if outcome == StepOutcome::Good {
            return Ok(());
        }
        let found = finding(&format!("{}.{part}", self.gate), failed.clone()).evidence(&said);
        Err(Judgement::of(vec![found], failed, Vec::new()).into())
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
        let (step, seen) = (format!("`{command}`"), end_words(checked.run.end));
        let failed = recorded!("gate-delivery-failed", step = &step, seen = &seen);
        let said = last_part(&checked.output).to_owned();
        let done = self.seen("command", step, Look { outcome, seen, said, command: Some(checked.evidence) }, 1, failed);
        let Some(fault) = fault else { return done };
        // Another try of the agent would begin it again, half done as it may be: that is for a person to decide.
        let fault = retold(&fault, |why| recorded!("gate-delivery-unknown", why = why));
        Err(Fault { kind: FaultKind::Environment, ..fault }.into())
    }

    /// Makes a probe until it sees what is expected or its attempts are used up.
    async fn look(&mut self, number: usize, probe: &Probe) -> Result<(), Trouble> {
        let mut attempts = 0;
        let look = loop {
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
        let failed = recorded!("gate-probe-failed", probe = probe.words(), seen = &look.seen, attempts = attempts);
        self.seen("probe", probe.words(), look, attempts, failed)
    }

    /// Runs a command that only looks.
    async fn looking_command(&self, suffix: &str, limit: Duration, command: &str) -> Result<Look, Trouble> {
        let argv = words(command)?;
        let checked = self.command(&argv, limit, suffix).await?;
        let outcome = match checked.run.end {
            CommandEnd::Exited(0) => StepOutcome::Good,
            CommandEnd::Exited(_) => StepOutcome::Bad,
            _ => StepOutcome::Unknown,
        };
        let seen = end_words(checked.run.end);
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
                (StepOutcome::Bad, recorded!("gate-status-other", status = got, wanted = status))
            }
            (CommandEnd::Exited(0), Some(got)) if !finds => {
                let missing = format!("{:?}", contains.unwrap_or_default());
                (StepOutcome::Bad, recorded!("gate-status-without", status = got, missing = missing))
            }
            (CommandEnd::Exited(0), Some(got)) => (StepOutcome::Good, recorded!("gate-status", status = got)),
            (end, _) => {
                let said = checked.run.tail.lines().rev().find(|line| line.starts_with("curl: "));
                (
                    StepOutcome::Bad,
                    said.map_or_else(|| recorded!("gate-status-none", how = end_words(end)), Words::from),
                )
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
                Ok(Ok(_)) => (StepOutcome::Good, recorded!("gate-connected")),
                Ok(Err(error)) => (StepOutcome::Bad, error.to_string().into()),
                Err(_) => (StepOutcome::Bad, recorded!("gate-connected-not", seconds = limit.as_secs())),
            },
        };
        Ok(Look { outcome, seen, said: String::new(), command: None })
    }
}
