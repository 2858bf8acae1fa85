//! The language of the demo's work: whatever this machine can run tests in.
//!
//! Must not install anything.

use std::process::{Command, Stdio};

/// A language with a first try that fails its own tests.
#[derive(Debug)]
pub(super) struct Flavour {
    pub(super) name: &'static str,
    /// Program and arguments that show that it is there.
    probe: &'static [&'static str],
    /// Path of the source.
    pub(super) source: &'static str,
    /// Path of the tests.
    pub(super) test: &'static str,
    /// Gate that runs the tests.
    pub(super) gate: &'static str,
    /// Command of the gate.
    pub(super) command: &'static str,
    /// What proves each criterion of the decision.
    pub(super) proofs: [&'static str; 3],
    pub(super) first: &'static str,
    pub(super) tests: &'static str,
    /// What is wrong with the first try.
    pub(super) find: &'static str,
    pub(super) replace: &'static str,
}

/// All of them, the preferred one first.
pub(super) const ALL: &[Flavour] = &[
    Flavour {
        name: "Python",
        probe: &["python3", "-c", "import unittest"],
        source: "basket.py",
        test: "tests/test_basket.py",
        gate: "tests_pass",
        command: "python3 -m unittest discover -s tests",
        proofs: [
            "test: `python3 -m unittest tests.test_basket.TotalTest.test_an_empty_basket_costs_nothing`",
            "test: `python3 -m unittest tests.test_basket.TotalTest.test_prices_add_up`",
            "test: `python3 -m unittest tests.test_basket.TotalTest.test_quantities_count`",
        ],
        first: include_str!("material/basket_first.py"),
        tests: include_str!("material/test_basket.py"),
        find: "sum(price for _, price, _ in items)",
        replace: "sum(price * quantity for _, price, quantity in items)",
    },
    Flavour {
        name: "shell",
        probe: &["sh", "-c", ":"],
        source: "basket.sh",
        test: "tests/test_basket.sh",
        gate: "command",
        command: "sh tests/test_basket.sh",
        proofs: [
            "`sh tests/test_basket.sh` shows `ok - an empty basket costs nothing`",
            "`sh tests/test_basket.sh` shows `ok - prices add up`",
            "`sh tests/test_basket.sh` shows `ok - quantities count`",
        ],
        first: include_str!("material/basket_first.sh"),
        tests: include_str!("material/test_basket.sh"),
        find: "sum + $1",
        replace: "sum + $1 * $2",
    },
];

/// The first one whose tests can be run here.
pub(super) fn runnable() -> Option<&'static Flavour> {
    ALL.iter().find(|flavour| {
        let [program, arguments @ ..] = flavour.probe else { return false };
        let mut probe = Command::new(program);
        probe.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        probe.status().is_ok_and(|status| status.success())
    })
}
