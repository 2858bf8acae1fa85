//! Gates that act outside of the repository: on a validated tree only, once, and never again without a word.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::{part, writes};
use crate::stage::{LIMIT, LOOK_AGAIN, Process, Stage};

/// What was delivered: a line for each time.
struct Target {
    log: PathBuf,
}

impl Target {
    fn of(stage: &Stage) -> Self {
        Self { log: stage.shared().join("delivered") }
    }

    /// A command that delivers the file `product.txt` of the checkout.
    fn command(&self) -> String {
        format!("sh -c 'cat product.txt >> {}'", self.log.display())
    }

    fn delivered(&self) -> Vec<String> {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

/// Phases that make something and describe it, and one that delivers it by these gates.
fn plan(check: &str, gates: &str) -> String {
    format!(
        "name: delivery\nphases:\n  - {{ id: product, type: development, description: Make it, outputs: [product.txt], gates: [{{ type: command, command: \"{check}\" }}] }}\n  - {{ id: words, type: documentation, description: Describe it, depends_on: [product], outputs: [words.md] }}\n  - {{ id: deliver, type: deploy, description: Deliver it, depends_on: [words], on_failure: fail, max_attempts: 2, gates: [{gates}] }}\n"
    )
}

fn script(words: &str) -> String {
    [
        "parts:\n".to_owned(),
        writes("product", "product.txt", "one\n"),
        part("words", &format!("{{ steps: [{{ write: {{ path: words.md, content: \"# One\\n\" }} }}{words}] }}")),
        part("deliver", "{ say: Ready. }"),
    ]
    .concat()
}

fn gate_of(job: &Value) -> &Value {
    let phases = job["phases"].as_array().unwrap();
    &phases.iter().find(|phase| phase["id"] == "deliver").unwrap()["gates"][0]
}

/// Answers every request with a text, until the test ends.
fn web_page(text: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut asked = [0_u8; 4096];
            // A connection that asks nothing is a probe of the port.
            if !matches!(stream.read(&mut asked), Ok(count) if count > 0) {
                continue;
            }
            let answer =
                format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}", text.len());
            let _gone = stream.write_all(answer.as_bytes());
        }
    });
    port
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_delivered_has_passed_the_gates_of_all_phases_before_it_and_is_looked_at() {
    let stage = Stage::new(&script(""), "");
    let (target, port) = (Target::of(&stage), web_page("shop 7 is up"));
    let gates = format!(
        "{{ type: deploy_success, command: [\"sh -c 'printf %s $WHERE > built.txt'\", \"{}\", \"grep -q test built.txt\"], environment: {{ WHERE: test }}, probes: [{{ http: \"http://127.0.0.1:{port}/\", contains: \"shop 7\" }}, {{ tcp: \"127.0.0.1:{port}\" }}, {{ command: \"test -s {}\" }}] }}",
        target.command(),
        target.log.display()
    );
    let _host = stage.start();
    let id = stage.submit(&stage.plan("p", &plan("test -s product.txt", &gates)), &stage.repo, "p").await;
    let events = stage.events(&id).await;
    let job = stage.job(&id).await;
    assert_eq!(job["status"], "succeeded", "{job:#}\n{}", stage.log());
    assert_eq!(target.delivered(), ["one"]);
    // The phase before it changed the tree, so that the check of the phase before that was made on what is delivered.
    let begun = events.iter().find(|event| event["type"] == "delivery_begun").unwrap();
    let result = events.iter().rfind(|event| event["type"] == "result_committed").unwrap();
    assert_eq!(begun["tree"], result["result"]["tree"], "{begun:#}");
    let validated: Vec<_> = begun["validation"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["phase"].clone(), one["report"].clone()))
        .collect();
    assert_eq!(validated.len(), 1, "{begun:#}");
    assert_eq!((&validated[0].0, &validated[0].1["verdict"]), (&json!("product"), &json!("pass")), "{begun:#}");
    assert_eq!(validated[0].1["tree"], begun["tree"], "{begun:#}");
    let seen: Vec<&str> =
        gate_of(&job)["steps"].as_array().unwrap().iter().map(|step| step["seen"].as_str().unwrap()).collect();
    assert_eq!(seen, ["exit 0", "exit 0", "exit 0", "status 200", "connected", "exit 0"], "{job:#}");
    let evidence = stage.helix(&["jobs", "evidence", &id]).output().unwrap();
    let text = String::from_utf8_lossy(&evidence.stdout).into_owned();
    assert!(evidence.status.success(), "{text}");
    for part in ["checked before it was delivered", "deploy_success pass", "-> status 200", "-> connected", "intact"] {
        assert!(text.contains(part), "{part:?} is missing: {text}");
    }
    Stage::no_agent_is_left(&id);
}

