//! Runs the executables that hold the tests, one more at a time than there are processors: most tests wait more than they compute, and
//! `cargo test` starts an executable only when the one before has ended.
//!
//! Must not know single tests. Every executable has to report a result: what could not run has not passed.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use serde_json::Value;

use crate::{setup, workspace};

/// After how long without news to say what still runs.
const QUIET: Duration = Duration::from_secs(60);
/// How long an executable may take: several times what the longest does on two busy cores.
const LIMIT: Duration = Duration::from_secs(20 * 60);
/// How many failed tests are run once more. What fails on a busy machine alone is a few; more than that has one cause.
const AGAIN: usize = 3;
/// Between two looks at whether one has ended.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// The target that holds all tests of a package in modules.
const ALL: &str = "all";

/// An executable with the tests of one target, or one module of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Binary {
    package: String,
    target: String,
    /// The names of its tests where it does not stand for all of them.
    tests: Vec<String>,
    /// The package's own, in which its tests run.
    directory: PathBuf,
    executable: PathBuf,
}

/// What an executable did.
#[derive(Debug)]
struct Ran {
    status: ExitStatus,
    /// Both streams, as they came.
    output: String,
    took: Duration,
}

/// What the tests of one executable, or of all, have come to.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    passed: usize,
    failed: usize,
    ignored: usize,
}

/// What there is to tell of an executable.
enum News {
    Began,
    Ended(anyhow::Result<Ran>),
}

/// Runs all tests but those of the documentation, and sums up what they reported in a line of libtest's form.
pub(super) fn run() -> anyhow::Result<()> {
    let mut list = workspace::cargo();
    list.args(["test", "--workspace", "--no-run", "--message-format=json-render-diagnostics"]);
    let mut binaries = Vec::new();
    for binary in listed(&workspace::output(&mut list)?)? {
        if binary.target == ALL {
            let names = workspace::output(Command::new(&binary.executable).args(["--list", "--format=terse"]))?;
            binaries.extend(by_module(&binary, &names));
        } else {
            binaries.push(binary);
        }
    }
    let at_once = std::thread::available_parallelism().context("cannot count the processors")?.get() + 1;
    let tools = setup::directory();
    all(&binaries, at_once, &|binary, only| one(binary, only, &tools, &binary.log(), LIMIT))
}

/// The modules of an executable, from the names of its tests: each runs by itself, as many at a time as executables do.
fn by_module(binary: &Binary, names: &str) -> Vec<Binary> {
    let mut modules = BTreeMap::<&str, Vec<String>>::new();
    for name in names.lines().filter_map(|line| line.strip_suffix(": test")) {
        modules.entry(name.split("::").next().unwrap_or(name)).or_default().push(name.to_owned());
    }
    let module = |(module, tests): (&str, _)| Binary { target: module.to_owned(), tests, ..binary.clone() };
    modules.into_iter().map(module).collect()
}

/// The executables in cargo's messages. Those of `helix` come first: they start hosts and agents and take longest, and what is short
/// fills the gaps at the end.
fn listed(messages: &str) -> anyhow::Result<Vec<Binary>> {
    let mut binaries = Vec::new();
    for line in messages.lines().filter(|line| line.starts_with('{')) {
        let message: Value = serde_json::from_str(line).context("cargo's messages are no JSON")?;
        let text = |pointer: &str| message.pointer(pointer).and_then(Value::as_str);
        let (Some(executable), Some(Value::Bool(true))) = (text("/executable"), message.pointer("/profile/test"))
        else {
            continue;
        };
        let target = text("/target/name").context("cargo names no target")?.to_owned();
        let manifest = text("/manifest_path").context("cargo names no manifest")?;
        let directory = Path::new(manifest).parent().context("a manifest is in no directory")?.to_owned();
        let package =
            directory.file_name().context("a package's directory has no name")?.to_string_lossy().into_owned();
        binaries.push(Binary { package, target, tests: Vec::new(), directory, executable: executable.into() });
    }
    ensure!(!binaries.is_empty(), "cargo built no tests");
    binaries.sort();
    Ok(binaries)
}

