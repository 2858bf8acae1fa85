//! `helix failures list`, `show`, `search`, `stats`, `forget`, `export` and `import`, without a host.

use helix_core::ids::{JobId, PhaseId};
use helix_failure::memory::{AttemptAnswer, AttemptChange, Occurrence, OccurrencePlace, Work, check};
use helix_failure::{Classifier, FailureObservation, LogSample};
use helix_store::failures::FailureMemory;
use helix_store::{Access, DatabaseOptions, StateDir};
use jiff::Timestamp;

use crate::user::User;

const LINES: [&str; 2] = ["assertion `left == right` failed: total of the cart", "error[E0425]: cannot find value `x`"];

fn work(job: &str) -> Work {
    Work::Job { job: JobId::new(job).unwrap(), phase: Some(PhaseId::new("implement").unwrap()) }
}

/// Two failures of which the first was fixed, as an engine leaves them.
fn remember(user: &User) -> Vec<String> {
    let state = StateDir::open(user.state()).unwrap();
    let classifier = Classifier::new().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let options = DatabaseOptions::new(state.failures(), Access::ReadWrite);
        let memory = FailureMemory::open(options.within(std::time::Duration::from_secs(30))).await.unwrap();
        let mut ids = Vec::new();
        for (number, line) in LINES.iter().enumerate() {
            let observation = FailureObservation { tool: "cargo".into(), ..FailureObservation::default() };
            let classified = classifier.classify(&observation, &LogSample::from_texts(line, ""));
            let place = OccurrencePlace {
                project: "/projects/shop".into(),
                work: work(&format!("j{number}")),
                attempt: 1,
                check: check::gate(0, "tests_pass"),
                commit: None,
                agent: String::new(),
                run: None,
            };
            let at = Timestamp::from_second(1_795_000_000 + number as i64).unwrap();
            let occurrence = Occurrence::new("cargo", &classified, place, at);
            ids.push(occurrence.diagnosis.fingerprint.to_string());
            memory.capture(occurrence).await.unwrap();
        }
        let change = AttemptChange {
            project: "/projects/shop".into(),
            work: work("j0"),
            attempt: 2,
            commit: None,
            files: vec!["src/cart.rs".into()],
            diff: "-prices.len()\n+prices.iter().sum()\n".into(),
            at: Timestamp::from_second(1_795_000_100).unwrap(),
        };
        let passed = vec![check::gate(0, "tests_pass")];
        let answer = AttemptAnswer { change, passed, failed: Vec::new(), still: Vec::new() };
        memory.resolve_outstanding(answer).await.unwrap();
        ids
    })
}

#[test]
fn what_is_remembered_is_listed_shown_searched_and_counted() {
    let user = User::new();
    let ids = remember(&user);
    let list = user.run(&["failures", "list"]);
    assert_eq!(list.code, 0, "{list:?}");
    for part in ["fixed", "open", "total of the cart", "ASSERTION_FAILURE", &ids[0][..12]] {
        assert!(list.stdout.contains(part), "{part}: {}", list.stdout);
    }
    let fixed = user.run(&["failures", "list", "--ended", "fixed", "--json"]).json();
    assert_eq!(fixed["failures"].as_array().unwrap().len(), 1, "{fixed}");
    assert_eq!(
        (&fixed["failures"][0]["fingerprint"], &fixed["failures"][0]["count"]),
        (&ids[0].clone().into(), &1.into())
    );
    let first = user.run(&["failures", "list", "--limit", "1", "--json"]).json();
    let next = first["next"].as_str().unwrap();
    let rest = user.run(&["failures", "list", "--limit", "1", "--after", next, "--json"]).json();
    assert_eq!((&rest["failures"][0]["fingerprint"], rest.get("next")), (&ids[0].clone().into(), None));

    let shown = user.run(&["failures", "show", &ids[0][..8]]);
    for part in [ids[0].as_str(), "fixed", "src/cart.rs", "prices.iter().sum()", "j0 implement, attempt 1"] {
        assert!(shown.stdout.contains(part), "{part}: {}", shown.stdout);
    }
    let shown = user.run(&["failures", "show", &ids[0], "--json"]).json();
    assert_eq!((&shown["end"]["ended"], &shown["fixes"][0]["attempt"]), (&"fixed".into(), &2.into()));
    let found = user.run(&["failures", "search", "total", "cart", "--json"]).json();
    assert_eq!(found["failures"].as_array().unwrap().len(), 1);
    let figures = user.run(&["failures", "stats", "--json"]).json();
    assert_eq!((&figures["failures"], &figures["fixed"], &figures["open"]), (&2.into(), &1.into(), &1.into()));
    let figures = user.run(&["failures", "stats"]);
    assert!(figures.stdout.contains("2 failures, seen 2 times") && figures.stdout.contains("not decided yet"));
}

