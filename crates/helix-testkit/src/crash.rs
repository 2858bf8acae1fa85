//! Kills a program again and again at chosen or random moments until its work is done.
//!
//! Must not know what the work is: the test says when it is done.

use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use crate::random::Random;

/// When and how often to kill.
#[derive(Debug, Clone)]
pub struct CrashPlan {
    /// Decides all delays; printed, so that a failure can be repeated.
    pub seed: u64,
    pub shortest: Duration,
    pub longest: Duration,
    /// After so many kills the program is left alone.
    pub kills: u32,
    /// The whole must be done by then.
    pub deadline: Duration,
}

/// What happened.
#[derive(Debug)]
pub struct CrashReport {
    /// How often the program was killed.
    pub kills: u32,
    /// How long it lived each time.
    pub lives: Vec<Duration>,
    /// How the last life ended, if by itself.
    pub exit: Option<ExitStatus>,
}

/// Says why the work was not done.
#[derive(Debug, thiserror::Error)]
pub enum CrashError {
    /// The program cannot be started.
    #[error("the program cannot be started (seed {seed}, after {kills} kills)")]
    Start { seed: u64, kills: u32, source: std::io::Error },
    /// It cannot be watched or killed.
    #[error("the program cannot be watched (seed {seed}, after {kills} kills)")]
    Watch { seed: u64, kills: u32, source: std::io::Error },
    #[error("the work was not done within {deadline:?} (seed {seed}, {kills} kills)")]
    Deadline { seed: u64, kills: u32, deadline: Duration },
}

/// Starts `command` and kills it with SIGKILL as planned, starting it again until `done` says so; the last one is killed, too.
///
/// `done` is asked while the program runs and after it ended by itself. `HELIX_CRASH_SEED` overrides the seed.
///
/// # Errors
/// [`CrashError`]; each names the seed.
pub fn kill_at_random(
    plan: &CrashPlan,
    mut command: impl FnMut() -> Command,
    mut done: impl FnMut() -> bool,
) -> Result<CrashReport, CrashError> {
    let seed = std::env::var("HELIX_CRASH_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(plan.seed);
    let mut random = Random::new(seed);
    let mut report = CrashReport { kills: 0, lives: Vec::new(), exit: None };
    let start = Instant::now();
    while !done() {
        let kills = report.kills;
        let mut child = Living(command().spawn().map_err(|source| CrashError::Start { seed, kills, source })?);
        let born = Instant::now();
        let span = plan.longest.saturating_sub(plan.shortest);
        let life = (kills < plan.kills).then(|| plan.shortest + span.mul_f64(random.fraction()));
        loop {
            let ended = child.0.try_wait().map_err(|source| CrashError::Watch { seed, kills, source })?;
            if let Some(status) = ended {
                report.exit = Some(status);
                break;
            }
            if life.is_some_and(|life| born.elapsed() >= life) {
                child.0.kill().map_err(|source| CrashError::Watch { seed, kills, source })?;
                child.0.wait().map_err(|source| CrashError::Watch { seed, kills, source })?;
                report.kills += 1;
                report.exit = None;
                break;
            }
            if start.elapsed() > plan.deadline {
                return Err(CrashError::Deadline { seed, kills, deadline: plan.deadline });
            }
            if life.is_none() && done() {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        report.lives.push(born.elapsed());
        if start.elapsed() > plan.deadline && !done() {
            return Err(CrashError::Deadline { seed, kills: report.kills, deadline: plan.deadline });
        }
    }
    Ok(report)
}

/// A child that does not outlive the test.
struct Living(Child);

impl Drop for Living {
    fn drop(&mut self) {
        // Both fail only if it has ended already.
        let _ended = self.0.kill();
        let _reaped = self.0.wait();
    }
}
