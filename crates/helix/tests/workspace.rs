//! Prepared workspaces from outside: what a clean clone lacks is installed, copied and started once, for agents and gates alike; nobody
//! changes it for others, and nothing of it gets into a result.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::user::{Ran, User, ran};

/// A project with these files, whose `helix.toml` is trusted, and whose agent does this.
fn project(files: &[(&str, &str)], workspace: &str, ignored: &str, actions: &str, gates: &str) -> User {
    let user = User::new();
    user.rehearse(&format!("- {{key: a, repeat: true, actions: [{actions}, {{say: Done.}}]}}\n"));
    for (path, text) in files {
        user.write(path, text);
    }
    user.write(".gitignore", ignored);
    user.write("helix.toml", &format!("[workspace]\n{workspace}"));
    user.write(
        "plan.yaml",
        &format!(
            "name: p\nphases:\n  - id: a\n    name: A\n    type: development\n    description: do it\n    outputs: [done.txt]\n    \
             gates:\n{gates}"
        ),
    );
    user.repository();
    assert_eq!(user.run(&["trust"]).code, 0);
    user
}

fn command_gate(command: &str) -> String {
    format!("      - {{ type: command, command: {command:?} }}\n")
}

const WRITES: &str = "{write: {path: done.txt, text: \"done\\n\"}}";

fn shell(script: &str) -> String {
    format!("{{run: {{command: [sh, -c, {script:?}], must_succeed: true}}}}")
}

/// The directories of whole preparations.
fn prepared(user: &User) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(user.state().join("prepared")).into_iter().flatten().flatten();
    let whole = entries.map(|entry| entry.path()).filter(|path| path.join("whole.json").exists());
    whole
        .map(|path| {
            let text = std::fs::read_to_string(path.join("whole.json")).unwrap();
            let whole: serde_json::Value = serde_json::from_str(&text).unwrap();
            path.join(whole["directory"].as_str().unwrap())
        })
        .collect()
}

