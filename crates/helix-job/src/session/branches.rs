//! The branches of a session: its tree of turns, told as paths. Must not know what turns say.

use std::collections::{HashMap, HashSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::turn::TurnView;
use helix_core::ids::TurnId;

/// A way through a session, from its beginning to a turn that nothing follows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Branch {
    /// The turn that nothing follows.
    pub tip: TurnId,
    /// The turn after which this branch leaves an older one; absent for the oldest and for those that begin anew.
    pub leaves: Option<TurnId>,
    /// Its own turns, oldest first: those that no older branch has.
    pub turns: Vec<TurnId>,
}

/// The branches of a session's turns, oldest first. Each turn is named in exactly one branch. Linear.
pub fn branches(turns: &[TurnView]) -> Vec<Branch> {
    let known: HashSet<&TurnId> = turns.iter().map(|turn| &turn.id).collect();
    // The first child goes on with its parent's branch, every later one begins a branch.
    let mut branch_of_tip: HashMap<&TurnId, usize> = HashMap::new();
    let mut found: Vec<Branch> = Vec::new();
    for turn in turns {
        let parent = turn.parent.as_ref();
        match parent.and_then(|parent| branch_of_tip.remove(parent)) {
            Some(at) => {
                found[at].tip = turn.id.clone();
                found[at].turns.push(turn.id.clone());
                branch_of_tip.insert(&turn.id, at);
            }
            None => {
                branch_of_tip.insert(&turn.id, found.len());
                let leaves = parent.filter(|parent| known.contains(parent)).cloned();
                found.push(Branch { tip: turn.id.clone(), leaves, turns: vec![turn.id.clone()] });
            }
        }
    }
    found
}
