//! Work on many files at once, on as many threads as there are processors.
//!
//! Must not know what the work is. The answers come in the order of the questions.

use std::thread;

/// Stack of a thread that parses: files may be nested deeply.
const PARSER_STACK: usize = 64 << 20;
/// Fewer items than this for each thread are not worth starting one.
const FEWEST: usize = 16;
/// More threads than this would wait for the disk, not for a processor.
const MOST_THREADS: usize = 16;

/// Does the work for each item.
pub(super) fn each<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let processors = thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    let count = processors.min(items.len() / FEWEST + 1);
    let size = items.len().div_ceil(count).max(1);
    let work = &work;
    thread::scope(|scope| {
        let started: Vec<_> = items
            .chunks(size)
            .map(|chunk| {
                let run = move || chunk.iter().map(work).collect::<Vec<R>>();
                let thread = thread::Builder::new().name("adr".into()).stack_size(PARSER_STACK);
                // No thread to be had: the work is done all the same, only later.
                thread.spawn_scoped(scope, run).map_err(|error| {
                    tracing::debug!(%error, "no thread for checking ADRs");
                    run()
                })
            })
            .collect();
        let done = |thread: Result<thread::ScopedJoinHandle<'_, Vec<R>>, Vec<R>>| match thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(done) => done,
        };
        started.into_iter().flat_map(done).collect()
    })
}

#[cfg(test)]
#[path = "threads_test.rs"]
mod tests;
