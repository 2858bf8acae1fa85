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
