//! Work that blocks, away from the async runtime's threads.

use tokio::sync::oneshot;

/// Work that panicked, or that a runtime which was shutting down never began.
#[derive(Debug, thiserror::Error)]
#[error("an internal task ended early")]
pub struct EndedEarly;

/// Runs what blocks on a thread of its own; it runs to its end, whether or not anybody awaits it.
///
/// `tokio`'s own function is compiled anew for each closure, 1,500 lines of LLVM's code each time: 60 of them were a tenth of
/// `helix-engine`. This one boxes the closure.
///
/// # Errors
/// [`EndedEarly`].
pub fn spawn_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> impl Future<Output = Result<T, EndedEarly>> + Send + 'static {
    let (tell, told) = oneshot::channel();
    spawn(Box::new(move || drop(tell.send(work()))));
    async { told.await.map_err(|_| EndedEarly) }
}

fn spawn(work: Box<dyn FnOnce() + Send>) {
    drop(tokio::task::spawn_blocking(work));
}
