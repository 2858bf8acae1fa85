//! The ground on which attacks are tried: programs, tools, directories and users of their own, and an end for all that is left.
//!
//! Must not know what an attack does.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use rustix::process::{Pid, Signal, getuid, kill_process};

use crate::workspace;

/// First user id of all attacks. Each attack has two ids of its own, and so have those of two runners at the same time.
const FIRST_UID: u32 = 1_000_000;
/// Ids of one runner.
const UIDS: u32 = 1_000;
/// How often a program that runs is looked at.
const TICK: Duration = Duration::from_millis(20);
/// What the packages of pytest are called where pip puts them.
const PYTEST: [&str; 7] = ["pytest", "_pytest", "py.py", "pluggy", "iniconfig", "packaging", "pygments"];

/// The directory of all attacks.
#[derive(Debug)]
pub(super) struct Ground {
    root: PathBuf,
    privileged: bool,
    keep: bool,
}

/// The directories and users of one attack. Everything of it ends with [`Place::clear`].
#[derive(Debug)]
pub(super) struct Place {
    pub(super) directory: PathBuf,
    person: Option<u32>,
    neighbour: Option<u32>,
}

/// Who runs a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    Person,
    Neighbour,
}

impl Ground {
    /// Copies what victims and attackers run to where each user can read it.
    pub(super) fn prepare(book: &Path, helix: &Path, tools: &Path, keep: bool) -> anyhow::Result<Self> {
        let privileged = getuid().is_root();
        let parent = if privileged { PathBuf::from("/srv") } else { std::env::temp_dir() };
        let root = parent.join(format!("helix-attack-{}", std::process::id()));
        let ground = Self { root, privileged, keep };
        let (programs, lib) = (ground.programs(), ground.lib());
        for directory in [&ground.root, &programs, &lib] {
            make(directory, 0o755)?;
        }
        let beside = helix.parent().unwrap_or(helix);
        for (name, from) in [
            ("helix", helix.to_owned()),
            ("helix-fake-agent", beside.join("helix-fake-agent")),
            ("helix-scripted-model", beside.join("helix-scripted-model")),
        ] {
            std::fs::copy(&from, programs.join(name)).with_context(|| {
                format!("cannot copy {}\nhint: `cargo build -p helix-testkit` builds it", from.display())
            })?;
        }
        for part in ["lib", "worlds"] {
            workspace::run(Command::new("cp").arg("-r").arg(book.join(part)).arg(&lib))?;
        }
        ground.take_tools(tools)?;
        workspace::run(Command::new("chmod").args(["-R", "a+rX"]).args([&programs, &lib]))?;
        Ok(ground)
    }

    pub(super) fn privileged(&self) -> bool {
        self.privileged
    }

    /// `helix` and what plays its agents.
    pub(super) fn programs(&self) -> PathBuf {
        self.root.join("bin")
    }

    /// What `attacks/` has for all attacks.
    pub(super) fn lib(&self) -> PathBuf {
        self.root.join("lib")
    }

    /// Toolchains, as they lie in a home.
    fn tools(&self) -> PathBuf {
        self.root.join("tools")
    }

    /// What a user would have installed: pytest, a Rust toolchain, Claude Code. Those that are not here are missed by the attacks that
    /// need them.
    fn take_tools(&self, tools: &Path) -> anyhow::Result<()> {
        let packages = self.tools().join("pytest");
        std::fs::create_dir_all(&packages).with_context(|| format!("cannot create {}", packages.display()))?;
        let mut take = String::from("cd \"$1\" 2>/dev/null || exit 0\n");
        PYTEST.iter().for_each(|name| take.push_str(&format!("cp -r lib/python3*/site-packages/{name} \"$2\"\n")));
        sh(&take, &[&tools.join("python"), &packages])?;
        let rust = self.tools().join("rust");
        let take = "sysroot=$(rustc --print sysroot 2>/dev/null) || exit 0\n\
            host=$(rustc -vV | sed -n 's/^host: //p')\n\
            cd \"$sysroot\" || exit 0\n\
            mkdir -p \"$1/lib/rustlib\" \"$1/bin\"\n\
            link() { cp -a $LINK \"$1\" \"$2\" 2>/dev/null || cp -a \"$1\" \"$2\"; }\n\
            for program in cargo rustc rustdoc; do link \"bin/$program\" \"$1/bin/\"; done\n\
            for library in lib/*.so*; do link \"$library\" \"$1/lib/\"; done\n\
            link \"lib/rustlib/$host\" \"$1/lib/rustlib/\"\n";
        sh(take, &[&rust])?;
        let take = "claude=$(readlink -f \"$1\") || exit 0\n\
            [ -f \"$claude\" ] || exit 0\n\
            cp $LINK \"$claude\" \"$2\" 2>/dev/null || cp \"$claude\" \"$2\"\n";
        let claude = tools.join(format!("claude-{}", helix_testkit::locate::PINNED_CLAUDE)).join("claude");
        sh(take, &[&claude, &self.tools().join("claude")])
    }

