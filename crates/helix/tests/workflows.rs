//! Workflows as their users meet them: listed, shown, made, shown as part of a plan, and carried out to their end.

mod deliveries;
mod evolution;
mod targets;

use crate::stage::Stage;
use crate::user::User;
use serde_json::{Value, json};

const INTERN: &str =
    "{ tests: python3 -m unittest, deploy_test: \"true\", e2e: python3 -m unittest, deploy_prod: \"true\" }";
const EXTERN: &str = "{ tests: python3 -m unittest }";
const ALL: [(&str, &str); 4] =
    [("intern-simple", INTERN), ("intern-complex", INTERN), ("extern-simple", EXTERN), ("extern-complex", EXTERN)];

const ADR: &str = "---\nadr_id: \"001\"\ntitle: Export\nstatus: Proposed\n---\n# Export\n\n## Context\nRows are needed elsewhere.\n\n## Decision\nWrite CSV.\n\n## Acceptance criteria\n- [ ] The exporter loads (command: `python3 -c 'import shop.export'`)\n- [ ] It is described (file: docs/csv-export.md)\n- [ ] It is tested — test: `python3 -m unittest tests.test_extra`\n";

fn plan(workflow: &str, inputs: &str) -> String {
    format!(
        "name: CSV export\nadr: adr/001-export.md\nworkflow: {{ name: {workflow}, inputs: {inputs} }}\nphases:\n  - {{ id: exporter, type: development, description: Write the exporter., outputs: [shop/export.py] }}\n"
    )
}

/// Every built-in workflow is listed, and its dry run shows the phases that it adds.
#[test]
fn a_plan_with_each_built_in_workflow_shows_what_would_run() {
    let user = User::new();
    user.rehearse("- {key: '*', repeat: true}\n");
    user.write("adr/001-export.md", ADR);
    user.repository();
    let listed = user.run(&["workflow", "list"]);
    assert_eq!(listed.code, 0, "{listed:#?}");
    for (name, inputs) in ALL {
        assert!(listed.stdout.contains(name), "{listed:#?}");
        let shown = user.run(&["workflow", "show", name]);
        assert!(shown.stdout.contains("tests (command)") && shown.stdout.contains("slot:"), "{shown:#?}");
        user.write("phases.yaml", &plan(name, inputs));
        let explained = user.run(&["plan", "check", "--explain", "phases.yaml"]);
        assert_eq!(explained.code, 0, "{explained:#?}");
        for part in ["id: verify", "id: documentation", "id: exporter", "docs/csv-export.md"] {
            assert!(explained.stdout.contains(part), "{part:?} is missing: {explained:#?}");
        }
        assert_eq!(explained.stdout.contains("id: deploy-prod"), name.starts_with("intern"));
        let dry = user.run(&["run", "--dry-run", "phases.yaml"]);
        assert_eq!(dry.code, 0, "{dry:#?}");
        let order = |id: &str| dry.stdout.find(&format!("  {id} (")).unwrap_or_else(|| panic!("no {id}: {dry:#?}"));
        assert!(order("exporter") < order("verify") && order("verify") < order("documentation"));
    }
}

#[test]
fn what_is_wrong_with_a_workflow_is_found_before_anything_runs() {
    let user = User::new();
    user.write("adr/001-export.md", ADR);
    user.repository();
    user.write("phases.yaml", &plan("extern-simpel", EXTERN));
    user.run(&["plan", "check", "phases.yaml"]).refused(1, &["HX0129", "phases.yaml:3:", "extern-simple"]);
    user.write("phases.yaml", &plan("intern-simple", EXTERN));
    user.run(&["run", "--dry-run", "phases.yaml"]).refused(2, &["HX0130", "deploy_prod"]);
    user.run(&["workflow", "new", "release"]);
    let mine = std::fs::read_to_string(user.work().join("workflows/release.yaml")).unwrap();
    user.write("phases.yaml", &plan("release", EXTERN));
    assert_eq!(user.run(&["plan", "check", "phases.yaml"]).code, 0);
    user.write("workflows/release.yaml", &mine.replace("${{ tests }}", "${{ test }}"));
    user.run(&["plan", "check", "phases.yaml"]).refused(1, &["HX0131", "release.yaml:", "did you mean"]);
    user.run(&["workflow", "show", "release"]).refused(2, &["HX0132"]);
    assert_eq!(user.run(&["workflow", "list"]).code, 1, "one of them cannot be used");
}

