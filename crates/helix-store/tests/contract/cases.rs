//! The cases, one behaviour each.

use std::collections::HashSet;
use std::sync::Arc;

use helix_job::JobStatus;
use helix_job::session::SessionEvent;
use helix_store::{
    Append, AppendError, Appended, Counts, Fence, Follower, Forget, JobFilter, Journal, Moved, NewEvent, Opened,
    Projection, ReadError, Stream, Submitted,
};
use tokio::sync::broadcast::error::RecvError;

use super::samples::{at, event, job_id, job_view, new_job, new_session, session_id, text};

type Shared = Arc<dyn Journal>;

fn stream(id: &str) -> Stream {
    Stream::Job(job_id(id))
}

async fn texts(journal: &Shared, stream: &Stream) -> Vec<String> {
    let page = journal.read(stream.clone(), 0, 1_000).await.unwrap();
    page.events.iter().map(|event| text(&event.body)).collect()
}

pub(crate) async fn events_are_numbered_per_stream_from_one(journal: Shared) {
    let first = journal.append(Append::to(job_id("a"), vec![event("a1"), event("a2")])).await.unwrap();
    let other = journal.append(Append::to(session_id("a"), vec![event("s1")])).await.unwrap();
    let second = journal.append(Append::to(job_id("a"), vec![event("a3")])).await.unwrap();

    assert_eq!((first.first, first.last), (1, 2));
    assert_eq!((other.first, other.last), (1, 1), "a session with the same id is another stream");
    assert_eq!((second.first, second.last), (3, 3));
    assert!(first.position < other.position && other.position < second.position);

    let page = journal.read(stream("a"), 0, 100).await.unwrap();
    let seen: Vec<_> = page.events.iter().map(|e| (e.number, text(&e.body), e.kind.as_str(), e.at)).collect();
    let expected: Vec<_> = [(1, "a1"), (2, "a2"), (3, "a3")].map(|(n, t)| (n, t.to_owned(), "noted", at(0))).into();
    assert_eq!(seen, expected);
    assert_eq!(page.events[2].position, second.position);
    assert_eq!(journal.read(stream("nobody"), 0, 100).await.unwrap().last, 0);
}

pub(crate) async fn events_of_all_streams_are_read_in_the_order_in_which_they_were_written(journal: Shared) {
    for stream in ["job/a", "session/b", "job/a"] {
        journal.append(Append::to(stream.parse::<Stream>().unwrap(), vec![event("x")])).await.unwrap();
    }
    let all = journal.read_all(0, 10).await.unwrap();
    let names: Vec<String> = all.iter().map(|event| format!("{} {}", event.stream, event.number)).collect();
    assert_eq!(names, ["job/a 1", "session/b 1", "job/a 2"]);
    assert_eq!(journal.read_all(all[0].position, 1).await.unwrap(), all[1..2]);
    assert_eq!(journal.read_all(all[2].position, 1).await.unwrap(), []);
}

pub(crate) async fn a_page_says_whether_there_is_more(journal: Shared) {
    journal.append(Append::to(job_id("a"), ["1", "2", "3"].map(event).into())).await.unwrap();
    let page = journal.read(stream("a"), 0, 2).await.unwrap();
    assert_eq!((page.events.len(), page.last, page.has_more()), (2, 3, true));
    let rest = journal.read(stream("a"), 2, 2).await.unwrap();
    assert_eq!((rest.events.len(), rest.last, rest.has_more()), (1, 3, false));
    let none = journal.read(stream("a"), 3, 2).await.unwrap();
    assert_eq!((none.events.len(), none.has_more()), (0, false));
}

pub(crate) async fn a_conflict_names_the_real_number(journal: Shared) {
    journal.append(Append::to(job_id("a"), vec![event("1"), event("2")])).await.unwrap();
    let error = journal.append(Append::to(job_id("a"), vec![event("late")]).after(1)).await.unwrap_err();
    assert!(matches!(error, AppendError::Conflict { expected: 1, actual: 2, .. }), "{error:?}");
    assert_eq!(error.code(), "HX0311");
    assert_eq!(texts(&journal, &stream("a")).await, ["1", "2"]);
    journal.append(Append::to(job_id("a"), vec![event("3")]).after(2)).await.unwrap();
}