/// Validation is of the very tree: what a later phase broke is not delivered, however well it went before.
#[tokio::test(flavor = "multi_thread")]
async fn a_tree_on_which_a_gate_before_does_not_pass_any_more_is_never_delivered() {
    let stage = Stage::new(&script(", { run: 'rm product.txt' }"), "");
    let target = Target::of(&stage);
    let gates = format!("{{ type: integration_pass, command: \"{}\" }}", target.command());
    let _host = stage.start();
    let id = stage.submit(&stage.plan("p", &plan("test -s product.txt", &gates)), &stage.repo, "p").await;
    let events = stage.events(&id).await;
    let job = stage.job(&id).await;
    assert_eq!(job["status"], "failed", "{job:#}");
    assert!(target.delivered().is_empty(), "{:?}", target.delivered());
    assert!(!events.iter().any(|event| event["type"] == "delivery_begun"), "{events:#?}");
    let summary = gate_of(&job)["summary"].as_str().unwrap();
    assert!(summary.contains("nothing was delivered") && summary.contains("phase product"), "{summary}");
    // The agent was told, and tried to mend it.
    let deliver = job["phases"].as_array().unwrap().iter().find(|phase| phase["id"] == "deliver").unwrap();
    assert_eq!(deliver["attempt"], 2, "{job:#}");
}

/// A delivery cannot be taken back and is not repeated by itself: a host that dies anywhere around it leaves one, or none, and
/// says so where nobody knows.
#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_dies_delivers_nothing_twice_and_says_what_it_does_not_know() {
    // Where, whether the job goes on by itself, and how often it was delivered then.
    let places = [
        ("before effect begin/deliver/1/0", true, 1),
        ("before append of delivery_begun deliver attempt 1 gate 0", true, 1),
        ("after append of delivery_begun deliver attempt 1 gate 0", false, 0),
        ("before effect gate/deliver/1/0", false, 0),
        ("after effect gate/deliver/1/0", false, 1),
        ("after append of gate_finished deliver attempt 1 gate 0", true, 1),
    ];
    for (place, goes_on, delivered) in places {
        let stage = Stage::new(&script(""), "");
        let target = Target::of(&stage);
        let gates = format!("{{ type: deploy_success, command: \"{}\" }}", target.command());
        let mut dying = Process(stage.serve().env("HELIX_CRASH_AT", place).spawn().unwrap());
        let id = stage.submit(&stage.plan("p", &plan("test -s product.txt", &gates)), &stage.repo, "p").await;
        let start = std::time::Instant::now();
        while dying.0.try_wait().unwrap().is_none() {
            assert!(start.elapsed() < LIMIT, "{place}: the host does not die\n{}", stage.log());
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        let _host = stage.start();
        stage.events(&id).await;
        let job = stage.job(&id).await;
        assert_eq!(target.delivered().len(), delivered, "{place}: {job:#}");
        if goes_on {
            assert_eq!(job["status"], "succeeded", "{place}: {job:#}");
            continue;
        }
        assert_eq!(job["status"], "failed", "{place}: {job:#}");
        let gate = gate_of(&job);
        assert_eq!(gate["verdict"], "inconclusive", "{place}: {job:#}");
        assert!(gate["summary"].as_str().unwrap().contains("its effects are unknown"), "{place}: {job:#}");
        assert!(gate["fault"]["hint"].as_str().unwrap().contains("helix jobs resume"), "{place}: {job:#}");
        // A person who has looked lets it go on; what was not known is said with the next answer.
        let resumed = stage.helix(&["jobs", "resume", &id]).output().unwrap();
        assert!(resumed.status.success(), "{place}: {}", String::from_utf8_lossy(&resumed.stderr));
        assert_eq!(target.delivered().len(), delivered + 1, "{place}");
        let notes = gate_of(&stage.job(&id).await)["notes"].to_string();
        assert!(notes.contains("its end was not seen"), "{place}: {notes}");
    }
}

