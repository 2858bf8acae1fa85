//! The jobs API: one file for each noun. Must not know chat clients.

pub(crate) mod activity;
pub(crate) mod adrs;
pub(crate) mod events;
pub(crate) mod failures;
pub(crate) mod health;
pub(crate) mod job_request;
pub(crate) mod jobs;
pub(crate) mod keys;
pub(crate) mod logins;
pub(crate) mod logs;
pub(crate) mod metrics;
pub(crate) mod older;
pub(crate) mod questions;
pub(crate) mod request;
pub(crate) mod results;
pub(crate) mod sessions;
