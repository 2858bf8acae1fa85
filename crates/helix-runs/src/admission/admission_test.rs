use std::future::Future as _;
use std::task::{Context, Poll, Waker};

use helix_core::ids::JobId;

use super::*;

fn ticket(number: u64, phase: &str) -> Ticket {
    Ticket {
        owner: Owner::Job(JobId::from_parts(1_700_000_000_000, number)),
        phase: Some(PhaseId::new(phase).unwrap()),
        urgency: Urgency::Begin,
    }
}

fn limits(agents: u32, memory_floor: u64) -> (tempfile::TempDir, AdmissionLimits) {
    let root = tempfile::tempdir().unwrap();
    let gauge = MemoryGauge::below(root.path());
    (root, AdmissionLimits { agents, gates: 1, memory_floor, gauge })
}

fn say(root: &tempfile::TempDir, kib: u64) {
    std::fs::create_dir_all(root.path().join("proc")).unwrap();
    std::fs::write(root.path().join("proc/meminfo"), format!("MemAvailable: {kib} kB\n")).unwrap();
}

#[tokio::test]
async fn a_place_is_never_lost_whoever_goes_away() {
    let (_root, limits) = limits(1, 0);
    let admission = Admission::to_agents(&limits);
    let first = admission.enter(ticket(1, "a")).await.unwrap();
    let mut second = Box::pin(admission.enter(ticket(2, "b")));
    let mut third = Box::pin(admission.enter(ticket(3, "c")));
    let mut context = Context::from_waker(Waker::noop());
    assert!(second.as_mut().poll(&mut context).is_pending() && third.as_mut().poll(&mut context).is_pending());
    let waits = admission.waiting_of(&ticket(3, "c").owner);
    let expected = Wait::Places { of: "agents".into(), taken: 1, places: 1, waiting: 2 };
    assert_eq!(waits, [(PhaseId::new("c").ok(), expected)]);
    // The second gets the place and goes away before it has looked.
    drop(first);
    drop(second);
    let Poll::Ready(Ok(place)) = third.as_mut().poll(&mut context) else { panic!("the place is lost") };
    drop((third, place));
    let queue = admission.shared.queue();
    assert_eq!((queue.taken(), queue.waiting()), ((0, 1), 0));
}

#[tokio::test]
async fn what_runs_already_counts_even_where_there_is_no_room() {
    let (_root, limits) = limits(1, 0);
    let admission = Admission::to_agents(&limits);
    let running = [1, 2].map(|number| admission.occupy(ticket(number, "a").owner));
    let mut next = Box::pin(admission.enter(ticket(3, "b")));
    let mut context = Context::from_waker(Waker::noop());
    let [first, second] = running;
    assert!(next.as_mut().poll(&mut context).is_pending());
    drop(first);
    assert!(next.as_mut().poll(&mut context).is_pending(), "the other one still runs");
    drop(second);
    assert!(next.as_mut().poll(&mut context).is_ready());
}

#[test]
fn who_waits_for_memory_is_never_forgotten_whatever_others_do_at_that_moment() {
    let (root, limits) = limits(4, 1 << 20);
    say(&root, 1023);
    for _ in 0..300 {
        let admission = Admission::to_agents(&limits);
        let together = std::sync::Barrier::new(2);
        let staying = std::thread::scope(|scope| {
            scope.spawn(|| {
                let passing = admission.enter(ticket(1, "a"));
                together.wait();
                drop(passing);
            });
            together.wait();
            admission.enter(ticket(2, "b"))
        });
        assert!(admission.shared.pressure.borrow().is_some(), "nobody looks at the memory again");
        drop(staying);
        assert!(admission.shared.pressure.borrow().is_none());
    }
}

#[tokio::test]
async fn nothing_starts_below_the_floor_and_everything_goes_on_above_it() {
    let (root, limits) = limits(4, 1 << 20);
    say(&root, 1023);
    let mut admission = Admission::to_agents(&limits);
    Arc::get_mut(&mut admission.shared).unwrap().look_again = Duration::from_millis(5);
    let closing = CancellationToken::new();
    let watching = tokio::spawn(admission.clone().watch_memory(closing.clone()));
    let waiting = tokio::spawn({
        let admission = admission.clone();
        async move { admission.enter(ticket(1, "a")).await }
    });
    let owner = ticket(1, "a").owner;
    while admission.waiting_of(&owner).is_empty() {
        tokio::task::yield_now().await;
    }
    let (_, wait) = admission.waiting_of(&owner).remove(0);
    assert_eq!(wait, Wait::Memory { available_bytes: 1023 << 10, needed_bytes: 1 << 20 });
    say(&root, 1024);
    let place = waiting.await.unwrap().unwrap();
    assert!(admission.waiting_of(&owner).is_empty());
    // Memory that goes away again stops nobody who is there.
    say(&root, 0);
    drop(place);
    closing.cancel();
    watching.await.unwrap();
}