pub(crate) async fn of_two_racing_decisions_one_is_refused(journal: Shared) {
    for round in 0..50_u64 {
        let one = |name: &str| {
            let (journal, event) = (journal.clone(), event(name));
            tokio::spawn(async move { journal.append(Append::to(job_id("a"), vec![event]).after(round)).await })
        };
        let (left, right) = (one("left"), one("right"));
        let results = [left.await.unwrap(), right.await.unwrap()];
        let written: Vec<_> = results.iter().filter_map(|result| result.as_ref().ok()).collect();
        assert_eq!(written.len(), 1, "{results:?}");
        assert_eq!(written[0].last, round + 1);
    }
}

pub(crate) async fn an_append_without_events_is_refused(journal: Shared) {
    let error = journal.append(Append::to(job_id("a"), Vec::new())).await.unwrap_err();
    assert!(matches!(error, AppendError::Illegal { .. }), "{error:?}");
}

pub(crate) async fn one_refused_append_does_not_harm_its_neighbours(journal: Shared) {
    let mut pending = Vec::new();
    for number in 0..300 {
        let journal = journal.clone();
        pending.push(tokio::spawn(async move {
            let good = Append::to(job_id("a"), vec![event(&format!("{number}"))]);
            let append = if number % 3 == 0 { good.after(1_000_000) } else { good };
            (number, journal.append(append).await)
        }));
    }
    let mut written = HashSet::new();
    for task in pending {
        let (number, result) = task.await.unwrap();
        assert_eq!(result.is_err(), number % 3 == 0, "{number}: {result:?}");
        if result.is_ok() {
            written.insert(format!("{number}"));
        }
    }
    let found = texts(&journal, &stream("a")).await;
    assert_eq!(found.len(), 200);
    assert_eq!(found.into_iter().collect::<HashSet<_>>(), written);
}

/// Status in two places that disagree.
pub(crate) async fn projection_and_events_are_written_together(journal: Shared) {
    journal.submit(new_job("a", None)).await.unwrap();
    let mut view = job_view(&job_id("a"), 2);
    view.status = JobStatus::Succeeded;
    let append = Append::to(job_id("a"), vec![event("end")]).after(1).with(Projection::Job(view.clone()));
    journal.append(append.clone()).await.unwrap();
    assert_eq!(journal.job("a".into()).await.unwrap(), Some(*view.clone()));

    // Refused events leave the projection as it was, too.
    view.status = JobStatus::Failed;
    let late = Append { projection: Some(Projection::Job(view)), ..append };
    journal.append(late).await.unwrap_err();
    assert_eq!(journal.job("a".into()).await.unwrap().map(|job| job.status), Some(JobStatus::Succeeded));
}

pub(crate) async fn a_projection_that_does_not_fit_is_refused_with_its_events(journal: Shared) {
    journal.submit(new_job("a", None)).await.unwrap();
    for wrong in [job_view(&job_id("a"), 3), job_view(&job_id("b"), 2)] {
        let append = Append::to(job_id("a"), vec![event("2")]).with(Projection::Job(wrong));
        let error = journal.append(append).await.unwrap_err();
        assert!(matches!(&error, AppendError::Illegal { why, .. } if why.contains("event 2")), "{error:?}");
    }
    assert_eq!(texts(&journal, &stream("a")).await, ["submitted"]);
    assert_eq!(journal.job("b".into()).await.unwrap(), None);
}

/// Two daemons take one issue [B].
pub(crate) async fn of_racing_submits_with_one_key_one_creates(journal: Shared) {
    let mut pending = Vec::new();
    for number in 0..32 {
        let journal = journal.clone();
        pending.push(tokio::spawn(async move {
            let id = format!("j{number}");
            (id.clone(), journal.submit(new_job(&id, Some("the key"))).await.unwrap())
        }));
    }
    let mut created = Vec::new();
    let mut existing = HashSet::new();
    for task in pending {
        match task.await.unwrap() {
            (id, Submitted::Created(_)) => created.push(id),
            (_, Submitted::Existing(id)) => drop(existing.insert(id.to_string())),
        }
    }
    assert_eq!(created.len(), 1, "{created:?}");
    assert_eq!(existing, HashSet::from([created[0].clone()]));
    let listed = journal.list_jobs(JobFilter::default(), None, 100).await.unwrap().jobs;
    assert_eq!(listed.len(), 1);
    let by_key = journal.job_by_key("the key".into()).await.unwrap().map(|job| job.id.to_string());
    assert_eq!(by_key.as_ref(), created.first());
}

