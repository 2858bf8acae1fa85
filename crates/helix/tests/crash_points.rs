//! The host dies at every append to the journal and around every effect of jobs that have all there is: a failing test, phases
//! side by side, a verifier, approvals, phases that are added, a conflict, questions of agents, an adviser, a person's decision.
//! Each job ends as if nothing had happened, no attempt runs twice at once, nothing is lost and nothing left.
//! The same for a session in which the Consultant makes a project, records a decision and starts a job, and for the way back
//! from what was delivered and merged.
//!
//! In CI at every `STRIDE`th place and several in one job; `cargo xtask crash` takes all, each in a job of its own.

mod evolution;
mod jobs;
mod session;

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use crate::stage::{LIMIT, LOOK_AGAIN, Process, Stage};
use evolution::WAY_BACK;
use helix_testkit::agent::overlaps;
use jobs::{PEOPLE, PHASES};
use session::TALK;

/// Every so many places in a run of all tests.
const STRIDE: usize = 6;
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
        let deaths: Vec<_> = passed.iter().filter_map(|line| line.strip_prefix(DIED)).map(str::to_owned).collect();
        // Two threads may come to such places at once.
        if deaths.len() == self.died.len() {
            return Err(format!("a host ended with {status} of itself after {:?}", passed.last()));
        }
        self.left.retain(|left| !deaths.contains(left));
        self.died = deaths;
        self.living = Self::start(self.stage, &self.left);
        Ok(())
    }
}

/// The places that the hosts of this stage have passed.
fn passed(stage: &Stage) -> Vec<String> {
    let text = std::fs::read_to_string(Hosts::record(stage)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// What goes on while hosts die.
trait Scene: Sync + 'static {
    /// What must be the same whether or not a host died.
    type Whole: PartialEq + std::fmt::Debug + Send + Sync;

    fn name(&self) -> &'static str;
    /// Whether a place is one of this scene.
    fn has(&self, place: &str) -> bool;
    /// Parts of the names of places that are taken in every run of all tests: defects were found there.
    fn always(&self) -> &'static [&'static str];
    /// Fewest places that it has.
    fn least(&self) -> usize;
    /// How many places in one round, when it is not said.
    fn deaths(&self) -> usize;
    fn stage(&self) -> Stage;
    /// Plays it, whichever host is there.
    fn play(&self, stage: &Stage) -> impl Future<Output = Self::Whole> + Send;
    /// Makes sure that an undisturbed one has what it is to have.
    fn is_as_meant(&self, whole: &Self::Whole);
}

/// How a scene ended whose hosts died at some places.
struct Ended<W> {
    whole: W,
    died: Vec<String>,
    passed: Vec<String>,
}

async fn carried_out<S: Scene>(scene: &S, deaths: &[String]) -> Result<Ended<S::Whole>, String> {
    let stage = scene.stage();
    let mut hosts = Hosts::new(&stage, deaths);
    let work = scene.play(&stage);
    tokio::pin!(work);
    let start = Instant::now();
    let whole = loop {
        tokio::select! {
            done = &mut work => break done,
            () = tokio::time::sleep(LOOK_AGAIN) => hosts.see_to_it().map_err(|why| format!("{why}\n{}", stage.log()))?,
        }
        if start.elapsed() > LIMIT {
            return Err(format!("it does not end\n{}", stage.log()));
        }
    };
    stage.no_gate_is_left();
    let twice = overlaps(&stage.plays()).unwrap();
    if !twice.is_empty() {
        return Err(format!("attempts ran twice at once: {twice:?}\n{}", stage.log()));
    }
    Ok(Ended { whole, died: hosts.died, passed: passed(&stage) })
}

/// Carries a group of places out; what went wrong, or the places at which a host died.
async fn group<S: Scene>(scene: &S, undisturbed: &S::Whole, deaths: &[String]) -> Result<Vec<String>, String> {
    let names = deaths.join("\n  ");
    let ended = carried_out(scene, deaths).await.map_err(|why| format!("dying at\n  {names}\n{why}"))?;
    if ended.whole == *undisturbed {
        return Ok(ended.died);
    }
    Err(format!("dying at\n  {names}\nleads to {:#?}\ninstead of {undisturbed:#?}", ended.whole))
}

