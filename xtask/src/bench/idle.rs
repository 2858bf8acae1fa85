//! A host that has nothing to do: how soon it answers, how much memory it holds.

use std::process::Stdio;
use std::time::{Duration, Instant};

use super::Extent;
use super::figure::{Bar, Figure, median, quantile};
use super::host::Place;
use super::programs::Programs;
use crate::workspace;

/// Starts hosts in fresh state directories, one after the other.
pub(crate) fn measure(programs: &Programs, extent: Extent) -> anyhow::Result<Vec<Figure>> {
    let rounds = match extent {
        Extent::Whole => 15,
        Extent::Quick => 3,
    };
    let (mut fresh, mut again, mut bare, mut memory) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let place = Place::new(programs)?;
        let began = Instant::now();
        workspace::run(place.helix().arg("--version").stdout(Stdio::null()))?;
        bare.push(began.elapsed().as_secs_f64() * 1e3);
        fresh.push(place.serve()?.first_answer.as_secs_f64() * 1e3);
        let host = place.serve()?;
        again.push(host.first_answer.as_secs_f64() * 1e3);
        // What a start leaves behind settles within moments; nothing says when.
        std::thread::sleep(Duration::from_millis(500));
        memory.push(host.memory_mib("VmRSS")?);
    }
    let longest =
        |times: &[f64]| format!("longest {:.0} ms of {rounds}; bare is `helix --version`", quantile(times, 1.0));
    Ok(vec![
        Figure::new("helix serve, new state: first healthy answer", median(&fresh), "ms")
            .beside(median(&bare))
            .bar(Bar::AtMost(100.0))
            .note(longest(&fresh)),
        Figure::new("helix serve, existing state: first healthy answer", median(&again), "ms")
            .beside(median(&bare))
            .bar(Bar::AtMost(100.0))
            .note(longest(&again)),
        Figure::new("helix serve, idle: RSS", quantile(&memory, 1.0), "MiB").bar(Bar::AtMost(40.0)).note("the largest"),
    ])
}
