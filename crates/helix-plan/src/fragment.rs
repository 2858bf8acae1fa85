//! What a planning phase returns: the phases that it adds to its plan, checked as strictly as a plan that a person wrote.
//!
//! Must not know agents, runs or files: a JSON value goes in, phases or precise findings come out.
//!
//! The rules. A fragment holds between `min` and `max` phases, and at most one feasibility phase before them. The plan,
//! not the agent, decides the phases' type, their least gates, their verification and their limits; an agent can add gates
//! and never take one away. Phases without a dependency among themselves start after the feasibility phase, or after the
//! planning phase where there is none; whatever depends on the planning phase then waits for all of them.

mod read;
mod schema;

pub use read::{Growth, read};
pub use schema::schema;

/// Longest fragment that is read, in bytes of JSON: more than twenty times what five long phases need.
const MAX_BYTES: usize = 256 * 1024;
