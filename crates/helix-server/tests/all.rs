//! All tests of `helix-server` from outside, in one executable: each more of them is linked with everything that the package uses.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking, and says what it does not check"
)]

mod api_v1;
mod branches;
mod guard;
mod host;
mod mcp;
mod pages;
mod turns;
mod v1;
