//! Evidence that leaves its machine: bundles, and what checks them there.

mod tampered;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::stage::Stage;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signer as _, SigningKey};
use serde_json::{Value, json};

const WRITES: &str = "parts:
  - { name: page, prompt: 'Write the page', act: { steps: [{ write: { path: page.md, content: \"# Page\\n\" } }] } }
  - { name: more, prompt: 'Write more', act: { steps: [{ write: { path: more.md, content: \"# More\\n\" } }] } }
  - { name: none, prompt: 'Write nothing', act: { steps: [] } }
";

const PLAN: &str = "name: pages
phases:
  - id: page
    type: documentation
    description: Write the page.
    outputs: [page.md]
    gates: [{ type: files_exist }, { type: command, command: 'grep -q Page page.md' }]
  - id: more
    type: documentation
    description: Write more.
    depends_on: [page]
    outputs: [more.md]
    gates: [{ type: files_exist }, { type: command, command: 'test ! -e unwanted' }]
";

const FAILS: &str = "name: nothing
phases:
  - id: none
    type: documentation
    description: Write nothing.
    outputs: [none.md]
    gates: [{ type: files_exist }]
    max_attempts: 1
    on_failure: fail
";

const UNCHECKED: &str = "name: unchecked
phases:
  - { id: page, type: documentation, description: Write the page., gates: [] }
";

const LEFT_OUT: &str = "name: leftout
phases:
  - { id: none, type: development, description: Write nothing., max_attempts: 1, on_failure: skip, gates: [] }
  - { id: page, type: documentation, description: Write the page., outputs: [page.md], gates: [{ type: files_exist }] }
";

fn run(stage: &Stage, arguments: &[&str]) -> Output {
    stage.helix(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs a command that must end with this code; standard output as JSON.
fn json_of(stage: &Stage, arguments: &[&str], wanted: i32) -> Value {
    let output = run(stage, &[arguments, &["--json"]].concat());
    let said = format!("{arguments:?}: {}\n{}", text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(wanted), "{said}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

/// The code and the message of an error that a command has to end with.
fn refused(stage: &Stage, arguments: &[&str], wanted: i32) -> (String, String) {
    let error = json_of(stage, arguments, wanted);
    let word = |name: &str| error["error"][name].as_str().unwrap_or_default().to_owned();
    assert!(!word("hint").is_empty(), "{error:#}");
    (word("code"), format!("{} {}", word("message"), error["error"]["causes"]))
}

/// Runs a plan and returns the id of its job.
fn job(stage: &Stage, name: &str, plan: &str, wanted: i32) -> String {
    let plan = stage.plan(name, plan);
    let ran = run(stage, &["run", plan.to_str().unwrap(), "--project", stage.repo.to_str().unwrap()]);
    assert_eq!(ran.status.code(), Some(wanted), "{}\n{}", text(&ran.stdout), text(&ran.stderr));
    let jobs = json_of(stage, &["jobs", "list"], 0);
    jobs[0]["id"].as_str().unwrap().to_owned()
}

/// A stage with a job that is proved, and its bundle.
fn bundled() -> (Stage, String, PathBuf) {
    let stage = Stage::new(WRITES, "");
    let id = job(&stage, "pages", PLAN, 0);
    let file = stage.sandbox.path().join("bundle.json");
    let evidence = json_of(&stage, &["jobs", "evidence", &id, "--bundle", file.to_str().unwrap()], 0);
    assert_eq!(evidence["proved"], true);
    (stage, id, file)
}

fn payload(bundle: &Path) -> Vec<u8> {
    let envelope: Value = serde_json::from_slice(&std::fs::read(bundle).unwrap()).unwrap();
    STANDARD.decode(envelope["payload"].as_str().unwrap()).unwrap()
}

/// The key with which a stage signs.
fn own_key(stage: &Stage) -> SigningKey {
    SigningKey::from_bytes(&std::fs::read(stage.sandbox.state().join("evidence.key")).unwrap().try_into().unwrap())
}

fn open_ssh(key: &SigningKey) -> String {
    let wire = [b"\0\0\0\x0bssh-ed25519\0\0\0\x20".as_slice(), key.verifying_key().as_bytes()].concat();
    format!("ssh-ed25519 {}", STANDARD.encode(wire))
}

fn signature(key: &SigningKey, kind: &str, payload: &[u8]) -> String {
    let mut signed = format!("DSSEv1 {} {kind} {} ", kind.len(), payload.len()).into_bytes();
    signed.extend_from_slice(payload);
    STANDARD.encode(key.sign(&signed).to_bytes())
}

/// An envelope as Helix writes it.
fn envelope(payload: &[u8], signatures: &[(String, String)]) -> String {
    let signatures: Vec<Value> = signatures.iter().map(|(key, sig)| json!({ "keyid": key, "sig": sig })).collect();
    let kind = "application/vnd.in-toto+json";
    json!({ "payload": STANDARD.encode(payload), "payloadType": kind, "signatures": signatures }).to_string() + "\n"
}

fn signed(key: &SigningKey, payload: &[u8]) -> String {
    envelope(payload, &[(open_ssh(key), signature(key, "application/vnd.in-toto+json", payload))])
}

#[test]
fn a_bundle_is_verified_elsewhere_by_a_named_key_against_the_repository_and_by_its_gates() {
    let (stage, id, file) = bundled();
    let bundle = file.to_str().unwrap();
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(stage.sandbox.state().join("evidence.key")).unwrap().permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);
    let here = json_of(&stage, &["verify", bundle], 0);
    assert_eq!((&here["verified"], &here["proved"], &here["job"]), (&json!(true), &json!(true), &json!(id)));
    let again = run(&stage, &["jobs", "evidence", &id, "--bundle", bundle]);
    assert_eq!(again.status.code(), Some(2), "a file is not overwritten: {}", text(&again.stderr));

    // What a reader finds in it.
    let statement: Value = serde_json::from_slice(&payload(&file)).unwrap();
    let tip = stage.git(&stage.repo, &["rev-parse", "HEAD", "HEAD^{tree}"]);
    let tip: Vec<&str> = tip.split_whitespace().collect();
    assert_eq!(statement["subject"][0]["digest"]["gitCommit"], tip[0], "{statement:#}");
    assert_eq!(statement["subject"][1]["digest"]["gitTree"], tip[1]);
    let predicate = &statement["predicate"];
    let any = |gates: &Value, fits: &dyn Fn(&Value) -> bool| gates.as_array().unwrap().iter().any(fits);
    let defined = |gate: &Value| gate["definition"]["command"] == "grep -q Page page.md" && gate["sha256"].is_string();
    assert!(any(&predicate["phases"][0]["gates"], &defined), "{:#}", predicate["phases"]);
    let ran = |gate: &Value| gate["command"]["exit_code"] == 0 && gate["verdict"] == "pass";
    assert!(any(&predicate["evidence"]["phases"][0]["gates"], &ran), "{:#}", predicate["evidence"]);
    assert!(predicate["submitted_by"].as_str().unwrap().ends_with("(terminal)"), "{}", predicate["submitted_by"]);
    assert!(predicate["evidence"]["phases"][0]["run"]["facts"]["walls"]["held"].is_array());
    let outputs = predicate["seen"]["outputs"].as_object().unwrap();
    assert!(outputs.values().all(|one| one["content"]["bytes"].is_u64()) && !outputs.is_empty(), "{outputs:?}");

    // Elsewhere, nobody has named the key.
    let elsewhere = Stage::new(WRITES, "");
    let (code, message) = refused(&elsewhere, &["verify", bundle], 7);
    assert!(code == "HX0832" && message.contains("the signature is valid, but of a key"), "{message}");
    let key = text(&run(&stage, &["verify", "--public-key"]).stdout).trim().to_owned();
    assert_eq!(json_of(&elsewhere, &["verify", bundle, "--key", &key], 0)["signed_by"], key);
    let signers = elsewhere.plan("signers", &format!("# ours\nana@example.org {key} of Ana\n"));
    let signers = signers.to_str().unwrap();
    json_of(&elsewhere, &["verify", bundle, "--key", signers], 0);
    let other = text(&run(&elsewhere, &["verify", "--public-key"]).stdout).trim().to_owned();
    assert_eq!(refused(&elsewhere, &["verify", bundle, "--key", &other], 7).0, "HX0832");
    assert_eq!(refused(&elsewhere, &["verify", bundle, "--key", "/dev/null"], 2).0, "HX0836");

    // The repository.
    let repo = stage.repo.to_str().unwrap();
    json_of(&elsewhere, &["verify", bundle, "--key", &key, "--repo", repo], 0);
    let (code, message) =
        refused(&elsewhere, &["verify", bundle, "--key", &key, "--repo", elsewhere.repo.to_str().unwrap()], 7);
    assert!(code == "HX0834" && message.contains("it has no commit"), "{message}");
    assert_eq!(refused(&elsewhere, &["verify", bundle, "--key", &key, "--rerun"], 2).0, "HX0900", "without --repo");

    // The gates, on the result as it was merged, whatever the work tree holds now.
    std::fs::write(stage.repo.join("unwanted"), "x").unwrap();
    // Whatever the environment says: a repository could set it, by `.envrc`.
    let mut again = elsewhere.helix(&["verify", bundle, "--key", &key, "--repo", repo, "--rerun", "--json"]);
    let ran = again.env("HELIX_RUN_DIR", "x").output().unwrap();
    let said = format!("{}\n{}", text(&ran.stdout), text(&ran.stderr));
    assert_eq!(ran.status.code(), Some(0), "{said}");
    assert!(text(&ran.stderr).contains("test ! -e unwanted"), "the commands are shown first: {said}");
    let value: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let reports: Vec<&Value> =
        value["rerun"].as_array().unwrap().iter().flat_map(|phase| phase["gates"].as_array().unwrap()).collect();
    let looked = |report: &&&Value| report["command"]["argv"].to_string().contains("unwanted");
    let looked = reports.iter().find(looked).unwrap_or_else(|| panic!("{value:#}"));
    assert!(looked["command"]["walls"]["held"].to_string().contains("files"), "{looked:#}");
    assert!(reports.iter().all(|report| report["verdict"] == "pass"), "{value:#}");
}

#[test]
fn what_did_not_succeed_has_an_exit_status_of_its_own_and_its_bundle_says_what_is_lacking() {
    let stage = Stage::new(WRITES, "");
    let id = job(&stage, "nothing", FAILS, 1);
    let file = stage.sandbox.path().join("bundle.json");
    let bundle = file.to_str().unwrap();
    let evidence = json_of(&stage, &["jobs", "evidence", &id, "--bundle", bundle], 6);
    assert_eq!(evidence["proved"], false);
    assert!(evidence["lacking"][0].as_str().unwrap().starts_with("the job failed: "), "{evidence:#}");
    assert_eq!(json_of(&stage, &["jobs", "evidence", &id], 6)["lacking"], evidence["lacking"]);
    let verified = json_of(&stage, &["verify", bundle], 6);
    assert_eq!((&verified["verified"], &verified["proved"]), (&json!(true), &json!(false)));
    assert_eq!(verified["lacking"], evidence["lacking"]);
    let said = run(&stage, &["verify", bundle]);
    assert!(text(&said.stdout).contains("NOT PROVED"), "{}", text(&said.stdout));
    let (_, message) = refused(&stage, &["verify", bundle, "--repo", stage.repo.to_str().unwrap(), "--rerun"], 2);
    assert!(message.contains("no integrated result"), "{message}");
    assert_eq!(run(&stage, &["jobs", "evidence", "j0"]).status.code(), Some(2), "an error is no verdict");

    // Signed by the very key: that it is proved does not follow.
    let claims = text(&payload(&file)).replace("\"proved\":false", "\"proved\":true");
    std::fs::write(&file, signed(&own_key(&stage), claims.as_bytes())).unwrap();
    assert_eq!(refused(&stage, &["verify", bundle], 7).0, "HX0833");
}

#[test]
fn an_outsider_checks_a_bundle_with_common_tools_as_the_page_says() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/evidence.md")).unwrap();
    let steps: Vec<&str> = page
        .split("```sh\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .filter(|one| one.contains("set -e"))
        .collect();
    assert_eq!(steps.len(), 1, "the page has the steps as one block");
    for tool in ["bash", "jq", "openssl"] {
        if Command::new(tool).arg("--version").output().is_err() {
            println!("not checked: there is no {tool}");
            return;
        }
    }
    let (stage, _, file) = bundled();
    let key = run(&stage, &["verify", "--public-key"]).stdout;
    let place = stage.sandbox.path().join("outside");
    std::fs::create_dir(&place).unwrap();
    std::fs::write(place.join("helix.pub"), key).unwrap();
    let outside = || {
        let mut command = stage.sandbox.command("bash");
        command.args(["-c", steps[0]]).current_dir(&place).env("REPO", &stage.repo);
        command.output().unwrap()
    };
    std::fs::copy(&file, place.join("bundle.json")).unwrap();
    let good = outside();
    assert!(good.status.success(), "{}\n{}", text(&good.stdout), text(&good.stderr));
    let other = payload(&file).iter().map(|byte| if *byte == b'7' { b'8' } else { *byte }).collect::<Vec<u8>>();
    let envelope: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let sig = envelope["signatures"][0]["sig"].as_str().unwrap().to_owned();
    std::fs::write(place.join("bundle.json"), self::envelope(&other, &[(open_ssh(&own_key(&stage)), sig)])).unwrap();
    assert!(!outside().status.success(), "a changed payload is not signed");
}

#[test]
fn a_phase_that_nothing_has_checked_is_not_proved() {
    let stage = Stage::new(WRITES, "");
    let id = job(&stage, "unchecked", UNCHECKED, 0);
    let evidence = json_of(&stage, &["jobs", "evidence", &id], 6);
    assert_eq!(evidence["proved"], false);
    assert_eq!(evidence["lacking"], json!(["phase page: nothing has checked it: no gate, no verifier, no person"]));
}

#[test]
fn a_phase_that_failed_and_was_left_out_is_named_with_its_reason() {
    let stage = Stage::new(WRITES, "");
    let plan = stage.plan("leftout", LEFT_OUT);
    let ran = run(&stage, &["run", plan.to_str().unwrap(), "--project", stage.repo.to_str().unwrap()]);
    let shown = text(&ran.stdout);
    assert_eq!(ran.status.code(), Some(0), "{shown}{}", text(&ran.stderr));
    assert!(shown.contains("none: skipped: "), "{shown}");
    let id = json_of(&stage, &["jobs", "list"], 0)[0]["id"].as_str().unwrap().to_owned();
    let evidence = json_of(&stage, &["jobs", "evidence", &id], 6);
    let lacking = evidence["lacking"][0].as_str().unwrap();
    assert!(lacking.starts_with("phase none: it failed, and the plan lets the job go on without it: "), "{lacking}");
    assert!(text(&run(&stage, &["jobs", "report", &id]).stdout).contains("`none`: skipped, attempt 1: "));
}
