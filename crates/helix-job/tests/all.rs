//! All tests of `helix-job` from outside, in one executable: each more of them is linked with everything that the package uses.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking, and says what it does not check"
)]

mod checks;
mod journal_format;
mod properties;
mod rules;
mod world;