fn succeeded(user: &User) -> Ran {
    let ran = user.run(&["run", "plan.yaml"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let changed = user.git(&["show", "--name-only", "--format=", "-m", "--first-parent", "HEAD"]);
    assert_eq!(changed.trim(), "done.txt", "nothing else is in the result");
    ran
}

/// A package as a tarball and a project that locks it, as npm itself makes them; nothing comes from a network.
fn node_files(user: &User) {
    user.write("vendor/greet/package.json", "{\"name\": \"greet\", \"version\": \"1.0.0\", \"main\": \"index.js\"}");
    user.write("vendor/greet/index.js", "module.exports = 'hello';\n");
    user.write("package.json", "{\"name\": \"app\", \"version\": \"1.0.0\"}");
    let npm = |arguments: &[&str]| {
        let mut npm = Command::new("npm");
        npm.args(arguments).current_dir(user.work()).env("HOME", user.work().parent().unwrap().join("home"));
        let output = npm.args(["--offline", "--no-audit", "--no-fund"]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    npm(&["pack", "./vendor/greet", "--pack-destination", "vendor"]);
    npm(&["install", "./vendor/greet-1.0.0.tgz"]);
    std::fs::remove_dir_all(user.work().join("vendor/greet")).unwrap();
    // As in a fresh clone.
    std::fs::remove_dir_all(user.work().join("node_modules")).unwrap();
}

#[test]
fn npm_installs_once_and_what_an_agent_changes_there_is_seen_by_nobody_else() {
    let attack = "echo 'module.exports = 1' > node_modules/greet/index.js; rm -f node_modules/greet/package.json; \
                  echo x > node_modules/new; test -e node_modules/new; grep -q 1 node_modules/greet/index.js; \
                  test -z \"$(git status --short)\"; \
                  git checkout-index -f -a; rm -r node_modules/new";
    let gates = command_gate("node -e \"if (require('greet') !== 'hello') process.exit(1)\"")
        + &command_gate("node -e \"if (require('fs').existsSync('node_modules/new')) process.exit(1)\"");
    let user = User::new();
    node_files(&user);
    // Its own look at its gates finds what its work place has.
    let helix = format!(
        "cp node_modules/greet/index.js /tmp/kept; echo \"module.exports = 'hello'\" > node_modules/greet/index.js; {} gates run",
        env!("CARGO_BIN_EXE_helix")
    );
    user.rehearse(&format!(
        "- {{key: a, repeat: true, actions: [{}, {WRITES}, {}, {{say: Done.}}]}}\n",
        shell(attack),
        shell(&helix)
    ));
    user.write(".gitignore", "node_modules/\n");
    user.write("helix.toml", "[workspace]\nsetup = [\"npm ci --offline --no-audit --no-fund\"]\n");
    let plan = |gates: &str| {
        format!(
            "name: p\nphases:\n  - id: a\n    name: A\n    type: development\n    description: do it\n    outputs: [done.txt]\n    gates:\n{gates}"
        )
    };
    user.write("plan.yaml", &plan(&gates));
    user.repository();
    assert_eq!(user.run(&["trust"]).code, 0);
    succeeded(&user);
    let made = prepared(&user);
    assert_eq!(made.len(), 1, "{made:?}");
    let index = made[0].join("tree/node_modules/greet/index.js");
    assert_eq!(std::fs::read_to_string(&index).unwrap(), "module.exports = 'hello';\n");
    assert!(!made[0].join("tree/package.json").exists(), "files of the commit are not kept");

    // So does an audit of its gates, which has nothing to plant here.
    let audit = user.run(&["gates", "audit", "last"]);
    assert!(audit.stderr.contains("nothing can be planted"), "{audit:#?}");

    // A second job finds it, and so does who runs the gates by hand.
    std::fs::remove_file(user.work().join("done.txt")).unwrap();
    user.git(&["commit", "-qam", "again"]);
    succeeded(&user);
    user.write("done.txt", "by hand\n");
    let by_hand = user.run(&["gates", "run", "plan.yaml"]);
    assert_eq!(by_hand.code, 0, "{by_hand:#?}");
    assert_eq!(prepared(&user), made);
    let doctor = user.run(&["doctor"]);
    assert!(doctor.stdout.contains("npm ci --offline --no-audit --no-fund (1 prepared"), "{doctor:#?}");
}

/// A wheel with a program, made by hand: installers write the path of the environment into its first line.
const WHEEL: &str = "import zipfile\n\
    z = zipfile.ZipFile('vendor/greet-1.0-py3-none-any.whl', 'w')\n\
    z.writestr('greet.py', 'import sys\\ndef main(): print(sys.prefix)\\n')\n\
    d = 'greet-1.0.dist-info/'\n\
    z.writestr(d + 'METADATA', 'Metadata-Version: 2.1\\nName: greet\\nVersion: 1.0\\n')\n\
    z.writestr(d + 'WHEEL', 'Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')\n\
    z.writestr(d + 'entry_points.txt', '[console_scripts]\\ngreet = greet:main\\n')\n\
    z.writestr(d + 'RECORD', '')\n\
    z.close()\n";

#[test]
fn a_virtual_environment_is_made_once_and_its_programs_work_in_every_work_place() {
    let setup = "setup = [\"python3 -m venv .venv\", \".venv/bin/python -m pip install -q --no-index vendor/greet-1.0-py3-none-any.whl\"]\n";
    // By its path, by its name, and by the interpreter of the environment.
    let gates = command_gate(".venv/bin/greet") + &command_gate("greet") + &command_gate("python -c 'import greet'");
    let agent = format!(
        "{}, {WRITES}",
        shell("greet && .venv/bin/greet && python -c 'import greet' && test -n \"$VIRTUAL_ENV\"")
    );
    let user = User::new();
    user.write("make.py", WHEEL);
    std::fs::create_dir(user.work().join("vendor")).unwrap();
    assert!(Command::new("python3").arg("make.py").current_dir(user.work()).status().unwrap().success());
    user.rehearse(&format!("- {{key: a, repeat: true, actions: [{agent}, {{say: Done.}}]}}\n"));
    user.write(".gitignore", ".venv/\n");
    user.write("helix.toml", &format!("[workspace]\n{setup}"));
    user.write(
        "plan.yaml",
        &format!("name: p\nphases:\n  - id: a\n    name: A\n    type: development\n    description: do it\n    outputs: [done.txt]\n    gates:\n{gates}"),
    );
    user.repository();
    assert_eq!(user.run(&["trust"]).code, 0);
    succeeded(&user);
    assert_eq!(prepared(&user).len(), 1);
}

#[test]
fn ignored_files_are_copied_and_stay_out_of_results_whatever_an_agent_does() {
    let agent = shell(
        "grep -q s3cret .env && grep -q local conf/local.json && echo X=1 >> .env && echo '!.env' >> .gitignore; git checkout -q .gitignore",
    );
    let gates = command_gate("grep -q s3cret .env")
        + &command_gate("sh -c '! grep -q X=1 .env'")
        + &command_gate("test -f conf/local.json");
    let files = [
        ("conf/shared.json", "{}"),
        (".worktreeinclude", "# other tools read it, too\n*.local.json\nconf/local.json\n"),
    ];
    let user = project(&files, "copy = [\".env\"]\n", ".env\nconf/local.json\n", &format!("{agent}, {WRITES}"), &gates);
    user.write(".env", "TOKEN=s3cret-value-of-the-user\n");
    user.write("conf/local.json", "{\"local\": true}");
    let ran = succeeded(&user);
    assert!(!ran.stdout.contains("s3cret"), "{ran:#?}");
    assert_eq!(std::fs::read_to_string(user.work().join(".env")).unwrap(), "TOKEN=s3cret-value-of-the-user\n");
}

#[test]
fn a_set_up_that_fails_is_named_before_any_agent_starts() {
    let setup = "setup = [\"sh -c 'echo cannot reach the registry >&2; exit 3'\"]\n";
    let user = project(&[], setup, "", WRITES, &command_gate("true"));
    let ran = user.run(&["run", "plan.yaml"]);
    assert_eq!(ran.code, 4, "{ran:#?}");
    let said = format!("{}{}", ran.stdout, ran.stderr);
    for part in ["exited with 3", "cannot reach the registry", "[workspace] in helix.toml"] {
        assert!(said.contains(part), "{part:?} is missing: {ran:#?}");
    }
    let runs: Vec<_> = std::fs::read_dir(user.state().join("runs")).unwrap().flatten().map(|run| run.path()).collect();
    assert!(runs.is_empty(), "no agent has run: {runs:?}");
    assert!(prepared(&user).is_empty());

    // Corrected, the same job goes on.
    user.write("helix.toml", "[workspace]\nsetup = [\"true\"]\n");
    user.git(&["commit", "-qam", "a set-up that works"]);
    assert_eq!(user.run(&["trust"]).code, 0);
    let job = user.run(&["--json", "jobs"]).json()[0]["id"].as_str().unwrap().to_owned();
    let resumed = user.run(&["jobs", "resume", &job]);
    assert_eq!(resumed.code, 0, "{resumed:#?}");
}

#[test]
fn services_are_ready_before_agents_and_gates_and_end_with_them() {
    let workspace = "env = { URL = \"http://127.0.0.1:${WEB_PORT}/\" }\n[workspace.services.web]\n\
                     command = \"python3 -m http.server ${WEB_PORT} --bind 127.0.0.1\"\nport = \"WEB_PORT\"\n";
    let ask = "python3 -c 'import os, urllib.request; urllib.request.urlopen(os.environ[\"URL\"])'";
    let gates = command_gate(ask) + "      - { type: command, command: \"sh -c 'test -z \\\"$HELIX_SERVICES\\\"'\" }\n";
    let user = project(&[], workspace, "", &format!("{}, {WRITES}", shell(ask)), &gates);
    succeeded(&user);
    let listening = Command::new("pgrep").args(["-f", &format!("http.server.*{}", user.state().display())]).output();
    assert!(listening.is_err() || listening.unwrap().stdout.is_empty());
}

#[test]
fn a_service_that_does_not_come_up_is_the_environments_fault() {
    let workspace =
        "[workspace.services.web]\ncommand = \"sh -c 'echo no such database; exit 1'\"\nport = \"WEB_PORT\"\n";
    let user = project(&[], workspace, "", WRITES, &command_gate("true"));
    let ran = user.run(&["run", "plan.yaml"]);
    assert_eq!(ran.code, 4, "{ran:#?}");
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(
        said.contains("the service `web` ended before it was ready") && said.contains("no such database"),
        "{ran:#?}"
    );
}

#[test]
fn a_host_that_is_killed_during_a_set_up_leaves_nothing_that_counts() {
    let setup = "setup = [\"sh -c 'mkdir m; echo half > m/one; sleep 4; echo whole > m/two'\"]\n";
    let gates = command_gate("test -f m/one") + &command_gate("test -f m/two");
    let user = project(&[], setup, "m/\n", WRITES, &gates);
    let mut host = user.helix().args(["run", "plan.yaml"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let began = || {
        let keys = std::fs::read_dir(user.state().join("prepared")).into_iter().flatten().flatten();
        let tries = keys.flat_map(|key| std::fs::read_dir(key.path()).into_iter().flatten().flatten());
        tries.into_iter().any(|one| one.path().join("tree/m/one").exists())
    };
    let started = Instant::now();
    while !began() {
        assert!(started.elapsed() < Duration::from_secs(60), "the set-up never began");
        std::thread::sleep(Duration::from_millis(20));
    }
    host.kill().unwrap();
    host.wait().unwrap();
    assert!(prepared(&user).is_empty(), "half of it does not count");
    let job = user.run(&["--json", "jobs"]).json()[0]["id"].as_str().unwrap().to_owned();
    let watched = ran(user.helix().args(["jobs", "watch", &job]).output().unwrap());
    assert_eq!(watched.code, 0, "{watched:#?}");
    let [made] = &prepared(&user)[..] else { panic!("one preparation") };
    assert_eq!(std::fs::read_to_string(made.join("tree/m/two")).unwrap(), "whole\n");
}

/// What an agent says is to be installed is installed for its gates, and where that fails it is told.
#[test]
fn dependencies_that_an_agent_changes_are_installed_for_its_gates_alone() {
    let setup = "setup = [\"sh install.sh\"]\n";
    let install = "mkdir -p deps; for name in $(cat requirements.txt); do test $name != broken || exit 1; touch deps/$name; done\n";
    let files = [("requirements.txt", "one\n"), ("install.sh", install)];
    let agent = "{write: {path: requirements.txt, text: \"one two\\n\"}}, {write: {path: done.txt, text: \"done\\n\"}}";
    let user = project(&files, setup, "deps/\n", agent, &command_gate("test -f deps/two"));
    let ran = user.run(&["run", "plan.yaml"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert_eq!(prepared(&user).len(), 2, "the user's own, and the result's");

    let agent = "{write: {path: requirements.txt, text: \"broken\\n\"}}, {write: {path: done.txt, text: \"done\\n\"}}";
    let user = project(&files, setup, "deps/\n", agent, &command_gate("true"));
    let ran = user.run(&["run", "plan.yaml"]);
    // A person is asked, as after any gate that an agent does not get through.
    assert_eq!(ran.code, 3, "{ran:#?}");
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(
        said.contains("which sets the workspace up, fails with the dependencies that the result names"),
        "{ran:#?}"
    );
}

/// Installers are told where packages come from; agents and gates have no use for it, what an agent has written gets no address with a
/// login, and tokens reach nobody.
#[test]
fn mirrors_reach_set_ups_alone_and_tokens_nobody() {
    let install = "test \"$npm_config_registry\" = http://mirror.invalid/ && test -z \"$NPM_TOKEN\" || exit 1\n\
                   if grep -q two requirements.txt; then test -z \"$UV_INDEX\"; else test \"$UV_INDEX\" = https://me:s3cret-of-the-user@mirror.invalid/; fi || exit 2\n\
                   mkdir -p deps; echo $npm_config_registry > deps/from; echo asks $UV_INDEX\n";
    let files = [("requirements.txt", "one\n"), ("install.sh", install)];
    let closed = "test -z \"$npm_config_registry$NPM_TOKEN$UV_INDEX\"";
    let agent = format!("{}, {{write: {{path: requirements.txt, text: \"one two\\n\"}}}}, {WRITES}", shell(closed));
    let gates = command_gate(&format!("sh -c '{closed}'")) + &command_gate("test -f deps/from");
    let user = project(&files, "setup = [\"sh install.sh\"]\n", "deps/\n", &agent, &gates);
    let mut run = user.helix();
    run.env("npm_config_registry", "http://mirror.invalid/").env("NPM_TOKEN", "t0ken-of-the-user");
    run.env("UV_INDEX", "https://me:s3cret-of-the-user@mirror.invalid/");
    let ran = ran(run.args(["run", "plan.yaml"]).output().unwrap());
    assert_eq!(ran.code, 0, "{ran:#?}");
    let prepared = prepared(&user);
    assert_eq!(prepared.len(), 2, "the user's own, and the result's");
    let logs: Vec<String> =
        prepared.iter().map(|one| std::fs::read_to_string(one.with_file_name("setup.log")).unwrap()).collect();
    assert!(logs.iter().any(|log| log.contains("asks https://me:[secret")), "{logs:?}");
    assert!(logs.iter().all(|log| log.contains("asks") && !log.contains("s3cret")), "{logs:?}");
}

/// Nobody has to pay for it, or to look for it, that a machine lacks a program.
#[test]
fn a_missing_program_is_named_with_the_file_that_asks_for_it_and_the_remedy() {
    let user = User::new();
    user.write("Gemfile", "gem 'rspec'\n");
    user.write("Gemfile.lock", "");
    user.write(
        "phases.yaml",
        "name: p\nphases:\n  - id: a\n    name: A\n    type: development\n    description: do it\n    outputs: [a.rb]\n    gates:\n      \
         - { type: tests_pass, command: bundle exec rspec }\n",
    );
    user.repository();
    let bin = user.work().join("../bin");
    std::fs::create_dir_all(&bin).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let git = std::env::split_paths(&path).map(|place| place.join("git")).find(|git| git.is_file()).unwrap();
    std::os::unix::fs::symlink(git, bin.join("git")).unwrap();
    let helix = |arguments: &[&str]| ran(user.helix().env("PATH", &bin).args(arguments).output().unwrap());
    let init = helix(&["init"]);
    assert_eq!(init.code, 0, "{init:#?}");
    assert!(init.stdout.contains("bundle is not in PATH, and `bundle install` (Gemfile.lock) needs it"), "{init:#?}");
    let plan = std::fs::read_to_string(user.work().join("plans/example/phases.yaml")).unwrap();
    assert!(plan.contains("\"bundle exec rspec\"") && !plan.contains("syntax_check"), "{plan}");
    user.git(&["add", "-A"]);
    user.git(&["commit", "-qm", "start"]);
    let checked = helix(&["plan", "check", "phases.yaml"]);
    assert_eq!(checked.code, 4, "{checked:#?}");
    let said = checked.stdout + &checked.stderr;
    let remedy = "install bundle, which installs what Gemfile.lock names, and add to [workspace] in helix.toml: setup = [\"bundle install\"]";
    assert!(said.contains("the program \"bundle\" was not found") && said.contains(remedy), "{said}");
}

/// What a shell offers where a command takes a job: names that the command takes.
#[test]
fn a_shell_completes_the_names_of_jobs() {
    let user = project(&[], "", "", WRITES, &command_gate("true"));
    let complete = |line: &str| {
        let script = "source <(\"$0\" completions bash); helix() { \"$HELIX\" \"$@\"; }; HELIX=$0; COMP_WORDS=($1 \"$2\")\n\
                      COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _helix_with_jobs helix \"$2\" \"${COMP_WORDS[COMP_CWORD-1]}\"; echo ${COMPREPLY[@]}";
        let (words, word) = line.rsplit_once(' ').unwrap();
        let helix = user.helix();
        let mut bash = Command::new("bash");
        bash.env_clear().envs(helix.get_envs().filter_map(|(name, value)| Some((name, value?))));
        bash.args(["-c", script]).arg(helix.get_program()).args([words, word]).current_dir(user.work());
        let done = ran(bash.output().unwrap());
        assert!(done.code == 0 && done.stderr.is_empty(), "{done:#?}");
        done.stdout.trim().to_owned()
    };
    assert_eq!(complete("helix jobs show "), "", "there is none");
    assert_eq!(user.run(&["run", "plan.yaml"]).code, 0);
    for command in ["jobs show", "jobs watch", "jobs resume", "open"] {
        assert_eq!(complete(&format!("helix {command} ")), "last 1 p", "{command}");
    }
    assert_eq!(complete("helix jobs show l"), "last");
    assert!(complete("helix jobs show --js").contains("--json") && !complete("helix jobs ").contains("last"));
    assert_eq!(user.run(&["jobs", "show", "p"]).code, 0);
    let (zsh, fish) = (user.run(&["completions", "zsh"]).stdout, user.run(&["completions", "fish"]).stdout);
    assert!(zsh.contains("_helix_job_names() {") && zsh.contains("a unique prefix:_helix_job_names'"), "{zsh}");
    assert!(
        fish.contains("using_subcommand jobs; and __fish_seen_subcommand_from show\" -f -a \"(helix jobs names"),
        "{fish}"
    );
}

#[test]
fn a_projects_set_up_counts_only_after_it_is_trusted() {
    let user = project(&[], "setup = [\"touch /tmp/ran\"]\n", "", WRITES, &command_gate("true"));
    assert_eq!(user.run(&["trust", "--revoke"]).code, 0);
    user.run(&["run", "plan.yaml"]).refused(2, &["HX0908", "workspace.setup"]);
    // A host that was started elsewhere asks the same.
    let mut elsewhere = user.helix();
    let output = elsewhere.current_dir("/").arg("run").arg(user.work().join("plan.yaml")).output().unwrap();
    ran(output).refused(2, &["HX0427", "workspace.setup"]);
}

#[test]
fn init_writes_what_the_repository_needs_and_doctor_says_what_it_lacks() {
    let user = User::new();
    user.write("package.json", "{\"name\": \"app\", \"version\": \"1.0.0\"}");
    user.write("package-lock.json", "{}");
    user.write(".gitignore", ".env\nnode_modules\n");
    user.write(".env", "A=b\n");
    user.write(".env.example", "A=\n");
    user.repository();
    let lacks = user.run(&["doctor"]);
    assert!(
        lacks.stdout.contains("package-lock.json found")
            && lacks.stdout.contains("\n[workspace]\nsetup = [\"npm ci\"]\n"),
        "{lacks:#?}"
    );
    assert_eq!(user.run(&["init"]).code, 0);
    let written = std::fs::read_to_string(user.work().join("helix.toml")).unwrap();
    assert!(written.contains("setup = [\"npm ci\"] # package-lock.json\ncopy = [\"/.env\"]\n"), "{written}");
    // It counts as it was written, until somebody changes it.
    let doctor = user.run(&["doctor"]);
    assert!(doctor.stdout.contains("npm ci (0 prepared"), "{doctor:#?}");
    user.write("helix.toml", &written.replace("npm ci", "npm install"));
    user.run(&["doctor"]).refused(2, &["HX0908"]);
}
