//! Checking 10,000 ADRs through the executable: against reading the same files, and whether the time is linear in their number.
//!
//! Must not know what is checked in an ADR.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, bail};
use helix_testkit::sandbox::Sandbox;

use super::Extent;
use super::figure::{Bar, Figure, median};
use super::programs::Programs;

/// Decisions of the whole measurement.
const MANY: usize = 10_000;

/// Measures the whole number and half of it.
pub(crate) fn measure(programs: &Programs, extent: Extent) -> anyhow::Result<Vec<Figure>> {
    let (count, rounds) = match extent {
        Extent::Whole => (MANY, 5),
        Extent::Quick => (MANY / 10, 2),
    };
    let place = Sandbox::new().context("there is no room for the ADRs")?;
    let (all, half, shared) = (place.path().join("all"), place.path().join("half"), place.path().join("shared"));
    write(&all, count)?;
    write(&half, count / 2)?;
    write_shared(&shared, count)?;
    let (mut checking, mut halves, mut reading, mut sharing) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    // By turns, so that a busy moment of the machine meets all of them.
    for _ in 0..rounds {
        reading.push(read(&all)?);
        checking.push(check(programs, &all, place.path(), &["--complete"], 1)?);
        halves.push(check(programs, &half, place.path(), &["--complete"], 1)?);
        // Each is told of the others, which is a warning.
        sharing.push(check(programs, &shared, place.path(), &[], 0)?);
    }
    let (whole, part) = (median(&checking), median(&halves));
    let bar = |most: f64| match extent {
        Extent::Whole => Bar::AtMost(most),
        Extent::Quick => Bar::None,
    };
    Ok(vec![
        Figure::new(format!("`helix adr check --complete` of {count} ADRs"), whole, "s")
            .beside(median(&reading))
            .bar(bar(1.5))
            .note("bare: reading the same files in one thread"),
        Figure::new(format!("the same, {count} ADRs against {}", count / 2), whole / part, "")
            .beside(2.0)
            .bar(Bar::AtMost(2.4))
            .note("2 is linear"),
        Figure::new(format!("`helix adr check` of {count} ADRs that share one file"), median(&sharing), "s")
            .bar(bar(1.2)),
    ])
}

/// Decisions as people write them: some 2 KB each, linked to older ones, with claims, code and evidence.
fn write(root: &Path, count: usize) -> anyhow::Result<()> {
    let directory = root.join("adr");
    std::fs::create_dir_all(&directory)?;
    for number in 1..=count {
        let before = number.saturating_sub(1);
        let links = match before {
            0 => String::new(),
            _ => format!("depends_on: [\"{before:03}\"]\nrelated_to: [\"{:03}\"]\n", number / 2 + 1),
        };
        let prose =
            "The shop keeps its carts for a week, für jeden Kunden, and nobody has to log in again to see them. "
                .repeat(8);
        let text = format!(
            "---\nadr_id: \"{number:03}\"\ntitle: Keep carts of kind {number}\nstatus: Accepted\ncomponent_type: SERVICE\nclassification: UPDATE\nchange_scope: minor\nfiles:\n  modify: [src/part{number}/cart.py]\n  docs: [docs/part{number}.md]\n{links}---\n\n# Keep carts\n\n## Context\n\n{prose} See ADR-{before:03}.\n\n## Decision\n\n{prose}\n\n## Implementation\n\n`src/part{number}/cart.py` holds it; the endpoint is `GET /cart`.\n\n```python\ndef cart(kind):\n    return CARTS[kind]  # {number}\n```\n\n## Documentation\n\n`docs/part{number}.md` says how long.\n\n## Acceptance criteria\n\n- [ ] A cart is there after a week — test: `tests/test_cart.py::test_week_{number}`\n- [ ] An unknown kind gives 404 — test: `tests/test_cart.py::test_unknown_{number}`\n- [x] It is described (file: docs/part{number}.md)\n\n## Consequences\n\n{prose}\n"
        );
        std::fs::write(directory.join(format!("{number:03}-keep-carts-{number}.md")), text)?;
    }
    Ok(())
}

/// Decisions in force that all claim one file.
fn write_shared(root: &Path, count: usize) -> anyhow::Result<()> {
    let directory = root.join("adr");
    std::fs::create_dir_all(&directory)?;
    std::fs::create_dir_all(root.join("src"))?;
    std::fs::write(root.join("src/cart.py"), "x = 1\n")?;
    for number in 1..=count {
        let text = format!(
            "---\nadr_id: \"{number:03}\"\ntitle: Change carts {number}\nstatus: Accepted\ncomponent_type: TOOL\nclassification: UPDATE\nchange_scope: minor\nfiles:\n  modify: [src/cart.py]\n---\n\n# Change carts\n\n## Context\n\nCarts are to change.\n\n## Decision\n\n`src/cart.py` changes.\n\n## Acceptance criteria\n\n- [ ] `true` exits 0\n- [ ] `make a` exits 0\n- [ ] `make b` exits 0\n"
        );
        std::fs::write(directory.join(format!("{number:03}-change-carts.md")), text)?;
    }
    Ok(())
}

/// Seconds that a check takes, which has to end with this code. Where claimed files do not exist, every ADR has something to say.
fn check(programs: &Programs, root: &Path, home: &Path, flags: &[&str], code: i32) -> anyhow::Result<f64> {
    let mut command = Command::new(programs.path("helix")?);
    command.current_dir(root).env("HOME", home).env("HELIX_STATE_DIR", home.join("state"));
    command.args(["--json", "adr", "check"]).args(flags).stdout(Stdio::null()).stderr(Stdio::null());
    let began = Instant::now();
    let status = command.status().context("helix cannot be started")?;
    let seconds = began.elapsed().as_secs_f64();
    if status.code() != Some(code) {
        bail!("the check ended with {status}");
    }
    Ok(seconds)
}

fn read(root: &Path) -> anyhow::Result<f64> {
    let began = Instant::now();
    let mut bytes = 0;
    for entry in std::fs::read_dir(root.join("adr"))? {
        bytes += std::fs::read(entry?.path())?.len();
    }
    let seconds = began.elapsed().as_secs_f64();
    if bytes == 0 {
        bail!("there is nothing to read");
    }
    Ok(seconds)
}