/// Runs one executable, its tests one after the other: all of them, or those of these names. Its output goes through a file: a pipe would
/// stay open as long as any process that a test left behind.
fn one(binary: &Binary, only: &[String], tools: &Path, log: &Path, limit: Duration) -> anyhow::Result<Ran> {
    let mut command = Command::new(&binary.executable);
    command.arg("--test-threads=1").current_dir(&binary.directory);
    let only = if only.is_empty() { &binary.tests } else { only };
    if !only.is_empty() {
        command.arg("--exact").args(only);
    }
    // Those of xtask, by the cargo that has started it.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"CARGO_PKG_")) {
        command.env_remove(name);
    }
    command.env("CARGO_MANIFEST_DIR", &binary.directory).env("HELIX_TEST_TOOLS", tools);
    // What a former run has left behind may still write into the former file.
    match std::fs::remove_file(log) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("cannot remove {}", log.display()));
        }
        Ok(()) | Err(_) => {}
    }
    let file = File::create_new(log).with_context(|| format!("cannot create {}", log.display()))?;
    let errors = file.try_clone().context("cannot write both streams to one file")?;
    let started = Instant::now();
    let child = command.stdin(Stdio::null()).stdout(file).stderr(errors).spawn();
    let mut child = child.with_context(|| format!("cannot run {}", binary.executable.display()))?;
    let mut late = false;
    let status = loop {
        if let Some(status) = child.try_wait().context("cannot wait for it")? {
            break status;
        }
        if !late && started.elapsed() > limit {
            late = true;
            child.kill().context("cannot kill it")?;
        }
        std::thread::sleep(LOOK_AGAIN);
    };
    let took = started.elapsed();
    let output = std::fs::read(log).with_context(|| format!("cannot read {}", log.display()))?;
    let mut output = String::from_utf8_lossy(&output).into_owned();
    if late {
        output.push_str(&format!("\nkilled: it had not ended after {} s\n", limit.as_secs()));
    }
    Ok(Ran { status, output, took })
}

/// Runs executables, `at_once` at a time, and tells how each ended; what failed is shown whole, and named again at the end. A few failed
/// tests are run once more, alone: those that pass then are called flaky, never just passed.
fn all(
    binaries: &[Binary],
    at_once: usize,
    one: &(dyn Fn(&Binary, &[String]) -> anyhow::Result<Ran> + Sync),
) -> anyhow::Result<()> {
    let started = Instant::now();
    let next = Mutex::new(binaries.iter());
    let take = || next.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
    let mut running = Vec::new();
    let (mut total, mut failures) = (Counts::default(), Vec::new());
    std::thread::scope(|scope| {
        let (news, told) = mpsc::channel();
        for _ in 0..at_once {
            let news = news.clone();
            scope.spawn(move || {
                while let Some(binary) = take() {
                    let heard = news
                        .send((binary, News::Began))
                        .and_then(|()| news.send((binary, News::Ended(one(binary, &[])))));
                    if heard.is_err() {
                        break;
                    }
                }
            });
        }
        drop(news);
        loop {
            match told.recv_timeout(QUIET) {
                Ok((binary, News::Began)) => running.push(binary.name()),
                Ok((binary, News::Ended(ran))) => {
                    running.retain(|name| *name != binary.name());
                    if let Err(failure) = tell(binary, ran, &mut total) {
                        failures.push(failure);
                    }
                }
                Err(RecvTimeoutError::Timeout) => eprintln!("still running: {}", running.join(", ")),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
    });
    let Counts { mut passed, failed, ignored } = total;
    failures.sort_by(|a, b| a.told.cmp(&b.told));
    if failed > 0 && failed <= AGAIN && failures.iter().all(|one| !one.tests.is_empty()) {
        eprintln!("running the failed tests once more, alone");
        failures.retain(|failure| !failure.passes_alone(one));
        if failures.is_empty() {
            passed += failed;
            eprintln!("{failed} flaky");
        }
    }
    if !failures.is_empty() {
        let (some, of) = (failures.len(), binaries.len());
        let told: Vec<_> = failures.iter().map(|one| one.told.as_str()).collect();
        bail!(
            "{some} of {of} test executables failed ({passed} tests passed, {failed} failed):\n  {}",
            told.join("\n  ")
        );
    }
    ensure!(passed > 0, "no test ran, in {} executables", binaries.len());
    eprintln!("{} executables", binaries.len());
    // As one executable says it, so that whoever reads the output for its tests finds all of them in one line.
    println!(
        "test result: ok. {passed} passed; 0 failed; {ignored} ignored; 0 measured; 0 filtered out; finished in {:.2}s",
        started.elapsed().as_secs_f64()
    );
    Ok(())
}

/// An executable that has not passed.
struct Failure<'a> {
    binary: &'a Binary,
    /// Its line in the summary.
    told: String,
    /// The tests that failed; none if it failed otherwise.
    tests: Vec<String>,
}

impl Failure<'_> {
    /// Whether the tests that failed pass when nothing else runs; says how it went.
    fn passes_alone(&self, one: &dyn Fn(&Binary, &[String]) -> anyhow::Result<Ran>) -> bool {
        let name = self.binary.name();
        if tell(self.binary, one(self.binary, &self.tests), &mut Counts::default()).is_err() {
            return false;
        }
        for test in &self.tests {
            eprintln!("FLAKY: {name}: {test} failed, and passed when it ran alone");
        }
        true
    }
}