pub(crate) async fn submits_without_a_key_are_all_different(journal: Shared) {
    for id in ["a", "b"] {
        let answer = journal.submit(new_job(id, None)).await.unwrap();
        assert!(matches!(answer, Submitted::Created(Appended { first: 1, last: 1, .. })), "{answer:?}");
    }
    let again = journal.submit(new_job("a", None)).await.unwrap_err();
    assert!(matches!(again, AppendError::Conflict { expected: 0, actual: 1, .. }), "{again:?}");
}

/// Lost locking when two requests opened one session.
pub(crate) async fn of_racing_openings_with_one_key_one_creates(journal: Shared) {
    let mut pending = Vec::new();
    for number in 0..32 {
        let journal = journal.clone();
        pending.push(tokio::spawn(async move {
            let id = format!("s{number}");
            (session_id(&id), journal.open_session(new_session(&id, "chat-1")).await.unwrap())
        }));
    }
    let mut ids = HashSet::new();
    let mut created = 0;
    for task in pending {
        match task.await.unwrap() {
            (id, Opened::Created(_)) => {
                created += 1;
                ids.insert(id);
            }
            (_, Opened::Existing(id)) => drop(ids.insert(id)),
        }
    }
    assert_eq!((created, ids.len()), (1, 1), "{ids:?}");
}

/// `a_b` and `a-b` shared a session, since ids were made from keys by a lossy rule.
pub(crate) async fn keys_that_look_alike_are_different_sessions(journal: Shared) {
    let keys = ["a_b", "a-b", "A-B", "a b", "a b ", "a/b", "ä", "a\u{308}", "a\0b", "'; DROP TABLE sessions; --"];
    for (number, key) in keys.iter().enumerate() {
        let answer = journal.open_session(new_session(&format!("s{number}"), key)).await.unwrap();
        assert!(matches!(answer, Opened::Created(_)), "{key:?}: {answer:?}");
    }
    for (number, key) in keys.iter().enumerate() {
        let found = journal.session_by_key((*key).into()).await.unwrap().unwrap();
        assert_eq!((found.id, found.key.as_str()), (session_id(&format!("s{number}")), *key));
    }
    let below = journal.sessions_by_prefix("a".into(), 2).await.unwrap();
    let below: Vec<&str> = below.iter().map(|view| view.key.as_str()).collect();
    assert_eq!(below, ["a_b", "a/b"], "the greatest first");
    let opened = &journal.read(Stream::Session(session_id("s0")), 0, 1).await.unwrap().events[0];
    let opened = opened.decode::<SessionEvent>().unwrap().event;
    assert!(matches!(&opened, SessionEvent::SessionOpened { key, .. } if key == "a_b"), "{opened:?}");
}

pub(crate) async fn jobs_are_listed_newest_first_in_pages(journal: Shared) {
    for number in 0..7 {
        let mut job = new_job(&format!("j{number}"), None);
        job.view.status = if number % 2 == 0 { JobStatus::Running } else { JobStatus::Failed };
        job.view.project_path = if number < 4 { "/one".into() } else { "/two".into() };
        journal.submit(job).await.unwrap();
    }
    let mut seen = Vec::new();
    let mut cursor = None;
    loop {
        let page = journal.list_jobs(JobFilter::default(), cursor, 3).await.unwrap();
        assert!(page.jobs.len() <= 3);
        seen.extend(page.jobs.iter().map(|job| job.id.to_string()));
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen, ["j6", "j5", "j4", "j3", "j2", "j1", "j0"]);

    let ids = |page: helix_store::JobPage| page.jobs.into_iter().map(|job| job.id.to_string()).collect::<Vec<_>>();
    let unfinished = journal.list_jobs(JobFilter::unfinished(), None, 100).await.unwrap();
    assert_eq!(ids(unfinished), ["j6", "j4", "j2", "j0"]);
    let filter = JobFilter {
        statuses: vec![JobStatus::Failed, JobStatus::Cancelled],
        project_path: Some("/one".into()),
        name: Some("csv-export".into()),
    };
    assert_eq!(ids(journal.list_jobs(filter, None, 100).await.unwrap()), ["j3", "j1"]);
}

