//! All tests of `helix-failure` from outside, in one executable: each more of them is linked with everything that the package uses.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test fails by panicking, and says what it does not check"
)]

mod acceptance;
mod corpus;
mod figures;
mod lexicon;
mod properties;
mod redaction;
mod reference;
mod report;
mod rules;
mod world;
