//! Whether what is called similar is: labelled pairs, and the labelled corpus against itself.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use helix_failure::memory::{Closeness, Diagnosis, SimilarQuery, check};
use helix_failure::{Classifier, FailureObservation, LogSample};
use helix_store::failures::FailureMemory;
use serde_json::Value;

use super::samples::{answer, at, place, seen};
use super::sqlite;

static CLASSIFIER: LazyLock<Classifier> = LazyLock::new(|| Classifier::new().unwrap());
const CORPUS: &str = include_str!("../../../helix-failure/tests/fixtures/failures/corpus.jsonl");

/// Pairs of messages of one tool: the same cause in other words, as tools word it for another name, place or version.
const SAME: [(&str, &str, &str); 16] = [
    (
        "cargo",
        "error[E0308]: mismatched types: expected `u32`, found `Price`",
        "error[E0308]: mismatched types: expected `u32`, found `Amount`",
    ),
    (
        "cargo",
        "error[E0425]: cannot find function `parse_row` in this scope",
        "error[E0425]: cannot find function `parse_rows` in this scope",
    ),
    ("cargo", "error[E0382]: borrow of moved value: `orders`", "error[E0382]: borrow of moved value: `rows`"),
    (
        "cargo",
        "error[E0599]: no method named `total` found for struct `Cart` in the current scope",
        "error[E0599]: no method named `sum` found for struct `Basket` in the current scope",
    ),
    ("pytest", "ModuleNotFoundError: No module named 'shop.cart'", "ModuleNotFoundError: No module named 'shop.order'"),
    (
        "pytest",
        "AttributeError: 'Cart' object has no attribute 'total'",
        "AttributeError: 'Order' object has no attribute 'total'",
    ),
    (
        "pytest",
        "TypeError: total() missing 1 required positional argument: 'cart'",
        "TypeError: total() missing 2 required positional arguments: 'cart' and 'tax'",
    ),
    (
        "tsc",
        "src/a.ts(3,4): error TS2322: Type 'string' is not assignable to type 'number'.",
        "src/b.ts(30,4): error TS2322: Type 'boolean' is not assignable to type 'number'.",
    ),
    (
        "tsc",
        "src/a.ts(3,4): error TS2339: Property 'total' does not exist on type 'Cart'.",
        "src/a.ts(8,1): error TS2339: Property 'sum' does not exist on type 'Cart'.",
    ),
    ("npm", "npm error Missing script: \"bulid\"", "npm error Missing script: \"biuld\""),
    ("go", "./cart.go:10:2: undefined: parseRow", "./order.go:14:2: undefined: parseRows"),
    ("bash", "a.sh: line 3: jq: command not found", "b.sh: line 17: yq: command not found"),
    ("docker", "failed to solve: shop/base:1.2: not found", "failed to solve: shop/base:1.3: not found"),
    ("psql", "ERROR:  relation \"orders\" does not exist", "ERROR:  relation \"order_items\" does not exist"),
    (
        "git",
        "CONFLICT (content): Merge conflict in src/cart.rs",
        "CONFLICT (content): Merge conflict in src/order/mod.rs",
    ),
    (
        "helix",
        "plans/a/phases.yaml:3:5: error[HX0112]: phase id `a` is used twice",
        "plans/b/phases.yaml:9:5: error[HX0112]: phase id `tests` is used twice",
    ),
];

/// Pairs of messages of one tool and category that read alike and have different causes.
const DIFFERENT: [(&str, &str, &str); 12] = [
    (
        "cargo",
        "error[E0308]: mismatched types: expected `u32`, found `Price`",
        "error[E0382]: use of moved value: `price`",
    ),
    ("cargo", "error[E0425]: cannot find value `rows` in this scope", "error[E0432]: unresolved import `serde_json`"),
    (
        "pytest",
        "TypeError: total() missing 1 required positional argument: 'cart'",
        "TypeError: unsupported operand type(s) for +: 'int' and 'str'",
    ),
    (
        "pytest",
        "TypeError: 'NoneType' object is not subscriptable",
        "TypeError: can only concatenate str (not \"int\") to str",
    ),
    (
        "tsc",
        "src/a.ts(3,4): error TS2322: Type 'string' is not assignable to type 'number'.",
        "src/a.ts(3,4): error TS2554: Expected 2 arguments, but got 1.",
    ),
    (
        "tsc",
        "src/a.ts(3,4): error TS2339: Property 'total' does not exist on type 'Cart'.",
        "src/a.ts(1,20): error TS2307: Cannot find module './cart' or its corresponding type declarations.",
    ),
    (
        "npm",
        "npm error Missing script: \"bulid\"",
        "npm error 404 Not Found - GET https://registry.example.org/left-padd",
    ),
    (
        "node",
        "TypeError: Cannot read properties of undefined (reading 'total')",
        "TypeError: cart.sum is not a function",
    ),
    (
        "go",
        "./cart.go:10:2: undefined: parseRow",
        "./cart.go:4:2: no required module provides package github.com/x/y; to add it: go get",
    ),
    (
        "docker",
        "failed to solve: shop/base:1.2: not found",
        "failed to solve: process \"/bin/sh -c make\" did not complete successfully: exit code: 2",
    ),
    (
        "git",
        "fatal: pathspec 'src/cart.rs' did not match any files",
        "fatal: couldn't find remote ref refs/heads/feature",
    ),
    ("psql", "ERROR:  relation \"orders\" does not exist", "ERROR:  column \"total\" does not exist"),
];

