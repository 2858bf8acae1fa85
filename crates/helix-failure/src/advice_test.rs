use super::*;
use crate::{Classifier, FailureObservation, LogSample};

static CLASSIFIER: LazyLock<Classifier> = LazyLock::new(|| Classifier::new().unwrap());

fn first(tool: &str, text: &str) -> Vec<String> {
    let observation = FailureObservation { tool: tool.into(), ..FailureObservation::default() };
    actions(tool, &CLASSIFIER.classify(&observation, &LogSample::from_texts("", text)))
}

#[test]
fn every_form_compiles() {
    assert_eq!((LINE_FORMS.forms.len(), LINE_FORMS.safe.is_some()), (16, true));
}

#[test]
fn steps_name_the_thing() {
    for (tool, text, step) in [
        (
            "python",
            "ModuleNotFoundError: No module named 'yaml.nodes'",
            "add the package that provides `yaml` to pyproject.toml or requirements.txt, and install it",
        ),
        ("node", "Error: Cannot find module 'left-pad'", "add `left-pad` to package.json: `npm install left-pad`"),
        ("node", "Error: Cannot find module './x'", "create `./x`, or fix the path where it is imported"),
        ("bash", "a.sh: line 3: jq: command not found", "install `jq`, or put it on PATH; see `command -v jq`"),
        (
            "node",
            "Error: listen EADDRINUSE: address already in use :::3000",
            "find the process on 3000: `ss -ltnp 'sport = :3000'`",
        ),
        (
            "curl",
            "curl: (6) Could not resolve host: api.example.org",
            "resolve the name by hand: `getent hosts api.example.org`",
        ),
        ("bash", "cat: data/in.csv: No such file or directory", "list the directory: `ls -l data`"),
        ("bash", "/usr/bin/cat: /x: No such file or directory", "list the directory: `ls -l /`"),
        ("bash", "/usr/bin/cat: in.csv: No such file or directory", "list the directory: `ls -l .`"),
        ("bash", "./build.sh: line 3: data/in.csv: No such file or directory", "list the directory: `ls -l data`"),
        ("bash", "src/run.sh: No such file or directory", "list the directory: `ls -l src`"),
        (
            "npm",
            "npm error Missing script: \"bulid\"",
            "add the script `bulid` to package.json, or call one that exists (`npm run`)",
        ),
        (
            "",
            "job.zsh:2: command not found: kubectll",
            "install `kubectll`, or put it on PATH; see `command -v kubectll`",
        ),
        (
            "make",
            "make: *** Keine Regel, um „deploy“ zu erstellen.  Schluss.",
            "add the target `deploy` to the Makefile, or call one that exists",
        ),
        (
            "psql",
            "ERROR:  relation \"orders\" does not exist",
            "run the migration that creates `orders` on this database",
        ),
    ] {
        let steps = first(tool, text);
        assert!(steps.iter().any(|got| got == step), "{text}: {steps:?}");
    }
}

#[test]
fn a_step_that_names_the_thing_replaces_the_one_that_does_not() {
    let steps = first("curl", "curl: (6) Could not resolve host: api.example.org");
    assert_eq!(steps.iter().filter(|step| step.starts_with("resolve the name")).count(), 1, "{steps:?}");
    for known in cause::ALL {
        let distinct = !says_the_same(known.actions[0], known.actions[1]);
        assert!(distinct, "{}: {:?}", known.slug, known.actions);
    }
}

#[test]
fn nothing_that_a_shell_could_take_for_more_gets_into_a_command() {
    for hostile in ["$(rm -rf /)", "x;reboot", "-rf", "a|b", "a&b", "x\ny", "a b", "${HOME}", "x>y"] {
        for text in
            [format!("cat: '{hostile}': No such file or directory"), format!("Error: Cannot find module '{hostile}'")]
        {
            let steps = first("node", &text).join("\n");
            assert!(!steps.contains(hostile), "{hostile:?}: {steps}");
        }
    }
}
