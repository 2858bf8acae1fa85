use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use helix_core::run::Ending;
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::*;

fn end(stdout_bytes: u64) -> RunEnd {
    RunEnd {
        ending: Ending::Exited { code: 0 },
        stopped: None,
        stderr_tail: String::new(),
        started_at: Timestamp::UNIX_EPOCH,
        ended_at: Timestamp::UNIX_EPOCH,
        peak_rss_kib: 0,
        stdout_bytes,
        leftovers_killed: 0,
        walls: None,
    }
}

/// What waits for both picks one at random: a reader that asked the wrong one first gave up in about half of the rounds.
#[tokio::test]
async fn a_reader_outlives_who_followed_the_run() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("stdout");
    std::fs::write(&path, "one\n").expect("a record");
    for round in 0..40 {
        let (output, written) = watch::channel(0_u64);
        let (ended, run_end) = watch::channel(None);
        let waiting = Arc::new(CancellationToken::new().drop_guard());
        let mut lines = LineReader::new(RunId::new("run").expect("an id"), path.clone(), written, run_end, waiting);
        assert_eq!(lines.next().await.expect("a line").expect("a line"), "one");
        {
            let mut next = pin!(lines.next());
            // It has read all that there is, and waits.
            for _ in 0..3 {
                assert!(poll_fn(|context| Poll::Ready(next.as_mut().poll(context).is_pending())).await);
            }
            ended.send_replace(Some(end(4)));
            drop((ended, output));
            assert!(next.await.is_none(), "round {round}");
        }
        assert!(lines.end().read_to_end, "round {round}");
    }
}
