//! A bare keeper for this crate's own tests; users have `helix keeper`.

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    match std::env::args_os().nth(1) {
        Some(run_dir) => helix_process::keeper_main(&PathBuf::from(run_dir), None),
        None => ExitCode::from(2),
    }
}
