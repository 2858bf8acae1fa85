//! The pure heart of Helix: domain types, state machines, `decide`, and the parsers of Helix's own formats.
//!
//! Nothing in this crate reads a clock, a disk, a network, a process or the environment, and nothing is async: every
//! function here gives the same answer for the same arguments, which is what makes crash recovery "fold and decide".

pub mod adr;
pub mod agent_event;
pub mod diagnostic;
pub mod failure;
pub mod finding;
pub mod ids;
pub mod job;
pub mod plan;
pub mod question;
pub mod run;
pub mod session;
pub mod slug;
pub mod source_text;
pub mod step_marker;
pub mod usage;
pub mod yaml;
