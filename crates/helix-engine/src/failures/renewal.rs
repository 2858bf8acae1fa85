//! Brings what an older Helix has remembered up to date, beside the work and piece by piece, until nothing is left.
//!
//! Must not hold up a start or a job: each piece is short, is a transaction of its own, and is followed by a pause as long.

use std::sync::Weak;
use std::time::{Duration, Instant};

use super::desk::Shared;

/// Failures that are given new fingerprints in one piece: some hundredths of a second.
const PIECE: usize = 100;
/// How long a memory in trouble is left alone.
const REST: Duration = Duration::from_mins(1);
/// Troubles in a row after which the next start goes on.
const TROUBLES: u32 = 10;

/// Renews until nothing is left or the desk is gone. Whatever ends it, the next start goes on where it was.
pub(super) async fn run(desk: Weak<Shared>) {
    let (mut renewed, mut troubles) = (0, 0);
    while troubles < TROUBLES {
        let Some(shared) = desk.upgrade() else { return };
        let Some(memory) = shared.memory.clone() else { return };
        let began = Instant::now();
        let piece = shared.heard(memory.renew(PIECE).await);
        // Neither is kept over a pause: a desk that nobody uses any more ends this.
        drop((shared, memory));
        match piece {
            Some(0) => break,
            Some(some) => {
                renewed += some;
                troubles = 0;
                tokio::time::sleep(began.elapsed()).await;
            }
            None => {
                troubles += 1;
                tokio::time::sleep(REST).await;
            }
        }
    }
    if renewed > 0 {
        tracing::info!(renewed, "gave failures that an older Helix had remembered new fingerprints");
    }
}
