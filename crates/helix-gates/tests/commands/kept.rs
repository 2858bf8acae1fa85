//! Commands of gates under their keepers: nothing outlives them, and they outlive the host.

use std::time::{Duration, Instant};

use helix_core::ids::RunId;
use helix_process::{CommandEnd, CommandRequest, collect_command, start_command};

use super::*;

/// Whether all processes named in a file have ended.
fn gone(pids: &Path) -> bool {
    fs::read_to_string(pids).unwrap().lines().all(|pid| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.is_empty() || stat.contains(") Z ")
    })
}

/// Waits until a file has so many lines.
async fn lines_in(file: &Path, count: usize) {
    while fs::read_to_string(file).unwrap_or_default().lines().count() < count {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// What starts an orphan in a session of its own that writes its number into a file.
fn orphan(pids: &Path) -> String {
    format!("setsid sh -c 'echo $$ >> {0}; echo up; exec sleep 300' & while ! test -s {0}; do :; done", pids.display())
}

/// Lets a gate run this script.
fn script(bench: &Bench, lines: &str, timeout: u32) -> GateSpec {
    let file = bench.home.path().join("shared/script.sh");
    fs::write(&file, lines).unwrap();
    GateSpec::Command { command: format!("sh {}", file.display()), timeout: Seconds(timeout) }
}

#[tokio::test]
async fn nothing_survives_a_command_its_time_limit_or_its_cancellation() {
    let bench = Bench::new(&[("a", "a")]);
    let base = bench.base();
    let result = bench.attempt("p", &base, |tree| fs::write(tree.join("b"), "b").unwrap());
    let pids = bench.home.path().join("shared/pids");
    let report = bench.run(&base, &result, &script(&bench, &orphan(&pids), 60)).await;
    assert_eq!((short(&report), report.notes.len()), (vec!["pass".to_owned()], 1), "{report:#?}");
    assert!(gone(&pids), "an orphan survived");

    let hang = format!("{}; echo $$ >> {}; sleep 300", orphan(&pids), pids.display());
    fs::remove_file(&pids).unwrap();
    let report = bench.run(&base, &result, &script(&bench, &hang, 1)).await;
    assert_eq!(short(&report), ["Timeout"], "{report:#?}");
    assert!(gone(&pids), "a command that took too long left a process");

    fs::remove_file(&pids).unwrap();
    let (context, started) = (Arc::new(bench.context(&base, &result)), Instant::now());
    let gate = script(&bench, &hang, 60);
    let (report, ()) = tokio::join!(run_gate(context.clone(), &gate), async {
        lines_in(&pids, 2).await;
        context.cancel.cancel();
    });
    assert_eq!(short(&report), ["Environment"], "{report:#?}");
    assert!(started.elapsed() < Duration::from_secs(30));
    assert!(gone(&pids), "a cancelled command left a process");
    assert_eq!(fs::read_dir(bench.home.path().join("state/runs")).unwrap().count(), 0, "a run is left");
}

/// A host that ends leaves the command to its keeper; what the next one says is the end of the same process.
#[tokio::test]
async fn the_next_host_sees_the_end_of_the_command_that_the_last_one_began() {
    let mut bench = Bench::new(&[("a", "a")]);
    let base = bench.base();
    let result = bench.attempt("p", &base, |tree| fs::write(tree.join("b"), "b").unwrap());
    let (began, go) = (bench.home.path().join("shared/began"), bench.home.path().join("shared/go"));
    let lines = format!(
        "echo $$ >> {}; touch made; until test -e {}; do sleep 0.02; done; test -e made",
        began.display(),
        go.display()
    );
    let gate = script(&bench, &lines, 60);
    let run = |bench: &Bench, label: &str| {
        let context = GateContext { label: label.into(), ..bench.context(&base, &result) };
        let gate = gate.clone();
        tokio::spawn(async move { run_gate(Arc::new(context), &gate).await })
    };
    let first = run(&bench, "p.1.0");
    lines_in(&began, 1).await;
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());

    bench.checkouts = checkouts(bench.home.path());
    // The gate of another phase waits, and does not put the checkout right under the command that uses it.
    let other = run(&bench, "q.1.0");
    let again = run(&bench, "p.1.0");
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(!other.is_finished() && !again.is_finished());
    fs::write(&go, "").unwrap();
    let again = again.await.unwrap();
    assert_eq!(short(&again), ["pass"], "{again:#?}");
    assert_eq!(short(&other.await.unwrap()), ["pass"]);
    assert_eq!(fs::read_to_string(&began).unwrap().lines().count(), 2, "it began more than once for a gate");

    // What ran on another commit says nothing about this one.
    fs::remove_file(&go).unwrap();
    let third = run(&bench, "p.1.0");
    lines_in(&began, 3).await;
    third.abort();
    assert!(third.await.unwrap_err().is_cancelled());
    let pids = began.clone();
    let newer = bench.attempt("newer", &base, |tree| fs::write(tree.join("c"), "c").unwrap());
    let report = bench.run(&base, &newer, &command("true")).await;
    assert_eq!(short(&report), ["pass"], "{report:#?}");
    assert!(gone(&pids), "a command that nobody wants goes on");
}

/// Of a gate with several commands, those whose end was seen do not run again for the next host; for the next check they do.
#[tokio::test]
async fn a_gate_goes_on_with_the_command_that_was_under_way() {
    let mut bench = Bench::new(&[("a", "a")]);
    let base = bench.base();
    let result = bench.attempt("p", &base, |tree| fs::write(tree.join("b"), "b").unwrap());
    let (ran, go) = (bench.home.path().join("shared/ran"), bench.home.path().join("shared/go"));
    let lines = format!(
        "ls >> {0}; echo 3 passed, 0 failed; test -e b || until test -e {1}; do sleep 0.02; done",
        ran.display(),
        go.display()
    );
    let GateSpec::Command { command, .. } = script(&bench, &lines, 60) else { panic!("no command") };
    let gate = tests_pass(&command);
    let run = |bench: &Bench| {
        let (context, gate) = (Arc::new(bench.context(&base, &result)), gate.clone());
        tokio::spawn(async move { run_gate(context, &gate).await })
    };
    let first = run(&bench);
    // The result has two files, the base where it waits has one.
    lines_in(&ran, 3).await;
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());

    bench.checkouts = checkouts(bench.home.path());
    let again = run(&bench);
    tokio::time::sleep(Duration::from_millis(200)).await;
    fs::write(&go, "").unwrap();
    let report = again.await.unwrap();
    assert_eq!(
        (short(&report), report.tests.map(|tests| tests.passed)),
        (vec!["pass".to_owned()], Some(3)),
        "{report:#?}"
    );
    assert_eq!(fs::read_to_string(&ran).unwrap(), "a\nb\na\n", "a command ran twice for one answer");
    assert_eq!(short(&run(&bench).await.unwrap()), ["pass"]);
    assert_eq!(fs::read_to_string(&ran).unwrap(), "a\nb\na\na\nb\n", "another check has to look for itself");
}

