//! All tests of `helix` from outside, in one executable: each more of them is linked with everything that the package uses.
#![allow(
    clippy::expect_used,
    clippy::let_underscore_must_use,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test fails by panicking, and says what it does not check"
)]

mod acp;
mod adr;
mod after_failure;
mod bad_input;
mod codex;
mod consultant;
mod crash;
mod crash_points;
mod decisions;
mod disk_full;
mod do_real_cli;
mod e2e;
mod e2e_enforcement;
mod e2e_real_cli;
mod evidence;
mod failures;
mod faults;
mod first_steps;
mod gates_audit;
mod gateway;
mod generated;
mod hosts;
mod identities;
mod landing;
mod languages;
mod mutation;
mod older;
mod openwebui;
mod outcome;
mod persons;
mod preflight;
mod queue;
mod rules_reach_agents;
mod sandbox;
mod secrets;
mod sources;
mod stage;
mod stuck;
mod talk;
mod together;
mod tools;
mod trust;
mod tutorial;
mod user;
mod venv;
mod verification;
mod workflows;
mod workspace;
