//! Helix as a user has it: a served host in a home of its own, the real agent CLI, and a chat client of another vendor.
//!
//! Must not know Helix's insides: everything goes through the program, its API, and the disk.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::time::Duration;

use helix_testkit::locate::{claude_binary, workspace_root};
use helix_testkit::model::{Script, ScriptedModel};
use helix_testkit::processes::{no_process_with_env, processes_with_env};
use helix_testkit::project::git;
use helix_testkit::sandbox::Sandbox;
use serde_json::{Value, json};

/// How long the kernel may take to finish processes that are dying.
const DYING: Duration = Duration::from_secs(10);

pub(crate) struct Bed {
    serve: Child,
    url: String,
    token: String,
    pub(crate) model: ScriptedModel,
    sandbox: Sandbox,
}

impl Bed {
    /// Serves Helix with this version of the real CLI, whose model follows the script.
    pub(crate) fn serve(claude: &str, script: Script) -> Self {
        Self::serve_with(claude, script, "", &[])
    }

    /// The same with more settings, and with files beside them.
    pub(crate) fn serve_with(claude: &str, script: Script, settings: &str, files: &[(&str, &str)]) -> Self {
        Self::make(claude, script, ["", settings], files, &[])
    }

    /// The same with more keys of the agent, and with files beside the settings.
    pub(crate) fn serve_agent(claude: &str, script: Script, keys: &str, files: &[(&str, &str)]) -> Self {
        Self::make(claude, script, [keys, ""], files, &[])
    }

    /// The same with more in the environment of everything.
    pub(crate) fn serve_in(claude: &str, script: Script, variables: &[(&str, &str)]) -> Self {
        Self::make(claude, script, ["", ""], &[], variables)
    }