#[test]
fn an_export_is_imported_elsewhere_once_and_what_is_forgotten_is_gone() {
    let (user, other) = (User::new(), User::new());
    let ids = remember(&user);
    let export = user.run(&["failures", "export"]);
    assert_eq!((export.code, export.stdout.lines().count()), (0, 5), "{export:?}");
    let file = other.write("memory.jsonl", &export.stdout);
    let file = file.to_str().unwrap();
    let imported = other.run(&["failures", "import", file, "--json"]).json();
    assert_eq!((&imported["added"], &imported["known"]), (&5.into(), &0.into()));
    let again = other.run(&["failures", "import", file, "--json"]).json();
    assert_eq!((&again["added"], &again["known"]), (&0.into(), &5.into()));
    assert_eq!(other.run(&["failures", "export"]).stdout, export.stdout);

    let corrected = other.run(&["failures", "forget", &ids[0], "--fixes"]);
    assert_eq!(corrected.code, 0, "{corrected:?}");
    assert_eq!(
        other.run(&["failures", "list", "--ended", "open", "--json"]).json()["failures"].as_array().unwrap().len(),
        2
    );
    assert_eq!(other.run(&["failures", "forget", &ids[0]]).code, 0);
    other.run(&["failures", "forget", &ids[0]]).refused(2, &["HX0920", "no remembered failure", "hint:"]);
    assert_eq!(other.run(&["failures", "stats", "--json"]).json()["failures"], 1);
}

#[test]
fn a_broken_import_names_its_line_and_changes_nothing() {
    let (user, other) = (User::new(), User::new());
    remember(&user);
    let lines: Vec<String> = user.run(&["failures", "export"]).stdout.lines().map(str::to_owned).collect();
    for (broken, parts) in [
        (format!("{}\nnot json\n", lines[0]), ["line 2", "is not a record"]),
        (
            format!("{}\n\n{}\n", lines[0], lines[1].replace("\"attempt\":1", "\"attempt\":0")),
            ["line 3", "numbered from 1"],
        ),
        (format!("{}\n", lines[1]), ["line 1", "does not stand before it"]),
        (lines[0].replace("\"fingerprint\":\"", "\"fingerprint\":\"x"), ["line 1", "failure id"]),
    ] {
        let file = other.write("broken.jsonl", &broken);
        other.run(&["failures", "import", file.to_str().unwrap()]).refused(2, &parts);
    }
    other.run(&["failures", "import", "nowhere.jsonl"]).refused(2, &["HX0921"]);
    assert_eq!(other.run(&["failures", "stats", "--json"]).json()["failures"], 0);
}

#[test]
fn without_a_memory_there_is_nothing_and_a_damaged_one_is_named() {
    let user = User::new();
    let empty = user.run(&["failures", "list", "--json"]).json();
    assert_eq!(empty["failures"], serde_json::json!([]));
    assert_eq!(user.run(&["failures", "stats", "--json"]).json()["failures"], 0);
    assert_eq!(user.run(&["failures", "export"]).stdout, "");
    user.run(&["failures", "show", "abc"]).refused(2, &["HX0920"]);
    user.run(&["failures", "list", "--category", "WRONG"]).refused(2, &["ASSERTION_FAILURE"]);
    assert!(!user.state().exists(), "looking makes nothing");

    std::fs::create_dir(user.state()).unwrap();
    std::fs::write(user.state().join("failures.db"), "no database\n".repeat(500)).unwrap();
    for command in [&["failures", "list"][..], &["failures", "search", "x"], &["failures", "import", "-"]] {
        user.run(command).refused(4, &["HX0304", "failures.db", "hint:"]);
    }
}
