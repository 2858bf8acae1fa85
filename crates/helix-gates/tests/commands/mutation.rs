//! Small mistakes planted into what a phase changed.

use helix_core::evidence::GateReport;
use helix_core::finding::{FaultKind, Verdict};
use helix_plan::{GateSpec, MutationGate, Seconds};

use super::{Bench, write};

const PRICE: &str = "def price(cents, gross):\n    if cents < 0:\n        raise ValueError(cents)\n    if gross:\n        return cents * 119 // 100\n    return cents\n";
const THOROUGH: &str = "import unittest, shop\nclass T(unittest.TestCase):\n    def test_all(self):\n        self.assertEqual(shop.price(0, False), 0)\n        \
                        self.assertEqual(shop.price(200, True), 238)\n        self.assertEqual(shop.price(200, False), 200)\n        \
                        self.assertRaises(ValueError, shop.price, -1, False)\n        self.assertEqual(shop.price(9900, True), 11781)\n";
const CARELESS: &str = "import unittest, shop\nclass T(unittest.TestCase):\n    def test_one(self):\n        self.assertTrue(shop.price(200, True) > 0)\n";

fn gate(command: &str, seconds: u32, min_killed: u32) -> GateSpec {
    GateSpec::Mutation(MutationGate { command: command.into(), timeout: Seconds(seconds), min_killed })
}

async fn check(gate: &GateSpec, files: &[(&str, &str)]) -> GateReport {
    let bench = Bench::new(&[("README.md", "shop\n")]);
    bench.check(gate, |tree| write(tree, files)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn thorough_tests_notice_planted_mistakes_and_careless_ones_are_told_which_not() {
    let gate = gate("python3 -m unittest", 300, 70);
    let good = check(&gate, &[("shop.py", PRICE), ("test_shop.py", THOROUGH)]).await;
    assert!(good.verdict.passed(), "{good:#?}");
    assert!(good.summary.contains(" planted mistakes"), "{}", good.summary);
    assert!(good.notes.iter().any(|note| note.contains("small mistakes are possible")), "{:?}", good.notes);

    let bad = check(&gate, &[("shop.py", PRICE), ("test_shop.py", CARELESS)]).await;
    let Verdict::Fail { findings } = &bad.verdict else { panic!("{bad:#?}") };
    let found = findings.iter().find(|found| found.message.contains("`return cents * 119 // 101`")).unwrap();
    assert_eq!(found.rule, "mutation.survived");
    assert!(found.message.contains("`return cents * 119 // 100`"), "{}", found.message);
    assert_eq!(found.place.as_ref().unwrap().to_string(), "shop.py:5");
    let noticed = "`return cents * 119 // 100` becomes `return None`";
    assert!(findings.iter().all(|found| !found.message.contains(noticed)), "{findings:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_judged_is_inconclusive() {
    let kind = |report: &GateReport| match &report.verdict {
        Verdict::Inconclusive { fault } => (fault.kind, fault.message.clone()),
        other => panic!("{other:#?}"),
    };
    let unittest = gate("python3 -m unittest", 300, 70);
    let nothing = check(&unittest, &[("NOTES.md", "x\n")]).await;
    assert_eq!(kind(&nothing).0, FaultKind::NothingChecked);
    assert!(kind(&nothing).1.contains("changed no source"), "{nothing:#?}");
    let plain = check(&unittest, &[("shop.py", "NAME = 'shop'\n"), ("test_shop.py", THOROUGH)]).await;
    assert!(kind(&plain).1.contains("no mistake can be planted"), "{plain:#?}");
    let failing =
        check(&unittest, &[("shop.py", "def price(a, b):\n    return 1\n"), ("test_shop.py", THOROUGH)]).await;
    assert!(kind(&failing).1.contains("does not pass on the result itself"), "{failing:#?}");

    // What no mistake can be looked for in is named where it was so before, and no pass where the job made it so.
    let large = format!("# {}\nprice = 1\n", "x".repeat(3 << 20));
    let old = Bench::new(&[("large.py", &large), ("broken.py", "def (\n"), ("shop.py", "")]);
    let work = [("shop.py", PRICE), ("test_shop.py", THOROUGH)];
    let base = old.base();
    let result = old.attempt("part", &base, |tree| {
        write(tree, &[("large.py", &large.replace("= 1", "= 2")), ("broken.py", "def (\n\n")]);
        write(tree, &work);
    });
    let part = old.run(&base, &result, &unittest).await;
    assert!(part.verdict.passed(), "{part:#?}");
    let new = [("new_large.py", large.as_str()), ("new_broken.py", "def (\n"), ("shop.py", &large)];
    for (number, file) in new.into_iter().enumerate() {
        let result = old.attempt(&format!("made-{number}"), &base, |tree| {
            write(tree, &work);
            write(tree, &[file]);
        });
        let made = old.run(&base, &result, &unittest).await;
        assert_eq!(kind(&made).0, FaultKind::Unreadable, "{made:#?}");
        assert!(kind(&made).1.contains("so nothing shows whether the tests see what it does"), "{made:#?}");
    }
    for named in
        ["not examined: broken.py, which cannot be parsed", "not examined: large.py, which has more than 2 MiB"]
    {
        assert!(part.notes.iter().any(|note| note == named), "{part:#?}");
    }

    // A run takes a second, and there is time for two or three.
    let slow = format!("import time\ntime.sleep(1)\n{THOROUGH}");
    let cut = check(&gate("python3 -m unittest", 4, 70), &[("shop.py", PRICE), ("test_shop.py", &slow)]).await;
    assert!(kind(&cut).1.contains("time was up after"), "{cut:#?}");
    assert_eq!(kind(&cut).0, FaultKind::Timeout);
}

/// An endless loop is noticed, and what does not compile says nothing.
#[tokio::test(flavor = "multi_thread")]
async fn javascript_and_endless_loops() {
    let source =
        "export function sum(n) {\n  let i = 0, all = 0;\n  while (i < n) { i += 1; all += i; }\n  return all;\n}\n";
    let test = "import test from 'node:test';\nimport assert from 'node:assert';\nimport { sum } from './sum.mjs';\ntest('sum', () => { assert.equal(sum(3), 6); assert.equal(sum(0), 0); });\n";
    let report = check(&gate("node --test", 300, 80), &[("sum.mjs", source), ("sum.test.mjs", test)]).await;
    assert!(report.verdict.passed(), "{report:#?}");
    assert!(report.notes.iter().any(|note| note.contains("1 ran into their time limit")), "{:?}", report.notes);
}