    fn make(
        claude: &str,
        mut script: Script,
        [keys, settings]: [&str; 2],
        files: &[(&str, &str)],
        variables: &[(&str, &str)],
    ) -> Self {
        let mut sandbox = Sandbox::new().unwrap();
        for (name, value) in variables {
            sandbox.set(*name, *value);
        }
        script.variables.insert("projects".into(), sandbox.path().join("projects").display().to_string());
        let model = ScriptedModel::start_blocking(script).unwrap();
        // A user's shell with the project's tools in its path; agents and gates find pytest there.
        let path = format!("{}:{}", python().parent().unwrap().display(), std::env::var("PATH").unwrap());
        sandbox.set("PATH", path);
        write_settings(&sandbox, claude, &model.base_url(), keys, settings);
        for (path, text) in files {
            configure(&sandbox, path, text);
        }
        let mut serve = sandbox
            .command(env!("CARGO_BIN_EXE_helix"))
            .args(["serve", "--json", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .stderr(std::fs::File::create(sandbox.path().join("serve.txt")).unwrap())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(serve.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap_or_else(|error| {
            let said = std::fs::read_to_string(sandbox.path().join("serve.txt")).unwrap_or_default();
            panic!("`helix serve` did not say where it is ({error}): {line:?}\n{said}");
        });
        let text = |key: &str| ready[key].as_str().unwrap().to_owned();
        let token = std::fs::read_to_string(text("token_file")).unwrap().trim().to_owned();
        Self { serve, url: text("url"), token, model, sandbox }
    }

    /// Writes a file of the user's configuration.
    pub(crate) fn configure(&self, path: &str, text: &str) {
        configure(&self.sandbox, path, text);
    }

    /// What the agent printed in a run.
    pub(crate) fn printed(&self, run: &str) -> String {
        std::fs::read_to_string(self.sandbox.state().join("runs").join(run).join("stdout.jsonl")).unwrap()
    }

    /// Where new projects are made.
    pub(crate) fn projects(&self) -> PathBuf {
        self.sandbox.path().join("projects")
    }

    /// A chat client that has said nothing yet.
    pub(crate) fn client(&self) -> Client {
        let mut command: Command = self.sandbox.command(python());
        command.arg(workspace_root().join("crates/helix/tests/e2e/client.py"));
        self.converse(command)
    }

    /// A chat client in JavaScript that has said nothing yet.
    pub(crate) fn javascript_client(&self) -> Client {
        let mut command: Command = self.sandbox.command("node");
        let packages = test_tools().join("javascript");
        assert!(
            packages.join("complete").is_file(),
            "there is no {}; run `cargo xtask setup` first",
            packages.display()
        );
        command.arg(workspace_root().join("crates/helix/tests/e2e/client.mjs")).env("PACKAGES", packages);
        self.converse(command)
    }

    fn converse(&self, mut command: Command) -> Client {
        command
            .env("OPENAI_BASE_URL", format!("{}/v1", self.url))
            .env("OPENAI_API_KEY", &self.token)
            .env("NO_PROXY", "127.0.0.1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let orders = process.stdin.take();
        let reports = BufReader::new(process.stdout.take().unwrap());
        Client { process, orders, reports }
    }

    /// What a command of `helix` prints as JSON; `status` is its exit code.
    pub(crate) fn helix(&self, status: i32, arguments: &[&str]) -> Value {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(status), "helix {arguments:?}: {}", self.told(&output));
        let text = String::from_utf8(output.stdout).unwrap();
        let last = text.lines().last().unwrap_or_default();
        serde_json::from_str(&text)
            .or_else(|_| serde_json::from_str(last))
            .unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.sandbox.command(env!("CARGO_BIN_EXE_helix")).args(arguments).arg("--json").output().unwrap()
    }

    /// What `helix adr check` says in a project: its exit code, and all that it prints.
    pub(crate) fn adr_check(&self, project: &Path) -> (Option<i32>, String) {
        let mut command = self.sandbox.command(env!("CARGO_BIN_EXE_helix"));
        let output = command.current_dir(project).args(["adr", "check"]).output().unwrap();
        (output.status.code(), self.told(&output))
    }

    /// A command of `helix` in a project, for those who speak with it.
    pub(crate) fn command(&self, project: &Path, arguments: &[&str]) -> Command {
        let mut command = self.sandbox.command(env!("CARGO_BIN_EXE_helix"));
        command.current_dir(project).args(arguments);
        command
    }

    /// What a command of `helix` gives in a project, for people.
    pub(crate) fn at(&self, project: &Path, arguments: &[&str]) -> Output {
        self.sandbox.command(env!("CARGO_BIN_EXE_helix")).current_dir(project).args(arguments).output().unwrap()
    }

    /// What somebody sees at a real terminal in a project, and how `helix` ended there; steps as in `persons/terminal.py`.
    pub(crate) fn at_terminal(&self, project: &Path, arguments: &[&str], steps: &Value) -> Value {
        let file = self.sandbox.path().join("steps.json");
        std::fs::write(&file, steps.to_string()).unwrap();
        let driver = workspace_root().join("crates/helix/tests/persons/terminal.py");
        let mut terminal: Command = self.sandbox.command("python3");
        terminal.current_dir(project).arg(driver).arg(&file).arg(env!("CARGO_BIN_EXE_helix")).args(arguments);
        let output = terminal.env("TERM", "xterm").output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.told(&output)))
    }

    /// What a line for a shell gives, with this `helix` in its path.
    pub(crate) fn shell(&self, line: &str) -> Output {
        let programs = Path::new(env!("CARGO_BIN_EXE_helix")).parent().unwrap().display().to_string();
        let mut command = self.sandbox.command("sh");
        command.args(["-c", &format!("PATH=\"{programs}:$PATH\"; {line}")]).output().unwrap()
    }

    fn told(&self, output: &Output) -> String {
        let log = std::fs::read_to_string(self.sandbox.path().join("serve.txt")).unwrap_or_default();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let failures = self.model.failures().join("\n");
        format!("{}{}\nthe host said:\n{log}\nthe model says:\n{failures}", text(&output.stdout), text(&output.stderr))
    }

    /// Runs git in a project.
    pub(crate) fn git(&self, project: &Path, arguments: &[&str]) -> String {
        git(project, self.sandbox.environment(), arguments).unwrap()
    }

    /// Ends the host as a user does, and proves that nothing of it is left.
    pub(crate) fn leave(mut self) {
        self.model.assert_no_failures();
        rustix::process::kill_process(rustix::process::Pid::from_child(&self.serve), rustix::process::Signal::TERM)
            .unwrap();
        let status = self.serve.wait().unwrap();
        assert!(status.success(), "the host left with {status}");
        no_process_with_env("HELIX_STATE_DIR", &self.state(), DYING);
    }

    /// Proves that no agent runs for a job or session.
    pub(crate) fn no_run_of(&self, id: &str) {
        no_process_with_env("HELIX_RUN_ID", id, DYING);
    }

    fn state(&self) -> String {
        self.sandbox.state().display().to_string()
    }
}

fn configure(sandbox: &Sandbox, path: &str, text: &str) {
    let path = sandbox.home().join(".config/helix").join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

impl Drop for Bed {
    /// After a failed assertion agents may still run under their keepers: they belong to this test and end with it.
    fn drop(&mut self) {
        let _ = self.serve.kill();
        let _ = self.serve.wait();
        for left in processes_with_env("HELIX_STATE_DIR", &self.state()).unwrap_or_default() {
            if let Some(pid) = i32::try_from(left.pid).ok().and_then(rustix::process::Pid::from_raw) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        }
    }
}

/// A process with the `openai` package, in conversation.
pub(crate) struct Client {
    process: Child,
    orders: Option<ChildStdin>,
    reports: BufReader<ChildStdout>,
}

impl Client {
    /// Says something and reads the answer as it streams.
    pub(crate) fn say(&mut self, text: &str) -> Value {
        self.order(&json!({ "say": text }))
    }

    /// Says something and gets the answer in one piece.
    pub(crate) fn ask(&mut self, text: &str) -> Value {
        self.order(&json!({ "ask": text }))
    }

    /// Says something else in place of what was said last, as an edit in a chat page does.
    pub(crate) fn edit(&mut self, text: &str) -> Value {
        self.order(&json!({ "edit": text }))
    }

    /// Says something in the responses form, after the last response.
    pub(crate) fn respond(&mut self, text: &str) -> Value {
        self.order(&json!({ "respond": text }))
    }

    /// Says something and gets the lines that came over the wire.
    pub(crate) fn listen(&mut self, text: &str) -> Vec<String> {
        let report = self.order(&json!({ "listen": text }));
        assert_eq!(report["status"], 200);
        report["lines"].as_array().unwrap().iter().map(|line| line.as_str().unwrap().to_owned()).collect()
    }

    /// Sets the system prompt, as the settings of a chat page do.
    pub(crate) fn system(&mut self, text: &str) {
        self.order(&json!({ "system": text }));
    }

    /// A page of Helix's own API.
    pub(crate) fn get(&mut self, path: &str) -> Value {
        self.order(&json!({ "get": path }))
    }

    fn order(&mut self, order: &Value) -> Value {
        writeln!(self.orders.as_mut().unwrap(), "{order}").unwrap();
        let mut line = String::new();
        self.reports.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("the chat client ended after {order} ({error})"))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.orders.take());
        let _ = self.process.wait();
    }
}

