//! Bad input gets a clear error with place and remedy, the right exit code, and changes nothing.

use crate::user::User;

const PLAN: &str =
    "name: p\nphases:\n  - id: a\n    name: A\n    type: development\n    description: do it\n    outputs: [a.txt]\n";

#[test]
fn wrong_usage_is_exit_2_and_json_when_asked() {
    let user = User::new();
    user.run(&["frobnicate"]).refused(2, &["unrecognized subcommand"]);
    let ran = user.run(&["--json", "frobnicate"]);
    assert_eq!((ran.code, ran.json()["error"]["code"].as_str()), (2, Some("HX0900")), "{ran:?}");
    // What follows `--`, and what belongs to another option, is no flag.
    user.run(&["frobnicate", "--", "--json"]).refused(2, &["unrecognized subcommand"]);
    let searched = user.run(&["failures", "search", "--", "--json"]);
    assert_eq!((searched.code, searched.stdout.as_str()), (0, ""), "{searched:?}");
    let budget = user.run(&["run", "p.yaml", "--budget", "--json"]);
    assert!(
        budget.code == 2 && budget.json()["error"]["message"].as_str().unwrap().contains("value is required"),
        "{budget:?}"
    );
}

/// No command means nothing by an argument, and what nothing would start is paid for.
#[test]
fn an_empty_value_is_wrong_usage() {
    let user = User::new();
    user.write("p.yaml", PLAN);
    user.repository();
    for arguments in [
        &["chat", "--model", ""][..],
        &["chat", "-m", "  "],
        &["run", "p.yaml", "--model", ""],
        &["run", "p.yaml", "--dry-run", "--agent="],
        &["jobs", "show", ""],
    ] {
        user.run(arguments).refused(2, &["is empty"]);
    }
    let ran = user.run(&["--json", "chat", "--model", ""]);
    assert_eq!((ran.code, ran.json()["error"]["code"].as_str()), (2, Some("HX0900")), "{ran:?}");
    assert!(!user.state().exists(), "no host was started");
}

#[test]
fn plans_that_cannot_be_read_or_are_wrong_are_shown_with_their_place() {
    let user = User::new();
    user.run(&["plan", "check", "none.yaml"]).refused(2, &["HX0401", "none.yaml", "hint:"]);
    user.write("p.yaml", &PLAN.replace("outputs", "outptus"));
    user.run(&["plan", "check", "p.yaml"]).refused(1, &["HX0106", "p.yaml:7:5", "did you mean"]);
    user.write("c.yaml", &PLAN.replace("    outputs", "    depends_on: [a]\n    outputs"));
    user.run(&["plan", "check", "c.yaml"]).refused(1, &["HX0114", "c.yaml:7:"]);
    let path = user.work().join("l.yaml");
    std::fs::write(&path, b"name: caf\xe9\n").unwrap();
    user.run(&["plan", "check", "l.yaml"]).refused(1, &["HX0101", "l.yaml:1:10"]);
    user.run(&["run", "l.yaml", "--dry-run"]).refused(2, &["HX0930", "HX0101"]);
}

#[test]
fn a_wrong_configuration_is_refused_before_anything_happens() {
    let user = User::new();
    user.write("helix.toml", "[server]\nlissten = \"x\"\n");
    user.run(&["serve"]).refused(2, &["HX0902", "helix.toml:2:1", "did you mean `listen`?"]);
    user.write("helix.toml", "[defaults]\nagent = \"nobody\"\n");
    user.run(&["doctor"]).refused(2, &["HX0905", "nobody", "helix.toml:2"]);
    user.write("helix.toml", "[server]\nlisten = \"8787\"\n");
    user.run(&["--config", "helix.toml", "doctor"]).refused(2, &["HX0903", "8787", "helix.toml:2", "ADDRESS:PORT"]);
    assert!(!user.state().exists(), "nothing was changed");
}

#[test]
fn a_template_that_takes_gigabytes_is_refused_and_takes_little() {
    let user = User::new();
    let doubled = "{% set a = a ~ a %}".repeat(28);
    let text = format!(
        "---\nprompt: consultant\nversion: 2\n---\n{{% set a = \"0123456789\" %}}{doubled}{{{{ a | length }}}}\n"
    );
    user.write("own.md.j2", &text);
    user.run(&["prompt", "check", "own.md.j2"]).refused(1, &["256 MiB"]);
    user.write("fine.md.j2", "---\nprompt: consultant\nversion: 2\n---\n{{ workspace ~ projects }}\n");
    assert_eq!(user.run(&["prompt", "check", "fine.md.j2"]).code, 0);
}