/// Says how an executable ended and adds its tests up.
fn tell<'a>(binary: &'a Binary, ran: anyhow::Result<Ran>, total: &mut Counts) -> Result<(), Failure<'a>> {
    let name = binary.name();
    let ran = ran.map_err(|error| {
        eprintln!("{name}: FAILED: {error:#}");
        Failure { binary, told: format!("{name}: {error:#}"), tests: Vec::new() }
    })?;
    let (counts, seconds) = (counts(&ran.output), ran.took.as_secs_f64());
    if let Some(counts) = &counts {
        total.passed += counts.passed;
        total.failed += counts.failed;
        total.ignored += counts.ignored;
    }
    let mut tests = Vec::new();
    let why = match counts {
        Some(Counts { passed, failed: 0, ignored }) if announced(&ran.output) != Some(passed + ignored) => {
            format!("{}, and what it reported is not the result of all its tests", ran.status)
        }
        Some(Counts { passed, failed: 0, .. }) if ran.status.success() => {
            eprintln!("{name}: {passed} passed in {seconds:.1} s");
            return Ok(());
        }
        Some(Counts { failed: 1.., .. }) => {
            tests = failed(&ran.output);
            tests.join(", ")
        }
        Some(_) => format!("{}, though its tests passed", ran.status),
        None => format!("{}, and no result was reported", ran.status),
    };
    eprintln!("\n{}\n{name}: FAILED in {seconds:.1} s\n", ran.output.trim_end());
    Err(Failure { binary, told: format!("{name}: {why}"), tests })
}

impl Binary {
    fn name(&self) -> String {
        format!("{}::{}", self.package, self.target)
    }

    /// Where its output is kept, beside the executable.
    fn log(&self) -> PathBuf {
        if self.tests.is_empty() {
            return self.executable.with_extension("log");
        }
        self.executable.with_extension(format!("{}.log", self.target))
    }
}

/// What the last result line says: tests that start their own executable again print lines of that one before.
fn counts(output: &str) -> Option<Counts> {
    let line = output.lines().rev().find_map(|line| line.strip_prefix("test result: "))?;
    let count = |what: &str| {
        let before = line.split(';').find_map(|part| part.trim().strip_suffix(what))?;
        before.rsplit(' ').next()?.parse().ok()
    };
    Some(Counts { passed: count(" passed")?, failed: count(" failed")?, ignored: count(" ignored")? })
}

/// How many tests the executable has begun to run: its own line is the first, before those of what its tests start.
fn announced(output: &str) -> Option<usize> {
    let line = output.lines().find_map(|line| line.strip_prefix("running "))?;
    line.split(' ').next()?.parse().ok()
}