/// Whatever lies among the workflows is read or named.
#[test]
fn nothing_among_the_workflows_is_passed_over_in_silence() {
    let user = User::new();
    user.write("adr/001-export.md", ADR);
    user.repository();
    user.run(&["workflow", "new", "release"]);
    let directory = user.work().join("workflows");
    std::fs::rename(directory.join("release.yaml"), directory.join("release.yml")).unwrap();
    user.write("workflows/notes.txt", "x");
    user.write("workflows/.hidden", "x");
    user.write("workflows/old/release.yaml", "x");
    let listed = user.run(&["workflow", "list"]);
    assert_eq!(listed.code, 0, "{listed:#?}");
    assert!(listed.stdout.contains("release") && listed.stdout.contains("release.yml "), "{listed:#?}");
    for part in ["notes.txt is not a workflow", "workflows/old is not a workflow", "NAME.yaml"] {
        assert!(listed.stderr.contains(part), "{part:?} is missing: {listed:#?}");
    }
    assert!(!listed.stderr.contains(".hidden"), "{listed:#?}");
    user.write("phases.yaml", &plan("release", EXTERN));
    assert_eq!(user.run(&["plan", "check", "phases.yaml"]).code, 0);
    // Which of two files is meant nobody knows.
    std::fs::copy(directory.join("release.yml"), directory.join("release.yaml")).unwrap();
    user.run(&["plan", "check", "phases.yaml"]).refused(1, &["HX0131", "release.yml", "remove one of them"]);
    assert_eq!(user.run(&["workflow", "list"]).code, 1);
}

/// A directory that cannot be searched is told with its place, by every command that would have looked there.
#[test]
fn a_directory_of_workflows_that_cannot_be_searched_is_no_silence() {
    let user = User::new();
    user.write("adr/001-export.md", ADR);
    user.repository();
    // A link to itself: nobody can search it, not even the superuser.
    std::os::unix::fs::symlink("workflows", user.work().join("workflows")).unwrap();
    let listed = user.run(&["workflow", "list"]);
    assert_eq!(listed.code, 1, "{listed:#?}");
    assert!(listed.stdout.contains("extern-simple"), "{listed:#?}");
    assert!(listed.stderr.contains("HX0131") && listed.stderr.contains("workflows cannot be read"), "{listed:#?}");
    let listed: Value = serde_json::from_str(&user.run(&["workflow", "list", "--json"]).stdout).unwrap();
    assert_eq!(listed["diagnostics"][0]["code"], "HX0131", "{listed:#}");
    user.write("phases.yaml", &plan("extern-simple", EXTERN));
    // The project's own comes before the built-in one, and whether there is one nobody knows.
    user.run(&["plan", "check", "phases.yaml"]).refused(1, &["HX0131", "phases.yaml:3:", "extern-simple.yaml"]);
}

fn part(phase: &str, act: &str) -> String {
    format!("  - name: {phase}\n    prompt: {{ matches: '(?i)# phase `{phase}`' }}\n    act: {act}\n")
}

fn writes(phase: &str, path: &str, text: &str) -> String {
    part(phase, &format!("{{ steps: [{{ write: {{ path: {path}, content: {} }} }}] }}", Value::from(text)))
}

