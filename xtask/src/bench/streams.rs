//! How long a line takes from the agent's stdout to the client's socket, with many streams at once.
//!
//! Must not know the wire format beyond this: the fake agent's fragments begin with the time at which they were written.

use std::io::{BufRead, BufReader, Read};
use std::sync::mpsc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, bail};
use serde_json::json;

use super::Extent;
use super::figure::{Bar, Figure, quantile};
use super::host::{Host, Place};
use super::programs::Programs;

/// How many streams there are, and how they come.
#[derive(Debug, Clone, Copy)]
struct Load {
    streams: usize,
    lines_per_second: usize,
    /// Over which they are started.
    ramp: Duration,
    /// How long each of them lasts, and how long where only that it works is to be seen.
    seconds: [usize; 2],
}

const FEW: Load = Load { streams: 50, lines_per_second: 20, ramp: Duration::ZERO, seconds: [15, 5] };
const SOME: Load = Load { streams: 200, lines_per_second: 20, ramp: Duration::from_secs(2), seconds: [15, 5] };
const MANY: Load = Load { streams: 1000, lines_per_second: 5, ramp: Duration::from_secs(12), seconds: [25, 20] };
const SUDDEN: Load = Load { streams: 1000, lines_per_second: 5, ramp: Duration::from_secs(2), seconds: [15, 10] };

/// When a fragment was written and when it was read, in seconds since the epoch.
#[derive(Debug, Clone, Copy)]
struct Sample {
    written: f64,
    read: f64,
}

/// What came of a stream.
struct Stream {
    /// Milliseconds from its request to its first line.
    first: f64,
    samples: Vec<Sample>,
}

/// Measures first a loop that keeps nothing, then Helix.
pub(crate) fn measure(programs: &Programs, extent: Extent) -> anyhow::Result<Vec<Figure>> {
    let (near, far) = (Bar::TimesBareAtMost(1.5), Bar::AtMost(0.5));
    let mut figures = of_load(programs, extent, FEW, [near, Bar::AtMost(5.0), Bar::AtMost(100.0)])?;
    figures.extend(of_load(programs, extent, SOME, [near, Bar::AtMost(5.0), Bar::AtMost(1000.0)])?);
    figures.extend(of_load(programs, extent, MANY, [far, Bar::AtMost(10.0), Bar::AtMost(1000.0)])?);
    figures.extend(of_load(programs, extent, SUDDEN, [far, Bar::AtMost(10.0), Bar::AtMost(1000.0)])?);
    Ok(figures)
}

/// `bars`: of a line, the median and the 99th percentile; of a stream's first line, the 95th percentile.
fn of_load(programs: &Programs, extent: Extent, load: Load, bars: [Bar; 3]) -> anyhow::Result<Vec<Figure>> {
    let Load { streams, lines_per_second, ramp, seconds: [whole, quick] } = load;
    let lines = lines_per_second * if extent == Extent::Whole { whole } else { quick };
    let place = Place::new(programs)?;
    let ask = |host: &Host, number: usize| {
        let order = format!("[[fake: deltas {lines} {lines_per_second}]]");
        let body = json!({"model": "helix", "stream": true, "messages": [{"role": "user", "content": order}]});
        let chat = format!("X-Chat: bench-{number}");
        samples(host.send("POST", "/v1/chat/completions", &[&chat], &body.to_string())?)
    };
    let naive = place.serve_naively()?;
    let bare = started_over(load, |number| ask(&naive, number))?;
    let used_naively = naive.processor_seconds()?;
    drop(naive);
    let host = place.serve()?;
    let used = host.processor_seconds()?;
    let received = started_over(load, |number| ask(&host, number))?;
    let used = host.processor_seconds()? - used;
    let per_line = |seconds: f64| seconds * 1e6 / (streams * lines) as f64;
    let name =
        |what: &str| format!("{streams} streams × {lines_per_second}/s, started over {} s: {what}", ramp.as_secs());
    let firsts = |streams: &[Stream]| streams.iter().map(|stream| stream.first).collect::<Vec<f64>>();
    let mut figures = vec![
        Figure::new(name("a stream's first line, p95"), quantile(&firsts(&received), 0.95), "ms")
            .beside(quantile(&firsts(&bare), 0.95))
            .bar(bars[2]),
        Figure::new(name("host's peak RSS"), host.memory_mib("VmHWM")?, "MiB"),
        Figure::new(name("the host's processor time per line"), per_line(used), "µs")
            .beside(per_line(used_naively))
            .note("with the starts of all agents"),
    ];
    let (through_helix, bare) = (latencies(&received, load, lines)?, latencies(&bare, load, lines)?);
    for (what, share, bar) in [("stdout to socket, p50", 0.5, bars[0]), ("the same, p99", 0.99, bars[1])] {
        let of = |latencies: &Option<Vec<f64>>| {
            latencies.as_ref().map_or(f64::INFINITY, |latencies| quantile(latencies, share))
        };
        let note = through_helix.as_ref().map_or_else(
            || "never all there at once".to_owned(),
            |latencies| format!("{} lines; longest {:.1} ms", latencies.len(), quantile(latencies, 1.0)),
        );
        let figure = Figure::new(name(what), of(&through_helix), "ms").bar(bar).note(note);
        figures.push(if bare.is_some() { figure.beside(of(&bare)) } else { figure });
    }
    Ok(figures)
}

