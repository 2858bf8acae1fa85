//! Turns whose clients went away, by conversation: they are stopped early when the conversation goes on.
//!
//! Must not know the engine.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

/// All abandoned turns of a server.
#[derive(Debug, Default)]
pub(crate) struct Abandoned {
    by_key: Mutex<HashMap<String, Waiting>>,
}

#[derive(Debug, Default)]
struct Waiting {
    go_on: CancellationToken,
    turns: usize,
}

impl Abandoned {
    /// Notes an abandoned turn; the token fires when its conversation goes on. [`Abandoned::leave`] must follow.
    pub(crate) fn enter(&self, key: &str) -> CancellationToken {
        let mut by_key = self.lock();
        let waiting = by_key.entry(key.to_owned()).or_default();
        waiting.turns += 1;
        waiting.go_on.clone()
    }

    /// Forgets a turn that was noted.
    pub(crate) fn leave(&self, key: &str) {
        let mut by_key = self.lock();
        if let Some(waiting) = by_key.get_mut(key) {
            waiting.turns -= 1;
            if waiting.turns == 0 {
                by_key.remove(key);
            }
        }
    }

    /// The conversation goes on: whoever waits with an abandoned turn of it need not wait any longer.
    pub(crate) fn goes_on(&self, key: &str) {
        if let Some(waiting) = self.lock().get_mut(key) {
            std::mem::take(&mut waiting.go_on).cancel();
        }
    }

    /// A panic in another holder leaves the map whole: every change of it is one step.
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Waiting>> {
        self.by_key.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn going_on_reaches_the_turns_of_that_conversation_only() {
        let abandoned = Abandoned::default();
        let (one, two, other) = (abandoned.enter("a"), abandoned.enter("a"), abandoned.enter("b"));
        abandoned.goes_on("a");
        assert!(one.is_cancelled() && two.is_cancelled() && !other.is_cancelled());
        assert!(!abandoned.enter("a").is_cancelled(), "a later one waits anew");
        for key in ["a", "a", "a", "b"] {
            abandoned.leave(key);
        }
        assert!(abandoned.lock().is_empty());
    }
}