/// The names in the last list of failures.
fn failed(output: &str) -> Vec<String> {
    let list = output.rsplit_once("\nfailures:\n").map_or("", |(_, list)| list);
    list.lines().map_while(|line| line.strip_prefix("    ")).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    fn binary(package: &str, target: &str, executable: &str) -> Binary {
        let (package, target) = (package.to_owned(), target.to_owned());
        Binary { package, target, tests: Vec::new(), directory: "/".into(), executable: executable.into() }
    }

    fn ran(code: i32, output: &str) -> anyhow::Result<Ran> {
        let status = ExitStatus::from_raw(code << 8);
        Ok(Ran { status, output: output.to_owned(), took: Duration::ZERO })
    }

    const PASSED: &str = "\nrunning 3 tests\ntest a ... ok\n\ntest result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 4 filtered out; finished in 0.63s\n";
    const FAILED: &str = "test result: ok. 9 passed; 0 failed; 0 ignored; 0 measured\n\nfailures:\n\n---- b stdout ----\nno\n\nfailures:\n    b\n    c::d\n\n\
                          test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.63s\n";

    #[test]
    fn executables_with_tests_are_listed_and_those_of_helix_come_first() {
        let message = |package: &str, target: &str, test: bool| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/w/crates/{package}/Cargo.toml","target":{{"name":"{target}"}},"profile":{{"test":{test}}},"executable":"/w/{target}-1"}}"#
            )
        };
        let messages = [
            message("helix-plan", "rules", true),
            message("helix", "helix", false),
            message("helix", "queue", true),
            r#"{"reason":"compiler-artifact","manifest_path":"/w/crates/helix/Cargo.toml","target":{"name":"lib"},"profile":{"test":false},"executable":null}"#.to_owned(),
            r#"{"reason":"build-finished","success":true}"#.to_owned(),
        ];
        let listed = listed(&messages.join("\n")).unwrap();
        assert_eq!(listed.iter().map(Binary::name).collect::<Vec<_>>(), ["helix::queue", "helix-plan::rules"]);
        assert_eq!(listed[0].directory, Path::new("/w/crates/helix"));
        assert!(super::listed(messages[4].as_str()).is_err());
    }

    #[test]
    fn each_module_of_an_executable_runs_by_itself() {
        let names = "queue::full: test\njobs::stop::late: test\njobs::start: test\n\n3 tests, 0 benchmarks\n";
        let modules = by_module(&binary("helix", ALL, "/w/all-1"), names);
        let told: Vec<_> = modules.iter().map(|one| (one.name(), one.tests.join(" "), one.log())).collect();
        let told: Vec<_> = told.iter().map(|(name, tests, log)| (&**name, &**tests, log.to_str().unwrap())).collect();
        assert_eq!(
            told,
            [
                ("helix::jobs", "jobs::stop::late jobs::start", "/w/all-1.jobs.log"),
                ("helix::queue", "queue::full", "/w/all-1.queue.log"),
            ]
        );
    }

    #[test]
    fn the_last_result_and_the_last_list_of_failures_count() {
        assert_eq!(counts(PASSED), Some(Counts { passed: 2, failed: 0, ignored: 1 }));
        assert_eq!(counts(FAILED), Some(Counts { passed: 1, failed: 2, ignored: 0 }));
        assert_eq!(counts("running 3 tests\n"), None);
        assert_eq!(failed(FAILED), ["b", "c::d"]);
        assert!(failed(PASSED).is_empty());
    }

    #[test]
    fn every_executable_is_run_once_and_whatever_did_not_pass_is_named() {
        let binaries: Vec<_> =
            ["good", "bad", "killed", "silent", "late", "missing", "child"].map(|name| binary("p", name, "")).into();
        let begun = Mutex::new(Vec::new());
        let one = |binary: &Binary, _: &[String]| {
            begun.lock().unwrap().push(binary.target.clone());
            match binary.target.as_str() {
                "good" => ran(0, PASSED),
                "bad" => ran(101, FAILED),
                "killed" => ran(101, "running 2 tests\n"),
                "silent" => ran(0, ""),
                "late" => ran(1, PASSED),
                // One of its tests started an executable that passed, and the next one ended the process.
                "child" => ran(0, &format!("running 9 tests\n{PASSED}")),
                _ => bail!("cannot run it"),
            }
        };
        let told = all(&binaries, 3, &one).unwrap_err().to_string();
        assert_eq!(
            told,
            "6 of 7 test executables failed (7 tests passed, 2 failed):
  p::bad: b, c::d
  p::child: exit status: 0, and what it reported is not the result of all its tests
  p::killed: exit status: 101, and no result was reported
  p::late: exit status: 1, though its tests passed
  p::missing: cannot run it
  p::silent: exit status: 0, and no result was reported"
        );
        assert_eq!(begun.lock().unwrap().len(), binaries.len());
        all(&binaries[..1], 3, &one).unwrap();
        let nothing =
            all(&binaries[..1], 1, &|_, _| ran(0, "running 3 tests\ntest result: ok. 0 passed; 0 failed; 3 ignored;"))
                .unwrap_err();
        assert_eq!(nothing.to_string(), "no test ran, in 1 executables");
    }

    #[test]
    fn a_few_failed_tests_run_once_more_alone_and_only_what_passes_then_is_flaky() {
        let binaries = [binary("p", "busy", ""), binary("p", "broken", "")];
        let asked = Mutex::new(Vec::new());
        let broken = "running 1 test\n\nfailures:\n    d\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored;";
        let one = |binary: &Binary, only: &[String]| {
            asked.lock().unwrap().push((binary.target.clone(), only.to_vec()));
            match binary.target.as_str() {
                "broken" => ran(101, broken),
                _ if only.is_empty() => ran(101, FAILED),
                _ => ran(0, "running 2 tests\ntest result: ok. 2 passed; 0 failed; 0 ignored;"),
            }
        };
        all(&binaries[..1], 1, &one).unwrap();
        assert_eq!(asked.lock().unwrap().last().unwrap().1, ["b", "c::d"]);
        let told = all(&binaries, 1, &one).unwrap_err().to_string();
        assert_eq!(told, "1 of 2 test executables failed (1 tests passed, 3 failed):\n  p::broken: d");
        // Too many at once are run no second time.
        let many = |_: &Binary, only: &[String]| {
            assert!(only.is_empty());
            ran(101, "\nfailures:\n    a\n\ntest result: FAILED. 0 passed; 4 failed; 0 ignored;")
        };
        all(&binaries[..1], 1, &many).unwrap_err();
    }

    #[test]
    fn an_executable_runs_in_its_package_and_its_output_is_kept() {
        let directory = tempfile::tempdir().unwrap();
        let log = directory.path().join("log");
        let run = |executable: &str, limit| one(&binary("p", "t", executable), &[], directory.path(), &log, limit);
        let mut former = File::create(&log).unwrap();
        let echoed = run("/bin/echo", LIMIT).unwrap();
        assert_eq!((echoed.status.success(), echoed.output.as_str()), (true, "--test-threads=1\n"));
        std::io::Write::write_all(&mut former, b"what a former run has left behind").unwrap();
        assert_eq!(std::fs::read_to_string(&log).unwrap(), "--test-threads=1\n");
        assert!(run("/nowhere", LIMIT).is_err());
        let module = Binary { tests: vec!["m::a".into()], ..binary("p", "m", "/bin/echo") };
        let named = |only: &[String]| one(&module, only, directory.path(), &log, LIMIT).unwrap().output;
        assert_eq!(named(&[]), "--test-threads=1 --exact m::a\n");
        assert_eq!(named(&["m::b".into()]), "--test-threads=1 --exact m::b\n");
        let slow = directory.path().join("slow");
        std::fs::write(&slow, "#!/bin/sh\nexec sleep 60\n").unwrap();
        std::fs::set_permissions(&slow, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let killed = run(slow.to_str().unwrap(), Duration::ZERO).unwrap();
        assert!(!killed.status.success() && killed.output.contains("killed: it had not ended"), "{killed:?}");
    }
}