/// Runs all streams on threads of their own, one after the other within the ramp.
fn started_over<F>(load: Load, stream: F) -> anyhow::Result<Vec<Stream>>
where
    F: Fn(usize) -> anyhow::Result<Vec<Sample>> + Sync,
{
    let (began, (sender, receiver)) = (Instant::now(), mpsc::channel());
    std::thread::scope(|scope| -> anyhow::Result<()> {
        for number in 0..load.streams {
            let (stream, sender) = (&stream, sender.clone());
            let at = load.ramp.mul_f64(number as f64 / load.streams as f64);
            std::thread::Builder::new().stack_size(256 << 10).spawn_scoped(scope, move || {
                std::thread::sleep((began + at).saturating_duration_since(Instant::now()));
                let asked = now();
                let read = stream(number).and_then(|samples| {
                    let first = samples.first().context("a stream without lines")?.read;
                    Ok(Stream { first: (first - asked) * 1e3, samples })
                });
                // The receiver outlives all threads of this scope.
                drop(sender.send(read));
            })?;
        }
        Ok(())
    })?;
    drop(sender);
    receiver.into_iter().collect()
}

/// Reads to the end; each fragment is taken note of as soon as its line is there.
fn samples(source: impl Read) -> anyhow::Result<Vec<Sample>> {
    let (mut source, mut line, mut samples) = (BufReader::new(source), Vec::new(), Vec::new());
    loop {
        line.clear();
        if source.read_until(b'\n', &mut line)? == 0 {
            return Ok(samples);
        }
        let read = now();
        samples.extend(times_in(&line).map(|written| Sample { written, read }));
    }
}

/// Seconds since the epoch.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs_f64()
}

/// Times in nanoseconds since the epoch: numbers of 19 digits that are no part of a longer word.
fn times_in(line: &[u8]) -> impl Iterator<Item = f64> {
    let words = line.split(|byte| !byte.is_ascii_alphanumeric());
    let times = words.filter(|word| word.len() == 19 && word.iter().all(u8::is_ascii_digit));
    times.filter_map(|word| std::str::from_utf8(word).ok()?.parse::<f64>().ok()).map(|nanoseconds| nanoseconds / 1e9)
}

/// Latencies in milliseconds of what was written while all streams were going; `None` where that was less than half of what the ramp
/// leaves.
fn latencies(streams: &[Stream], load: Load, lines: usize) -> anyhow::Result<Option<Vec<f64>>> {
    for stream in streams {
        if stream.samples.len() != lines {
            bail!("{} of {lines} lines arrived in a stream", stream.samples.len());
        }
    }
    let written = |pick: fn(&[Sample]) -> Option<&Sample>| {
        streams.iter().filter_map(move |stream| pick(&stream.samples)).map(|sample| sample.written)
    };
    let (begin, end) =
        (written(<[Sample]>::first).fold(0.0, f64::max), written(<[Sample]>::last).fold(f64::MAX, f64::min));
    let together =
        streams.iter().flat_map(|stream| &stream.samples).filter(|sample| (begin..=end).contains(&sample.written));
    let latencies: Vec<f64> = together.map(|sample| (sample.read - sample.written) * 1e3).collect();
    let ramp = load.lines_per_second as f64 * load.ramp.as_secs_f64();
    let least = streams.len() as f64 * (lines as f64 - ramp) / 2.0;
    Ok(Some(latencies).filter(|latencies| latencies.len() as f64 >= least))
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
