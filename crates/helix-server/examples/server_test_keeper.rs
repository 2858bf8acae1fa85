//! The keeper, for this crate's tests: what `helix keeper RUN_DIR` is in the shipped binary.

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let directory: PathBuf = std::env::args_os().next_back().unwrap_or_default().into();
    helix_engine::keeper_main(&directory, Some(helix_server::serve_gateway))
}
