//! How long a line takes from the agent's stdout to the client's socket, with many streams at once.
//!
//! Must not know the wire format beyond this: the fake agent's fragments begin with the time at which they were written.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Stdio};
use std::sync::{Barrier, mpsc};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, bail};
use serde_json::json;

use super::Extent;
use super::figure::{Bar, Figure, quantile};
use super::host::Place;
use super::programs::Programs;

const STREAMS: usize = 50;
const LINES_PER_SECOND: usize = 20;

/// When a fragment was written and when it was read, in seconds since the epoch.
#[derive(Debug, Clone, Copy)]
struct Sample {
    written: f64,
    read: f64,
}

/// Measures first pipes, then Helix.
pub(crate) fn measure(programs: &Programs, extent: Extent) -> anyhow::Result<Vec<Figure>> {
    let seconds = match extent {
        Extent::Whole => 15,
        Extent::Quick => 5,
    };
    let lines = seconds * LINES_PER_SECOND;
    let order = format!("[[fake: deltas {lines} {LINES_PER_SECOND}]]");
    let place = Place::new(programs)?;
    let bare = latencies(&all_at_once(|_| through_pipe(&place, &order))?, lines)?;
    let host = place.serve()?;
    let used = host.processor_seconds()?;
    let streams = all_at_once(|number| {
        let body = json!({"model": "helix", "stream": true, "messages": [{"role": "user", "content": order}]});
        let chat = format!("X-Chat: bench-{number}");
        samples(host.send("POST", "/v1/chat/completions", &[&chat], &body.to_string())?)
    })?;
    let through_helix = latencies(&streams, lines)?;
    let used = host.processor_seconds()? - used;
    let name = |share: &str| format!("stdout to socket, {STREAMS} streams × {LINES_PER_SECOND}/s, {share}");
    let note = format!("{} lines; bare is a pipe to the same reader", through_helix.len());
    let share = |values: &[f64], share| quantile(values, share);
    Ok(vec![
        Figure::new(name("p50"), share(&through_helix, 0.5), "ms")
            .beside(share(&bare, 0.5))
            .bar(Bar::AtMost(1.0))
            .note(note.clone()),
        Figure::new(name("p99"), share(&through_helix, 0.99), "ms")
            .beside(share(&bare, 0.99))
            .bar(Bar::AtMost(5.0))
            .note(format!("longest {:.1} ms", share(&through_helix, 1.0))),
        Figure::new("the same: processor time of the host per line", used * 1e6 / (STREAMS * lines) as f64, "µs"),
        Figure::new("the same: host's peak RSS", host.memory_mib("VmHWM")?, "MiB"),
    ])
}

/// Runs all streams on threads of their own, which begin together.
fn all_at_once<F>(stream: F) -> anyhow::Result<Vec<Vec<Sample>>>
where
    F: Fn(usize) -> anyhow::Result<Vec<Sample>> + Sync,
{
    let (barrier, (sender, receiver)) = (Barrier::new(STREAMS), mpsc::channel());
    std::thread::scope(|scope| {
        for number in 0..STREAMS {
            let (stream, barrier, sender) = (&stream, &barrier, sender.clone());
            scope.spawn(move || {
                barrier.wait();
                // The receiver outlives all threads of this scope.
                drop(sender.send(stream(number)));
            });
        }
    });
    drop(sender);
    receiver.into_iter().collect()
}

fn through_pipe(place: &Place, order: &str) -> anyhow::Result<Vec<Sample>> {
    let mut command = place.agent(&place.sandbox.home());
    let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child: Child = spawned.context("the agent cannot be started")?;
    child.stdin.take().context("the agent has no stdin")?.write_all(order.as_bytes())?;
    let read = samples(child.stdout.take().context("the agent has no stdout")?);
    child.wait()?;
    read
}

/// Reads to the end; each fragment is taken note of as soon as its line is there.
fn samples(source: impl Read) -> anyhow::Result<Vec<Sample>> {
    let (mut source, mut line, mut samples) = (BufReader::new(source), Vec::new(), Vec::new());
    loop {
        line.clear();
        if source.read_until(b'\n', &mut line)? == 0 {
            return Ok(samples);
        }
        let read = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs_f64();
        samples.extend(times_in(&line).map(|written| Sample { written, read }));
    }
}

/// Times in nanoseconds since the epoch: numbers of 19 digits that are no part of a longer word.
fn times_in(line: &[u8]) -> impl Iterator<Item = f64> {
    let words = line.split(|byte| !byte.is_ascii_alphanumeric());
    let times = words.filter(|word| word.len() == 19 && word.iter().all(u8::is_ascii_digit));
    times.filter_map(|word| std::str::from_utf8(word).ok()?.parse::<f64>().ok()).map(|nanoseconds| nanoseconds / 1e9)
}

/// Latencies in milliseconds of what was written while all streams were going.
fn latencies(streams: &[Vec<Sample>], lines: usize) -> anyhow::Result<Vec<f64>> {
    for stream in streams {
        if stream.len() != lines {
            bail!("{} of {lines} lines arrived in a stream", stream.len());
        }
    }
    let written = |pick: fn(&[Sample]) -> Option<&Sample>| {
        streams.iter().filter_map(move |stream| pick(stream)).map(|sample| sample.written)
    };
    let (begin, end) =
        (written(<[Sample]>::first).fold(0.0, f64::max), written(<[Sample]>::last).fold(f64::MAX, f64::min));
    let together = streams.iter().flatten().filter(|sample| (begin..=end).contains(&sample.written));
    let latencies: Vec<f64> = together.map(|sample| (sample.read - sample.written) * 1e3).collect();
    if latencies.len() * 2 < STREAMS * lines {
        bail!("the streams overlap for less than half of their length; the machine is too busy");
    }
    Ok(latencies)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_found_in_both_formats() {
        let chunk = br#"data: {"choices":[{"delta":{"content":" 1795309200123456789"}}]}"#;
        let record = br#"{"delta":{"type":"text_delta","text":"1795309200123456789 xxx"},"uuid":"00000000-0000"}"#;
        for line in [&chunk[..], &record[..]] {
            let found: Vec<f64> = times_in(line).collect();
            assert_eq!(found.len(), 1);
            assert!((found[0] - 1_795_309_200.123_456_7).abs() < 1e-5);
        }
        assert_eq!(times_in(br#"data: {"content":"179530920012345678 1795309200123456789a"}"#).count(), 0);
    }
}