fn diagnosed(tool: &str, line: &str) -> Diagnosis {
    let observation = FailureObservation { tool: tool.into(), ..FailureObservation::default() };
    Diagnosis::new(tool, &CLASSIFIER.classify(&observation, &LogSample::from_texts(line, "")))
}

/// Remembers a failure that was fixed.
async fn remember(memory: &FailureMemory, number: usize, diagnosis: Diagnosis) {
    let job = format!("j{number}");
    let mut occurrence = seen("x", place(&job, 1, check::RUN));
    occurrence.diagnosis = diagnosis;
    memory.capture(occurrence).await.unwrap();
    memory.resolve_outstanding(answer(&job, 2, &[check::RUN], &[])).await.unwrap();
}

/// What is found of the corpus, asked for each of its failures: how often by the same cause, and how often by another.
async fn corpus_against_itself(memory: &FailureMemory) -> (usize, usize) {
    let mut of_cause: BTreeMap<String, usize> = BTreeMap::new();
    let mut all = Vec::new();
    for (number, line) in CORPUS.lines().enumerate() {
        let case: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| case[key].as_str().unwrap_or_default();
        let observation = FailureObservation {
            tool: text("tool").into(),
            phase: text("phase").into(),
            ..FailureObservation::default()
        };
        let log = LogSample::from_texts(text("stdout_tail"), text("stderr_tail"));
        let diagnosis = Diagnosis::new(text("tool"), &CLASSIFIER.classify(&observation, &log));
        let label = case["labels"]["cause"].as_str().unwrap().to_owned();
        *of_cause.entry(label.clone()).or_default() += 1;
        remember(memory, number, diagnosis.clone()).await;
        all.push((diagnosis, label));
    }
    let (mut right, mut wrong) = (0, 0);
    for (diagnosis, label) in &all {
        let found = memory
            .similar(SimilarQuery { diagnosis: diagnosis.clone(), project: None, most: 3, now: at(5_000) })
            .await
            .unwrap();
        for past in found.iter().filter(|past| past.closeness != Closeness::Exact) {
            let same =
                all.iter().any(|(other, its)| other.fingerprint == past.known.diagnosis.fingerprint && its == label);
            if same { right += 1 } else { wrong += 1 }
        }
    }
    (right, wrong)
}

/// The threshold was chosen by these figures: below it, near wordings of other causes are offered; above it, other wordings of the
/// same cause are not.
#[tokio::test]
async fn what_is_called_similar_has_the_same_cause() {
    let (memory, _scratch) = sqlite().await;
    let (mut found, mut mistaken) = (Vec::new(), Vec::new());
    for (number, (tool, known, _)) in SAME.iter().chain(&DIFFERENT).enumerate() {
        remember(&memory, number, diagnosed(tool, known)).await;
    }
    let offered = async |tool: &str, known: &str, asked: &str| {
        let (known, asked) = (diagnosed(tool, known), diagnosed(tool, asked));
        let past = memory
            .similar(SimilarQuery { diagnosis: asked.clone(), project: None, most: 3, now: at(5_000) })
            .await
            .unwrap();
        past.iter().any(|past| past.known.diagnosis.fingerprint == known.fingerprint)
    };
    for (tool, known, asked) in SAME {
        if offered(tool, known, asked).await {
            found.push(asked);
        }
    }
    for (tool, known, asked) in DIFFERENT {
        if offered(tool, known, asked).await {
            mistaken.push(asked);
        }
    }
    let missed: Vec<_> = SAME.iter().map(|(_, _, asked)| asked).filter(|asked| !found.contains(asked)).collect();
    let precision = found.len() as f64 / (found.len() + mistaken.len()) as f64;
    assert!(precision >= 0.9, "{precision}: {mistaken:?}");
    assert!(found.len() * 10 >= SAME.len() * 8, "{missed:?}");

    let (memory, _scratch) = sqlite().await;
    let (right, wrong) = corpus_against_itself(&memory).await;
    assert!(right * 10 >= (right + wrong) * 9 && right >= 20, "{right} right, {wrong} wrong");
}
