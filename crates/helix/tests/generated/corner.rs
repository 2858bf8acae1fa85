//! A user's corner with one repository, and the model that plays the Consultant and the agent for it.
//!
//! Must not say what `helix init` should write but in [`Work::gates`].

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::e2e::{python, write_settings};
use helix_testkit::locate::PINNED_CLAUDE;
use helix_testkit::model::{Script, ScriptedModel};
use helix_testkit::processes::no_process_with_env;
use helix_testkit::project::git;
use helix_testkit::sandbox::Sandbox;
use serde_json::{Value, json};

/// What is asked for.
const SENTENCE: &str = "Add the total of all prices";

/// What the agent does, and what comes of it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Work {
    /// The file that it writes: first wrong, then right.
    pub(crate) path: &'static str,
    pub(crate) wrong: &'static str,
    pub(crate) right: &'static str,
    /// The test that it writes, if any.
    pub(crate) test: (&'static str, &'static str),
    /// The gate that refuses the wrong one.
    pub(crate) refused_by: &'static str,
    /// What `init` wrote into its plan: the gates with commands.
    pub(crate) gates: &'static [&'static str],
    /// Tests that pass in the end.
    pub(crate) passed: u64,
}

pub(crate) struct Corner {
    sandbox: Sandbox,
    root: PathBuf,
}

/// Whether a corner has these programs; says so where they are not.
pub(crate) fn needs(test: &str, programs: &[&str]) -> bool {
    let missing = programs.iter().find(|program| !is_there(program));
    if let Some(missing) = missing {
        println!("{test}: NOT CHECKED: this machine has no {missing}");
    }
    missing.is_none()
}

/// Whether a corner has not this program; says so where it is.
pub(crate) fn lacks(test: &str, program: &str) -> bool {
    if is_there(program) {
        println!("{test}: NOT CHECKED: this machine has {program}");
    }
    !is_there(program)
}

fn is_there(program: &str) -> bool {
    std::env::split_paths(&search_path()).any(|place| place.join(program).is_file())
}

/// Where the corner's programs are: what `cargo xtask setup` has pinned goes first.
fn search_path() -> String {
    format!("{}:{}", python().parent().unwrap().display(), std::env::var("PATH").unwrap())
}

impl Corner {
    /// A directory with these files, where git does not know of it yet.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let mut sandbox = Sandbox::new().unwrap();
        sandbox.set("PATH", search_path());
        let root = sandbox.path().join("projects/bill");
        let corner = Self { sandbox, root };
        for (path, text) in files {
            corner.write(path, text);
        }
        corner
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn executable(&self, path: &str) {
        std::fs::set_permissions(self.root.join(path), PermissionsExt::from_mode(0o755)).unwrap();
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git(&self.root, self.sandbox.environment(), arguments).unwrap()
    }

