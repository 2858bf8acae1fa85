//! How much memory a process keeps that it has freed. Must not know what it was used for.
#![cfg_attr(target_env = "gnu", expect(unsafe_code, reason = "settings of the allocator have no safe wrapper"))]

/// Blocks of this size, in bytes, come from the system and go back to it.
#[cfg(target_env = "gnu")]
const LARGE: libc::c_int = 1 << 20;

/// Has the allocator give back each large block when it is freed. Without that, it takes the largest that was ever freed for usual, and
/// keeps twice as much for each of its arenas: 80 MiB after a few answers of 10 MB. To be called before there are threads.
#[cfg(target_env = "gnu")]
pub fn keep_little_memory() {
    for (setting, value) in [(libc::M_MMAP_THRESHOLD, LARGE), (libc::M_TRIM_THRESHOLD, 2 * LARGE)] {
        // SAFETY: it sets a number; one that the allocator does not take is left as it was.
        unsafe { libc::mallopt(setting, value) };
    }
}

/// Returns what this process has freed: the allocator keeps it, in pieces of all sizes, for as long as nobody asks. Takes about a
/// millisecond for each 10 MiB.
#[cfg(target_env = "gnu")]
pub fn give_memory_back() {
    // SAFETY: it may be called at any time, by any thread.
    unsafe { libc::malloc_trim(0) };
}

/// Other allocators do it themselves.
#[cfg(not(target_env = "gnu"))]
pub fn keep_little_memory() {}

/// Other allocators do it themselves.
#[cfg(not(target_env = "gnu"))]
pub fn give_memory_back() {}

#[cfg(test)]
#[path = "memory_test.rs"]
mod tests;
