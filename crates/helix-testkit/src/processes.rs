//! Finds processes by a variable in their environment, so that a test can prove that none was left behind.
//!
//! Must not know who started them.

use std::path::Path;
use std::time::{Duration, Instant};

/// A process whose environment has the variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub pid: u32,
    /// Value of the variable.
    pub value: String,
    pub command: String,
}

/// Living processes in whose environment `variable` begins with `prefix`; zombies and unreadable ones do not count.
///
/// # Errors
/// `/proc` cannot be read.
pub fn processes_with_env(variable: &str, prefix: &str) -> std::io::Result<Vec<Found>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc")? {
        let path = entry?.path();
        let Some(pid) = path.file_name().and_then(|name| name.to_str()?.parse().ok()) else { continue };
        // A process may end between the listing and the reading; then it is not there.
        let Ok(environment) = std::fs::read(path.join("environ")) else { continue };
        let value = environment.split(|byte| *byte == 0).find_map(|pair| {
            let pair = std::str::from_utf8(pair).ok()?;
            let (name, value) = pair.split_once('=')?;
            (name == variable && value.starts_with(prefix)).then(|| value.to_owned())
        });
        if let Some(value) = value
            && is_alive(&path)
        {
            let command = std::fs::read(path.join("cmdline")).unwrap_or_default();
            found.push(Found {
                pid,
                value,
                command: String::from_utf8_lossy(&command).replace('\0', " ").trim().to_owned(),
            });
        }
    }
    Ok(found)
}

fn is_alive(process: &Path) -> bool {
    let stat = std::fs::read_to_string(process.join("stat")).unwrap_or_default();
    // The command in parentheses may hold anything, so the state is what follows the last one.
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

/// Whether a process lives (a zombie does not).
pub fn lives(pid: u32) -> bool {
    is_alive(Path::new(&format!("/proc/{pid}")))
}

/// Asserts that no such process is left, allowing the kernel `within` to finish those that are dying.
///
/// Two scans in a row must find none, because a process shows no environment for an instant during `exec`.
///
/// # Panics
/// If one is left; the message lists them.
#[track_caller]
pub fn no_process_with_env(variable: &str, prefix: &str, within: Duration) {
    let start = Instant::now();
    let mut clean_scans = 0;
    loop {
        let left = processes_with_env(variable, prefix);
        match &left {
            Ok(left) if left.is_empty() && clean_scans == 1 => return,
            Ok(left) if left.is_empty() => {
                clean_scans += 1;
                std::thread::sleep(Duration::from_millis(20));
            }
            Ok(_) if start.elapsed() < within => std::thread::sleep(Duration::from_millis(20)),
            _ => {
                assert!(
                    left.as_ref().is_ok_and(Vec::is_empty),
                    "processes are left with {variable}={prefix}…: {left:#?}"
                );
                return;
            }
        }
    }
}
