//! Gates judge the result and not the user's work tree, and what they cannot judge is said before anything is paid: from outside, with a
//! real `pip install -e`, node and npm.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::user::{Ran, User, ran};
use serde_json::{Value, json};

/// Where the sandbox does not put another directory.
fn user() -> User {
    User::within(Path::new(env!("CARGO_TARGET_TMPDIR")))
}

fn tools() -> PathBuf {
    let given = std::env::var_os("HELIX_TEST_TOOLS").map(PathBuf::from);
    let tools = given.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.test-tools"));
    let tools = tools.canonicalize().unwrap();
    assert!(tools.join("python/bin/python").exists(), "run `cargo xtask setup` first");
    tools
}

/// A plan of one phase with this gate, which changes these files.
fn plan(outputs: &str, gate: &str) -> String {
    format!(
        "name: p\nphases:\n  - id: a\n    name: A\n    type: development\n    description: do it\n    max_attempts: 1\n    outputs: [{outputs}]\n    gates: [{{ {gate} }}]\n"
    )
}

/// An agent that writes a file.
fn writes(path: &str, text: &str) -> String {
    format!("- {{key: a, repeat: true, actions: [{{write: {{path: {path}, text: {text:?}}}}}, {{say: Done.}}]}}\n")
}

/// Runs the plan with the test tools in PATH; a virtual environment goes before them.
fn run(user: &User, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
    let path = format!("{}:{}", tools().join("python/bin").display(), std::env::var("PATH").unwrap());
    let mut command = user.helix();
    command.args(arguments).env("PATH", path).envs(variables.iter().copied());
    ran(command.output().unwrap())
}

fn last_job(user: &User) -> Value {
    let jobs = user.run(&["--json", "jobs"]).json();
    user.run(&["--json", "jobs", "show", jobs[0]["id"].as_str().unwrap()]).json()
}

/// No agent has run, and nothing was paid.
fn nothing_was_paid(user: &User) {
    let job = last_job(user);
    assert_eq!((&job["status"], &job["phases"][0]["attempt"]), (&json!("failed"), &json!(0)), "{job:#}");
    let id = job["id"].as_str().unwrap();
    let report = user.run(&["jobs", "report", id]).stdout;
    assert!(report.contains("no agent was started") && !report.contains("a guess"), "{report}");
    let own = format!("{id}.a.");
    assert!(!kept(user, "runs").iter().any(|run| run.starts_with(&own)), "an agent has run: {:?}", kept(user, "runs"));
}

