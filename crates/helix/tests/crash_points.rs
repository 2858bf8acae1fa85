//! The host dies at every append to the journal and around every effect of jobs that have all there is: a failing test, phases
//! side by side, a verifier, approvals, phases that are added, a conflict, questions of agents, an adviser, a person's decision.
//! Each job ends as if nothing had happened, no attempt runs twice at once, nothing is lost and nothing left. [T10, 37, 38]
//!
//! In CI at every `STRIDE`th place and several in one job; `cargo xtask crash` takes all, each in a job of its own.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test says where it fails by panicking")]

#[path = "crash_points/jobs.rs"]
mod jobs;
mod stage;

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use helix_testkit::agent::overlaps;
use jobs::{PEOPLE, PHASES, Scripted, Whole, answer};
use stage::{LIMIT, LOOK_AGAIN, Process, Stage, assert_numbered};

/// Every so many places in a run of all tests, and how many of them in one job.
const STRIDE: usize = 6;
const DEATHS: usize = 8;
/// Jobs at a time: they mostly wait for processes.
const AT_ONCE: usize = 2;
/// What begins the line of the place at which a host died.
const DIED: &str = "† ";

fn number(variable: &str, otherwise: usize) -> usize {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// The hosts of one job: each dies at the first of the places that it passes and that are left, and another one follows.
struct Hosts<'a> {
    stage: &'a Stage,
    left: Vec<String>,
    died: Vec<String>,
    living: Process,
}

impl<'a> Hosts<'a> {
    fn record(stage: &Stage) -> PathBuf {
        stage.sandbox.path().join("places")
    }

    fn start(stage: &Stage, left: &[String]) -> Process {
        let mut command = stage.serve();
        command.env("HELIX_CRASH_AT", left.join("\n")).env("HELIX_CRASH_PLACES", Self::record(stage));
        Process(command.spawn().unwrap())
    }

    fn new(stage: &'a Stage, deaths: &[String]) -> Self {
        Self { stage, left: deaths.to_vec(), died: Vec::new(), living: Self::start(stage, deaths) }
    }

    /// Starts the next one when one has died as it was told to.
    fn see_to_it(&mut self) -> Result<(), String> {
        let Some(status) = self.living.0.try_wait().unwrap() else { return Ok(()) };
        let passed = passed(self.stage);
        let deaths = passed.iter().filter_map(|line| line.strip_prefix(DIED)).collect::<Vec<_>>();
        match deaths.last() {
            Some(place) if deaths.len() == self.died.len() + 1 => {
                self.left.retain(|left| left != place);
                self.died.push((*place).to_owned());
                self.living = Self::start(self.stage, &self.left);
                Ok(())
            }
            _ => Err(format!("a host ended with {status} of itself after {:?}", passed.last())),
        }
    }
}

