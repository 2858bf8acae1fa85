//! Fences: how one who was replaced is kept from writing. Must not know who replaces whom, nor when.

/// Proof that nobody has taken over: only the newest number of a name may write.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Fence {
    /// What is taken over, such as `host`.
    pub name: String,
    /// Strictly increasing per name, from 1.
    pub number: u64,
}