pub(crate) async fn jobs_are_found_by_an_unambiguous_beginning(journal: Shared) {
    for id in ["jab", "jabc", "jad"] {
        journal.submit(new_job(id, None)).await.unwrap();
    }
    for (asked, found) in [("jab", Some("jab")), ("jabc", Some("jabc")), ("jad", Some("jad")), ("x", None), ("", None)]
    {
        let id = journal.job(asked.into()).await.unwrap().map(|job| job.id.to_string());
        assert_eq!(id.as_deref(), found, "{asked:?}");
    }
    let error = journal.job("ja".into()).await.unwrap_err();
    let ReadError::Ambiguous { candidates, .. } = &error else { panic!("{error:?}") };
    assert_eq!(candidates, &["jab", "jabc", "jad"]);
    assert_eq!(journal.job("j%".into()).await.unwrap(), None, "what is asked for is no pattern");
}

pub(crate) async fn sessions_are_listed_newest_first_in_pages(journal: Shared) {
    for number in 0..3 {
        journal.open_session(new_session(&format!("s{number}"), &format!("key {number}"))).await.unwrap();
    }
    let first = journal.list_sessions(None, 2).await.unwrap();
    let rest = journal.list_sessions(first.next.clone(), 2).await.unwrap();
    let ids = |page: &helix_store::SessionPage| page.sessions.iter().map(|s| s.id.to_string()).collect::<Vec<_>>();
    assert_eq!((ids(&first), ids(&rest), rest.next), (vec!["s2".into(), "s1".into()], vec!["s0".into()], None));
    assert_eq!(journal.session(session_id("s1")).await.unwrap().map(|s| s.key), Some("key 1".into()));
    assert_eq!(journal.session(session_id("s9")).await.unwrap(), None);
}

pub(crate) async fn what_there_is_is_counted(journal: Shared) {
    assert_eq!(journal.counts().await.unwrap(), Counts::default());
    for number in 0..3 {
        let mut job = new_job(&format!("j{number}"), None);
        job.view.status = if number == 0 { JobStatus::Waiting } else { JobStatus::Failed };
        journal.submit(job).await.unwrap();
    }
    journal.open_session(new_session("s", "key")).await.unwrap();
    let counts = journal.counts().await.unwrap();
    let (mut jobs, sessions) = (counts.jobs, counts.sessions);
    jobs.sort_by_key(|(_, count)| *count);
    assert_eq!((jobs, sessions), (vec![(JobStatus::Waiting, 1), (JobStatus::Failed, 2)], 1));
    let written = journal.read(Stream::Job(job_id("j0")), 0, 100).await.unwrap().last;
    assert!(counts.events > written, "{} events in all", counts.events);
}

/// A turn costs its own row, however long its session is, and is found by its id, by what its client calls it, by its
/// place, and by the agent's session that it wrote to.
pub(crate) async fn turns_are_rows_of_their_own_and_found_by_every_name(journal: Shared) {
    let id = session_id("s");
    journal.open_session(new_session("s", "key")).await.unwrap();
    for number in 1..=40_u32 {
        for event in turn_events(&id, number) {
            let view = journal.session(id.clone()).await.unwrap().unwrap();
            let after = view.last_event;
            let recorded = helix_job::Recorded { number: after + 1, at: at(1), event };
            let new = NewEvent::of(at(1), &recorded.event).unwrap();
            let applied = helix_job::session::SessionView::apply(Some(view), &id, &recorded).unwrap();
            let projection = Projection::Session(Box::new(applied.view), applied.turn.map(Box::new));
            journal.append(Append::to(id.clone(), vec![new]).after(after).with(projection)).await.unwrap();
        }
    }
    let view = journal.session(id.clone()).await.unwrap().unwrap();
    assert_eq!((view.turn_count, view.running().is_none()), (40, true));
    assert!(serde_json::to_string(&view).unwrap().len() < 1_000, "the view does not grow with the turns");
    let turn = |number: u32| helix_core::ids::TurnId::nth(&id, number);
    let seven = journal.turn(turn(7)).await.unwrap().unwrap();
    assert_eq!((seven.number, seven.parent, seven.end.unwrap().answer.len()), (7, Some(turn(6)), 5_000));
    let named = journal.turn_by_message(None, "m7".into()).await.unwrap().unwrap();
    assert_eq!(named.id, turn(7));
    assert_eq!(journal.turn_by_message(Some("other".into()), "m7".into()).await.unwrap(), None, "another owner");
    let continued = journal.turn_by_message(None, "m40".into()).await.unwrap();
    assert_eq!(continued.unwrap().id, turn(40));
    let mut listed = Vec::new();
    loop {
        let page = journal.list_turns(id.clone(), listed.len() as u32, 7).await.unwrap();
        if page.is_empty() {
            break;
        }
        listed.extend(page.into_iter().map(|turn| turn.number));
    }
    assert_eq!(listed, (1..=40).collect::<Vec<_>>());
    let summaries = journal.turn_summaries(id.clone()).await.unwrap();
    assert_eq!((summaries.len(), summaries[1].under.clone()), (40, Some(turn(1))));
    let agent = helix_core::ids::AgentSessionId::new("agent").unwrap();
    assert_eq!(journal.last_writer(agent).await.unwrap(), Some(turn(40)));
}

