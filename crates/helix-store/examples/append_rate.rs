//! Measures durable appends per second against bare single-row commits in the same run; prints one JSON object.
//!
//! Ratios matter, not figures: they depend on the disk. `--seconds N` sets the length of each part (default 1).

use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use helix_core::ids::JobId;
use helix_store::{Access, Append, Journal, NewEvent, SqliteJournal};
use jiff::Timestamp;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const APPENDERS: [usize; 3] = [1, 16, 256];

/// What one part of the measurement gave.
struct Rate {
    per_second: f64,
    p50: Duration,
    p99: Duration,
}

#[tokio::main]
async fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let seconds = match arguments.as_slice() {
        [] => 1.0,
        [flag, value] if flag == "--seconds" => value.parse()?,
        other => return Err(format!("expected nothing or --seconds N, not {other:?}").into()),
    };
    let length = Duration::from_secs_f64(seconds);
    let scratch = tempfile::tempdir()?;

    let bare_path = scratch.path().join("bare.db");
    let bare = tokio::task::spawn_blocking(move || single_row_commits(&bare_path, length)).await??;
    let mut report = serde_json::Map::new();
    report.insert("bare_single_row_commits".into(), json(&bare, &bare));
    for appenders in APPENDERS {
        let rate = appends(&scratch.path().join(format!("journal-{appenders}.db")), appenders, length).await?;
        report.insert(format!("appenders_{appenders}"), json(&rate, &bare));
    }
    writeln!(std::io::stdout(), "{}", serde_json::to_string_pretty(&report)?)?;
    Ok(())
}

/// About 250 bytes, as the events of a running job have.
fn body() -> serde_json::Value {
    serde_json::json!({"type": "measured", "phase": "implement", "attempt": 1, "text": "x".repeat(180)})
}

fn single_row_commits(path: &Path, length: Duration) -> Outcome<Rate> {
    let connection = rusqlite::Connection::open(path)?;
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.execute_batch("CREATE TABLE events (position INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT")?;
    let body = body().to_string();
    let mut insert = connection.prepare("INSERT INTO events (body) VALUES (?1)")?;
    let (started, mut times) = (Instant::now(), Vec::new());
    while started.elapsed() < length {
        let before = Instant::now();
        insert.execute([&body])?;
        times.push(before.elapsed());
    }
    Ok(rate(times, started.elapsed()))
}

async fn appends(path: &Path, appenders: usize, length: Duration) -> Outcome<Rate> {
    let journal = SqliteJournal::open(path, Access::ReadWrite).await?;
    let started = Instant::now();
    let mut tasks = Vec::new();
    for appender in 0..appenders {
        let journal = journal.clone();
        tasks.push(tokio::spawn(async move {
            let job = JobId::new(format!("j{appender}"))?;
            let mut times = Vec::new();
            while started.elapsed() < length {
                let event = NewEvent::of(Timestamp::now(), &body())?;
                let before = Instant::now();
                journal.append(Append::to(job.clone(), vec![event])).await?;
                times.push(before.elapsed());
            }
            Outcome::Ok(times)
        }));
    }
    let mut times = Vec::new();
    for task in tasks {
        times.extend(task.await??);
    }
    let elapsed = started.elapsed();
    journal.close().await;
    Ok(rate(times, elapsed))
}

fn rate(mut times: Vec<Duration>, elapsed: Duration) -> Rate {
    times.sort_unstable();
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
    Rate { per_second: times.len() as f64 / elapsed.as_secs_f64(), p50: at(50), p99: at(99) }
}

fn json(rate: &Rate, bare: &Rate) -> serde_json::Value {
    serde_json::json!({
        "per_second": rate.per_second.round(),
        "ratio_to_bare": (rate.per_second / bare.per_second * 100.0).round() / 100.0,
        "p50_ms": rate.p50.as_secs_f64() * 1e3,
        "p99_ms": rate.p99.as_secs_f64() * 1e3,
    })
}