#[tokio::test]
async fn a_flood_is_kept_on_disk_and_bounded_in_memory() {
    let home = tempfile::tempdir().unwrap();
    let output = home.path().join("out.log");
    let request = CommandRequest {
        walls: helix_process::Walls { writable: vec![home.path().into()], ..Default::default() },
        run: RunId::for_gates(&job(home.path())),
        labels: BTreeMap::new(),
        argv: ["sh", "-c", "sleep 1; head -c 20000000 /dev/zero | tr '\\0' x; printf END >&2"]
            .map(str::to_owned)
            .to_vec(),
        directory: home.path().into(),
        environment: ToolEnvironment::from_process(&[]),
        limit: Duration::from_secs(60),
    };
    let handle = start_command(&supervisor(home.path()), request).await.unwrap();
    let run = collect_command(handle, "sh", &output).await.unwrap();
    assert_eq!(
        (run.end, run.length, fs::metadata(output).unwrap().len()),
        (CommandEnd::Exited(0), 20_000_003, 20_000_003)
    );
    assert!(run.took >= Duration::from_secs(1), "{:?}", run.took);
    assert!(run.tail.len() as u64 <= helix_process::MAX_TAIL && run.tail.ends_with("END"));
}

#[tokio::test]
async fn a_report_that_is_no_file_is_none_and_nobody_waits_for_it() {
    let bench = Bench::new(&[("a", "a")]);
    let base = bench.base();
    let result = bench.attempt("p", &base, |tree| fs::write(tree.join("b"), "b").unwrap());
    let secret = bench.home.path().join("shared/secret.xml");
    fs::write(&secret, "<testsuites><testsuite><testcase name='stolen'><failure/></testcase></testsuite></testsuites>")
        .unwrap();
    for left in [
        "mkfifo report.xml".to_owned(),
        "ln -s /dev/zero report.xml".into(),
        format!("ln -s {} report.xml", secret.display()),
    ] {
        let file = bench.home.path().join("shared/script.sh");
        fs::write(&file, format!("{left}; echo '3 passed in 0.01s'")).unwrap();
        let gate = tests_pass(&format!("sh {} --junitxml=report.xml", file.display()));
        let judged = tokio::time::timeout(Duration::from_secs(60), bench.run(&base, &result, &gate)).await;
        let report = judged.unwrap_or_else(|_| panic!("{left}: it waits"));
        assert!(!format!("{report:?}").contains("stolen"), "{left}: {report:#?}");
    }
}

