//! What Helix's own tests stand on: a scripted model endpoint, a fault-scripted agent, and drivers for processes.
//!
//! Must not know any other crate of the workspace, so that every crate can test with it.

pub mod agent;
pub mod crash;
pub mod cuts;
pub mod locate;
pub mod model;
pub mod processes;
pub mod project;
pub mod random;
pub mod recording;
pub mod sandbox;
pub mod scratch;