/// The places that the hosts of this stage have passed.
fn passed(stage: &Stage) -> Vec<String> {
    let text = std::fs::read_to_string(Hosts::record(stage)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// How a job ended whose hosts died at some places.
struct Ended {
    whole: Whole,
    died: Vec<String>,
    passed: Vec<String>,
}

async fn carried_out(scripted: &Scripted, deaths: &[String]) -> Result<Ended, String> {
    let stage = Stage::new(scripted.script, scripted.config);
    let plan = stage.plan(scripted.name, scripted.plan);
    let mut hosts = Hosts::new(&stage, deaths);
    let work = async {
        let job = stage.submit(&plan, &stage.repo, "every-place").await;
        let view = stage.answer_all(&job, answer).await;
        let events = stage.events(&job).await;
        (job, view, events)
    };
    tokio::pin!(work);
    let start = Instant::now();
    let (job, view, events) = loop {
        tokio::select! {
            done = &mut work => break done,
            () = tokio::time::sleep(LOOK_AGAIN) => hosts.see_to_it().map_err(|why| format!("{why}\n{}", stage.log()))?,
        }
        if start.elapsed() > LIMIT {
            return Err(format!("the job does not end\n{}", stage.log()));
        }
    };
    assert_numbered(&events);
    Stage::no_agent_is_left(&job);
    stage.no_gate_is_left();
    let twice = overlaps(&stage.plays()).unwrap();
    if !twice.is_empty() {
        return Err(format!("attempts ran twice at once: {twice:?}\n{}", stage.log()));
    }
    if view["status"] != "succeeded" {
        println!("{deaths:?}: {view:#}\n{}", stage.log());
    }
    let whole = Whole::of(&stage, scripted, &view, &events);
    Ok(Ended { whole, died: hosts.died, passed: passed(&stage) })
}

/// Carries a group of places out; what went wrong, or the places at which a host died.
async fn group(scripted: &Scripted, undisturbed: &Whole, deaths: &[String]) -> Result<Vec<String>, String> {
    let names = deaths.join("\n  ");
    let ended = carried_out(scripted, deaths).await.map_err(|why| format!("dying at\n  {names}\n{why}"))?;
    if ended.whole == *undisturbed {
        return Ok(ended.died);
    }
    Err(format!("dying at\n  {names}\nleads to {:#?}\ninstead of {undisturbed:#?}", ended.whole))
}

/// Takes groups off the list until it is empty.
async fn work_off(
    scripted: &'static Scripted,
    undisturbed: Arc<Whole>,
    groups: Arc<Mutex<VecDeque<Vec<String>>>>,
) -> (Vec<String>, Vec<String>) {
    let (mut died, mut problems) = (Vec::new(), Vec::new());
    loop {
        let Some(next) = groups.lock().unwrap().pop_front() else { return (died, problems) };
        match group(scripted, &undisturbed, &next).await {
            Ok(places) => died.extend(places),
            Err(problem) => {
                // Said at once: the whole run takes long.
                println!("{}: {problem}", scripted.name);
                problems.push(problem);
            }
        }
    }
}

async fn every_place(scripted: &'static Scripted) {
    let start = Instant::now();
    let undisturbed = carried_out(scripted, &[]).await.unwrap_or_else(|why| panic!("{why}"));
    let whole = undisturbed.whole;
    assert_eq!(whole.status, "succeeded", "{whole:#?}");
    assert_eq!(whole.plays, scripted.plays, "{whole:#?}");
    for event in scripted.events {
        assert!(whole.events.iter().any(|line| line.starts_with(event)), "the job has no {event}: {whole:#?}");
    }
    let mut places: Vec<String> = Vec::new();
    for place in undisturbed.passed {
        if !places.contains(&place) {
            places.push(place);
        }
    }
    let all = places.len();
    assert!(all > 40, "the job has more places than that: {places:#?}");
    let places: Vec<String> = match std::env::var("HELIX_CRASH_PLACE") {
        Ok(only) => places.into_iter().filter(|place| place.contains(&only)).collect(),
        Err(_) => {
            let stride = number("HELIX_CRASH_STRIDE", STRIDE);
            let taken = |(index, place): &(usize, String)| {
                index.is_multiple_of(stride) || scripted.always.iter().any(|part| place.contains(part))
            };
            places.into_iter().enumerate().filter(taken).map(|(_, place)| place).collect()
        }
    };
    // Those of one job are far from each other, so that each host gets on before it dies.
    let jobs = places.len().div_ceil(number("HELIX_CRASH_DEATHS", DEATHS));
    let mut groups = vec![Vec::new(); jobs];
    for (index, place) in places.iter().enumerate() {
        groups[index % jobs].push(place.clone());
    }
    let (groups, whole) = (Arc::new(Mutex::new(VecDeque::from(groups))), Arc::new(whole));
    let workers = (0..number("HELIX_CRASH_AT_ONCE", AT_ONCE))
        .map(|_| tokio::spawn(work_off(scripted, Arc::clone(&whole), Arc::clone(&groups))));
    let (mut died, mut problems) = (BTreeMap::new(), Vec::new());
    for worker in workers.collect::<Vec<_>>() {
        let (places, found) = worker.await.unwrap();
        places.into_iter().for_each(|place| *died.entry(place).or_insert(0_u32) += 1);
        problems.extend(found);
    }
    assert!(problems.is_empty(), "{} of {jobs} jobs ended otherwise:\n{}", problems.len(), problems.join("\n"));
    let missed: Vec<&String> = places.iter().filter(|place| !died.contains_key(*place)).collect();
    assert!(missed.is_empty(), "no host died at {missed:#?}");
    println!(
        "job {}: hosts died at {} of {all} places over {jobs} jobs, each ended as if nothing had happened ({} s)",
        scripted.name,
        died.len(),
        start.elapsed().as_secs()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_dies_at_any_append_or_effect_is_as_if_it_had_not_died() {
    every_place(&PHASES).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_advice_and_reviews_survive_a_host_that_dies_at_any_append_or_effect() {
    // [T20, 26]
    every_place(&PEOPLE).await;
}
