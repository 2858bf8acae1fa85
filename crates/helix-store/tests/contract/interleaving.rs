//! Random interleavings of writers: whatever the order, numbers have no gaps and projections are those of the last event.

use std::collections::BTreeMap;
use std::sync::Arc;

use helix_store::{Append, AppendError, JobFilter, Journal, Projection, Stream};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, TestRunner};

use super::samples::{event, job_id, job_view, new_job, session_id, text};

/// One thing a writer does.
#[derive(Debug, Clone)]
struct Step {
    /// Index of the job that it writes to.
    job: usize,
    /// How many events at once.
    events: usize,
    how: How,
}

#[derive(Debug, Clone, Copy)]
enum How {
    /// To the end of a stream that has no projection.
    Blind,
    /// To the end of a stream that has one, without bringing it: must be refused.
    Careless,
    /// Reads, decides, and writes with a projection; tries again when somebody was faster.
    Decided,
    /// On the basis of a number that never was: must be refused.
    Stale,
}

const JOBS: usize = 3;

fn writers() -> impl Strategy<Value = Vec<Vec<Step>>> {
    let how = proptest::sample::select(vec![How::Blind, How::Decided, How::Decided, How::Careless, How::Stale]);
    let step = (0..JOBS, 1..4_usize, how).prop_map(|(job, events, how)| Step { job, events, how });
    proptest::collection::vec(proptest::collection::vec(step, 0..12), 1..6)
}

fn name(round: u32, job: usize) -> String {
    format!("r{round}.{job}")
}

/// Does one step; returns what it wrote, with the numbers it was told.
async fn perform(journal: &dyn Journal, round: u32, writer: usize, at: usize, step: &Step) -> Vec<(u64, String)> {
    let job = job_id(&name(round, step.job));
    let said: Vec<String> = (0..step.events).map(|index| format!("{writer}.{at}.{index}")).collect();
    let events: Vec<_> = said.iter().map(|text| event(text)).collect();
    let count = events.len() as u64;
    let appended = match step.how {
        How::Stale => {
            let refused = journal.append(Append::to(job, events).after(u64::MAX >> 2)).await.unwrap_err();
            assert!(matches!(refused, AppendError::Conflict { .. }), "{refused:?}");
            return Vec::new();
        }
        How::Careless => {
            let refused = journal.append(Append::to(job, events)).await.unwrap_err();
            assert!(matches!(refused, AppendError::Illegal { .. }), "{refused:?}");
            return Vec::new();
        }
        How::Blind => journal.append(Append::to(session_id(job.as_str()), events)).await.unwrap(),
        How::Decided => loop {
            let last = journal.read(Stream::Job(job.clone()), 0, 1).await.unwrap().last;
            let append =
                Append::to(job.clone(), events.clone()).after(last).with(Projection::Job(job_view(&job, last + count)));
            match journal.append(append).await {
                Ok(appended) => break appended,
                Err(AppendError::Conflict { actual, .. }) => assert!(actual > last),
                Err(other) => panic!("{other:?}"),
            }
        },
    };
    assert_eq!(appended.last - appended.first + 1, count);
    (appended.first..=appended.last).zip(said).collect()
}

pub(crate) async fn any_interleaving_leaves_no_gaps_and_true_projections(journal: Arc<dyn Journal>) {
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::default() });
    for round in 0..24 {
        let plan = writers().new_tree(&mut runner).unwrap().current();
        for job in 0..JOBS {
            journal.submit(new_job(&name(round, job), None)).await.unwrap();
        }
        let mut tasks = Vec::new();
        for (writer, steps) in plan.iter().cloned().enumerate() {
            let journal = journal.clone();
            tasks.push(tokio::spawn(async move {
                let mut wrote = Vec::new();
                for (at, step) in steps.iter().enumerate() {
                    let written = perform(journal.as_ref(), round, writer, at, step).await;
                    wrote.push((step.clone(), written));
                }
                wrote
            }));
        }
        let mut expected: BTreeMap<Stream, BTreeMap<u64, String>> = BTreeMap::new();
        for job in 0..JOBS {
            expected.insert(job_id(&name(round, job)).into(), BTreeMap::from([(1, "submitted".to_owned())]));
        }
        for task in tasks {
            for (step, written) in task.await.unwrap() {
                let id = name(round, step.job);
                let stream: Stream = match step.how {
                    How::Blind => session_id(&id).into(),
                    How::Decided | How::Careless | How::Stale => job_id(&id).into(),
                };
                for (number, text) in written {
                    let twice = expected.entry(stream.clone()).or_default().insert(number, text);
                    assert_eq!(twice, None, "number {number} was given out twice in {plan:?}");
                }
            }
        }
        for (stream, expected) in expected {
            let page = journal.read(stream.clone(), 0, 1_000).await.unwrap();
            let found: BTreeMap<_, _> = page.events.iter().map(|e| (e.number, text(&e.body))).collect();
            assert_eq!(found, expected, "{plan:?}");
            assert!(found.keys().copied().eq(1..=page.last), "gaps in {found:?}");
            if let Stream::Job(job) = stream {
                let view = journal.job(job.to_string()).await.unwrap().unwrap();
                assert_eq!(view.last_event, page.last, "{plan:?}");
            }
        }
    }
    let all = journal.list_jobs(JobFilter::default(), None, 500).await.unwrap();
    assert_eq!(all.jobs.len(), 24 * JOBS);
}