    /// A command with the user's environment in the repository.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = self.sandbox.command(program);
        command.current_dir(&self.root);
        command
    }

    fn done(&self, command: &mut Command) -> Output {
        let output = command.output().unwrap();
        assert!(output.status.success(), "{command:?}: {}", said(&output));
        output
    }

    pub(crate) fn npm(&self, arguments: &[&str]) {
        self.done(self.command("npm").args(arguments).args(["--offline", "--no-audit", "--no-fund"]));
    }

    /// A package of npm with a program, as the tarball that `npm pack` makes of it.
    pub(crate) fn node_package(&self, name: &str, program: &str, text: &str) {
        let package = json!({ "name": name, "version": "1.0.0", "bin": { program: "run.js" } });
        let place = format!("vendor/{name}");
        self.write(&format!("{place}/package.json"), &package.to_string());
        self.write(&format!("{place}/run.js"), &format!("#!/usr/bin/env node\n{text}\n"));
        self.executable(&format!("{place}/run.js"));
        self.npm(&["pack", &format!("./{place}"), "--pack-destination", "vendor"]);
        std::fs::remove_dir_all(self.root.join(place)).unwrap();
    }

    /// A wheel of Python, made by hand.
    pub(crate) fn wheel(&self, name: &str, version: &str, files: &[(&str, &str)]) {
        let info = format!("{name}-{version}.dist-info");
        let metadata = format!("Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n");
        let mut all: Vec<(String, String)> =
            files.iter().map(|(path, text)| ((*path).into(), (*text).into())).collect();
        all.push((format!("{info}/METADATA"), metadata));
        all.push((format!("{info}/WHEEL"), "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n".into()));
        all.push((format!("{info}/RECORD"), String::new()));
        std::fs::create_dir_all(self.root.join("vendor")).unwrap();
        let script = "import json, sys, zipfile\nwith zipfile.ZipFile(sys.argv[1], 'w') as wheel:\n    for path, text in json.loads(sys.argv[2]):\n        wheel.writestr(path, text)\n";
        let file = format!("vendor/{name}-{version}-py3-none-any.whl");
        self.done(self.command("python3").args(["-c", script, &file, &serde_json::to_string(&all).unwrap()]));
    }

    /// Makes a repository of it unless it is one, and runs `helix init` in it, as a user does; the gates with commands that it wrote.
    pub(crate) fn init(&self) -> Vec<String> {
        self.init_says("")
    }

    /// The same, which says this.
    pub(crate) fn init_says(&self, part: &str) -> Vec<String> {
        if !self.root.join(".git").exists() {
            self.git(&["init", "-q", "-b", "main"]);
        }
        // The agent is the user's own, in the user's own configuration.
        write_settings(&self.sandbox, PINNED_CLAUDE, "http://127.0.0.1:9", "", "");
        let output = self.done(self.command(env!("CARGO_BIN_EXE_helix")).arg("init"));
        assert!(said(&output).contains(part), "{}", said(&output));
        self.git(&["add", "-A"]);
        self.git(&["commit", "-qm", "As it was generated"]);
        let plan = std::fs::read_to_string(self.root.join("plans/example/phases.yaml")).unwrap();
        plan.lines()
            .filter(|line| line.trim().starts_with("- { type:") && line.contains("command:"))
            .map(str::to_owned)
            .collect()
    }

    /// `helix do` with these gates; what it came to, and all requests that the model had.
    pub(crate) fn carry_out(&self, work: &Work, gates: &[String]) -> (Output, ScriptedModel) {
        let model = self.model(work, gates);
        let output = self.command(env!("CARGO_BIN_EXE_helix")).args(["do", "--yes", SENTENCE]).output().unwrap();
        (output, model)
    }

    /// The model that plays the Consultant, whose plan has these gates, and the agent; it is the user's from now on.
    pub(crate) fn model(&self, work: &Work, gates: &[String]) -> ScriptedModel {
        let script: Script = script(work, gates).to_string().parse().unwrap();
        let model = ScriptedModel::start_blocking(script).unwrap();
        write_settings(&self.sandbox, PINNED_CLAUDE, &model.base_url(), "", "");
        model
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let output = self.done(self.command(env!("CARGO_BIN_EXE_helix")).args(arguments).arg("--json"));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// What `helix init && helix do` comes to.
    pub(crate) fn first_try(&self, work: &Work) {
        self.works(work, &self.init());
    }

    /// What `helix do` comes to with these gates.
    pub(crate) fn works(&self, work: &Work, gates: &[String]) {
        let shown: Vec<String> = gates.iter().map(|gate| shown(gate)).collect();
        assert_eq!(shown, work.gates, "what `init` wrote");
        let (output, model) = self.carry_out(work, gates);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        model.assert_no_failures();
        let job = &self.json(&["jobs", "list"])[0];
        let phase = &job["phases"][0];
        assert_eq!((&job["status"], &phase["attempt"]), (&json!("succeeded"), &json!(2)), "{job:#}");
        let refused = model.requests().iter().any(|one| {
            one.answered_by.as_deref().is_some_and(|by| by.starts_with("scene again"))
                && one.body["messages"].to_string().contains(work.refused_by)
        });
        // The Consultant was told of them, without a look at what `init` wrote.
        let told = model.requests()[0].body["messages"].to_string();
        for gate in work.gates {
            let (kind, command) = gate.split_once(": ").unwrap();
            assert!(told.contains(&format!("- {kind}: `{command}`")), "{gate}: {told}");
        }
        assert!(refused, "{} has refused nothing: {job:#}", work.refused_by);
        let passed: u64 =
            phase["gates"].as_array().unwrap().iter().filter_map(|gate| gate["tests"]["passed"].as_u64()).sum();
        assert_eq!(passed, work.passed, "{job:#}");
        assert!(super::is(&self.root.join(work.path), work.right));
        no_process_with_env(
            "HELIX_STATE_DIR",
            &self.sandbox.state().display().to_string(),
            std::time::Duration::from_secs(10),
        );
    }
}

