//! At a German terminal, Helix's own words are German: the real commands, line by line.

use serde_json::json;

use crate::stage::Stage;
use crate::user::{Ran, User, ran};

/// Words that no German line has.
const ENGLISH: &str = "a are at by cannot could does each failed found from gate has have is it its must next no none \
                       not of only or passed set should some the their this to until uses valid were when \
                       which with without would yet your";

/// What is English by decision: errors with what they quote, what agents and tools say, findings, and the texts of documents.
const OTHERS: [&str; 16] = [
    "error[",
    "✗ Agent ",
    "jetzt nicht möglich: `helix run` würde ihn ablehnen (HX",
    "warning[",
    "  because: ",
    "hint: ",
    "    | ",
    "Consultant  ",
    "du  ",
    "> ",
    "< ",
    "  ~ ",
    "    How to fix",
    "  - `",
    "  Hinweis: ",
    "diff ",
];

struct German(User);

impl German {
    fn run(&self, arguments: &[&str]) -> Ran {
        ran(self.0.helix().env("LANG", "de_DE.UTF-8").args(arguments).output().unwrap())
    }

    /// Runs a command of which every line is to be German, and some text stands in it.
    fn says(&self, arguments: &[&str], some: &str) -> Ran {
        let said = self.run(arguments);
        assert!(said.stdout.contains(some) || said.stderr.contains(some), "{some:?} is missing: {said:#?}");
        for line in said.stdout.lines().chain(said.stderr.lines()) {
            if OTHERS.iter().any(|others| line.starts_with(others)) {
                continue;
            }
            // What is quoted is a command, or of others; so is a path.
            let prose: String = line.split('`').step_by(2).collect();
            let english = |word: &&str| ENGLISH.split_whitespace().any(|one| one == *word);
            let found: Vec<&str> = prose
                .split(|letter: char| letter.is_whitespace() || ",;:()".contains(letter))
                .filter(english)
                .collect();
            assert!(found.is_empty(), "helix {arguments:?} says {found:?} in {line:?}");
        }
        said
    }
}

#[test]
fn every_command_speaks_german_to_a_german_terminal() {
    let user = German(User::new());
    user.0.write("tests/test_a.py", "import unittest\n");
    user.says(&["doctor"], "· Repository: das Arbeitsverzeichnis ist in keinem");
    user.says(&["init"], "angelegt helix.toml");
    user.0.repository();
    user.says(&["init"], "behalten helix.toml (gibt es schon)");
    user.says(&["doctor"], "Einstellung");
    user.says(&["doctor", "--sandbox"], "gehalten haben: ");
    user.0.describe("plans/example/phases.yaml");
    user.says(&["plan", "check", "plans/example/phases.yaml", "--explain"], "gültig (2 Phasen)");
    user.says(&["plan", "new", "neu"], "Weiter: bearbeite ihn");
    user.0.write(
        "alt.yaml",
        "name: alt\nphases:\n  - id: eins\n    type: development\n    description: Etwas bauen.\n    dependencies: []\n",
    );
    user.says(&["plan", "check", "alt.yaml", "--explain"], "Zeile 6");
    user.0.write("falsch.yaml", "name: falsch\nphases: []\n");
    assert!(user.run(&["plan", "check", "falsch.yaml"]).stderr.contains("falsch.yaml: 1 Fehler"));
    user.says(&["workflow", "new", "neu"], "Weiter: ");
    let shown = user.run(&["workflow", "show", "intern-simple"]).stdout;
    assert_eq!(shown.lines().nth(1), Some("eingebaut"), "{shown}");
    user.says(&["project", "create", "laden"], "angelegt");
    user.says(&["skills", "show", "keiner"], "error[HX");
    assert!(user.run(&["skills", "--nothing"]).stderr.starts_with("error: unexpected argument"));
    user.says(&["adr", "list"], "keine ADRs in ");
    user.says(&["adr", "new", "Bestellungen"], "fülle die Datei aus, dann");
    user.says(&["adr", "renumber"], "keine doppelten Nummern");
    user.says(&["adr", "drift"], "seit der letzten Änderung");
    user.0.write("konzept.md", "# Konzept\n\n## Bestellungen\n\n## Lieferung\n");
    user.0.write("plan.md", "# Entwurf\n\n## Entscheidung\n\n### Bestellungen\n");
    user.says(&["adr", "coverage", "plan.md", "--source", "konzept.md"], "FEHLT");
    user.says(&["failures", "list"], "keine passenden Fehler");
    user.says(&["failures", "stats"], "noch keine Daten");
    user.0.write("log.txt", "src/a.rs:3: error[E0432]: unresolved import `foo`\n");
    user.says(&["failures", "explain", "log.txt"], "Was zu tun ist");
    user.says(&["failures", "explain", "log.txt", "--why"], "Entschieden durch");
    user.says(&["failures", "explain", "/dev/null"], "kein Fehler gefunden");
    // What `init` wrote is trusted.
    user.says(&["trust", "--list"], "Datei");
    assert_eq!(user.run(&["trust", "--revoke"]).code, 0);
    user.says(&["trust", "--list"], "keiner Projektkonfiguration");
    user.says(&["answer"], "keine offenen Fragen");
    user.says(&["jobs", "list"], "noch keine Jobs");
    user.says(&["people", "list"], "niemand hat einen Schlüssel");
    user.says(&["token", "list"], "keine Tokens");
}

