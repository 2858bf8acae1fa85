//! The first steps in repositories that Helix has never seen: help, init, plan check, doctor, demo.

mod german;

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::user::User;

#[test]
fn init_looks_around_and_its_plan_is_valid() {
    for (file, text, language, test) in [
        ("pyproject.toml", "[tool.pytest.ini_options]\n", "Python", "python3 -m pytest -q"),
        ("tests/test_a.py", "import unittest\n", "Python", "python3 -m unittest discover -s tests"),
        ("Cargo.toml", "[package]\nname = \"a\"\n", "Rust", "cargo test"),
        ("package.json", "{\"scripts\":{\"test\":\"node --test\"}}", "JavaScript", "npm test --silent"),
    ] {
        let user = User::new();
        user.write(file, text);
        let ran = user.run(&["init"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(ran.stdout.contains(language) && ran.stdout.contains(test), "{ran:?}");
        // Nobody is paid for guessing what is to be built.
        user.run(&["plan", "check", "plans/example/phases.yaml"])
            .refused(1, &["HX0137", "plans/example/phases.yaml:5:"]);
        user.run(&["run", "plans/example/phases.yaml", "--dry-run"]).refused(2, &["HX0137"]);
        user.describe("plans/example/phases.yaml");
        let checked = user.run(&["plan", "check", "plans/example/phases.yaml"]);
        assert!(checked.code == 0 && checked.stdout.contains("valid (2 phases)"), "{checked:?}");
        let only = user.run(&["plan", "check", "--explain"]);
        assert!(only.code == 0 && only.stdout.contains("plans/example/phases.yaml: valid"), "{only:?}");
        assert!(!ran.stdout.contains("setuptools would take"), "{ran:?}");
        let before = std::fs::read(user.work().join("helix.toml")).unwrap();
        let again = user.run(&["init"]);
        assert!(again.code == 0 && again.stdout.contains("already exists"), "{again:?}");
        assert_eq!(before, std::fs::read(user.work().join("helix.toml")).unwrap(), "never overwritten");
        // A dry run shows the plan, and ends as the run would: this is no repository.
        let dry = user.run(&["run", "plans/example/phases.yaml", "--dry-run"]);
        assert!(dry.stdout.contains("dry run") && dry.stdout.contains("up to 3 attempts of 30m each"), "{dry:?}");
        dry.refused(2, &["HX0403"]);
    }
}

/// What `init` itself writes would be in the way of the project's own build.
#[test]
fn init_says_where_setuptools_would_take_its_directories_for_packages() {
    let user = User::new();
    user.write("pyproject.toml", "[build-system]\nrequires = [\"setuptools\"]\n");
    user.write("bill/__init__.py", "");
    let ran = user.run(&["init"]);
    assert!(ran.stdout.contains("setuptools would take adr/ and plans/ for packages here"), "{ran:?}");
}

/// In no known language, a check of the syntax could confirm nothing.
#[test]
fn init_promises_no_check_that_cannot_pass_and_says_where_it_is() {
    let user = User::new();
    user.repository();
    let ran = user.run(&["init"]);
    assert!(ran.stdout.contains("git repository found") && ran.stderr.contains("commit"), "{ran:?}");
    let plan = std::fs::read_to_string(user.work().join("plans/example/phases.yaml")).unwrap();
    assert!(!plan.contains("syntax_check"), "{plan}");
    std::fs::create_dir(user.work().join("part")).unwrap();
    let below = |arguments: &[&str]| {
        crate::user::ran(user.helix().current_dir(user.work().join("part")).args(arguments).output().unwrap())
    };
    let new = below(&["plan", "new", "export"]);
    assert!(new.code == 0 && user.work().join("plans/export/phases.yaml").exists(), "{new:?}");
    below(&["plan", "check"]).refused(2, &["HX0401", "several plans", "plans/example/phases.yaml"]);
    let ran = user.run(&["init", "part"]);
    let root = format!("is inside the repository {}", user.work().display());
    assert!(ran.stdout.contains(&root), "{ran:?}");
    let doctor = user.run(&["doctor"]);
    assert!(doctor.stdout.contains("✓ repository: "), "{doctor:?}");
}

/// Who has configured an agent keeps it: what `init` writes counts more than the user's own file.
#[test]
fn init_keeps_to_the_agent_that_the_user_has_configured() {
    let user = User::new();
    user.rehearse("- { key: consultant, actions: [{ say: \"Hello.\" }] }\n");
    user.repository();
    let ran = user.run(&["init"]);
    let row = ran.stdout.lines().find(|line| line.starts_with("agents ")).unwrap();
    assert!(row.ends_with("rehearsal"), "{ran:?}");
    user.describe("plans/example/phases.yaml");
    user.git(&["add", "-A"]);
    user.git(&["commit", "-q", "-m", "plan"]);
    let dry = user.run(&["run", "plans/example/phases.yaml", "--dry-run"]);
    assert!(dry.stdout.contains("agent rehearsal, up to 3 attempts"), "{dry:?}");
    // What is added to the plan later is told with its price, too.
    user.write("grows.yaml", "name: g\nphases:\n  - { id: split, type: planning, description: Split it., generates_phases: { min: 1, max: 5, verify: true } }\n");
    let dry = user.run(&["run", "grows.yaml", "--dry-run"]);
    let parts = ["adds 1 to 5 phases of type development", "verify by agent rehearsal", "price of one verification"];
    assert!(parts.iter().all(|part| dry.stdout.contains(part)), "{dry:?}");
    // What another project's file says is not theirs.
    let other = User::new();
    other.write(
        "helix.toml",
        "[defaults]\nagent = \"mine\"\n[agents.mine]\ndialect = \"command\"\ncommand = [\"sh\"]\n",
    );
    assert_eq!(other.run(&["trust"]).code, 0);
    std::fs::create_dir(other.work().join("new")).unwrap();
    let row = |ran: &crate::user::Ran| ran.stdout.lines().find(|line| line.starts_with("agents ")).unwrap().to_owned();
    assert!(row(&other.run(&["init"])).ends_with("mine"));
    let ran = other.run(&["init", "new"]);
    assert!(!row(&ran).ends_with("mine"), "{ran:?}");
    let written = std::fs::read_to_string(other.work().join("new/helix.toml")).unwrap();
    assert!(written.contains("\nagent = \"claude\""), "{written}");
}

/// A program that is there and does nothing is as good as none: gates that need it would be inconclusive.
#[test]
fn doctor_starts_the_toolchains_instead_of_believing_their_names() {
    let user = User::new();
    user.write("Cargo.toml", "[package]\nname = \"x\"\n");
    user.write("pyproject.toml", "[tool.pytest.ini_options]\n");
    user.identity();
    let programs = user.work().join("bin");
    for (name, text) in [
        ("cargo", "echo 'error: rustup could not choose a version of cargo to run' >&2; exit 1"),
        ("python3", "case \"$*\" in *pytest*) echo 'No module named pytest' >&2; exit 1;; *) echo Python 3.99;; esac"),
    ] {
        let path = user.write(&format!("bin/{name}"), &format!("#!/bin/sh\n{text}\n"));
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let init = crate::user::ran(user.helix().env("PATH", &path).arg("init").output().unwrap());
    assert!(init.stdout.contains("python3 -m pytest -q  ("), "{init:#?}");
    let ran = crate::user::ran(user.helix().env("PATH", &path).arg("doctor").output().unwrap());
    assert_eq!(ran.code, 4, "{ran:#?}");
    for line in [
        "✗ cargo for Rust: ",
        "does not work: error: rustup could not choose a version of cargo to run",
        "✓ python3 for Python: Python 3.99",
        "✗ pytest: `python3 -m pytest -q` cannot run: No module named pytest",
    ] {
        assert!(ran.stdout.contains(line), "{line}\n{}", ran.stdout);
    }
    // Jobs use the repository's own environment, wherever in it they are submitted.
    let python = user.write(".venv/bin/python", "#!/bin/sh\necho pytest 9\n");
    std::fs::set_permissions(&python, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::copy(&python, python.with_file_name("python3")).unwrap();
    user.git(&["init", "-q"]);
    std::fs::create_dir(user.work().join("part")).unwrap();
    let mut below = user.helix();
    let below = below.env("PATH", &path).current_dir(user.work().join("part")).arg("doctor").output().unwrap();
    let below = crate::user::ran(below);
    assert!(below.stdout.contains("✓ pytest: pytest 9") && below.stdout.contains("✗ cargo for Rust: "), "{below:#?}");
}

#[test]
fn doctor_in_an_empty_environment_names_every_remedy() {
    let user = User::new();
    let mut command = user.helix();
    let ran = crate::user::ran(command.env("PATH", "/nonexistent").args(["doctor"]).output().unwrap());
    assert_eq!(ran.code, 4, "{ran:?}");
    let problems = ran.stdout.lines().filter(|line| line.starts_with('✗')).count();
    let hints = ran.stdout.lines().filter(|line| line.trim_start().starts_with("hint:")).count();
    assert!(problems >= 2 && hints >= problems, "{ran:?}");
    let json =
        crate::user::ran(user.helix().env("PATH", "/nonexistent").args(["doctor", "--json"]).output().unwrap()).json();
    assert_eq!(json["ok"], false);
    assert!(
        json["settings"]
            .as_array()
            .unwrap()
            .iter()
            .any(|row| row["key"] == "server.listen" && row["origin"] == "built in")
    );
}

#[test]
fn drafts_become_numbered_decisions() {
    let user = User::new();
    user.repository();
    let made = user.run(&["adr", "new", "Export orders", "--creates", "src/export.py"]);
    assert_eq!((made.code, made.stdout.trim()), (0, "adr/draft-export-orders.md"), "{made:?}");
    let draft = "adr/draft-export-orders.md";
    user.run(&["adr", "finalize", draft]).refused(2, &["HX0232"]);
    let template = std::fs::read_to_string(user.work().join(draft)).unwrap();
    let filled = template.lines().map(|line| match line.strip_prefix("- [ ] ") {
        Some(_) => "- [ ] `shop export` exits 0 and shows `3 orders`".to_owned(),
        None => line.replace(['<', '>'], ""),
    });
    user.write(draft, &(filled.collect::<Vec<_>>().join("\n") + "\n"));
    let done = user.run(&["adr", "finalize", draft]);
    assert_eq!((done.code, done.stdout.trim()), (0, "adr/001-export-orders.md"), "{done:?}");
    assert!(!user.work().join("adr/draft-export-orders.md").exists());
    assert!(user.run(&["adr", "list"]).stdout.contains("Export orders"));
    assert_eq!(user.run(&["adr", "next-number"]).stdout.trim(), "002");
    user.run(&["adr", "finalize", "none.md"]).refused(2, &["HX0921", "none.md"]);
}

/// The whole way with the embedded agent, without colour, terminal, git identity, account or network, in the state directory
/// that the user names.
#[test]
fn the_demo_gets_through() {
    let user = User::new();
    let temporary = user.work().join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let ran = crate::user::ran(
        user.helix()
            .env("TMPDIR", &temporary)
            .env("NO_COLOR", "1")
            .args(["demo", "--state-dir", "kept"])
            .output()
            .unwrap(),
    );
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(ran.stdout.contains("succeeded") && ran.stdout.contains("merged into main"), "{ran:#?}");
    assert!(ran.stderr.contains("✗ [implement] tests_pass failed"), "{ran:#?}");
    assert!(!ran.stdout.contains('\u{1b}') && !ran.stderr.contains('\u{1b}'), "no colour: {ran:#?}");
    assert!(!user.state().exists(), "the user's own state is not touched");
    assert!(user.work().join("kept/helix.db").is_file(), "--state-dir counts: {ran:#?}");
    assert_eq!(user.run(&["--state-dir", "kept", "--json", "jobs"]).json().as_array().unwrap().len(), 1);
    // Helix's own decision, finalized and carried out, is in order by Helix's own check.
    let shop = ran.stdout.lines().find_map(|line| line.split_once("merged into main of ")).unwrap().1.trim();
    let checked = crate::user::ran(user.helix().current_dir(shop).args(["--json", "adr", "check"]).output().unwrap());
    assert_eq!(checked.code, 0, "{checked:#?}");
    let quiet = ["HX0213", "HX0212", "HX0227"].iter().all(|code| !checked.stdout.contains(code));
    assert!(quiet, "{checked:#?}");
    // Its verifier has looked, and the step that is printed next proves every criterion.
    assert!(ran.stderr.contains("✓ [implement] verifier: passed"), "{ran:#?}");
    let next = ran.stdout.lines().find_map(|line| line.strip_prefix("next     ")).expect("a next step");
    let programs = std::path::Path::new(env!("CARGO_BIN_EXE_helix")).parent().unwrap().display().to_string();
    let path = format!("{programs}:{}", std::env::var("PATH").unwrap());
    let mut shell = std::process::Command::new("sh");
    shell.current_dir(user.work()).env("HOME", user.work().join("../home")).env("PATH", path);
    let done = crate::user::ran(shell.args(["-c", next]).output().unwrap());
    assert!(done.code == 0 && done.stdout.contains("is Implemented: 3 of 3"), "{next}: {done:#?}");
}

/// Whoever interrupts the demo has found no bug in it.
#[test]
fn an_interrupted_demo_ends_as_interrupted() {
    let user = User::new();
    let mut demo = user.helix();
    demo.env("TMPDIR", user.work()).arg("demo").stdout(Stdio::null()).stderr(Stdio::piped());
    let mut demo = demo.spawn().unwrap();
    let mut lines = BufReader::new(demo.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("[implement]")), "its job starts");
    rustix::process::kill_process(rustix::process::Pid::from_child(&demo), rustix::process::Signal::INT).unwrap();
    let rest: Vec<String> = lines.collect();
    assert_eq!(demo.wait().unwrap().code(), Some(130), "{rest:#?}");
    assert!(rest.iter().all(|line| !line.contains("bug in Helix")), "{rest:#?}");
}

#[test]
fn descriptions_of_formats_and_of_the_program_itself_are_printed() {
    let user = User::new();
    for (arguments, part) in [
        (&["plan", "schema"][..], "\"phases\""),
        (&["events", "schema"], "job_submitted"),
        (&["completions", "bash"], "_helix"),
        (&["man"], ".TH helix"),
        (&["--version"], "helix 0."),
    ] {
        let ran = user.run(arguments);
        assert!(ran.code == 0 && ran.stdout.contains(part), "{arguments:?}: {ran:?}");
    }
    insta::assert_snapshot!("help", user.run(&["--help"]).stdout);
}

/// It took 50 s: what comes before what was worked out anew for every pair of phases, and every prompt listed all others.
#[test]
fn a_long_chain_of_phases_is_checked_without_a_wait() {
    let user = User::new();
    let mut plan = "name: chain\nphases:\n".to_owned();
    for number in 0..400_u32 {
        let needs = number.checked_sub(1).map(|before| format!(", depends_on: [p{before}]")).unwrap_or_default();
        plan.push_str(&format!(
            "  - {{ id: p{number}, type: documentation, description: D{needs}, outputs: [p{number}.md] }}\n"
        ));
    }
    user.write("phases.yaml", &plan);
    let checked = user.run(&["plan", "check", "phases.yaml"]);
    assert!(checked.code == 0 && checked.stdout.contains("valid (400 phases)"), "{checked:?}");
}
