//! What a chat costs beside a loop that keeps nothing: a trivial turn, an answer as fast as it can be printed, one very long line, and
//! what is left of many chats in memory.
//!
//! Must not know how a turn is carried out.

use std::io::Read;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde_json::json;

use super::Extent;
use super::figure::{Bar, Figure, median, quantile};
use super::host::{Host, Place};
use super::programs::Programs;

/// Between two turns on a machine that has nothing else to do.
const QUIET: Duration = Duration::from_millis(200);
/// After which nothing of a conversation should be left in memory.
const IDLE: Duration = Duration::from_secs(145);
const LONG_LINE: usize = 10_000_000;

pub(crate) fn measure(programs: &Programs, extent: Extent) -> anyhow::Result<Vec<Figure>> {
    let (turns, chats, fragments, rounds) = match extent {
        Extent::Whole => (100, 3_000, 200_000, 3),
        Extent::Quick => (10, 50, 20_000, 1),
    };
    let place = Place::new(programs)?;
    let (naive, host) = (place.serve_naively()?, place.serve()?);
    let planned = chats;
    let (mut bare_chats, mut chats) = (Chats { host: &naive, number: 0 }, Chats { host: &host, number: 0 });
    let mut figures = Vec::new();
    for (what, pause) in [("back to back", Duration::ZERO), ("on a quiet machine", QUIET)] {
        let used = host.processor_seconds()?;
        let (mut through_helix, mut bare) = (Vec::new(), Vec::new());
        for (chats, times) in [(&mut bare_chats, &mut bare), (&mut chats, &mut through_helix)] {
            for _ in 0..turns {
                std::thread::sleep(pause);
                times.push(chats.ask("say answer ok")?.0);
            }
        }
        let used = (host.processor_seconds()? - used) * 1e3 / f64::from(turns);
        figures.push(
            Figure::new(format!("a trivial chat turn, {what}, p50"), median(&through_helix), "ms")
                .beside(median(&bare))
                .bar(Bar::AtMost(6.0))
                .note(format!("p95 {:.1} ms; processor time of the host {used:.1} ms", quantile(&through_helix, 0.95))),
        );
    }
    let mut best = |order: &str, least: usize| -> anyhow::Result<[f64; 2]> {
        let mut middle = [0.0; 2];
        for (chats, middle) in [&mut bare_chats, &mut chats].into_iter().zip(&mut middle) {
            let mut times = Vec::new();
            for _ in 0..rounds {
                let (took, length) = chats.ask(order)?;
                if length < least {
                    bail!("{length} of {least} bytes arrived");
                }
                times.push(took);
            }
            *middle = median(&times);
        }
        Ok(middle)
    };
    let [bare, flood] =
        best(&format!("deltas {fragments} unpaced 20"), fragments * 20)?.map(|took| fragments as f64 / took);
    figures.push(
        Figure::new(format!("{fragments} fragments of an answer, unthrottled"), flood, "1/ms")
            .beside(bare)
            .bar(Bar::AtLeastOrShare(500.0, 1.0)),
    );
    let [bare, long] = best(&format!("huge-line bytes={LONG_LINE}"), 1)?;
    figures.push(Figure::new("a turn with a line of 10 MB", long, "ms").beside(bare).bar(Bar::AtMost(150.0)));
    while chats.number < planned {
        chats.ask("say answer ok")?;
    }
    let used = host.memory_mib("VmRSS")?;
    if extent == Extent::Whole {
        std::thread::sleep(IDLE);
    }
    figures.push(
        Figure::new(
            format!("idle memory after {} chats and {rounds} lines of 10 MB", chats.number),
            host.memory_mib("VmRSS")?,
            "MiB",
        )
        .bar(Bar::AtMost(60.0))
        .note(format!("{used:.0} MiB before it was idle")),
    );
    Ok(figures)
}

/// One-turn conversations with a host.
struct Chats<'h> {
    host: &'h Host,
    number: usize,
}

impl Chats<'_> {
    /// Asks in a conversation of its own; how many milliseconds it took, and how many bytes were sent.
    fn ask(&mut self, order: &str) -> anyhow::Result<(f64, usize)> {
        self.number += 1;
        let order = format!("[[fake: {order}]]");
        let body = json!({"model": "helix", "stream": true, "messages": [{"role": "user", "content": order}]});
        let (chat, began) = (format!("X-Chat: turns-{}", self.number), Instant::now());
        let mut answer = self.host.send("POST", "/v1/chat/completions", &[&chat], &body.to_string())?;
        let (mut part, mut length, mut head) = (vec![0; 256 << 10], 0, Vec::new());
        loop {
            let read = answer.read(&mut part).context("an answer that stops")?;
            if read == 0 {
                break;
            }
            length += read;
            head.extend(part[..read].iter().take(1_000_usize.saturating_sub(head.len())));
        }
        let took = began.elapsed().as_secs_f64() * 1e3;
        if !head.starts_with(b"HTTP/1.1 200") {
            bail!("no answer, but {}", String::from_utf8_lossy(&head));
        }
        Ok((took, length))
    }
}