#[test]
fn the_demo_and_its_job_are_told_in_german() {
    let user = German(User::new());
    user.0.identity();
    let temporary = user.0.work().join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let mut demo = user.0.helix();
    demo.env("TMPDIR", &temporary).env("LANG", "de_DE.UTF-8").args(["demo", "--state-dir", "kept"]);
    let demo = ran(demo.output().unwrap());
    assert!(demo.code == 0 && demo.stdout.contains("Fertig nach "), "{demo:#?}");
    let jobs = user.run(&["--state-dir", "kept", "--json", "jobs", "list"]).json();
    assert_eq!(jobs[0]["status"], "succeeded", "programs read English");
    let (id, shop) = (jobs[0]["id"].as_str().unwrap(), jobs[0]["project_path"].as_str().unwrap());
    let of_job = |arguments: &[&str], some: &str| user.says(&[&["--state-dir", "kept"], arguments].concat(), some);
    of_job(&["jobs", "list"], "✓ erfolgreich");
    of_job(&["clean", "--dry-run"], ",0 MiB freigeben");
    of_job(&["failures", "list"], "behoben");
    of_job(&["failures", "stats"], "1 Fehler, 1 Mal gesehen");
    let logs = user.run(&["--state-dir", "kept", "jobs", "logs", id]).stdout;
    for line in ["== implement Versuch 2 (", "== implement Prüfer (", "gestartet: replay", "beendet"] {
        assert!(logs.contains(line), "{line}\n{logs}");
    }
    let evidence = user.run(&["--state-dir", "kept", "jobs", "evidence", id, "--bundle", "b.json"]);
    for line in
        ["  Basis   ", " Baum ", "  Versuch 1: er wurde fertig; Gate tests_pass: nicht bestanden (", "signiert mit"]
    {
        assert!(evidence.stdout.contains(line) || evidence.stderr.contains(line), "{line}\n{evidence:#?}");
    }
    of_job(&["verify", "b.json", "--repo", shop], "geprüft und belegt");
    let kept = user.0.work().join("kept");
    let mut gates = user.0.helix();
    gates.env("LANG", "de_DE.UTF-8").current_dir(shop).arg("--state-dir").arg(kept).args(["gates", "run"]);
    let gates = ran(gates.output().unwrap());
    assert!(gates.stdout.contains("- verify: läuft hier nicht: ein unabhängiger Prüfer"), "{gates:#?}");
}

