//! All tests of `helix-engine` from outside, in one executable: each more of them is linked with everything that the package uses.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking, and says what it does not check")]

mod jobs_checks;
mod jobs_landing;
mod jobs_phases;
mod jobs_stopping;
mod workshop;