    /// Makes the directories of an attack, and gives its person the tools that the world asks for (`# tools: NAME…`).
    pub(super) fn place(&self, name: &str, number: usize, tools: &[&str]) -> anyhow::Result<Place> {
        let (person, neighbour) = if self.privileged {
            let offset = u32::try_from(number).context("too many attacks")? * 2;
            let person = FIRST_UID + std::process::id() % 4_000 * UIDS + offset;
            (Some(person), Some(person + 1))
        } else {
            (None, None)
        };
        let place = Place { directory: self.root.join(name), person, neighbour };
        make(&place.directory, 0o755)?;
        make(&place.home(), 0o700)?;
        make(&place.drop(), 0o777)?;
        make(&place.out(), 0o755)?;
        for tool in tools {
            let (from, home) = (self.tools(), place.home());
            match *tool {
                "pytest" => sh(
                    "site=$2/.local/lib/$(/usr/bin/python3 -c 'import sys; print(\"python%d.%d\" % sys.version_info[:2])')/site-packages\n\
                     mkdir -p \"$site\" \"$2/.local/bin\" && cp -r \"$1\"/pytest/* \"$site\"/ || exit 0\n\
                     printf '#!/usr/bin/python3\\nimport sys, pytest\\nsys.exit(pytest.console_main())\\n' > \"$2/.local/bin/pytest\"\n\
                     chmod +x \"$2/.local/bin/pytest\"\n",
                    &[&from, &home],
                )?,
                "cargo" => sh(
                    "mkdir -p \"$2/.rustup/toolchains\" && cp -a $LINK \"$1/rust\" \"$2/.rustup/toolchains/stable\"\n\
                     mkdir -p \"$2/.cargo\" && ln -s ../.rustup/toolchains/stable/bin \"$2/.cargo/bin\"\n",
                    &[&from, &home],
                )?,
                "claude" => sh(
                    "mkdir -p \"$2/.local/bin\" && cp $LINK \"$1/claude\" \"$2/.local/bin/claude\"\n",
                    &[&from, &home],
                )?,
                other => bail!("the world asks for the tool {other:?}, which is not known"),
            }
        }
        Ok(place)
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        if !self.keep {
            remove(&self.root);
        }
    }
}

impl Place {
    /// The person's home.
    pub(super) fn home(&self) -> PathBuf {
        self.directory.join("home")
    }

    /// Where everyone may write.
    pub(super) fn drop(&self) -> PathBuf {
        self.directory.join("drop")
    }

    /// What the programs that the runner starts have printed.
    pub(super) fn out(&self) -> PathBuf {
        self.directory.join("out")
    }

    /// Gives the home and all that was put into it to the person. Links to toolchains stay whose they are.
    pub(super) fn hand_over(&self) -> anyhow::Result<()> {
        let Some(person) = self.person else { return Ok(()) };
        let home = self.home();
        sh(
            "cd \"$2\" && find . -links 1 -exec chown -h \"$1:$1\" {} + && find . -type d -exec chown \"$1:$1\" {} +",
            &[Path::new(&person.to_string()), &home],
        )?;
        chown(&home, Some(person), Some(person)).with_context(|| format!("cannot give away {}", home.display()))
    }

    /// A bash that runs a file with nothing of the present environment, as one of the two users.
    pub(super) fn bash(&self, file: &Path, who: Who, programs: &Path) -> Command {
        let home = self.home();
        let (uid, directory, name) = match who {
            Who::Person => (self.person, home.clone(), "person"),
            Who::Neighbour => (self.neighbour, self.drop(), "neighbour"),
        };
        let own = [home.join(".cargo/bin"), home.join(".local/bin"), programs.to_owned()];
        let own: Vec<_> = own.iter().map(|path| path.display().to_string()).collect();
        let mut command = Command::new("/bin/bash");
        command.arg(file).current_dir(&directory).env_clear().stdin(Stdio::null()).process_group(0);
        command.env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", own.join(":")));
        command.env("HOME", &directory).env("USER", name).env("LANG", "C.UTF-8").env("TERM", "dumb");
        if let Some(uid) = uid {
            command.uid(uid).gid(uid);
        }
        command
    }