/// The Python that `cargo xtask setup` installs, with the `openai` package and pytest.
fn test_tools() -> PathBuf {
    std::env::var_os("HELIX_TEST_TOOLS").map_or_else(|| workspace_root().join(".test-tools"), PathBuf::from)
}

pub(crate) fn python() -> PathBuf {
    let python = test_tools().join("python/bin/python");
    assert!(python.is_file(), "there is no {}; run `cargo xtask setup` first", python.display());
    python
}

pub(crate) fn write_settings(sandbox: &Sandbox, claude: &str, model: &str, keys: &str, more: &str) {
    let claude = claude_binary(claude).unwrap_or_else(|error| panic!("{error}"));
    let settings = format!(
        r#"
[agents.claude]
command = ["{}"]
config_dir = "{}"
env = {{ ANTHROPIC_BASE_URL = "{model}", ANTHROPIC_API_KEY = "test-key", CLAUDE_CODE_MAX_RETRIES = "1", NO_PROXY = "127.0.0.1" }}
{keys}

[server]
roots = ["{projects}"]

[projects]
directory = "{projects}"

{more}
"#,
        claude.display(),
        sandbox.claude_config().display(),
        projects = sandbox.path().join("projects").display(),
    );
    let directory = sandbox.home().join(".config/helix");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("helix.toml"), settings).unwrap();
}
