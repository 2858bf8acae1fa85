//! What a phase costs beyond its agent: a chain of phases that write one file each, against the same by hand.
//!
//! Must not know what Helix does in a phase; the job's events say where the time went.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use anyhow::{Context, bail};
use serde_json::Value;

use super::Extent;
use super::figure::{Bar, Figure, median};
use super::host::{Place, kind, recorded_at};
use super::programs::Programs;

/// Measures chains by hand and by Helix in turn.
pub(crate) fn measure(programs: &Programs, extent: Extent) -> anyhow::Result<Vec<Figure>> {
    let (rounds, phases) = match extent {
        Extent::Whole => (5, 20),
        Extent::Quick => (2, 6),
    };
    let place = Place::new(programs)?;
    let (by_hand, plan) = (place.repository("hand", &plan(phases))?, plan(phases));
    let host = place.serve()?;
    let (mut bare, mut helix) = (Vec::new(), Vec::new());
    let mut stages: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for round in 0..rounds {
        let mut chain = 0.0;
        for phase in 1..=phases {
            chain += one_by_hand(&place, &by_hand, round, phase)?;
        }
        // A chain's average on both sides: a middle value on one of them would leave out the slow ones there only.
        bare.push(chain / phases as f64);
        let repository = place.repository(&format!("helix{round}"), &plan)?;
        let events = place.run(&repository)?;
        helix.push(tell_apart(&events, phases, &mut stages)?);
    }
    drop(host);
    let stages: Vec<String> = stages
        .iter()
        .map(|(stage, times)| format!("{stage} {:.1}", times.iter().sum::<f64>() / (rounds * phases) as f64))
        .collect();
    let figure = Figure::new(format!("a phase in a chain of {phases}, zero-work agent"), median(&helix), "ms")
        .beside(median(&bare))
        .bar(Bar::AboveBareAtMost(12.0))
        .note(format!("chains by hand {}, by Helix {}; until: {}", list(&bare), list(&helix), stages.join(", ")));
    Ok(vec![figure])
}

fn list(times: &[f64]) -> String {
    times.iter().map(|time| format!("{time:.0}")).collect::<Vec<_>>().join("/")
}

fn order(phase: usize) -> String {
    format!("[[fake: write out/p{phase:02}.txt a line of text]]")
}

fn plan(phases: usize) -> String {
    let mut text = "name: bench\nphases:\n".to_owned();
    for phase in 1..=phases {
        text.push_str(&format!("  - id: p{phase:02}\n    type: documentation\n    description: '{}'\n", order(phase)));
        text.push_str(&format!("    outputs: [out/p{phase:02}.txt]\n"));
        if phase > 1 {
            text.push_str(&format!("    depends_on: [p{:02}]\n", phase - 1));
        }
    }
    text
}

/// Worktree, agent, add, commit, merge, one after the other; in milliseconds.
fn one_by_hand(place: &Place, top: &Path, round: usize, phase: usize) -> anyhow::Result<f64> {
    let name = format!("r{round}p{phase:02}");
    let tree = place.sandbox.path().join("hand-trees").join(&name);
    let tree_text = tree.to_str().context("a path that is no text")?;
    let began = Instant::now();
    place.git(top, &["worktree", "add", "-q", "-b", &name, tree_text, "HEAD"])?;
    let mut agent = place.agent(&tree);
    let mut child = agent.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().context("the agent cannot be started")?;
    let mut stdin = child.stdin.take().context("the agent has no stdin")?;
    // Other rounds write another text: a commit without a change would be an error.
    stdin.write_all(order(phase).replace("a line", &format!("round {round}, a line")).as_bytes())?;
    drop(stdin);
    if !child.wait()?.success() {
        bail!("the agent failed by itself");
    }
    place.git(&tree, &["add", "-A"])?;
    place.git(&tree, &["commit", "-q", "-m", "work"])?;
    place.git(top, &["merge", "-q", "--no-ff", "-m", "merge", &name])?;
    Ok(began.elapsed().as_secs_f64() * 1e3)
}

/// Milliseconds per phase from the job's first event to its last, and what led to each kind of event.
fn tell_apart(events: &[Value], phases: usize, stages: &mut BTreeMap<String, Vec<f64>>) -> anyhow::Result<f64> {
    let (first, last) = (events.first().context("a job without events")?, events.last().context("no events")?);
    if last.pointer("/end/how").or_else(|| last.get("end")).is_none() {
        bail!("the job did not end: {last}");
    }
    let runs = events.iter().filter(|event| kind(event) == "run_finished").count();
    if runs != phases {
        bail!("{runs} agent runs for {phases} phases: one had to be repeated");
    }
    for pair in events.windows(2) {
        let [before, after] = pair else { continue };
        let took = (recorded_at(after)? - recorded_at(before)?) * 1e3;
        stages.entry(kind(after).to_owned()).or_default().push(took);
    }
    Ok((recorded_at(last)? - recorded_at(first)?) * 1e3 / phases as f64)
}