/// A gate as a line of a plan has it, in short.
fn shown(gate: &str) -> String {
    let inner = gate.trim().trim_start_matches("- { type: ").trim_end_matches(" }");
    let (kind, command) = inner.split_once(", command: ").unwrap();
    format!("{kind}: {}", serde_json::from_str::<String>(command).unwrap())
}

pub(crate) fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// What the model says: the Consultant drafts a plan with the gates that are in the repository's own, the agent works twice.
fn script(work: &Work, gates: &[String]) -> Value {
    let files = [(work.path, work.wrong), work.test];
    let files = || files.iter().filter(|(path, _)| !path.is_empty());
    let outputs: Vec<&str> = files().map(|(path, _)| *path).collect();
    let plan = format!(
        "name: total\ndescription: The total of all prices.\ndefaults: {{ max_attempts: 2, timeout: 5m }}\nphases:\n  - id: total\n    \
         name: Add the total\n    type: development\n    description: Write it, and its tests.\n    outputs: {outputs:?}\n    gates:\n      \
         - {{ type: outputs_claimed }}\n{}\n",
        gates.join("\n")
    );
    let put = |place: &str, path: &str, text: &str| {
        let line =
            format!("cd '{{{{{place}}}}}' && mkdir -p \"$(dirname '{path}')\" && cat > '{path}' <<'END'\n{text}END\n");
        json!({ "name": "Bash", "input": { "command": line, "description": "Writes a file" } })
    };
    let writes: Vec<Value> = files().map(|(path, text)| put("cwd", path, text)).collect();
    let correction = "Your work on phase `total`[^`]*`?(?s:.*) in a new worktree at `(?P<here>[^`]+)`";
    json!({ "scenes": [
        {
            "name": "drafts", "prompt": SENTENCE, "when": { "system": "You are the Consultant of Helix" },
            "steps": [
                { "tools": [{ "name": "Write", "input": { "file_path": "{{cwd}}/phases.yaml", "content": plan } }] },
                {
                    "expect": { "tool_result": { "tool": "Write", "is_error": false } },
                    "tools": [{ "name": "mcp__helix__plan_check", "input": { "path": "{{cwd}}/phases.yaml" } }],
                },
                { "text": "One phase adds the total.\n\n<!-- STEP: finalize -->" },
            ],
        },
        {
            "name": "work", "prompt": "# Phase `total` of",
            "steps": [{ "tools": writes }, { "text": "The total is there." }],
        },
        {
            "name": "again", "prompt": { "matches": correction }, "when": { "any_prompt": "# Phase `total` of" },
            "steps": [{ "tools": [put("here", work.path, work.right)] }, { "text": "It is right now." }],
        },
    ] })
}

/// Work in Python whose tests need nothing that is to be installed.
pub(crate) const UNITTEST: Work = Work {
    path: "total.py",
    wrong: "def total(prices):\n    return sum(prices) + 1\n",
    right: "def total(prices):\n    return sum(prices)\n",
    test: (
        "tests/test_total.py",
        "import unittest\n\nfrom total import total\n\n\nclass Total(unittest.TestCase):\n    def test_total(self):\n        self.assertEqual(total([2, 4]), 6)\n",
    ),
    refused_by: "tests_pass",
    gates: &[],
    passed: 1,
};