/// Root may write anywhere, so a file stands where the directory should be.
#[test]
fn a_state_directory_that_cannot_be_written_is_named() {
    let user = User::new();
    let file = user.write("file", "");
    let ran = user.run(&["--state-dir", file.to_str().unwrap(), "serve", "--listen", "127.0.0.1:0"]);
    ran.refused(2, &["HX0301", "file is not a directory", "--state-dir"]);
}

#[test]
fn a_taken_port_and_an_open_address_are_refused() {
    let user = User::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    user.run(&["serve", "--listen", &address]).refused(2, &["HX0911", &address, "--listen"]);
    user.run(&["serve", "--listen", "0.0.0.0:0", "--no-auth"]).refused(2, &["HX0910", "--no-auth"]);
    user.run(&["serve", "--listen", "nonsense"]).refused(2, &["HX0912", "127.0.0.1:8787"]);
}

#[test]
fn an_adr_without_a_title_and_a_log_without_a_failure_are_said_to_be_so() {
    let user = User::new();
    user.run(&["adr", "new", " "]).refused(2, &["`title` is empty"]);
    let log = user.write("fine.log", "all fine\n");
    let ran = user.run(&["failures", "explain", log.to_str().unwrap()]);
    assert!(ran.code == 0 && ran.stderr.contains("no failure found in this log"), "{ran:?}");
    let ran = user.run(&["failures", "explain", log.to_str().unwrap(), "--exit", "3"]);
    assert!(ran.code == 0 && ran.stdout.contains("What failed"), "{ran:?}");
}

#[test]
fn every_error_explains_itself_where_there_are_no_docs() {
    let user = User::new();
    let ran = user.run(&["explain", "hx0403"]);
    assert!(ran.code == 0 && ran.stdout.starts_with("# HX0403: ") && ran.stdout.contains("## Remedy"), "{ran:?}");
    user.run(&["explain", "HX9999"]).refused(2, &["HX0920", "HX9999"]);
}

#[test]
fn jobs_that_do_not_exist_are_not_found() {
    let user = User::new();
    user.run(&["jobs", "show", "j1"]).refused(2, &["HX0920", "j1"]);
    let ran = user.run(&["jobs", "list", "--json"]);
    assert_eq!((ran.code, ran.stdout.trim()), (0, "[]"));
    assert!(!user.state().exists(), "reading creates nothing");
}

#[test]
fn a_plan_outside_of_a_repository_or_without_identity_or_agent_is_refused() {
    let user = User::new();
    user.rehearse("- {key: '*', repeat: true}\n");
    user.write("plans/p/phases.yaml", PLAN);
    user.git(&["init", "-q", "-b", "main"]);
    let before = user.git(&["status", "--porcelain"]);
    let ran = user.run(&["run", "plans/p/phases.yaml"]);
    ran.refused(2, &["error[HX0405]", "hint:"]);
    user.repository();
    user.run(&["run", "plans/p/phases.yaml", "--agent", "nobody"]).refused(2, &["nobody", "hint:"]);
    user.run(&["run", "plans/p/phases.yaml", "--phase", "b"]).refused(2, &["b", "hint:"]);
    assert_eq!(before, "?? plans/\n");
    assert_eq!(user.git(&["status", "--porcelain"]), "", "nothing was changed");
    assert_eq!(user.run(&["--json", "jobs"]).json(), serde_json::json!([]), "no job was made");
}