/// Sessions were never archived, and when they were, into the wrong place.
pub(crate) async fn a_forgotten_session_is_gone_whole_and_nothing_else_is(journal: Shared) {
    let mut views = Vec::new();
    for (id, key) in [("s1", "k1"), ("s2", "k2")] {
        let new = new_session(id, key);
        let mut view = *new.view.clone();
        journal.open_session(new).await.unwrap();
        let id = view.id.clone();
        for (number, event) in (2..).zip(turn_events(&id, 1)) {
            let recorded = helix_job::Recorded { number, at: at(0), event };
            let applied = helix_job::session::SessionView::apply(Some(view), &id, &recorded).unwrap();
            let event = NewEvent::of(at(0), &recorded.event).unwrap();
            let projection = Projection::Session(Box::new(applied.view.clone()), applied.turn.map(Box::new));
            journal.append(Append::to(id.clone(), vec![event]).after(number - 1).with(projection)).await.unwrap();
            view = applied.view;
        }
        views.push(view);
    }
    let forget = |last_event| Forget { session: views[0].id.clone(), last_event, fence: None };
    let refused = journal.forget_session(forget(2)).await.unwrap_err();
    assert!(matches!(refused, AppendError::Conflict { expected: 2, actual: 3, .. }), "{refused:?}");
    assert!(journal.session(views[0].id.clone()).await.unwrap().is_some(), "something has happened since: it stays");

    journal.forget_session(forget(3)).await.unwrap();
    assert_eq!(journal.session(views[0].id.clone()).await.unwrap(), None);
    assert_eq!(journal.session_by_key("k1".into()).await.unwrap(), None);
    assert!(journal.list_turns(views[0].id.clone(), 0, 9).await.unwrap().is_empty());
    let events = journal.read(Stream::Session(views[0].id.clone()), 0, 9).await.unwrap();
    assert!(events.events.is_empty(), "{events:?}");
    assert!(matches!(journal.forget_session(forget(3)).await, Err(AppendError::Conflict { actual: 0, .. })));
    assert_eq!(journal.session(views[1].id.clone()).await.unwrap().as_ref(), Some(&views[1]));
    assert_eq!(journal.list_turns(views[1].id.clone(), 0, 9).await.unwrap().len(), 1);
    // Both sessions called their answer so; the newer one does still.
    let named = journal.turn_by_message(None, "m1".into()).await.unwrap().unwrap();
    assert_eq!(named.session, views[1].id);
    // The key is free again, and the next position is a new one.
    let again = journal.open_session(new_session("s3", "k1")).await.unwrap();
    assert!(matches!(again, Opened::Created(_)), "{again:?}");
}

fn turn_events(session: &helix_core::ids::SessionId, number: u32) -> [SessionEvent; 2] {
    let turn = helix_core::ids::TurnId::nth(session, number);
    let place = match number {
        1 => serde_json::json!({ "at": "beginning" }),
        _ => serde_json::json!({ "at": "after", "turn": helix_core::ids::TurnId::nth(session, number - 1) }),
    };
    let start = serde_json::json!({
        "type": "turn_started", "turn": turn, "run": format!("{turn}.1"), "message": "m",
        "client": { "message": format!("m{number}") }, "agent_session": "agent", "asked": "", "place": place,
    });
    let end = serde_json::json!({
        "type": "turn_finished", "turn": turn, "answer": "x".repeat(5_000), "usage": helix_core::usage::Usage::default(),
        "facts": helix_core::run::RunFacts::without_record(helix_core::run::Ending::Unknown, None),
        "runs": 1, "delivery": "delivered",
    });
    [serde_json::from_value(start).unwrap(), serde_json::from_value(end).unwrap()]
}

