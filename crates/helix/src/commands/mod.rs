//! One command, one file. A command reads its arguments, asks the host or the libraries, and says what came of it.
//!
//! Must not know SQL, dialects or how a host works.

pub(crate) mod acp;
pub(crate) mod adr;
pub(crate) mod answer;
pub(crate) mod chat;
pub(crate) mod clean;
pub(crate) mod demo;
pub(crate) mod describe;
pub(crate) mod do_command;
pub(crate) mod doctor;
pub(crate) mod draft;
pub(crate) mod explain;
pub(crate) mod failures;
pub(crate) mod gates;
pub(crate) mod hook;
pub(crate) mod init;
mod job_names;
pub(crate) mod jobs;
pub(crate) mod keys;
pub(crate) mod mcp;
mod means;
pub(crate) mod open;
pub(crate) mod openwebui;
pub(crate) mod outcome;
pub(crate) mod plan;
pub(crate) mod preflight;
pub(crate) mod project;
pub(crate) mod prompt;
pub(crate) mod run;
pub(crate) mod sandbox;
pub(crate) mod serve;
pub(crate) mod skills;
mod talk;
pub(crate) mod trust;
pub(crate) mod verify;
pub(crate) mod workflow;