fn kept(user: &User, directory: &str) -> Vec<String> {
    let entries = std::fs::read_dir(user.state().join(directory)).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

const PYPROJECT: &str = "[project]\nname = \"tally\"\nversion = \"1\"\n[build-system]\nrequires = [\"setuptools\"]\nbuild-backend = \"setuptools.build_meta\"\n[tool.setuptools.packages.find]\nwhere = [\"code/lib\"]\n";
const BILL: &str = "def bill(prices):\n    return sum(prices)\n";
const BILL_TEST: &str = "from tally import bill\n\n\ndef test_bill():\n    assert bill([1, 2, 3]) == 6\n";

/// A package that lies neither in the root nor in `src`, installed with `pip install -e`.
fn editable(takes: &str, outputs: &str) -> User {
    let user = user();
    user.rehearse(takes);
    user.write("pyproject.toml", PYPROJECT);
    user.write("code/lib/tally/__init__.py", BILL);
    user.write("tests/test_bill.py", BILL_TEST);
    user.write(".gitignore", ".venv/\n*.egg-info/\n__pycache__/\nbuild/\n");
    user.write("plan.yaml", &plan(outputs, "type: tests_pass, command: python3 -m pytest -q"));
    user.repository();
    let (tools, venv) = (tools().join("python"), user.work().join(".venv"));
    let run = |command: &mut Command| {
        let output = command.current_dir(user.work()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    run(Command::new(tools.join("bin/python")).args(["-m", "venv", "--without-pip", ".venv"]));
    let lib = std::fs::read_dir(venv.join("lib")).unwrap().next().unwrap().unwrap().file_name();
    let packages = |root: &Path| root.join("lib").join(&lib).join("site-packages");
    std::fs::write(packages(&venv).join("tools.pth"), packages(&tools).display().to_string()).unwrap();
    let pip = ["-m", "pip", "--python", ".venv/bin/python", "install", "--quiet", "--no-index", "--no-deps"];
    let install = ["--no-build-isolation", "--disable-pip-version-check", "-e", "."];
    run(Command::new(tools.join("bin/python")).args(pip).args(install));
    user
}

#[test]
fn a_broken_result_does_not_pass_by_the_users_editable_install() {
    let broken = "def bill(prices):\n    return 999999\n";
    let user = editable(&writes("code/lib/tally/__init__.py", broken), "code/lib/tally/__init__.py");
    let before = user.git(&["rev-parse", "main"]);
    let ran = run(&user, &["run", "plan.yaml"], &[]);
    assert_ne!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains("assert 999999 == 6"), "{ran:?}");
    assert_eq!(user.git(&["rev-parse", "main"]), before);
}

#[test]
fn right_code_that_the_users_editable_install_lacks_passes() {
    let user = editable(
        "- {key: a, repeat: true, actions: [{write: {path: code/lib/tally/extra.py, text: \"def twice(price):\\n    return price * 2\\n\"}}, {write: {path: tests/test_extra.py, text: \"from tally.extra import twice\\n\\n\\ndef test_twice():\\n    assert twice(2) == 4\\n\"}}, {say: Done.}]}\n",
        "code/lib/tally/extra.py, tests/test_extra.py",
    );
    let ran = run(&user, &["run", "plan.yaml"], &[]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(user.git(&["show", "main:code/lib/tally/extra.py"]).contains("twice"));
}

/// A package that is linked to where NODE_PATH leads: no path in the checkout can take its place.
#[test]
fn a_linked_package_of_the_users_work_tree_is_named_before_anything_is_paid() {
    let user = user();
    user.rehearse(&writes("packages/shop/index.js", "exports.total = () => 999999;\n"));
    user.write("packages/shop/index.js", "exports.total = (...prices) => prices.reduce((a, b) => a + b, 0);\n");
    user.write("packages/shop/package.json", "{\"name\": \"shop\", \"version\": \"1.0.0\", \"main\": \"index.js\"}\n");
    user.write(
        "test/shop.test.js",
        "const test = require('node:test');\nconst assert = require('node:assert');\ntest('total', () => assert.strictEqual(require('shop').total(1, 2), 3));\n",
    );
    user.write(".gitignore", "linked/\n");
    user.write("plan.yaml", &plan("packages/shop/index.js", "type: tests_pass, command: node --test test/"));
    user.repository();
    let linked = user.work().join("linked");
    std::fs::create_dir(&linked).unwrap();
    std::os::unix::fs::symlink("../packages/shop", linked.join("shop")).unwrap();
    let ran = run(&user, &["run", "plan.yaml"], &[("NODE_PATH", linked.to_str().unwrap())]);
    ran_into(&ran, &["packages/shop", "your work tree", "npm link", "no agent was started"]);
    nothing_was_paid(&user);
}

/// It fails with exit code 4 and these words.
fn ran_into(ran: &Ran, words: &[&str]) {
    assert_eq!(ran.code, 4, "{ran:#?}");
    let said = format!("{}{}", ran.stdout, ran.stderr).replace("\n", " ");
    for word in words {
        assert!(said.contains(word), "{word:?} is missing: {ran:#?}");
    }
}

/// Green for the user, red in a clean checkout.
#[test]
fn a_test_that_only_lacks_an_ignored_file_has_not_failed_before() {
    let user = user();
    user.rehearse(&writes("shop.py", "NAME = 'new'\n"));
    user.write("shop.py", "NAME = 'old'\n");
    user.write(
        "tests/test_shop.py",
        "import shop\n\n\ndef test_name():\n    assert shop.NAME\n\n\ndef test_rate():\n    assert 'RATE=2' in open('.env').read()\n",
    );
    user.write(".gitignore", ".env\nnotes/\n__pycache__/\n");
    user.write(".env", "RATE=2\n");
    user.write("notes/today.md", "nothing\n");
    user.write("plan.yaml", &plan("shop.py", "type: tests_pass, command: python3 -m pytest -q"));
    user.repository();
    let wanted = ["1 test", "`.env`", "ignored by git", "test_rate", "copy = [\".env\"]", "[workspace]"];
    ran_into(&run(&user, &["run", "plan.yaml"], &[]), &wanted);
    nothing_was_paid(&user);
    // It is known now, and said again.
    ran_into(&run(&user, &["plan", "check", "plan.yaml", "--preflight"], &[]), &wanted);
    // Nothing of it is left where gates run.
    assert!(!user.state().join("worktrees").exists() || kept(&user, "worktrees").iter().all(|name| name == ".trash"));
    let without = run(&user, &["run", "plan.yaml", "--no-preflight"], &[]);
    assert_ne!(last_job(&user)["phases"][0]["attempt"], 0, "{without:?}");
}

#[test]
fn installed_packages_that_git_ignores_are_named_with_their_installer() {
    let user = user();
    user.rehearse(&writes("shop.js", "exports.name = 'new';\n"));
    user.write("shop.js", "exports.name = 'old';\n");
    user.write("package.json", "{\"name\": \"shop\", \"scripts\": {\"test\": \"runner\"}}\n");
    user.write("package-lock.json", "{\"name\": \"shop\", \"lockfileVersion\": 3, \"packages\": {}}\n");
    user.write(".gitignore", "node_modules/\n");
    let program = user.write("node_modules/.bin/runner", "#!/bin/sh\necho 3 passed, 0 failed\n");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    user.write("plan.yaml", &plan("shop.js", "type: tests_pass, command: npm test --silent"));
    user.repository();
    let wanted = ["`npm test --silent`", "clean checkout", "`node_modules/`", "setup = [\"npm ci\"]"];
    ran_into(&run(&user, &["run", "plan.yaml"], &[]), &wanted);
    nothing_was_paid(&user);
}

/// What the phase itself may bring is no fault of the environment; a program that is nowhere is.
#[test]
fn only_what_no_phase_can_bring_stops_a_job() {
    let user = user();
    user.rehearse(
        "- {key: a, repeat: true, actions: [{write: {path: shop.py, text: \"def total(prices):\\n    return sum(prices)\\n\"}}, {write: {path: tests/test_shop.py, text: \"from shop import total\\n\\n\\ndef test_total():\\n    assert total([1, 2]) == 3\\n\"}}, {write: {path: check.sh, text: \"exit 0\\n\"}}, {say: Done.}]}\n",
    );
    user.write("README.md", "Shop\n");
    user.write(".gitignore", "__pycache__/\n");
    let gates = "type: tests_pass, command: python3 -m pytest -q }, { type: command, command: sh -c 'sh ./check.sh'";
    user.write("plan.yaml", &plan("shop.py, tests/test_shop.py, check.sh", gates));
    user.write("lint.yaml", &plan("shop.py", "type: lint_pass, command: no-such-linter ."));
    user.repository();
    let ran = run(&user, &["run", "plan.yaml"], &[]);
    assert_eq!(ran.code, 0, "{ran:?}");
    ran_into(&run(&user, &["run", "lint.yaml"], &[]), &["no-such-linter", "no agent was started"]);
    nothing_was_paid(&user);
}

/// A linter that is red before and after for the same reason says nothing of the phase; what is new is shown.
#[test]
fn lint_gates_are_compared_with_the_base() {
    const LINT: &str = "lint() { n=0; while read -r line; do n=$((n + 1)); case $line in *BAD*) echo \"$1:$n: $line\"; r=1;; esac; done < \"$1\"; }; r=0; for f in *.txt; do lint \"$f\"; done; exit $r\n";
    for (text, code, wanted) in [
        ("fine\\nBAD old\\n", 4, "failed before the job too, for the same reason (exit 1)"),
        ("BAD old\\nBAD new\\n", 3, "new since then:\n"),
        ("fine\\n", 0, "passed"),
    ] {
        let user = user();
        user.rehearse(&format!(
            "- {{key: a, repeat: true, actions: [{{write: {{path: a.txt, text: \"{text}\"}}}}, {{say: Done.}}]}}\n"
        ));
        user.write("a.txt", "BAD old\n");
        user.write("lint.sh", LINT);
        user.write("plan.yaml", &plan("a.txt", "type: lint_pass, command: sh lint.sh"));
        user.repository();
        let ran = run(&user, &["--json", "run", "plan.yaml"], &[]);
        let job = last_job(&user);
        let id = job["id"].as_str().unwrap();
        assert_eq!(ran.code, code, "{text}: {ran:?} {job:#}");
        assert_eq!(job["phases"][0]["attempt"], 1, "{job:#}");
        let evidence = user.run(&["--json", "jobs", "evidence", id]).stdout;
        let evidence = format!("{evidence}{}{job}", user.run(&["jobs", "show", id]).stdout);
        assert!(evidence.replace("\\n", "\n").contains(wanted), "{text}: {evidence}");
    }
}

/// Who checks a plan of a cloned repository has not started it: nothing of it runs before that was said.
#[test]
fn checking_a_plan_runs_its_gates_once_and_only_where_that_is_trusted() {
    let user = user();
    user.rehearse(&writes("a.txt", "new\n"));
    let ran_at = user.work().parent().unwrap().join("ran");
    std::fs::create_dir(&ran_at).unwrap();
    let config = user.work().parent().unwrap().join("home/.config/helix/helix.toml");
    let settings = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, format!("{settings}[sandbox]\nwritable = [{:?}]\n", ran_at.display().to_string())).unwrap();
    let count = || std::fs::read_to_string(ran_at.join("count")).unwrap_or_default().lines().count();
    user.write("a.txt", "old\n");
    user.write("check.sh", &format!("echo ran >> {}/count\n", ran_at.display()));
    user.write("plans/p/phases.yaml", &plan("a.txt", "type: command, command: sh check.sh"));
    user.repository();

    let checked = user.run(&["plan", "check", "plans/p"]);
    assert_eq!((checked.code, count()), (0, 0), "{checked:?}");
    assert!(checked.stderr.contains("--preflight"), "{checked:?}");
    let examined = user.run(&["doctor"]);
    // There is nothing yet that could be trusted.
    let untried = examined.stdout.contains("--preflight") && examined.stdout.contains("run `helix init` here");
    assert!(count() == 0 && untried, "{examined:?}");

    assert_eq!(user.run(&["init"]).code, 0);
    let checked = user.run(&["plan", "check", "plans/p"]);
    assert_eq!((checked.code, count()), (0, 1), "{checked:?}");
    assert!(checked.stdout.contains("`sh check.sh` runs and passes"), "{checked:?}");
    let examined = user.run(&["doctor"]);
    assert!(examined.stdout.contains("`sh check.sh` runs and passes"), "{examined:?}");
    assert_eq!(user.run(&["plan", "check", "plans/p", "--no-preflight"]).code, 0);
    assert_eq!(count(), 1, "what a tree gives is known");
    // A change of the file takes the trust back.
    let text = std::fs::read_to_string(user.work().join("helix.toml")).unwrap();
    user.write("helix.toml", &format!("{text}\n# another one\n"));
    assert!(user.run(&["plan", "check", "plans/p"]).stderr.contains("--preflight"));
    assert_eq!(user.run(&["trust"]).code, 0);
    assert!(!user.run(&["plan", "check", "plans/p"]).stderr.contains("--preflight"));

    let ran = user.run(&["run", "plans/p", "--agent", "rehearsal"]);
    assert_eq!((ran.code, count()), (0, 2), "the job's own check is the second run: {ran:?}");
}