/// What a submission refuses, a check and a dry run say too, all of it at once, at the same places.
#[test]
fn a_check_and_a_dry_run_say_everything_that_a_submission_refuses() {
    let user = User::new();
    user.rehearse("- {key: '*', repeat: true}\n");
    let config = user.state().with_file_name("home").join(".config/helix/helix.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    let codex = "[agents.other]\ndialect = \"codex\"\ncommand = [\"true\"]\nmodels = [\"fast\", \"slow\"]\n";
    std::fs::write(&config, text + codex).unwrap();
    user.write(
        "p.yaml",
        "name: p\nphases:\n\
         - { id: a, type: development, description: A, agent: nobody, outputs: [a.txt], gates: [{ type: deploy_success, command: ./d }] }\n\
         - { id: b, type: development, description: B, agent: other, model: fats, budget_usd: 2, inputs: [none.txt], outputs: [b.txt] }\n",
    );
    user.repository();
    let codes = ["HX0406", "HX0417", "HX0408", "HX0415", "HX0416"];
    let found = |ran: &crate::user::Ran| -> Vec<String> {
        let all = ran.stderr.lines().filter(|line| line.starts_with("error[")).map(str::to_owned);
        let mut all: Vec<String> = all.filter(|line| !line.contains("p.yaml has")).collect();
        all.sort();
        all
    };
    let mut said = Vec::new();
    for (arguments, code) in
        [(&["plan", "check", "p.yaml"][..], 1), (&["run", "--dry-run", "p.yaml"], 2), (&["run", "p.yaml"], 2)]
    {
        let ran = user.run(arguments);
        ran.refused(code, &codes);
        assert!(ran.stderr.contains("p.yaml:3:") && ran.stderr.contains("p.yaml:4:"), "{ran:#?}");
        assert!(ran.stderr.contains("did you mean fast?"), "{ran:#?}");
        said.push(found(&ran));
    }
    assert_eq!(said[0].len(), codes.len(), "{said:#?}");
    assert!(said[0] == said[1] && said[1] == said[2], "{said:#?}");
    assert_eq!(user.run(&["--json", "jobs"]).json(), serde_json::json!([]));
    // What is not the plan's fault leaves it valid, and is told all the same.
    user.write("good/p.yaml", PLAN);
    user.write("good/helix.toml", "[server]\nroots = [\"elsewhere\"]\n");
    assert_eq!(user.run(&["trust", "good/helix.toml"]).code, 0);
    let mut check = user.helix();
    let ran = crate::user::ran(
        check.current_dir(user.work().join("good")).args(["plan", "check", "p.yaml"]).output().unwrap(),
    );
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(ran.stdout.contains("valid") && ran.stderr.contains("HX0410"), "{ran:#?}");
    let mut dry = user.helix();
    let ran = crate::user::ran(
        dry.current_dir(user.work().join("good")).args(["run", "--dry-run", "p.yaml"]).output().unwrap(),
    );
    assert!(ran.stdout.contains("dry run"), "{ran:#?}");
    ran.refused(2, &["HX0410", "roots"]);
    // A path that the tree does not lead to, with the name of a file that is there, is told as a guess.
    user.write("api/v1/prices.py", "");
    user.git(&["add", "-A"]);
    user.git(&["commit", "-q", "-m", "prices"]);
    user.write("o.yaml", &PLAN.replace("a.txt", "src/prices.py"));
    let ran = user.run(&["plan", "check", "o.yaml"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(ran.stderr.contains("HX0418") && ran.stderr.contains("api/v1/prices.py"), "{ran:#?}");
    // A gate that could not answer is told before anything runs; the agent may yet install what it needs.
    user.write(
        "g.yaml",
        &PLAN.replace("    outputs", "    gates: [{ type: tests_pass, command: no-such-program -q }]\n    outputs"),
    );
    let ran = user.run(&["plan", "check", "g.yaml"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(ran.stderr.contains("HX0417") && ran.stderr.contains("`no-such-program`"), "{ran:#?}");
    // A budget for the job that an agent cannot keep is no fault of the plan either.
    user.write("c.yaml", &PLAN.replace("development\n", "development\n    agent: other\n"));
    user.run(&["run", "--dry-run", "c.yaml", "--budget", "3"]).refused(2, &["HX0415", "max_tokens"]);
}

#[test]
fn recordings_that_cannot_be_read_are_exit_2() {
    let user = User::new();
    user.run(&["outcome", "none.jsonl", "--exit", "0"]).refused(2, &["HX0921", "none.jsonl"]);
    user.run(&["outcome", ".", "--exit", "0"]).refused(2, &["HX0921", "directory"]);
    user.write("r.jsonl", "");
    user.run(&["outcome", "r.jsonl", "--exit", "999"]).refused(2, &["999", "--exit", "0 to 255"]);
    user.run(&["outcome", "r.jsonl"]).refused(2, &["--exit"]);
}

/// What goes into records and requests is text: a path that is none was looked for under another name, or the default taken.
#[test]
fn paths_that_are_not_utf8_are_refused_before_anything_is_made() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let user = User::new();
    user.rehearse("- {key: '*', repeat: true}\n");
    let latin1 = |ascii: &str| OsStr::from_bytes(&[ascii.as_bytes(), b"\xe4"].concat()).to_owned();
    user.repository();
    let plan = user.work().join(latin1("plan"));
    std::fs::write(&plan, PLAN).unwrap();
    let refused = |command: &mut std::process::Command, named: &str| {
        crate::user::ran(command.output().unwrap()).refused(2, &["HX0907", named, "hint:"]);
    };
    refused(user.helix().arg("run").arg(&plan), "plan\\xE4");
    let state = user.work().join(latin1("state"));
    refused(user.helix().arg("--state-dir").arg(&state).args(["run", "p.yaml"]), "state\\xE4");
    refused(user.helix().env("HELIX_STATE_DIR", &state).args(["jobs", "list"]), "HELIX_STATE_DIR");
    refused(user.helix().env("HOME", &state).arg("doctor"), "HOME");
    assert!(!state.exists());
    // A foreign directory in the search path is nothing to Helix.
    let mut path = std::env::var_os("PATH").unwrap_or_default();
    path.push(":");
    path.push(&state);
    let ran = crate::user::ran(user.helix().env("PATH", path).args(["jobs", "list"]).output().unwrap());
    assert_eq!(ran.code, 0, "{ran:#?}");
}

/// A journal that lost its content, and one that another program keeps locked: the same answer from every command, exit code 2.
#[test]
fn an_emptied_or_locked_database_is_named_by_every_command() {
    let user = User::new();
    user.rehearse("- {key: '*', repeat: true, actions: [{write: {path: a.txt, text: a}}, {say: done}]}\n");
    user.write("p.yaml", &format!("{PLAN}    gates: [{{ type: files_exist }}]\n"));
    user.repository();
    let first = user.run(&["run", "p.yaml"]);
    assert_eq!(first.code, 0, "{first:#?}");
    let database = user.state().join("helix.db");

    // As SQLite itself does: locks of a range of the file, which belong to the process.
    let shell = std::fs::OpenOptions::new().write(true).open(&database).unwrap();
    rustix::fs::fcntl_lock(&shell, rustix::fs::FlockOperation::NonBlockingLockExclusive).unwrap();
    user.run(&["run", "p.yaml"]).refused(2, &["HX0303", "helix.db", "fuser"]);
    let doctor = user.run(&["doctor"]);
    assert!(doctor.stdout.contains("keeps the database"), "{doctor:#?}");
    drop(shell);

    let head = user.git(&["rev-parse", "HEAD"]);
    for name in ["helix.db", "helix.db-wal", "helix.db-shm"] {
        let file = user.state().join(name);
        if file.exists() {
            std::fs::write(file, "").unwrap();
        }
    }
    for command in [&["run", "p.yaml"][..], &["jobs", "list"], &["serve", "--listen", "127.0.0.1:0"]] {
        user.run(command).refused(2, &["HX0304", "helix.db", "backup"]);
    }
    assert_eq!(std::fs::metadata(&database).unwrap().len(), 0);
    assert_eq!(user.git(&["rev-parse", "HEAD"]), head, "nothing was changed");
}

/// Limits of the process are errors with a place, not a silent death by SIGXFSZ or a host that waits for threads it never gets.
#[test]
fn limits_of_the_process_are_named() {
    let user = User::new();
    user.rehearse("- {key: '*', repeat: true}\n");
    user.write("p.yaml", PLAN);
    user.repository();
    let limited = |limit: &str| {
        let helix = env!("CARGO_BIN_EXE_helix");
        let mut shell = std::process::Command::new("sh");
        let whole = user.helix();
        shell.current_dir(user.work()).env_clear();
        shell.envs(whole.get_envs().filter_map(|(name, value)| Some((name, value?))));
        crate::user::ran(shell.arg("-c").arg(format!("{limit}; exec {helix} run p.yaml")).output().unwrap())
    };
    limited("ulimit -f 8").refused(4, &["HX0302", "helix.db"]);
    limited("ulimit -n 10").refused(4, &["HX0904", "ulimit -n"]);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    crate::user::ran(user.helix().arg("--help").stdout(full).output().unwrap()).refused(4, &["HX0950"]);
}
