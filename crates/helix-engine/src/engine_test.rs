use std::sync::atomic::{AtomicU32, Ordering};

use helix_core::ids::JobId;
use helix_store::{Moved, Stream};

use super::*;

/// A turn records several events, and a busy hour thousands: they are one reason to tidy up, or two.
#[tokio::test]
async fn what_is_recorded_at_once_is_tidied_up_once() {
    let (recorded, changes) = tokio::sync::broadcast::channel(16);
    let count = AtomicU32::new(0);
    let job = JobId::new("j1").expect("an id");
    let moved = || Moved { stream: Stream::Job(job.clone()), last: 1 };
    (0..10).for_each(|_| drop(recorded.send(moved())));
    let tidied = async {
        while count.load(Ordering::Relaxed) == 0 {
            tokio::task::yield_now().await;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    let tidying = tidy_after(changes, Duration::from_millis(5), async || {
        count.fetch_add(1, Ordering::Relaxed);
        true
    });
    tokio::select! {
        () = tidying => panic!("something may still be recorded"),
        () = tidied => {}
    }
    assert_eq!(count.load(Ordering::Relaxed), 1);
}