#[tokio::test]
async fn a_signal_of_the_commands_own_is_its_failure_and_endless_output_is_no_answer() {
    let bench = Bench::new(&[("a", "a")]);
    let base = bench.base();
    let result = bench.attempt("p", &base, |tree| fs::write(tree.join("b"), "b").unwrap());
    for signal in ["HUP", "INT", "TERM", "USR1"] {
        let report = bench.run(&base, &result, &script(&bench, &format!("kill -{signal} $$"), 60)).await;
        assert_eq!(short(&report), ["command.failed"], "{signal}: {report:#?}");
    }
    let report = bench.run(&base, &result, &script(&bench, "kill -KILL $$", 60)).await;
    assert_eq!(short(&report), ["Environment"], "{report:#?}");
    let report = bench.run(&base, &result, &script(&bench, "exec cat /dev/zero", 60)).await;
    assert_eq!(short(&report), ["Unreadable"], "{report:#?}");
}

/// A phase without a gate of its own empties tests that another one's gate has passed on; what others did on their branch is theirs.
#[tokio::test]
async fn what_a_phase_did_to_tests_is_asked_where_results_are_put_together() {
    let gate = tests_pass("sh -c 'echo 2 passed, 0 failed'");
    let test = "def test_more():\n    assert total([2]) == 2\n";
    let bench = Bench::new(&[("cart.py", "def total(prices):\n    return 0\n")]);
    let base = bench.base();
    let code = bench.attempt("code", &base, |tree| write(tree, &[("tests/test_new.py", test)]));
    let guide = bench.attempt("guide", &code.commit, |tree| {
        write(tree, &[("docs/a.md", "x"), ("tests/test_new.py", "def test_more():\n    pass\n")]);
    });
    let ask = async |start: &CommitId, claims: Claims| {
        let context = GateContext { origin: start.clone(), claims, ..bench.context(&code.commit, &guide) };
        short(&run_gate(Arc::new(context), &gate).await)
    };
    let together = Claims { of: WorkOf::Job, ..Claims::default() };
    assert_eq!(ask(&base, together.clone()).await, ["tests.weaker tests/test_new.py:1"]);
    assert_eq!(ask(&base, Claims { weaker_tests: true, ..together.clone() }).await, ["pass"]);
    assert_eq!(ask(&base, Claims { of: WorkOf::Branch, ..together }).await, ["pass"]);
}

