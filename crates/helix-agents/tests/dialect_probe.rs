//! What the probe says of agents that are there, missing, broken, hung, too old or too new.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests stop at the first surprise")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use helix_agents::dialect::HostEnvironment;
use helix_agents::probe::probe_within;
use helix_agents::{AgentProfile, Capabilities, DialectName, ProbeProblem, Supported, Version};

fn program(dir: &Path, name: &str, body: &str, mode: u32) {
    let path = dir.join(name);
    fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
}

async fn probed(dir: &Path, command: &[&str], limit: Duration) -> Result<Capabilities, ProbeProblem> {
    let command = command.iter().map(|word| (*word).to_owned()).collect();
    let profile = AgentProfile::new("main", DialectName::Claude, command);
    let path = format!("{}:/usr/bin:/bin", dir.display());
    let own: HostEnvironment = [("PATH".to_owned(), path)].into_iter().collect();
    // A file that was written a moment ago may still be open in another test's child.
    for _ in 0..100 {
        match probe_within(&profile, &own, limit).await {
            Err(ProbeProblem::Start { source, .. }) if source.raw_os_error() == Some(26) => {
                tokio::task::yield_now().await
            }
            other => return other,
        }
    }
    panic!("the program stays busy")
}

const LONG: Duration = Duration::from_secs(60);

#[tokio::test]
async fn a_version_decides_whether_an_agent_is_used() {
    let dir = tempfile::tempdir().unwrap();
    for (printed, supported) in [
        ("2.1.197 (Claude Code)", Supported::Yes),
        ("2.1.330 (Claude Code)", Supported::Yes),
        ("2.1.150", Supported::TooOld { minimum: Version { major: 2, minor: 1, patch: 197 } }),
        ("3.0.0", Supported::Untested { newest_tested: Version { major: 2, minor: 1, patch: 330 } }),
    ] {
        program(dir.path(), "agent", &format!("[ \"$2\" = --version ] && echo '{printed}'"), 0o755);
        let found = probed(dir.path(), &["agent", "--leading"], LONG).await.unwrap();
        assert_eq!(found.supported, supported, "{printed}");
    }
}

#[tokio::test]
async fn what_is_wrong_is_said_with_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let error = probed(dir.path(), &["no-such-agent"], LONG).await.unwrap_err().to_string();
    assert!(error.contains("no program \"no-such-agent\" in PATH") && error.contains("install it"), "{error}");
    program(dir.path(), "plain", "echo 2.1.330", 0o644);
    let error = probed(dir.path(), &["plain"], LONG).await.unwrap_err();
    assert!(matches!(error, ProbeProblem::NotExecutable(_)), "{error}");
    program(dir.path(), "broken", "echo no licence >&2; exit 3", 0o755);
    let error = probed(dir.path(), &["broken"], LONG).await.unwrap_err().to_string();
    assert!(error.contains("exit status: 3") && error.contains("no licence"), "{error}");
    program(dir.path(), "other", "echo hello", 0o755);
    let error = probed(dir.path(), &["other"], LONG).await.unwrap_err();
    assert!(matches!(error, ProbeProblem::NoVersion { .. }), "{error}");
    let error = probed(dir.path(), &[], LONG).await.unwrap_err();
    assert!(matches!(error, ProbeProblem::NoProgram), "{error}");
}

#[tokio::test]
async fn a_program_that_does_not_answer_is_given_up() {
    let dir = tempfile::tempdir().unwrap();
    program(dir.path(), "hung", "exec sleep 600", 0o755);
    let error = probed(dir.path(), &["hung"], Duration::from_millis(200)).await.unwrap_err();
    assert!(matches!(error, ProbeProblem::Hung { .. }), "{error}");
}
