use super::*;

fn handle() -> (SessionHandle, mpsc::Receiver<QueuedTurn>) {
    let (queue, waiting) = mpsc::channel(QUEUE);
    (SessionHandle { queue, running: Arc::default(), blocked: Blocked::default(), open: Arc::default() }, waiting)
}

/// What is let go must have no turn, nobody who is about to ask for one, and nobody who counts them: a second loop of the same
/// session would run beside it.
#[test]
fn a_loop_is_let_go_only_while_nobody_has_anything_to_do_with_it() {
    let (handle, _waiting) = handle();
    assert!(handle.is_unused());
    let (permit, _) = TurnPermit::take(&handle.open);
    assert!(!handle.is_unused(), "a turn is under way");
    drop(permit);
    let asking = handle.clone();
    assert!(!handle.is_unused(), "somebody is about to ask");
    drop(asking);
    let counting = handle.open.subscribe();
    assert!(!handle.is_unused(), "somebody counts its turns");
    drop(counting);
    assert!(handle.is_unused());
}

/// A loop that has ended for a session, or is about to, may have been followed by a newer one: what that has under way can still be stopped
/// and counted.
#[test]
fn a_loop_never_takes_the_newer_one_of_its_session_away() {
    let (actors, session) = (Actors::default(), SessionId::from_parts(1, 2));
    let (older, older_queue) = handle();
    lock(&actors).insert(session.clone(), older.clone());
    // As after a failed write: its queue is closed, and the next turn finds another loop.
    drop(older_queue);
    let (newer, _waiting) = handle();
    lock(&actors).insert(session.clone(), newer.clone());
    let (permit, _) = TurnPermit::take(&newer.open);
    drop((older, newer));
    let_go_of(&actors, &session);
    let open = lock(&actors).get(&session).map(|handle| *handle.open.borrow());
    assert_eq!(open, Some(1), "the newer loop is gone from the map, with a turn under way");
    drop(permit);
    let_go_of(&actors, &session);
    assert!(lock(&actors).is_empty());
}
