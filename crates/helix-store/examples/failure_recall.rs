//! Measures how long the memory of failures takes to recall similar ones, with the file on disk; prints one JSON object.
//!
//! `--failures N` sets how many distinct failures it holds (default 100000), `--queries N` how many are asked (default 2000).
//! `--pause MS` waits between two of them (default 2): a failure comes now and then, and asking without a break would measure
//! how a busy machine divides its processors. `--file PATH` keeps the file, and measures one that is there without filling it again.

use std::collections::hash_map::DefaultHasher;
use std::error::Error;
use std::hash::{Hash, Hasher};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use helix_core::ids::{JobId, PhaseId};
use helix_failure::memory::{
    AttemptChange, Diagnosis, FixLink, MemoryRecord, Occurrence, OccurrenceEntry, OccurrencePlace, OccurrenceState,
    RememberedFailure, SimilarQuery, Work, check,
};
use helix_failure::{Blame, Category, Fingerprint, RetryAdvice};
use helix_store::failures::FailureMemory;
use helix_store::{Access, DatabaseOptions};
use jiff::Timestamp;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Failures written in one transaction.
const BATCH: u64 = 2_000;
/// Long enough for any batch on a slow disk.
const PATIENCE: Duration = Duration::from_secs(300);

/// Messages as tools write them; `{}` stands for a name that the project has chosen.
const FORMS: [(&str, Category, &str); 20] = [
    ("cargo", Category::TypeError, "error: mismatched types: expected `{}`, found `{}`"),
    ("cargo", Category::FunctionError, "error: cannot find function `{}` in module `{}`"),
    ("cargo", Category::FunctionError, "error: no method named `{}` found for struct `{}` in the current scope"),
    ("cargo", Category::TypeError, "error: the trait bound `{}: {}` is not satisfied"),
    ("cargo", Category::AssertionFailure, "assertion `left == right` failed: {} of {}"),
    ("cargo", Category::TypeError, "error: borrow of moved value: `{}` in `{}`"),
    ("pytest", Category::AssertionFailure, "AssertionError: assert {} == {}"),
    ("pytest", Category::FunctionError, "AttributeError: '{}' object has no attribute '{}'"),
    ("pytest", Category::FunctionError, "ModuleNotFoundError: No module named '{}.{}'"),
    ("pytest", Category::TypeError, "TypeError: {}() missing <n> required positional argument: '{}'"),
    ("pytest", Category::Unknown, "KeyError: '{}' while reading '{}'"),
    ("tsc", Category::TypeError, "error TS<n>: Type '{}' is not assignable to type '{}'."),
    ("tsc", Category::FunctionError, "error TS<n>: Property '{}' does not exist on type '{}'."),
    ("npm", Category::Unknown, "npm error ERESOLVE could not resolve {} while installing {}"),
    ("go", Category::FunctionError, "undefined: {} (type {} has no such field or method)"),
    ("go", Category::AssertionFailure, "{}_test.go:<n>: got {}, want something else"),
    ("docker", Category::NetworkError, "failed to solve: {}: failed to resolve source metadata for {}"),
    ("git", Category::Unknown, "CONFLICT (content): Merge conflict in {} of {}"),
    ("bash", Category::FunctionError, "{}: {}: command not found"),
    ("psql", Category::FunctionError, "ERROR: relation \"{}\" does not exist in schema \"{}\""),
];

/// A small generator of numbers, the same every time.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A name: few are in half of all messages, most in hardly any.
    fn name(&mut self) -> String {
        const PARTS: [&str; 24] = [
            "parse", "order", "user", "total", "client", "cache", "route", "token", "price", "query", "event",
            "stream", "config", "model", "render", "write", "load", "index", "batch", "worker", "schema", "filter",
            "export", "job",
        ];
        let part = |number: u64| PARTS.get((number % 24) as usize).copied().unwrap_or_default();
        let (first, second, rank) = (self.next(), self.next(), self.next() % 1_000_003);
        // The square makes small numbers frequent.
        let which = (rank * rank / 1_000_003) % 40_000;
        format!("{}_{}_{}", part(first), part(second), letters(which))
    }
}

/// A number in letters: digits would be masked.
fn letters(mut number: u64) -> String {
    let mut text = String::new();
    loop {
        text.push(char::from(b'a' + (number % 26) as u8));
        number /= 26;
        if number == 0 {
            return text;
        }
    }
}