/// What gates find is read in German and told to the agent in English: the second attempt is one that the agent makes for its words only.
#[test]
fn what_gates_find_is_german_at_the_terminal_and_english_for_the_agent() {
    let act = |file: &str| json!({ "steps": [{ "write": { "path": file, "content": "x\n" } }] });
    let script = json!({ "parts": [
        { "name": "told", "prompt": { "matches": "How to fix: change this file as the plan asks" }, "act": act("told.md") },
        { "name": "first", "prompt": { "matches": "# Phase `page`" }, "act": act("other.md") },
    ] });
    let mut stage = Stage::new(&script.to_string(), "");
    let gates = "[{ type: outputs_claimed, strict: true }]";
    let text = format!(
        "name: pages\nphases:\n  - {{ id: page, type: documentation, description: Write it., outputs: [page.md], max_attempts: 2, on_failure: fail, gates: {gates} }}\n"
    );
    let plan = stage.plan("pages", &text);
    let (plan, repo) = (plan.to_str().unwrap(), stage.repo.clone());
    stage.sandbox.set("LC_ALL", "de_DE.UTF-8");
    let helix = |arguments: &[&str]| ran(stage.helix(arguments).current_dir(&repo).output().unwrap());
    let watched = helix(&["run", plan, "--project", repo.to_str().unwrap()]);
    let jobs = helix(&["--json", "jobs", "list"]).json();
    let job = jobs[0]["id"].as_str().unwrap();
    let shown = helix(&["jobs", "show", job]);
    let json = helix(&["--json", "jobs", "show", job]);
    assert!(json.stdout.contains("page.md is claimed as an output"), "programs read English: {json:#?}");
    assert_eq!(json.json()["phases"][0]["attempt"], 2, "{json:#?}");
    let message = "page.md ist als Output beansprucht, aber die Phase hat es nicht geändert";
    let besides = "told.md wurde hinzugefügt, aber die Phase beansprucht es nicht";
    let summary = "3 Probleme: 1 Output angegeben, 2 andere Dateien geändert";
    for (said, parts) in [
        (&watched, [message, besides, summary]),
        (&shown, [message, besides, summary]),
        (&helix(&["jobs", "evidence", job]), [summary; 3]),
    ] {
        let said = format!("{}{}", said.stdout, said.stderr);
        for part in parts {
            assert!(said.contains(part), "{part:?} is missing: {said}");
        }
        let english = ["is claimed", "1 output declared", "change this file as the plan asks"];
        assert!(!english.iter().any(|words| said.contains(words)), "{said}");
    }
    std::fs::write(repo.join("told.md"), "x\n").unwrap();
    let now = helix(&["gates", "run", plan]);
    for part in [
        message,
        besides,
        "2 Probleme: 1 Output angegeben, 1 andere Datei geändert",
        "  Abhilfe: ändere diese Datei, wie der Plan es verlangt; andere Dateien",
        "  Abhilfe: nimm diese Änderung zurück; ist sie nötig, muss der Plan sie beanspruchen",
    ] {
        assert!(now.stdout.contains(part), "{part:?} is missing: {now:#?}");
    }
    assert!(!now.stdout.contains("How to fix"), "{now:#?}");
}

/// What Helix says of a result itself is read in German, too, and told to the agent in English.
#[test]
fn what_no_result_may_be_is_german_at_the_terminal_and_english_for_the_agent() {
    let act = |steps: serde_json::Value| json!({ "steps": steps });
    let told = |text: &str| json!({ "matches": text });
    let link = json!([{ "run": "ln -s ../../outside page.md" }]);
    let page = json!([{ "run": "rm page.md" }, { "write": { "path": "page.md", "content": "x\n" } }]);
    let script = json!({ "parts": [
        { "name": "linked", "prompt": told("How to fix: link to a file of the repository"), "act": act(page) },
        { "name": "idle", "prompt": told("How to fix: make the change that the task asks for"), "act": act(link) },
        { "name": "first", "prompt": told("# Phase `page`"), "act": act(json!([])) },
    ] });
    let mut stage = Stage::new(&script.to_string(), "");
    let text = "name: pages\nphases:\n  - { id: page, type: development, description: Write it., \
                max_attempts: 3, on_failure: fail, gates: [{ type: files_exist, files: [page.md] }] }\n";
    let plan = stage.plan("pages", text);
    let (plan, repo) = (plan.to_str().unwrap(), stage.repo.clone());
    stage.sandbox.set("LC_ALL", "de_DE.UTF-8");
    let helix = |arguments: &[&str]| ran(stage.helix(arguments).current_dir(&repo).output().unwrap());
    let watched = helix(&["run", plan, "--project", repo.to_str().unwrap()]);
    assert_eq!(watched.code, 0, "{watched:#?}");
    for part in [
        "eine Phase der Art development muss Dateien ändern: die Phase hat keine Datei geändert",
        "das Ergebnis enthält, was kein Ergebnis enthalten darf",
        "\"page.md\" ist ein Link auf \"../../outside\", und das liegt nicht im Repository",
    ] {
        assert!(watched.stdout.contains(part) || watched.stderr.contains(part), "{part:?} is missing: {watched:#?}");
    }
}