    /// Ends every process of the attack; an error if one cannot be ended.
    pub(super) fn end_processes(&self) -> anyhow::Result<()> {
        let begun = Instant::now();
        loop {
            let left = self.processes();
            if left.is_empty() {
                return Ok(());
            }
            if begun.elapsed() > Duration::from_secs(20) {
                bail!("{} processes of {} cannot be ended", left.len(), self.directory.display());
            }
            for pid in left {
                // It may have ended by itself meanwhile.
                kill_process(pid, Signal::KILL).unwrap_or(());
            }
            std::thread::sleep(TICK);
        }
    }

    /// Living processes of the attack's users; without users of its own, those whose home is the attack's.
    fn processes(&self) -> Vec<Pid> {
        let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
        let home = format!("HOME={}/", self.directory.display());
        let of_attack = |process: &Path| match self.person {
            Some(person) => owner(process).is_some_and(|uid| uid == person || Some(uid) == self.neighbour),
            None => std::fs::read(process.join("environ")).is_ok_and(|environment| {
                environment.split(|byte| *byte == 0).any(|pair| pair.starts_with(home.as_bytes()))
            }),
        };
        let found = entries.flatten().filter_map(|entry| {
            let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
            (helix_testkit::processes::lives(pid.unsigned_abs()) && of_attack(&entry.path())).then_some(pid)
        });
        found.filter_map(Pid::from_raw).collect()
    }

    /// Ends what is left, and removes the directories unless they are to be kept.
    pub(super) fn clear(&self, ground: &Ground) -> anyhow::Result<()> {
        self.end_processes()?;
        if !ground.keep {
            remove(&self.directory);
        }
        Ok(())
    }
}

/// The user of a process; the owner of its directory in `/proc` would be root's for one that cannot be dumped.
fn owner(process: &Path) -> Option<u32> {
    let status = std::fs::read_to_string(process.join("status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("Uid:")?.split_whitespace().next()?.parse().ok())
}

/// Runs a command whose output goes to a file, at most for so long. `None` if it took longer; its descendants live on.
pub(super) fn run_for(command: &mut Command, output: &Path, longest: Duration) -> anyhow::Result<Option<ExitStatus>> {
    let file = std::fs::File::create(output).with_context(|| format!("cannot create {}", output.display()))?;
    command.stdout(file.try_clone()?).stderr(file);
    let mut child = command.spawn().with_context(|| format!("cannot start `{}`", workspace::shown(command)))?;
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if begun.elapsed() > longest {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(TICK);
    }
}

fn make(directory: &Path, mode: u32) -> anyhow::Result<()> {
    let made = std::fs::create_dir_all(directory)
        .and_then(|()| std::fs::set_permissions(directory, Permissions::from_mode(mode)));
    made.with_context(|| format!("cannot create {}", directory.display()))
}

/// Runs a few lines of the runner's own; `$1` and so on are the paths. What `$LINK` lets `cp` link stays root's, so that no attack can
/// change it; without root it is copied.
fn sh(lines: &str, paths: &[&Path]) -> anyhow::Result<()> {
    let link = if getuid().is_root() { "-l" } else { "" };
    workspace::run(Command::new("sh").args(["-c", lines, "sh"]).args(paths).env("LINK", link))
}

/// Removes a tree of any depth; what cannot be removed stays, and is seen.
fn remove(directory: &Path) {
    if let Err(error) = workspace::run(Command::new("rm").arg("-rf").arg(directory)) {
        eprintln!("{error:#}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_owner_of_a_process_is_read_from_its_status() {
        assert_eq!(owner(Path::new("/proc/self")), Some(getuid().as_raw()));
        assert_eq!(owner(Path::new("/proc/none")), None);
    }

    #[test]
    fn a_program_that_takes_too_long_is_ended() {
        let directory = tempfile::tempdir().expect("a directory");
        let output = directory.path().join("out");
        let run = |lines: &str| {
            run_for(Command::new("sh").args(["-c", lines]), &output, Duration::from_millis(500)).expect("a run")
        };
        assert!(run("sleep 20").is_none());
        assert!(run("echo seen").is_some_and(|status| status.success()));
        assert_eq!(std::fs::read_to_string(&output).expect("the output"), "seen\n");
    }
}