/// Takes groups off the list until it is empty.
async fn work_off<S: Scene>(
    scene: &'static S,
    undisturbed: Arc<S::Whole>,
    groups: Arc<Mutex<VecDeque<Vec<String>>>>,
) -> (Vec<String>, Vec<String>) {
    let (mut died, mut problems) = (Vec::new(), Vec::new());
    loop {
        let Some(next) = groups.lock().unwrap().pop_front() else { return (died, problems) };
        match group(scene, &undisturbed, &next).await {
            Ok(places) => died.extend(places),
            Err(problem) => {
                // Said at once: the whole run takes long.
                println!("{}: {problem}", scene.name());
                problems.push(problem);
            }
        }
    }
}

async fn every_place<S: Scene>(scene: &'static S) {
    let start = Instant::now();
    let undisturbed = carried_out(scene, &[]).await.unwrap_or_else(|why| panic!("{why}"));
    let whole = undisturbed.whole;
    scene.is_as_meant(&whole);
    let mut places: Vec<String> = Vec::new();
    for place in undisturbed.passed {
        if scene.has(&place) && !places.contains(&place) {
            places.push(place);
        }
    }
    let all = places.len();
    assert!(all >= scene.least(), "it has more places than that: {places:#?}");
    let places: Vec<String> = match std::env::var("HELIX_CRASH_PLACE") {
        Ok(only) => places.into_iter().filter(|place| place.contains(&only)).collect(),
        Err(_) => {
            let stride = number("HELIX_CRASH_STRIDE", STRIDE);
            let taken = |(index, place): &(usize, String)| {
                index.is_multiple_of(stride) || scene.always().iter().any(|part| place.contains(part))
            };
            places.into_iter().enumerate().filter(taken).map(|(_, place)| place).collect()
        }
    };
    // Those of one job are far from each other, so that each host gets on before it dies.
    let jobs = places.len().div_ceil(number("HELIX_CRASH_DEATHS", scene.deaths()));
    let mut groups = vec![Vec::new(); jobs];
    for (index, place) in places.iter().enumerate() {
        groups[index % jobs].push(place.clone());
    }
    let (groups, whole) = (Arc::new(Mutex::new(VecDeque::from(groups))), Arc::new(whole));
    let workers = (0..number("HELIX_CRASH_AT_ONCE", AT_ONCE))
        .map(|_| tokio::spawn(work_off(scene, Arc::clone(&whole), Arc::clone(&groups))));
    let (mut died, mut problems) = (BTreeMap::new(), Vec::new());
    for worker in workers.collect::<Vec<_>>() {
        let (places, found) = worker.await.unwrap();
        places.into_iter().for_each(|place| *died.entry(place).or_insert(0_u32) += 1);
        problems.extend(found);
    }
    assert!(problems.is_empty(), "{} of {jobs} ended otherwise:\n{}", problems.len(), problems.join("\n"));
    // A job may be over before its notes are written: the hosts that died before kept the observer from it.
    let passed_for_sure = |place: &&String| !place.ends_with("append of notes on failures");
    let missed: Vec<_> = places.iter().filter(passed_for_sure).filter(|place| !died.contains_key(*place)).collect();
    // A host that dies elsewhere at the same time keeps one from being reached; alone it is.
    for place in missed {
        let places = group(scene, &whole, std::slice::from_ref(place)).await.unwrap_or_else(|why| panic!("{why}"));
        assert_eq!(places, [place.as_str()], "no host died there");
        died.insert(place.clone(), 1);
    }
    println!(
        "{}: hosts died at {} of {all} places over {jobs} rounds, each ended as if nothing had happened ({} s)",
        scene.name(),
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
    every_place(&PEOPLE).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rollback_and_a_revert_are_made_once_and_said_truly_when_a_host_dies_at_any_append_or_effect() {
    every_place(&WAY_BACK).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_survives_a_host_that_dies_at_any_append_or_effect() {
    every_place(&TALK).await;
}
