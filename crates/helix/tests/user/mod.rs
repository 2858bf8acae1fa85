//! A user of the binary in an isolated corner: own home, own state, own git identity, nothing of the machine's.

#![allow(unreachable_pub, reason = "shared by all test modules")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// A home, a state directory and a working directory.
pub struct User {
    scratch: TempDir,
}

/// What a command came to.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl User {
    pub fn new() -> Self {
        Self::within(&std::env::temp_dir())
    }

    /// One whose corner lies in a directory: `/tmp` is another one for what runs in the sandbox.
    pub fn within(directory: &Path) -> Self {
        let scratch = tempfile::Builder::new().prefix("helix-").tempdir_in(directory).unwrap();
        for directory in ["home", "work"] {
            std::fs::create_dir(scratch.path().join(directory)).unwrap();
        }
        Self { scratch }
    }

    pub fn work(&self) -> PathBuf {
        self.scratch.path().join("work")
    }

    pub fn state(&self) -> PathBuf {
        self.scratch.path().join("state")
    }

    /// The binary with this user's environment, and nothing else in it.
    pub fn helix(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_helix"));
        command.current_dir(self.work()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.scratch.path().join("home")).env("HELIX_STATE_DIR", self.state());
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", self.scratch.path().join("home/.gitconfig"));
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        ran(self.helix().args(arguments).output().unwrap())
    }

    pub fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.work().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Says in a plan from the template what is to be built.
    pub fn describe(&self, plan: &str) {
        let text = std::fs::read_to_string(self.work().join(plan)).unwrap();
        let (before, template) = text.split_once("      Say here what").unwrap();
        let (_, after) = template.split_once('\n').unwrap();
        self.write(plan, &format!("{before}      Build it.\n{after}"));
    }

    pub fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .current_dir(self.work())
            .env("HOME", self.scratch.path().join("home"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", self.scratch.path().join("home/.gitconfig"))
            .args(arguments)
            .output()
            .unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// A repository with one commit and an identity.
    pub fn repository(&self) {
        self.identity();
        self.git(&["init", "-q", "-b", "main"]);
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "first"]);
    }

    pub fn identity(&self) {
        std::fs::write(
            self.scratch.path().join("home/.gitconfig"),
            "[user]\n\tname = Test\n\temail = test@helix.invalid\n",
        )
        .unwrap();
    }

    /// Configures the embedded agent with a cassette of these takes (a YAML list).
    pub fn rehearse(&self, takes: &str) {
        let text = |path: &Path| path.display().to_string();
        let cassette = self.scratch.path().join("cassette.yaml");
        std::fs::write(&cassette, format!("helix_cassette: 1\ntakes:\n{takes}")).unwrap();
        let sessions = self.scratch.path().join("agent-sessions");
        let config = self.scratch.path().join("home/.config/helix");
        std::fs::create_dir_all(&config).unwrap();
        std::fs::write(
            config.join("helix.toml"),
            format!(
                "[defaults]\nagent = \"rehearsal\"\n[agents.rehearsal]\ndialect = \"replay\"\nconfig_dir = {:?}\ncommand = [{:?}, \"replay-agent\", \"--cassette\", {:?}]\n",
                text(&sessions),
                env!("CARGO_BIN_EXE_helix"),
                text(&cassette),
            ),
        )
        .unwrap();
    }
}

pub fn ran(output: Output) -> Ran {
    Ran {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

impl Ran {
    /// Fails unless the exit code and all parts of standard error are as expected, and nothing looks like a crash.
    pub fn refused(&self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, code, "{self:#?}");
        for part in parts {
            assert!(self.stderr.contains(part), "{part:?} is missing: {self:#?}");
        }
        for trace in ["panicked at", "RUST_BACKTRACE", "stack backtrace"] {
            assert!(!self.stderr.contains(trace), "{self:#?}");
        }
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}
