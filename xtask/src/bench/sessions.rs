//! What a turn of a long session costs beside one of a short one: the history that clients send with every message is read
//! and its place found again.
//!
//! Must not know how the place is found.

use std::time::Instant;

use anyhow::{Context, bail};
use serde_json::{Value, json};

use super::Extent;
use super::figure::{Bar, Figure, median};
use super::host::{Host, Place};
use super::programs::Programs;

/// What either side says in a turn, in bytes.
const TEXT: usize = 1_000;

/// One session from its first turn to its last, by a client that sends the whole history and no ids.
pub(crate) fn measure(programs: &Programs, extent: Extent) -> anyhow::Result<Vec<Figure>> {
    let (turns, window) = match extent {
        Extent::Whole => (300, 20),
        Extent::Quick => (12, 3),
    };
    let place = Place::new(programs)?;
    let host = place.serve()?;
    let (mut messages, mut times, mut work) = (Vec::new(), Vec::new(), Vec::new());
    for number in 1..=turns {
        let words = format!("{number} {}", "word ".repeat(TEXT / 5));
        messages.push(json!({ "role": "user", "content": format!("[[fake: say answer {words}]]") }));
        let request = json!({ "model": "helix", "messages": messages }).to_string();
        let before = host.processor_seconds()?;
        let began = Instant::now();
        let answer = ask(&host, &request)?;
        times.push(began.elapsed().as_secs_f64() * 1e3);
        work.push((host.processor_seconds()? - before) * 1e3);
        messages.push(json!({ "role": "assistant", "content": answer }));
    }
    let sessions: Value = serde_json::from_str(&host.request("GET", "/api/v1/sessions", &[], "")?.1)?;
    if sessions["sessions"].as_array().map(Vec::len) != Some(1) {
        bail!("it did not stay one session: {sessions}");
    }
    let bytes = serde_json::to_string(&messages)?.len();
    let average = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let (first, last) = (&times[..window], &times[turns - window..]);
    Ok(vec![
        Figure::new(
            format!("a turn of a session of {turns} turns, zero-work agent, the last {window}"),
            median(last),
            "ms",
        )
        .beside(median(first))
        .bar(Bar::AboveBareAtMost(30.0))
        .note(format!("bare is the first {window}; the last request has {} kB", bytes / 1_000)),
        Figure::new("the same, processor time of the host", average(&work[turns - window..]), "ms")
            .beside(average(&work[..window]))
            .note("in ticks of 10 ms, averaged"),
    ])
}

fn ask(host: &Host, request: &str) -> anyhow::Result<String> {
    let (status, said) = host.request("POST", "/v1/chat/completions", &[], request)?;
    if status != 200 {
        bail!("{status}: {said}");
    }
    let answer: Value = serde_json::from_str(&said).context("an answer that is no JSON")?;
    let text = answer.pointer("/choices/0/message/content").and_then(Value::as_str);
    Ok(text.with_context(|| format!("no text in {said}"))?.to_owned())
}