/// A job was stuck as "developing" for ever, since its status was its lock.
pub(crate) async fn fences_increase_and_old_ones_write_nothing(journal: Shared) {
    let take_over = || journal.take_over("host".into());
    let write =
        |fence: &Fence, name: &str| journal.append(Append::to(job_id("a"), vec![event(name)]).fenced(fence.clone()));
    let old = take_over().await.unwrap();
    write(&old, "old").await.unwrap();

    let new = take_over().await.unwrap();
    assert!(new.number > old.number);
    let refused = write(&old, "zombie").await.unwrap_err();
    assert!(matches!(&refused, AppendError::StaleFence { newest, .. } if *newest == new.number), "{refused:?}");
    assert_eq!(refused.code(), "HX0312");
    write(&new, "new").await.unwrap();

    let never = Fence { name: "never".into(), number: 1 };
    let error = write(&never, "never given out").await.unwrap_err();
    assert!(matches!(error, AppendError::StaleFence { newest: 0, .. }), "{error:?}");
    assert_eq!(journal.take_over("another".into()).await.unwrap().number, 1);

    let racers: Vec<_> = (0..16)
        .map(|_| {
            let journal = journal.clone();
            tokio::spawn(async move { journal.take_over("host".into()).await.unwrap() })
        })
        .collect();
    let mut fences = Vec::new();
    for racer in racers {
        fences.push(racer.await.unwrap());
    }
    fences.sort_by_key(|fence| fence.number);
    assert!(fences.windows(2).all(|pair| pair[0].number < pair[1].number), "{fences:?}");
    let (newest, others) = fences.split_last().unwrap();
    for other in others {
        write(other, "late").await.unwrap_err();
    }
    write(newest, "newest").await.unwrap();
    assert_eq!(texts(&journal, &stream("a")).await, ["old", "new", "newest"]);
}

/// Two SSE clients split the events between them, and nothing could be replayed.
pub(crate) async fn every_follower_gets_every_event_in_order(journal: Shared) {
    journal.append(Append::to(job_id("a"), vec![event("1"), event("2")])).await.unwrap();
    let follow = |after: u64| {
        let journal = journal.clone();
        tokio::spawn(async move {
            let mut follower = Follower::new(journal.as_ref(), stream("a"), after);
            let mut numbers = Vec::new();
            while numbers.last() != Some(&60) {
                numbers.push(follower.next().await.unwrap().unwrap().number);
            }
            numbers
        })
    };
    let followers = [(0, follow(0)), (0, follow(0)), (40, follow(40)), (59, follow(59))];
    for number in 3..=60 {
        journal.append(Append::to(session_id("other"), vec![event("noise")])).await.unwrap();
        journal.append(Append::to(job_id("a"), vec![event(&number.to_string())])).await.unwrap();
    }
    for (after, follower) in followers {
        assert_eq!(follower.await.unwrap(), (after + 1..=60).collect::<Vec<u64>>());
    }
}

pub(crate) async fn a_late_subscriber_is_told_to_read_again(journal: Shared) {
    let mut prompt = journal.subscribe();
    journal.append(Append::to(job_id("a"), vec![event("1")])).await.unwrap();
    assert_eq!(prompt.recv().await, Ok(Moved { stream: stream("a"), last: 1 }));
    // A refused append moves nothing: the next thing heard is the next event.
    journal.append(Append::to(job_id("a"), vec![event("x")]).after(9)).await.unwrap_err();
    journal.append(Append::to(job_id("a"), vec![event("2")])).await.unwrap();
    assert_eq!(prompt.recv().await, Ok(Moved { stream: stream("a"), last: 2 }));

    let mut late = journal.subscribe();
    let mut follower = Follower::new(journal.as_ref(), stream("a"), 0);
    let mut pending = Vec::new();
    for _ in 0..3_000 {
        let journal = journal.clone();
        pending.push(tokio::spawn(async move { journal.append(Append::to(job_id("a"), vec![event("x")])).await }));
    }
    for task in pending {
        task.await.unwrap().unwrap();
    }
    assert!(matches!(late.recv().await, Err(RecvError::Lagged(_))));
    for number in 1..=3_002 {
        assert_eq!(follower.next().await.unwrap().unwrap().number, number);
    }
}

pub(crate) async fn closing_is_heard_by_followers(journal: Shared) {
    journal.append(Append::to(job_id("a"), vec![event("1")])).await.unwrap();
    let mut subscription = journal.subscribe();
    drop(journal);
    assert_eq!(subscription.recv().await, Err(RecvError::Closed));
}