/// A job whose record is damaged is left alone by every host, and would keep all others from its target for good.
#[tokio::test(flavor = "multi_thread")]
async fn a_target_that_a_job_left_alone_holds_is_told_and_not_waited_for() {
    let stage = Stage::new(&script(""), "");
    let gates = "{ type: deploy_success, target: production, command: \"true\" }";
    let place = "after append of delivery_begun deliver attempt 1 gate 0";
    let mut dying = Process(stage.serve().env("HELIX_CRASH_AT", place).spawn().unwrap());
    let first = stage.submit(&stage.plan("p", &plan("test -s product.txt", gates)), &stage.repo, "p").await;
    let start = std::time::Instant::now();
    while dying.0.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < LIMIT, "the host does not die\n{}", stage.log());
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    let damage = "import sqlite3, sys\n\
                  db = sqlite3.connect(sys.argv[1])\n\
                  db.execute(\"DELETE FROM events WHERE kind = 'run_finished'\")\ndb.commit()\n";
    let database = stage.sandbox.state().join("helix.db");
    let damaged = std::process::Command::new("python3").args(["-c", damage]).arg(database).status().unwrap();
    assert!(damaged.success());
    let _host = stage.start();
    let second = stage.submit(&stage.plan("q", &plan("test -s product.txt", gates)), &stage.repo, "q").await;
    stage.events(&second).await;
    let job = stage.job(&second).await;
    let error = &job["phases"][2]["error"];
    assert_eq!(job["status"], "failed", "{job:#}");
    assert!(error["message"].as_str().unwrap().contains(&first), "{job:#}");
    assert!(error["hint"].as_str().unwrap().contains(&format!("helix jobs show {first}")), "{job:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_probe_is_repeated_and_what_acts_is_not() {
    let stage = Stage::new(&script(""), "");
    let target = Target::of(&stage);
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let gates = format!(
        "{{ type: deploy_success, command: \"{}\", retries: 2, delay: 1s, probes: [{{ tcp: \"127.0.0.1:{closed}\" }}] }}",
        target.command()
    );
    let _host = stage.start();
    let id = stage.submit(&stage.plan("p", &plan("test -s product.txt", &gates)), &stage.repo, "p").await;
    stage.events(&id).await;
    let job = stage.job(&id).await;
    let gate = gate_of(&job);
    assert_eq!((&job["status"], &gate["verdict"]), (&json!("failed"), &json!("fail")), "{job:#}");
    assert_eq!(gate["findings"][0]["rule"], "deploy_success.probe", "{job:#}");
    assert_eq!((&gate["steps"][0]["attempts"], &gate["steps"][1]["attempts"]), (&json!(1), &json!(3)), "{job:#}");
    // The agent was told and the second attempt delivered the same again, which its answer says.
    assert!(gate["notes"].to_string().contains("attempt 1 had delivered the same tree before"), "{job:#}");
    assert_eq!(target.delivered().len(), 2);
    // A command that is stopped in its middle is for a person to look at: no other attempt begins it again.
    let slow = plan("test -s product.txt", "{ type: deploy_success, command: \"sleep 300\", timeout: 1s }");
    let id = stage.submit(&stage.plan("q", &slow), &stage.repo, "q").await;
    stage.events(&id).await;
    let job = stage.job(&id).await;
    assert_eq!((&job["status"], &gate_of(&job)["verdict"]), (&json!("failed"), &json!("inconclusive")), "{job:#}");
    assert_eq!(job["phases"][2]["attempt"], 1, "{job:#}");
    stage.no_gate_is_left();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_reaches_the_command_and_no_record() {
    const TOKEN: &str = "s3cr3t-of-the-test-target";
    let stage = Stage::new(&script(""), "");
    let shown = "sh -c 'echo token $DEPLOY_TOKEN; test -n \\\"$DEPLOY_TOKEN\\\"; exit 3'";
    let gates = format!("{{ type: deploy_success, command: \"{shown}\", pass_env: [DEPLOY_TOKEN] }}");
    let text = plan("test -s product.txt", &gates);
    // Without it nothing begins.
    {
        let _host = stage.start();
        let id = stage.submit(&stage.plan("p", &text), &stage.repo, "p").await;
        let events = stage.events(&id).await;
        let job = stage.job(&id).await;
        assert_eq!(gate_of(&job)["verdict"], "inconclusive", "{job:#}");
        assert!(gate_of(&job)["summary"].as_str().unwrap().contains("DEPLOY_TOKEN"), "{job:#}");
        assert!(!events.iter().any(|event| event["type"] == "delivery_begun"), "{events:#?}");
    }
    let _host = Process(stage.serve().env("DEPLOY_TOKEN", TOKEN).spawn().unwrap());
    let id = stage.submit(&stage.plan("p", &text), &stage.repo, "q").await;
    let events = stage.events(&id).await;
    let job = stage.job(&id).await;
    let finding = &gate_of(&job)["findings"][0];
    assert!(finding["evidence"].as_str().unwrap().contains("token [secret DEPLOY_TOKEN]"), "{job:#}");
    assert!(!format!("{events:?}{job:?}").contains(TOKEN));
    let output = stage.sandbox.state().join(gate_of(&job)["steps"][0]["command"]["output_file"].as_str().unwrap());
    let output = std::fs::read_to_string(output).unwrap();
    assert!(output.contains("token [secret DEPLOY_TOKEN]") && !output.contains(TOKEN), "{output}");
}