/// A phase before it, which no gate asked, has made the tests assert less.
#[tokio::test]
async fn what_an_earlier_phase_did_to_tests_is_asked_by_the_first_gate_that_runs_them() {
    let gate = tests_pass("sh -c 'echo 2 passed, 0 failed'");
    let path = "tests/test_cart.py";
    let bench = Bench::new(&[(path, "def test_total():\n    assert total([1, 2]) == 3\n")]);
    let base = bench.base();
    let guide = bench.attempt("guide", &base, |tree| {
        write(tree, &[(path, "def test_total():\n    assert isinstance(total([1, 2]), int)\n")]);
    });
    let code = bench.attempt("code", &guide.commit, |tree| write(tree, &[("docs/a.md", "x")]));
    for (weaker_tests, found) in [(false, "tests.weaker tests/test_cart.py:1"), (true, "pass")] {
        let claims =
            Claims { own: vec!["docs/".into()], earlier: vec![path.into()], weaker_tests, ..Claims::default() };
        let context = GateContext { origin: base.clone(), claims, ..bench.context(&guide.commit, &code) };
        assert_eq!(short(&run_gate(Arc::new(context), &gate).await), [found]);
    }
}

/// The outputs of a phase that an agent added name a test that expects something else: the agent excuses itself.
#[tokio::test]
async fn only_a_plan_excuses_a_test_by_naming_it() {
    let gate = tests_pass("sh -c 'echo 2 passed, 0 failed'");
    let path = "tests/test_cart.py";
    let bench = Bench::new(&[(path, "def test_total():\n    assert total([1, 2]) == 3\n")]);
    let base = bench.base();
    let result =
        bench.attempt("p", &base, |tree| write(tree, &[(path, "def test_total():\n    assert total([1, 2]) == 2\n")]));
    let claims = Claims { own: vec![path.into()], named: vec![path.into()], ..Claims::default() };
    for (claims, found) in [(claims.clone(), "pass"), (claims.of_agent(), "tests.expects tests/test_cart.py:2")] {
        let context = GateContext { claims, ..bench.context(&base, &result) };
        assert_eq!(short(&run_gate(Arc::new(context), &gate).await), [found]);
    }
}

/// An added phase that names the script of a gate would decide itself what the gate says.
#[tokio::test]
async fn only_a_plan_lets_a_gates_script_be_changed_by_naming_it() {
    let gate = tests_pass("sh check.sh");
    let bench = Bench::new(&[("check.sh", "echo 2 passed, 0 failed\n")]);
    let base = bench.base();
    let result = bench.attempt("p", &base, |tree| write(tree, &[("check.sh", "echo 3 passed, 0 failed\n")]));
    let all = || vec!["check.sh".to_owned()];
    let claims = Claims { own: all(), deciding: all(), ..Claims::default() };
    let by_agent = claims.clone().only(&std::collections::HashSet::new());
    for (claims, found) in [(claims, "pass"), (by_agent, "gate.changed check.sh")] {
        let context = GateContext { claims, ..bench.context(&base, &result) };
        assert_eq!(short(&run_gate(Arc::new(context), &gate).await), [found]);
    }
}

/// A phase before it, which no gate asked, has left a file that no output claims.
#[tokio::test]
async fn what_an_earlier_phase_left_unclaimed_is_taken_back_for_the_tests_of_a_later_one() {
    let gate = tests_pass("sh -c 'ls *.dat && echo 2 passed, 0 failed'");
    let bench = Bench::new(&[("a.txt", "a")]);
    let base = bench.base();
    let guide = bench.attempt("guide", &base, |tree| write(tree, &[("left.dat", "x"), ("docs/a.md", "x")]));
    let code = bench.attempt("code", &guide.commit, |tree| write(tree, &[("a.txt", "b")]));
    let cases = [
        (&["docs/"][..], false, "tests.unclaimed left.dat"),
        (&["docs/", "left.dat"], false, "pass"),
        (&["docs/"], true, "pass"),
    ];
    for own in [&["a.txt"][..], &[]] {
        for (earlier, free_before, expected) in cases {
            let all = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>();
            let claims = Claims { own: all(own), earlier: all(earlier), free_before, ..Claims::default() };
            let context = GateContext { origin: base.clone(), claims, ..bench.context(&guide.commit, &code) };
            assert_eq!(short(&run_gate(Arc::new(context), &gate).await), [expected], "{own:?} {earlier:?}");
        }
    }
}
