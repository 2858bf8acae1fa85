//! All tests of `helix-language` from outside, in one executable.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking, and says what it does not check"
)]

mod languages;