/// Carries a plan out with the workflow, and an own phase in its slot; all of its phases pass.
async fn ends(workflow: &str, order: &[&str], files: &[&str]) {
    let extra = "import unittest\n\n\nclass ExtraTest(unittest.TestCase):\n    def test_extra(self):\n        self.assertTrue(True)\n";
    let added = "{ structured: { phases: [{ id: reader, description: \"Write the reader.\", outputs: [shop/reader.py] }, { id: rows, description: \"Write the rows.\", outputs: [shop/rows.py] }] } }";
    let judge = "  - name: judge\n    prompt: { matches: '^You are an independent reviewer' }\n    act: { structured: { verdict: approved, summary: fine, findings: [] } }\n";
    let script = [
        format!("parts:\n{judge}"),
        writes("planning", "docs/design/csv-export.md", "# Design\n"),
        writes("feasibility", "docs/feasibility/csv-export.md", "# It can be done\n"),
        part("planning-agent", added),
        writes("reader", "shop/reader.py", "READER = 1\n"),
        writes("rows", "shop/rows.py", "ROWS = 1\n"),
        writes("exporter", "shop/export.py", "EXPORT = 1\n"),
        writes("verify", "tests/test_extra.py", extra),
        writes("documentation", "docs/csv-export.md", "# Export\n"),
        part("deploy-test", "{ say: Ready. }"),
        part("e2e", "{ say: Ready. }"),
        part("deploy-prod", "{ say: Ready. }"),
        part("deploy", "{ say: Ready. }"),
    ];
    let stage = Stage::new(&script.concat(), "max_parallel = 2\n");
    std::fs::create_dir_all(stage.repo.join("adr")).unwrap();
    std::fs::write(stage.repo.join("adr/001-export.md"), ADR).unwrap();
    stage.git(&stage.repo, &["add", "-A"]);
    stage.git(&stage.repo, &["commit", "-q", "-m", "decide"]);
    let (test, production) = (stage.shared().join("deployed-test"), stage.shared().join("deployed-prod"));
    let intern = workflow.starts_with("intern");
    let deploys = order.last().filter(|last| last.starts_with("deploy"));
    let of = |name: &str, file: &std::path::Path| {
        let file = file.display();
        format!("deploy{name}: touch {file}, health{name}: test -e {file}, rollback{name}: [rm {file}]")
    };
    let deliveries = match (intern, deploys) {
        (true, _) => {
            format!(", e2e: python3 -m unittest, watch: 1s, {}, {}", of("_test", &test), of("_prod", &production))
        }
        (false, Some(_)) => format!(", watch: 1s, {}", of("", &production)),
        (false, None) => String::new(),
    };
    let inputs = format!("{{ tests: python3 -m unittest{deliveries} }}");
    let _host = stage.start();
    let id = stage.submit(&stage.plan(workflow, &plan(workflow, &inputs)), &stage.repo, workflow).await;
    let job = stage
        .answer_all(&id, |question| {
            assert_eq!(
                (&question["kind"], &question["phase"]),
                (&json!("approval"), &json!(deploys.unwrap())),
                "{question:#}"
            );
            assert!(test.exists() == intern && !production.exists(), "production waits for a person");
            json!({ "choice": "approve", "by": "a test" })
        })
        .await;
    assert_eq!(job["status"], "succeeded", "{workflow}: {job:#}\n{}", stage.log());
    let phases = job["phases"].as_array().unwrap();
    assert_eq!(phases.len(), order.len(), "{workflow}: {job:#}");
    let times = |id: &str| {
        let phase = phases.iter().find(|phase| phase["id"] == id).unwrap_or_else(|| panic!("no {id}: {job:#}"));
        assert_eq!(phase["status"], "passed", "{workflow}, {id}: {job:#}");
        ["started_at", "completed_at"].map(|key| phase[key].as_str().unwrap().parse::<jiff::Timestamp>().unwrap())
    };
    for pair in order.windows(2) {
        let ([_, end], [start, _]) = (times(pair[0]), times(pair[1]));
        // What the planning phase adds runs side by side.
        assert!(end <= start || pair == ["reader", "rows"], "{workflow}: {pair:?}: {job:#}");
    }
    for file in files {
        assert!(stage.repo.join(file).exists(), "{workflow}: {file} is not there");
    }
    assert_eq!(production.exists(), deploys.is_some(), "{workflow}");
    let delivered = job["deliveries"].as_array().map_or(0, Vec::len);
    assert_eq!(delivered, order.iter().filter(|one| one.starts_with("deploy")).count(), "{workflow}: {job:#}");
    assert!(!job["deliveries"].to_string().contains("rollback_"), "{workflow}: {job:#}");
    let asked = job["questions"].as_array().map_or(0, Vec::len);
    assert_eq!(asked, usize::from(deploys.is_some()), "{workflow}: {job:#}");
    for phase in phases {
        let verified = ["exporter", "reader", "rows"].contains(&phase["id"].as_str().unwrap());
        assert_eq!(phase["verify"], verified, "{workflow}: {phase:#}");
    }
    // The next step that is printed works: every criterion is proven, and who approved the deployment has accepted the decision.
    let shown = stage.helix(&["jobs", "show", &id]).output().unwrap();
    let shown = String::from_utf8_lossy(&shown.stdout);
    let adr = |command: &str| stage.helix(&["adr", command, "1"]).current_dir(&stage.repo).output().unwrap();
    let decision = || std::fs::read_to_string(stage.repo.join("adr/001-export.md")).unwrap();
    assert!(shown.contains("helix adr implemented 1"), "{workflow}: {shown}");
    assert_eq!(shown.contains("helix adr accept 1 && "), deploys.is_none(), "{workflow}: {shown}");
    if deploys.is_none() {
        // What no person has accepted is not made an implemented decision by what agents have built.
        let refused = adr("implemented");
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(1), "{workflow}: {said}");
        assert!(said.contains("HX0924") && said.contains("`helix adr accept 1`"), "{workflow}: {said}");
        assert_eq!(decision(), ADR, "{workflow}: something was written");
        assert_eq!(adr("accept").status.code(), Some(0), "{workflow}");
    }
    let done = adr("implemented");
    assert_eq!(done.status.code(), Some(0), "{workflow}: {done:?}");
    let decision = decision();
    assert!(decision.contains("status: Implemented") && !decision.contains("- [ ]"), "{workflow}: {decision}");
    let accepted = decision.contains(" (token)\"\naccepted_on");
    assert_eq!(accepted, deploys.is_some(), "{workflow}: {decision}");
    Stage::no_agent_is_left(&id);
}

