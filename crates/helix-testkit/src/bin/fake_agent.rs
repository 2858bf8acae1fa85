//! `helix-fake-agent`: see `docs/testkit.md`.

use std::process::ExitCode;

fn main() -> ExitCode {
    helix_testkit::agent::main(std::env::args_os().skip(1).collect())
}