struct Message {
    tool: &'static str,
    category: Category,
    text: String,
}

fn message(number: u64) -> Message {
    let mut numbers = Numbers((number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    for _ in 0..3 {
        numbers.next();
    }
    let which = (numbers.next() % FORMS.len() as u64) as usize;
    let (tool, category, form) = FORMS.get(which).copied().unwrap_or(FORMS[0]);
    let text = form.replacen("{}", &numbers.name(), 1).replacen("{}", &numbers.name(), 1);
    Message { tool, category, text }
}

fn print(message: &Message, number: u64) -> Outcome<Fingerprint> {
    let mut hasher = DefaultHasher::new();
    (message.tool, &message.text, number).hash(&mut hasher);
    Ok(Fingerprint::new(format!("{:016x}{number:016x}", hasher.finish()))?)
}

fn place(number: u64) -> Outcome<OccurrencePlace> {
    Ok(OccurrencePlace {
        project: format!("/projects/p{}", number % 50),
        work: Work::Job { job: JobId::new(format!("j{number}"))?, phase: Some(PhaseId::new("implement")?) },
        attempt: 1,
        check: check::gate(0, "tests_pass"),
        commit: None,
        agent: "claude".into(),
        run: None,
    })
}

fn records(number: u64) -> Outcome<[MemoryRecord; 3]> {
    let message = message(number);
    let fingerprint = print(&message, number)?;
    let at = Timestamp::from_second(1_700_000_000 + number as i64 * 60)?;
    let place = place(number)?;
    let change = AttemptChange {
        project: place.project.clone(),
        work: place.work.clone(),
        attempt: 2,
        commit: None,
        files: vec!["src/lib.rs".into(), "src/order.rs".into()],
        diff: "-    let total = price;\n+    let total = price.into();\n".repeat(6),
        at,
    };
    let link = FixLink { failed_attempt: 1, change };
    Ok([
        MemoryRecord::Failure(RememberedFailure {
            diagnosis: diagnosis(message, fingerprint.clone()),
            first_seen: at,
            last_seen: at,
            dropped: 0,
        }),
        MemoryRecord::Occurrence {
            fingerprint: fingerprint.clone(),
            entry: OccurrenceEntry { key: place.key(), place, at, state: OccurrenceState::Gone },
        },
        MemoryRecord::Fix { fingerprint, link },
    ])
}

fn diagnosis(message: Message, fingerprint: Fingerprint) -> Diagnosis {
    Diagnosis {
        fingerprint,
        tool: message.tool.into(),
        code: String::new(),
        message: message.text.clone(),
        frame: "lib.rs".into(),
        category: message.category,
        cause: "measured".into(),
        retry: RetryAdvice::AfterChange,
        blame: Blame::Agent,
        cause_line: message.text.clone(),
        summary: message.text,
    }
}

async fn fill(path: &Path, failures: u64) -> Outcome<Duration> {
    let memory = FailureMemory::open(DatabaseOptions::new(path, Access::ReadWrite).within(PATIENCE)).await?;
    let started = Instant::now();
    let mut from = 0;
    while from < failures {
        let until = (from + BATCH).min(failures);
        let mut batch = Vec::new();
        for number in from..until {
            batch.extend(records(number)?);
        }
        memory.import(batch).await?;
        from = until;
    }
    Ok(started.elapsed())
}

/// Every fifth query is a failure that is known exactly; in the others one name is another one.
fn query(number: u64, failures: u64) -> Outcome<(SimilarQuery, bool)> {
    let mut numbers = Numbers(number.wrapping_mul(0xD134_2543_DE82_EF95) | 1);
    numbers.next();
    let exact = number.is_multiple_of(5);
    let which = numbers.next() % failures;
    let mut message = message(which);
    if !exact {
        // The same problem with another name: the last word in quotes or brackets, or the last one at all.
        let name = Numbers(number.wrapping_mul(0xA24B_AED4_963E_E407) | 1).name();
        let mut known =
            message.text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| word.contains('_'));
        if let Some(known) = known.next_back().map(str::to_owned) {
            message.text = message.text.replace(&known, &name);
        }
    }
    let fingerprint = print(&message, if exact { which } else { u64::MAX - number })?;
    let now = Timestamp::from_second(1_700_000_000 + failures as i64 * 60)?;
    Ok((SimilarQuery { diagnosis: diagnosis(message, fingerprint), project: None, most: 3, now }, exact))
}

#[tokio::main]
async fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (mut failures, mut queries, mut pause, mut file) = (100_000_u64, 2_000_u64, 2_u64, None);
    for pair in arguments.chunks(2) {
        match pair {
            [flag, value] if flag == "--failures" => failures = value.parse()?,
            [flag, value] if flag == "--queries" => queries = value.parse()?,
            [flag, value] if flag == "--pause" => pause = value.parse()?,
            [flag, value] if flag == "--file" => file = Some(std::path::PathBuf::from(value)),
            other => {
                return Err(
                    format!("expected --failures N, --queries N, --pause MS and --file PATH, not {other:?}").into()
                );
            }
        }
    }
    let scratch = tempfile::tempdir()?;
    let path = file.unwrap_or_else(|| scratch.path().join("failures.db"));
    let filled = if path.exists() { None } else { Some(fill(&path, failures.max(1)).await?) };
    let memory = FailureMemory::open(DatabaseOptions::new(&path, Access::ReadWrite)).await?;
    let (mut times, mut empty, mut wrong) = (Vec::new(), 0_u64, 0_u64);
    let processor = processor_time();
    for number in 0..queries {
        let (query, exact) = query(number, failures.max(1))?;
        let fingerprint = query.diagnosis.fingerprint.clone();
        tokio::time::sleep(Duration::from_millis(pause)).await;
        let before = Instant::now();
        let recalled = memory.similar(query).await?;
        times.push(before.elapsed());
        empty += u64::from(recalled.is_empty());
        let first = recalled.first().map(|past| past.known.diagnosis.fingerprint.clone());
        wrong += u64::from(exact && first != Some(fingerprint));
    }
    let processor = processor_time() - processor;
    let mut captures = Vec::new();
    for number in 0..200 {
        let occurrence = captured(failures + number)?;
        let before = Instant::now();
        memory.capture(occurrence).await?;
        captures.push(before.elapsed());
    }
    let bytes = std::fs::metadata(&path)?.len();
    let report = serde_json::json!({
        "failures": failures,
        "file_mb": bytes / 1_000_000,
        "filled_per_second": filled.map(|filled| (failures as f64 / filled.as_secs_f64()).round()),
        "queries": queries,
        "without_answer": empty,
        "exact_not_first": wrong,
        "similar_p50_ms": quantile(&mut times, 50),
        "similar_p99_ms": quantile(&mut times, 99),
        "similar_processor_ms": (processor * 1e5 / queries.max(1) as f64).round() / 1e2,
        "similar_most_ms": quantile(&mut times, 100),
        "capture_p50_ms": quantile(&mut captures, 50),
        "capture_p99_ms": quantile(&mut captures, 99),
    });
    writeln!(std::io::stdout(), "{report:#}")?;
    Ok(())
}

/// Seconds of processor time that this process has used: what it takes on a machine that has other things to do, too.
/// 0 where the system does not tell.
fn processor_time() -> f64 {
    /// Ticks of a second in `/proc` (`USER_HZ`, 100 on every Linux).
    const TICKS: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit_once(')').map(|(_, rest)| rest.split_whitespace().collect::<Vec<_>>()).unwrap_or_default();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or_default();
    // utime and stime, the fourteenth and fifteenth field of all.
    (ticks(11) + ticks(12)) / TICKS
}

fn captured(number: u64) -> Outcome<Occurrence> {
    let message = message(number);
    let place = place(number)?;
    Ok(Occurrence {
        key: place.key(),
        diagnosis: {
            let fingerprint = print(&message, number)?;
            diagnosis(message, fingerprint)
        },
        place,
        at: Timestamp::from_second(1_900_000_000 + number as i64)?,
    })
}

fn quantile(times: &mut [Duration], share: usize) -> f64 {
    times.sort_unstable();
    let at = (times.len() * share / 100).min(times.len().saturating_sub(1));
    times.get(at).map_or(0.0, |time| (time.as_secs_f64() * 1e5).round() / 1e2)
}