#[tokio::test(flavor = "multi_thread")]
async fn extern_simple_is_carried_out_to_its_end() {
    let files = ["docs/design/csv-export.md", "shop/export.py", "tests/test_extra.py", "docs/csv-export.md"];
    ends("extern-simple", &["planning", "exporter", "verify", "documentation", "deploy"], &files).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn extern_complex_is_carried_out_to_its_end() {
    let files = ["docs/feasibility/csv-export.md", "shop/reader.py", "shop/rows.py", "shop/export.py"];
    let order = ["feasibility", "planning-agent", "reader", "rows", "exporter", "verify", "documentation"];
    ends("extern-complex", &order, &files).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn intern_simple_is_carried_out_to_its_end_with_a_persons_approval() {
    let files = ["docs/design/csv-export.md", "shop/export.py", "docs/csv-export.md"];
    let order = ["planning", "exporter", "verify", "documentation", "deploy-test", "e2e", "deploy-prod"];
    ends("intern-simple", &order, &files).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn intern_complex_is_carried_out_to_its_end_with_a_persons_approval() {
    let files = ["docs/feasibility/csv-export.md", "shop/reader.py", "shop/rows.py", "docs/csv-export.md"];
    let order = [
        "feasibility",
        "planning-agent",
        "reader",
        "rows",
        "exporter",
        "verify",
        "documentation",
        "deploy-test",
        "e2e",
        "deploy-prod",
    ];
    ends("intern-complex", &order, &files).await;
}

/// Only the plan itself says what acts outside of the repository: an agent that adds such a gate is told, and mends it.
#[tokio::test(flavor = "multi_thread")]
async fn an_added_gate_that_delivers_goes_back_as_a_correction() {
    let added = |gates: &str| {
        format!(
            "{{ structured: {{ phases: [{{ id: page, description: Write the page., outputs: [page.md]{gates} }}] }} }}"
        )
    };
    let bad = added(", gates: [{ type: deploy_success, command: make deploy }]");
    let script = format!(
        "parts:\n  - name: split\n    prompt: {{ matches: '(# Phase|work on phase) `split`' }}\n    attempts:\n      - {bad}\n      - {}\n{}",
        added(""),
        writes("page", "page.md", "# Page\n")
    );
    let stage = Stage::new(&script, "");
    let text = "name: pages\nphases:\n  - { id: split, type: planning, description: Split it., on_failure: fail, generates_phases: { min: 1, max: 2, template: documentation } }\n";
    let _host = stage.start();
    let id = stage.submit(&stage.plan("pages", text), &stage.repo, "pages").await;
    let events = stage.events(&id).await;
    let rejected: Vec<_> = events.iter().filter(|event| event["type"] == "phases_rejected").collect();
    assert_eq!(rejected.len(), 1, "{events:#?}");
    assert!(rejected[0].to_string().contains("deploy_success"), "{rejected:#?}");
    let job = stage.job(&id).await;
    assert_eq!(job["status"], "succeeded", "{job:#}\n{}", stage.log());
    assert_eq!((stage.plays_of("split"), stage.plays_of("page")), (2, 1));
}

/// What could never be delivered is told before anything runs.
#[test]
fn what_is_wrong_with_a_delivery_is_found_before_anything_runs() {
    let user = User::new();
    user.rehearse("- {key: '*', repeat: true}\n");
    user.repository();
    let plan = |before: &str, gate: &str| {
        format!(
            "name: p\nphases:\n  - {{ id: a, type: development, description: A, outputs: [a.py], gates: [{before}] }}\n  - {{ id: b, type: deploy, description: B, depends_on: [a], gates: [{gate}] }}\n"
        )
    };
    let check = |before: &str, gate: &str, parts: &[&str]| {
        user.write("p.yaml", &plan(before, gate));
        user.run(&["plan", "check", "p.yaml"]).refused(1, parts);
    };
    let syntax = "{ type: syntax_check }";
    check("{ type: outputs_claimed }", "{ type: deploy_success, command: ./d }", &["HX0417", "nothing validates"]);
    check(syntax, "{ type: deploy_success }", &["HX0108", "neither `command` nor `probes`"]);
    check(syntax, "{ type: deploy_success, command: ./d, probes: [{ http: \"ftp://a\" }] }", &["HX0135", "https://"]);
    check(syntax, "{ type: deploy_success, probes: [{ tcp: \"a:99999\" }] }", &["HX0135", "localhost:5432"]);
    check(syntax, "{ type: deploy_success, probes: [{ http: \"http://a\", tcp: \"a:1\" }] }", &["HX0135"]);
    check(syntax, "{ type: deploy_success, probes: [{ http: \"http://a\", status: 99 }] }", &["HX0120", "599"]);
    check(syntax, "{ type: deploy_success, command: [\"./d && ./e\"] }", &["HX0121"]);
    check(syntax, "{ type: deploy_success, probes: [{ tcp: \"a:1\" }], rollback: ./r }", &["HX0108", "to take back"]);
    check(syntax, "{ type: deploy_success, command: ./d, health: { for: 1m } }", &["HX0108", "no `command`"]);
    check(syntax, "{ type: deploy_success, command: ./d, pass_env: [HELIX_X] }", &["HX0120", "HELIX_"]);
    check(syntax, "{ type: deploy_success, command: ./d, enviroment: { A: b } }", &["HX0106", "`environment`"]);
    let full = "{ type: integration_pass, command: [./d, ./e], probes: [{ http: \"https://a/b\", status: 204, contains: ok }, { tcp: \"[::1]:80\", timeout: 1s }, { command: ./f }], timeout: 1m, retries: 0, delay: 1s, environment: { A: b }, pass_env: [C] }";
    // An older form somewhere in it makes the whole plan be written out.
    user.write("p.yaml", &plan(syntax, full).replace("depends_on", "dependencies"));
    let explained = user.run(&["plan", "check", "--explain", "p.yaml"]);
    assert_eq!(explained.code, 0, "{explained:#?}");
    assert!(
        explained.stdout.contains(&full[2..full.len() - 2].replace("[./d, ./e]", "[\"./d\", \"./e\"]")[..60]),
        "{explained:#?}"
    );
}

const PROVABLE: &str = "---\nadr_id: \"001\"\ntitle: Export\nstatus: Accepted\nfiles: { create: [shop/export.py] }\n---\n# Export\n\n## Status\n\nAccepted\n\n## Context\nRows are needed elsewhere.\n\n## Decision\nWrite CSV.\n\n## Acceptance criteria\n- [ ] The exporter loads (command: `python3 -c 'import shop.export'`)\n- [ ] It is described (file: docs/export.md)\n";

/// A decision is implemented, and its boxes are ticked, by the evidence of a merged job and by nothing else.
#[tokio::test(flavor = "multi_thread")]
async fn a_decision_is_implemented_by_a_jobs_evidence() {
    let steps = "{ steps: [{ write: { path: shop/export.py, content: \"EXPORT = 1\\n\" } }, { write: { path: docs/export.md, content: \"# Export\\n\" } }] }";
    let stage = Stage::new(&format!("parts:\n{}", part("exporter", steps)), "");
    std::fs::create_dir_all(stage.repo.join("adr")).unwrap();
    let file = stage.repo.join("adr/001-export.md");
    std::fs::write(&file, PROVABLE).unwrap();
    stage.git(&stage.repo, &["add", "-A"]);
    stage.git(&stage.repo, &["commit", "-q", "-m", "decide"]);
    let implemented = || {
        let output = stage.helix(&["adr", "implemented", "1"]).current_dir(&stage.repo).output().unwrap();
        (
            output.status.code(),
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)),
        )
    };
    let _host = stage.start();
    let plan = |name: &str, gates: &str| {
        let text = format!(
            "name: {name}\nadr: adr/001-export.md\nphases:\n  - {{ id: exporter, type: development, description: Write it., outputs: [shop/export.py], on_failure: fail, gates: [{gates}] }}\n"
        );
        stage.plan(name, &text)
    };
    // Nothing has been built.
    stage.reachable().await;
    let (code, said) = implemented();
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("HX0924") && said.contains("criteria_covered"), "{said}");
    // Built and merged, but nobody has looked for the criteria.
    let id = stage.submit(&plan("bare", "{ type: syntax_check }"), &stage.repo, "bare").await;
    stage.events(&id).await;
    assert_eq!(stage.job(&id).await["status"], "succeeded", "{}", stage.log());
    let (code, said) = implemented();
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("has verified no criteria") && std::fs::read_to_string(&file).unwrap() == PROVABLE, "{said}");
    // Proven.
    stage.git(&stage.repo, &["reset", "-q", "--hard", "HEAD~1"]);
    let id = stage.submit(&plan("proven", "{ type: criteria_covered }"), &stage.repo, "proven").await;
    stage.events(&id).await;
    let job = stage.job(&id).await;
    assert_eq!((&job["status"], &job["adr"]), (&json!("succeeded"), &json!("adr/001-export.md")), "{job:#}");
    let shown = stage.helix(&["jobs", "show", &id]).output().unwrap();
    assert!(String::from_utf8_lossy(&shown.stdout).contains("helix adr implemented 1"), "{shown:?}");
    let (code, said) = implemented();
    assert_eq!(code, Some(0), "{said}");
    let text = std::fs::read_to_string(&file).unwrap();
    let expected = PROVABLE.replace("- [ ]", "- [x]").replace("Accepted", "Implemented");
    assert_eq!(text, expected);
    assert!(std::fs::read_to_string(stage.repo.join("adr/INDEX.md")).unwrap().contains("Implemented"));
    let checked = stage.helix(&["adr", "check"]).current_dir(&stage.repo).output().unwrap();
    assert_eq!(checked.status.code(), Some(0), "{checked:?}");
    // A criterion that was added since is proven by nobody: the decision is not said to be implemented.
    std::fs::write(&file, format!("{PROVABLE}- [ ] It is fast (command: `true`)\n")).unwrap();
    let (code, said) = implemented();
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("not verified: It is fast") && text.contains("status: Accepted"), "{said}\n{text}");
    assert_eq!((text.matches("- [x]").count(), text.matches("- [ ]").count()), (2, 1));
}

/// A phase that checks what others made cannot be left out without a person saying so.
#[test]
fn a_checking_phase_is_never_optional() {
    let user = User::new();
    user.repository();
    for key in ["optional: true", "on_failure: skip"] {
        user.write("phases.yaml", &format!("name: a\nphases:\n  - {{ id: check, type: test, description: Test it., {key}, gates: [{{ type: tests_pass, command: pytest }}] }}\n"));
        user.run(&["plan", "check", "phases.yaml"]).refused(1, &["HX0122", "phases.yaml:3:", key]);
    }
}
