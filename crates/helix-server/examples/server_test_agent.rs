//! The fake agent, for this crate's tests: `cargo test` builds it together with them.

use std::process::ExitCode;

fn main() -> ExitCode {
    helix_testkit::agent::main(std::env::args_os().skip(1).collect())
}
