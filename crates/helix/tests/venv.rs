//! The virtual environment of whoever submits a job, from outside: it goes with the job to a host that knows nothing of it, and
//! nothing else of the caller's environment does.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::user::{User, ran};
use serde_json::Value;

const PLAN: &str = "name: p\nphases:\n  - id: a\n    name: A\n    type: development\n    description: do it\n    outputs: [shop.py]\n    gates: [{ type: tests_pass, command: pytest }]\n";
const SECRET: &str = "s3cret-of-the-caller";

/// A host that ends with the test.
struct Host(Child);

impl Host {
    /// Returns once it can be reached.
    fn start(user: &User) -> Self {
        let mut serve = user.helix();
        serve.args(["--json", "serve", "--listen", "127.0.0.1:0"]).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = serve.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self(child)
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let ended = self.0.kill().and_then(|()| self.0.wait());
        assert!(ended.is_ok() || std::thread::panicking(), "{ended:?}");
    }
}

/// A user with a project, whose agent changes `shop.py` and leaves what it sees of its environment.
fn project() -> User {
    let user = User::new();
    user.rehearse(
        "- {key: a, repeat: true, actions: [{write: {path: shop.py, text: \"NAME = 'new'\\n\"}}, \
         {run: {command: [sh, -c, 'env > seen.txt; command -v pytest >> seen.txt'], must_succeed: true}}, {say: Done.}]}\n",
    );
    user.write("shop.py", "NAME = 'old'\n");
    user.write(".gitignore", ".venv\n");
    user.write("plan.yaml", PLAN);
    user.repository();
    user
}

/// A virtual environment with a test runner that tests the module `shop`, and with an editable install of the user's own.
fn venv(user: &User, at: &str) -> PathBuf {
    let venv = user.work().join(at);
    let made = Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(&venv).status().unwrap();
    assert!(made.success());
    let packages = std::fs::read_dir(venv.join("lib")).unwrap().next().unwrap().unwrap().path().join("site-packages");
    std::fs::write(packages.join("shop.pth"), user.work().display().to_string()).unwrap();
    let runner = venv.join("bin/pytest");
    // As installers write it, whatever the path was called by.
    let python = venv.canonicalize().unwrap().join("bin/python");
    let program = format!(
        "#!{}\nimport os, shop\nassert shop.NAME == 'new', shop.__file__\n\
         print('prefix', os.environ['VIRTUAL_ENV'], sorted(os.environ))\nprint('== 1 passed in 0.01s ==')\n\
         report = os.environ['PYTEST_ADDOPTS'].split('--junitxml=')[1]\n\
         open(report, 'w').write('<testsuite><testcase name=\"a\"/></testsuite>')\n",
        python.display()
    );
    std::fs::write(&runner, program).unwrap();
    std::fs::set_permissions(&runner, std::fs::Permissions::from_mode(0o755)).unwrap();
    venv
}

fn show(user: &User) -> Value {
    let jobs = user.run(&["--json", "jobs"]).json();
    user.run(&["--json", "jobs", "show", jobs[0]["id"].as_str().unwrap()]).json()
}

/// All that is kept in the state directory, but for the work trees.
fn kept(directory: &Path, into: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in std::fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.ends_with("worktrees") {
            kept(&path, into);
        } else if path.is_file() {
            into.push((path.clone(), std::fs::read(&path).unwrap()));
        }
    }
}

