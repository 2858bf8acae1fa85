//! Rate limits: a token bucket for each key, which refills evenly and holds one minute's requests.
//!
//! Must not know routes, headers or error formats. Memory is bounded: full buckets are dropped, and their number is limited.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Most buckets. Beyond that, all new keys share one.
const KEYS: usize = 4_096;
const MINUTE: Duration = Duration::from_secs(60);

/// The buckets of all keys.
#[derive(Debug)]
pub(crate) struct RateLimit {
    per_minute: Option<u32>,
    buckets: Mutex<HashMap<String, Bucket>>,
}

/// The requests that a key has left.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    left: f64,
    at: Instant,
}

impl RateLimit {
    /// Buckets of this many requests a minute; `None`: without a limit.
    pub(crate) fn new(per_minute: Option<u32>) -> Self {
        Self { per_minute, buckets: Mutex::default() }
    }

    /// Takes a request from the bucket of this sender.
    ///
    /// # Errors
    /// The limit, and the whole seconds after which there is one again.
    pub(crate) fn take(&self, key: String, now: Instant) -> Result<(), (u32, u64)> {
        let Some(per_minute) = self.per_minute else { return Ok(()) };
        let full = f64::from(per_minute);
        let per_second = full / MINUTE.as_secs_f64();
        // A panic in another holder leaves the map whole: every change of it is one step.
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let refilled =
            |bucket: &Bucket| (bucket.left + now.duration_since(bucket.at).as_secs_f64() * per_second).min(full);
        if buckets.len() >= KEYS && !buckets.contains_key(&key) {
            buckets.retain(|_, bucket| refilled(bucket) < full);
        }
        let key = if buckets.len() >= KEYS && !buckets.contains_key(&key) { String::new() } else { key };
        let left = buckets.get(&key).map_or(full, refilled);
        if left < 1.0 {
            buckets.insert(key, Bucket { left, at: now });
            let seconds = ((1.0 - left) / per_second).ceil().max(1.0);
            return Err((per_minute, seconds as u64));
        }
        buckets.insert(key, Bucket { left: left - 1.0, at: now });
        Ok(())
    }
}

#[cfg(test)]
#[path = "rate_limit_test.rs"]
mod tests;
