//! `helix gates audit`: what the gates of a finished job would let through, on a real repository with pytest.

use std::path::Path;
use std::process::Output;

use crate::stage::Stage;
use serde_json::Value;

const WRITES: &str = "parts:
  - name: strong
    prompt: 'Write the strong one'
    act:
      steps:
        - { write: { path: shop/prices.py, content: \"def total(one, other):\\n    return one + other\\n\" } }
        - { write: { path: tests/test_prices.py, content: \"from shop.prices import total\\n\\n\\ndef test_total():\\n    assert total(2, 3) == 5\\n\" } }
  - name: weak
    prompt: 'Write the weak one'
    act:
      steps:
        - { write: { path: shop/weights.py, content: \"def weight(one, other):\\n    return one + other\\n\" } }
        - { write: { path: tests/test_weights.py, content: \"from shop.weights import weight\\n\\n\\ndef test_weight():\\n    assert weight(2, 3) is not None\\n\" } }
";

fn plan(name: &str, file: &str, gate: &str) -> String {
    format!(
        "name: {name}\nphases:\n  - id: write\n    type: development\n    description: Write the {name} one.\n    \
         outputs: [shop/{file}.py, tests/test_{file}.py]\n    gates: [{{ type: {gate}, command: 'pytest -q' }}]\n"
    )
}

fn run(stage: &Stage, arguments: &[&str], language: &str) -> Output {
    let tools = std::env::var_os("HELIX_TEST_TOOLS").map(Into::into);
    let tools = tools.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.test-tools"));
    let path = format!("{}:{}", tools.join("python/bin").display(), std::env::var("PATH").unwrap());
    stage.helix(arguments).env("PATH", path).env("LC_ALL", language).output().unwrap()
}

fn said(output: &Output) -> String {
    format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn json_of(stage: &Stage, arguments: &[&str], wanted: i32) -> Value {
    let output = run(stage, &[arguments, &["--json"]].concat(), "C.UTF-8");
    assert_eq!(output.status.code(), Some(wanted), "{}", said(&output));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", said(&output)))
}

/// All that a repository consists of.
fn state(stage: &Stage) -> String {
    let git = |arguments: &[&str]| stage.git(&stage.repo, arguments);
    [git(&["count-objects", "-v"]), git(&["for-each-ref"]), git(&["status", "--porcelain"])].concat()
}

#[test]
fn a_weak_gate_lets_planted_faults_through_and_a_strong_one_none() {
    let stage = Stage::new(WRITES, "");
    let job = |name: &str, text: &str| {
        let plan = stage.plan(name, text);
        let ran = run(&stage, &["run", plan.to_str().unwrap(), "--project", stage.repo.to_str().unwrap()], "C.UTF-8");
        assert_eq!(ran.status.code(), Some(0), "{}", said(&ran));
        json_of(&stage, &["jobs", "list"], 0)[0]["id"].as_str().unwrap().to_owned()
    };
    let strong = job("strong", &plan("strong", "prices", "tests_pass"));
    let weak = job("weak", &plan("weak", "weights", "command"));
    let (before, evidence) = (state(&stage), json_of(&stage, &["jobs", "evidence", &weak], 0));
    assert!(evidence.get("audit").is_none());

    let audit = json_of(&stage, &["gates", "audit", &strong, "--limit", "14"], 0);
    let all = |audit: &Value| audit["faults"].as_array().unwrap().clone();
    let sorts =
        |faults: &[Value]| faults.iter().map(|one| one["sort"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    assert_eq!(audit["escape_rate"], 0.0, "{audit:#}");
    assert!(audit["interval"][1].as_f64().unwrap() < 0.4, "{audit:#}");
    for sort in ["stub", "lie", "weaker_test", "mistake"] {
        assert!(sorts(&all(&audit)).contains(&sort.to_owned()), "{sort}: {audit:#}");
    }

    let ran = run(&stage, &["gates", "audit", &weak, "--limit", "14"], "de_DE.UTF-8");
    assert_eq!(ran.status.code(), Some(1), "{}", said(&ran));
    for words in ["Durchlassquote", "shop/weights.py:2", "DURCHGELASSEN", "Lüge", "schwächerer Test"] {
        assert!(said(&ran).contains(words), "{words}: {}", said(&ran));
    }
    let with = json_of(&stage, &["jobs", "evidence", &weak], 0);
    let escaped: Vec<Value> = all(&with["audit"]).into_iter().filter(|one| one.get("noticed_by").is_none()).collect();
    for sort in ["lie", "mistake"] {
        assert!(sorts(&escaped).contains(&sort.to_owned()), "{sort}: {with:#}");
    }
    // What became of the tests is asked behind a command, too.
    assert!(!sorts(&escaped).contains(&"weaker_test".to_owned()), "{with:#}");
    let mut without = with.clone();
    without.as_object_mut().unwrap().remove("audit");
    assert_eq!((without, state(&stage)), (evidence, before), "neither the record nor the repository has changed");
    assert!(said(&run(&stage, &["jobs", "evidence", &weak], "C.UTF-8")).contains("escape rate"));
    // What was found is told although it cannot be kept. Jobs have short names here, too.
    let kept = stage.sandbox.state().join("audits");
    std::fs::remove_dir_all(&kept).unwrap();
    std::fs::write(&kept, "").unwrap();
    let unkept = run(&stage, &["gates", "audit", "last", "--limit", "1"], "C.UTF-8");
    assert_eq!(unkept.status.code(), Some(4), "{}", said(&unkept));
    assert!(said(&unkept).contains("escape rate") && said(&unkept).contains("HX0922"), "{}", said(&unkept));
}