#[test]
fn a_job_runs_in_the_virtual_environment_of_its_caller_and_tests_its_own_code() {
    let user = project();
    let venv = venv(&user, "../venvs/shop");
    let venv = venv.canonicalize().unwrap();
    let _host = Host::start(&user);
    let mut run = user.helix();
    run.args(["run", "plan.yaml"]).env("VIRTUAL_ENV", &venv).env("CALLERS_TOKEN", SECRET);
    let ran = ran(run.output().unwrap());
    assert_eq!(ran.code, 0, "{ran:?}");
    let named = venv.display().to_string();
    assert!(ran.stdout.contains(&format!("venv     {named}")), "{}", ran.stdout);

    let job = show(&user);
    assert_eq!(job["venv"], named.as_str(), "{job:#}");
    let evidence = user.run(&["--json", "jobs", "evidence", job["id"].as_str().unwrap()]).json();
    assert_eq!((&evidence["venv"], &evidence["proved"]), (&job["venv"], &Value::Bool(true)), "{evidence:#}");
    // The agent has found it as the gate did.
    let branch = format!("helix/{}/a/1", job["id"].as_str().unwrap());
    // Results of attempts stay in Helix's own repository beside the user's.
    let own = std::fs::read_dir(user.state().join("git")).unwrap().map(|entry| entry.unwrap().path());
    let own = own.filter(|path| path.extension().is_some_and(|ending| ending == "git")).collect::<Vec<_>>();
    assert_eq!(own.len(), 1, "{own:?}");
    let seen = user.git(&["--git-dir", own[0].to_str().unwrap(), "show", &format!("{branch}:seen.txt")]);
    assert!(
        seen.contains(&format!("VIRTUAL_ENV={named}\n")) && seen.contains(&format!("\n{named}/bin/pytest\n")),
        "{seen}"
    );
    assert!(!seen.contains("CALLERS_TOKEN"), "{seen}");

    let mut all = Vec::new();
    kept(&user.state(), &mut all);
    assert!(all.len() > 3, "{all:?}");
    for (path, content) in all {
        let found = content.windows(SECRET.len()).any(|part| part == SECRET.as_bytes());
        assert!(!found, "{} has a secret of the caller", path.display());
    }
}

#[test]
fn a_virtual_environment_that_is_not_there_is_refused_before_anything_runs() {
    let user = project();
    let gone = user.work().join("gone");
    for arguments in [&["run", "plan.yaml"][..], &["gates", "run", "plan.yaml"]] {
        let mut command = user.helix();
        command.args(arguments).env("VIRTUAL_ENV", &gone);
        let create = format!("python3 -m venv {}", gone.display());
        ran(command.output().unwrap()).refused(2, &["HX0420", &create]);
    }
    assert_eq!(user.run(&["--json", "jobs"]).json(), serde_json::json!([]));
}

/// The repository's own is found without being named, also by `helix gates run`; the configuration's goes before it, and the
/// active one before both. The host that runs need not know it: each job brings its own.
#[test]
fn the_active_one_goes_before_the_configured_one_and_that_before_the_repositorys() {
    let user = project();
    user.write("shop.py", "NAME = 'new'\n");
    let _host = Host::start(&user);
    let [of_repository, configured, active] = [".venv", "../configured", "../active"].map(|at| venv(&user, at));
    let used = |variable: Option<&Path>| {
        let mut command = user.helix();
        command.args(["--json", "gates", "run", "plan.yaml"]);
        if let Some(venv) = variable {
            command.env("VIRTUAL_ENV", venv);
        }
        let ran = ran(command.output().unwrap());
        assert_eq!(ran.code, 0, "{ran:?}");
        let mut command = user.helix();
        command.args(["--json", "run", "plan.yaml", "--detach"]);
        if let Some(venv) = variable {
            command.env("VIRTUAL_ENV", venv);
        }
        let job = command.output().unwrap();
        let job: Value = serde_json::from_slice(&job.stdout).unwrap();
        let watched = user.run(&["--json", "jobs", "watch", job["job"].as_str().unwrap()]);
        // The change that is not committed keeps the result out of the branch, which the venv has nothing to do with.
        assert_eq!(watched.code, 1, "{watched:?}");
        assert_eq!(show(&user)["status"], "succeeded");
        show(&user)["venv"].as_str().map(|venv| Path::new(venv).canonicalize().unwrap())
    };
    assert_eq!(used(None), of_repository.canonicalize().ok());
    let config = user.work().join("helix.toml");
    std::fs::write(&config, format!("[jobs]\nvenv = {:?}\n", configured.display().to_string())).unwrap();
    assert_eq!(user.run(&["trust"]).code, 0);
    assert_eq!(used(None), configured.canonicalize().ok());
    assert_eq!(used(Some(&active)), active.canonicalize().ok());
}
