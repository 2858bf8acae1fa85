//! Jobs in a chat: watched after an answer, answered, told of in the next turn.

use std::path::PathBuf;
use std::time::Duration;

use axum::body::Bytes;
use futures::{StreamExt, stream::BoxStream};
use helix_core::ids::SessionId;
use helix_engine::tools::{Caller, Tools};
use helix_server::ServerConfig;
use helix_testkit::project::{Language, Project};
use helix_testkit::sandbox::Sandbox;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{content, frames};
use crate::host::{Host, signals};

/// A repository with a plan of one phase that waits for a file.
pub(super) struct Stage {
    pub(super) host: Host,
    pub(super) sandbox: Sandbox,
    signals: TempDir,
    pub(super) gate: PathBuf,
    pub(super) session: String,
}

impl Stage {
    /// The session has one turn: "hello" and "Hi.". `more` is put into the phase.
    pub(super) async fn new(host: Host, more: &str) -> Self {
        let sandbox = Sandbox::new().unwrap();
        let signals = signals();
        let gate = signals.path().join("go");
        let repo = sandbox.project("shop", Project::healthy(Language::Python)).unwrap();
        let wait = format!("[[fake: run while [ ! -e {} ]; do sleep 0.02; done]]", gate.display());
        let plan = format!(
            "name: pages\nphases:\n  - id: page\n    name: Write the page\n    type: documentation\n    \
             description: \"{wait} [[fake: write page.md hello]]\"\n    outputs: [page.md]\n{more}"
        );
        std::fs::create_dir_all(repo.join("plans/pages")).unwrap();
        std::fs::write(repo.join("plans/pages/phases.yaml"), plan).unwrap();
        for arguments in [vec!["add", "-A"], vec!["commit", "-qm", "plan"]] {
            helix_testkit::project::git(&repo, sandbox.environment(), &arguments).unwrap();
        }
        let mut stage = Self { host, sandbox, signals, gate, session: String::new() };
        let hello = stage.whole(json!([{ "role": "user", "content": "hello [[fake: say Hi.]]" }])).await;
        stage.session = hello["helix"]["session"].as_str().unwrap().to_owned();
        stage
    }

    /// Calls a tool as the agent of the session does.
    pub(super) async fn tool(&self, name: &str, arguments: Value) -> String {
        let tools = Tools::new(self.host.engine().clone(), Caller::Session(SessionId::new(&*self.session).unwrap()));
        let answer = match name {
            "answer" => tools.answer(serde_json::from_value(arguments).unwrap()).await,
            "job_start" => tools.job_start(serde_json::from_value(arguments).unwrap()).await,
            "job_status" => tools.job_status(serde_json::from_value(arguments).unwrap()).await,
            other => panic!("{other}"),
        };
        answer.unwrap_or_else(|refusal| panic!("{}", refusal.text)).0
    }

    /// Starts the job from the session; its id.
    pub(super) async fn start(&self) -> String {
        let said = self.tool("job_start", json!({ "project": self.sandbox.path().join("shop") })).await;
        said.split_whitespace().nth(2).unwrap().to_owned()
    }

    async fn send(&self, client: &str, messages: &Value, stream: bool) -> reqwest::Response {
        let request = self.host.post("/v1/chat/completions").header("x-chat", "c").header("x-helix-client", client);
        request.json(&json!({ "model": "helix", "stream": stream, "messages": messages })).send().await.unwrap()
    }

    async fn whole(&self, messages: Value) -> Value {
        let answer = self.send("plain", &messages, false).await;
        assert_eq!(answer.status(), 200);
        answer.json().await.unwrap()
    }

    pub(super) async fn watched(&self, messages: &Value) -> Reader {
        Reader { bytes: self.send("openwebui", messages, true).await.bytes_stream().boxed(), seen: String::new() }
    }

    async fn turns(&self) -> Vec<Value> {
        let path = format!("/api/v1/sessions/{}", self.session);
        let view: Value = self.host.get(&path).send().await.unwrap().json().await.unwrap();
        view["turns"].as_array().unwrap().clone()
    }

    /// What the agent of a turn was told.
    pub(super) async fn prompt_of(&self, turn: usize) -> String {
        self.host.asked(self.turns().await[turn]["run"].as_str().unwrap()).1
    }

    /// Has the agent wait until a file of this name is put.
    pub(super) fn until_there(&self, name: &str) -> String {
        format!("[[fake: run while [ ! -e {} ]; do sleep 0.02; done]]", self.signals.path().join(name).display())
    }

    pub(super) fn put(&self, name: &str) {
        std::fs::write(self.signals.path().join(name), "").unwrap();
    }

    /// Waits until a turn has begun. Sessions have no stream of events: looking is the only way to learn of it.
    pub(super) async fn has_turns(&self, count: usize) {
        while self.turns().await.len() < count {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits for the end of a job by its events.
    pub(super) async fn finished(&self, job: &str) {
        let events = self.host.get(&format!("/api/v1/jobs/{job}/events")).send().await.unwrap().text().await.unwrap();
        assert!(events.contains("job_finished"), "{events}");
    }
}

/// Reads a stream as far as is wanted.
pub(super) struct Reader {
    bytes: BoxStream<'static, reqwest::Result<Bytes>>,
    seen: String,
}

impl Reader {
    pub(super) async fn until(&mut self, text: &str) {
        while !self.seen.contains(text) {
            self.more().await;
        }
    }

    /// Reads until a text follows another one: lines about jobs stand above an answer, too, while its turn runs.
    async fn until_after(&mut self, first: &str, text: &str) {
        self.until(first).await;
        while !self.seen.rsplit(first).next().unwrap().contains(text) {
            self.more().await;
        }
    }

    async fn more(&mut self) {
        let piece = self.bytes.next().await.unwrap_or_else(|| panic!("no more after {}", self.seen)).unwrap();
        self.seen.push_str(std::str::from_utf8(&piece).unwrap());
    }

    pub(super) async fn rest(mut self) -> Vec<Value> {
        while let Some(piece) = self.bytes.next().await {
            self.seen.push_str(std::str::from_utf8(&piece.unwrap()).unwrap());
        }
        assert!(self.seen.ends_with("data: [DONE]\n\n"), "{}", self.seen);
        frames(&self.seen)
    }
}

pub(super) fn second(text: &str) -> Value {
    json!([
        { "role": "user", "content": "hello [[fake: say Hi.]]" },
        { "role": "assistant", "content": "Hi." },
        { "role": "user", "content": text },
    ])
}

pub(super) fn statuses(frames: &[Value]) -> Vec<&str> {
    let shown = frames.iter().filter_map(|frame| frame.pointer("/event/data")).filter(|data| data["hidden"] != true);
    shown.filter_map(|data| data["description"].as_str()).collect()
}

pub(super) fn last_status(frames: &[Value]) -> &Value {
    frames.iter().rev().find_map(|frame| frame.pointer("/event/data")).unwrap()
}

pub(super) fn said(role: &str, text: &str) -> Value {
    json!({ "role": role, "content": text })
}

#[tokio::test]
async fn a_job_is_watched_in_the_chat_to_its_end_and_the_next_turn_knows_of_it() {
    let stage = Stage::new(Host::with_agent(ServerConfig::default()).await, "").await;
    stage.start().await;
    let go = "go [[fake: say It runs.]]";
    let mut reader = stage.watched(&second(go)).await;
    reader.until_after("It runs.", "Phase 1 of 1, Write the page: agent running").await;
    let turns = stage.turns().await;
    assert_eq!(turns[1]["end"]["delivery"], "delivered", "the answer is whole while the job is watched: {turns:#?}");
    std::fs::write(&stage.gate, "").unwrap();
    let frames = reader.rest().await;
    let text = content(&frames);
    let (answer, block) = text.split_once("\n\n").unwrap();
    assert_eq!(answer, "It runs.");
    assert!(block.starts_with("> [!NOTE]\n> **Helix:** Job pages succeeded, merged into "), "{block}");
    let figures = block.lines().find(|line| line.contains(" · ")).unwrap_or_else(|| panic!("{block}"));
    assert!(figures.contains("shop` · ") && figures.contains(" s · $"), "{figures}");
    assert!(figures.contains(" · 1 file changed · "), "{figures}");
    assert!(block.contains("> | ✓ Write the page | 1 | ✓ "), "what proves it: {block}");
    assert!(block.contains("`helix jobs diff ") && block.contains("`helix jobs evidence "), "where to look: {block}");
    for (shown, holds) in [("diff", "+++ b/page.md"), ("evidence", "\npages j")] {
        let address = block.split(['(', ')']).find(|part| part.contains(&format!("~{shown}~"))).unwrap();
        let opened = stage.host.http.get(address).send().await.unwrap();
        assert_eq!(opened.status(), 200);
        assert_eq!(opened.headers()["x-content-type-options"], "nosniff");
        assert!(opened.text().await.unwrap().contains(holds), "{holds:?} of {shown}");
        if shown == "evidence" {
            let german = stage.host.http.get(address).header("accept-language", "de-DE,de;q=0.9,en;q=0.5").send();
            let german = german.await.unwrap().text().await.unwrap();
            assert!(german.starts_with("belegt, eben noch einmal geprüft\n\npages j"), "{german}");
        }
        let forged = address.replace("~diff~", "~evidence~").replace("files/j", "files/jj");
        assert_eq!(stage.host.http.get(forged).send().await.unwrap().status(), 404, "signed for one job");
    }
    let lists = frames.iter().filter_map(|frame| frame.pointer("/event/data/tasks"));
    // News above the answer, if the job has any by then, take a list away that was left behind.
    let lists: Vec<&Value> = lists.skip_while(|list| **list == json!([])).collect();
    let first = json!([{ "id": "0", "content": "Write the page (agent running)", "status": "in_progress" }]);
    assert_eq!(
        (lists.first(), lists.last()),
        (Some(&&first), Some(&&json!([]))),
        "shown at first, and taken away: {lists:?}"
    );
    let statuses = statuses(&frames);
    assert!(statuses.iter().any(|line| line.ends_with(", 1 file changed")), "{statuses:?}");
    let last = last_status(&frames);
    assert_eq!(last["done"], true, "{last}");
    assert!(last["description"].as_str().unwrap().starts_with("pages succeeded, merged into "), "{last}");

    // A client without ids sends Helix's words back as if they were the agent's: the place is found all the same.
    let mut messages = second(go);
    messages.as_array_mut().unwrap().extend([said("assistant", &text), said("user", "and? [[fake: say Fine.]]")]);
    let frames = stage.watched(&messages).await.rest().await;
    let last = last_status(&frames)["description"].as_str().unwrap();
    assert!(last.starts_with("Answered"), "its end stands in the answer before: {frames:?}");
    assert_eq!(content(&frames), "Fine.", "a job that is over is not told of again");
    let turns = stage.turns().await;
    assert_eq!((turns.len(), &turns[2]["parent"]), (3, &turns[1]["id"]), "{turns:#?}");
    let (args, prompt) = stage.host.asked(turns[2]["run"].as_str().unwrap());
    assert!(args.iter().any(|arg| arg == "--resume"), "nothing was edited: {args:?}");
    assert!(prompt.contains("news of a job of this session") && prompt.contains("merged into"), "{prompt}");
    assert!(!prompt.contains("[!NOTE]"), "{prompt}");
    // Who has not seen the note is told.
    let mut messages = second(go);
    messages.as_array_mut().unwrap().extend([said("assistant", answer), said("user", "so? [[fake: say Yes.]]")]);
    let frames = stage.watched(&messages).await.rest().await;
    let news = |line: &&&str| line.starts_with("Since your last message, pages succeeded, merged into ");
    assert_eq!(self::statuses(&frames).iter().filter(news).count(), 1, "{frames:?}");
    assert!(last_status(&frames)["description"].as_str().unwrap().starts_with("Answered"), "{frames:?}");
    let text = content(&frames);
    assert!(text.starts_with("> [!NOTE]\n> **Helix:** Job pages succeeded") && text.ends_with("\n\nYes."), "{text}");
    stage.host.stop().await;
}

#[tokio::test]
async fn a_job_that_was_resumed_and_ended_the_same_way_is_told_of_again() {
    let stage = Stage::new(Host::with_agent(ServerConfig::default()).await, "").await;
    let job = stage.start().await;
    let go = "go [[fake: say It runs.]]";
    let mut reader = stage.watched(&second(go)).await;
    reader.until("agent running").await;
    let post = async |what: &str| {
        let answer = stage.host.post(&format!("/api/v1/jobs/{job}/{what}")).send().await.unwrap();
        assert!(answer.status().is_success(), "{}", answer.text().await.unwrap());
    };
    post("cancel").await;
    let text = content(&reader.rest().await);
    assert!(text.contains("> **Helix:** Job pages"), "{text}");
    let mut messages = second(go);
    messages.as_array_mut().unwrap().extend([said("assistant", &text), said("user", "and? [[fake: say Fine.]]")]);
    post("resume").await;
    post("cancel").await;
    stage.finished(&job).await;
    let frames = stage.watched(&messages).await.rest().await;
    assert!(statuses(&frames).iter().any(|line| line.starts_with("Since your last message, pages ")), "{frames:?}");
    assert!(content(&frames).starts_with("> [!NOTE]\n> **Helix:** Job pages"), "{frames:?}");
    stage.host.stop().await;
}

/// A job with this approval that a watched answer starts: its stage, the user's message, the job, and what the client reads.
async fn asking(approval: &str) -> (Stage, String, String, Reader) {
    let stage =
        Stage::new(Host::with_agent(ServerConfig::default()).await, &format!("    approval: {approval}\n")).await;
    std::fs::write(&stage.gate, "").unwrap();
    let go = format!("go {} [[fake: say It runs.]]", stage.until_there("started"));
    let reader = stage.watched(&second(&go)).await;
    stage.has_turns(2).await;
    let job = stage.start().await;
    stage.put("started");
    (stage, go, job, reader)
}

#[tokio::test]
async fn a_question_ends_the_watching_and_is_answered_in_the_chat() {
    let (stage, go, job, reader) = asking("before").await;
    let frames = reader.rest().await;
    let text = content(&frames);
    assert!(text.contains("> [!IMPORTANT]\n> **Helix:** Job pages waits for you (phase `page`):"), "{text}");
    assert!(text.contains("> - **approve**: ") && text.contains("Answer here in the chat"), "{text}");
    assert!(last_status(&frames)["description"].as_str().unwrap().starts_with("pages waits for you: "), "{frames:?}");

    // The user says so in the chat; the agent passes it on, and the job is watched again.
    let mut messages = second(&go);
    let yes = format!("yes {} [[fake: say Passed on.]]", stage.until_there("told"));
    messages.as_array_mut().unwrap().extend([said("assistant", &text), said("user", &yes)]);
    let reader = stage.watched(&messages).await;
    stage.has_turns(3).await;
    let told = stage.tool("answer", json!({ "choice": "approve" })).await;
    assert!(told.contains("continues"), "{told}");
    stage.put("told");
    let frames = reader.rest().await;
    assert!(content(&frames).contains("Job pages succeeded"), "{}", content(&frames));
    let turns = stage.turns().await;
    let (_, prompt) = stage.host.asked(turns[2]["run"].as_str().unwrap());
    assert!(prompt.contains("It waits for an answer to"), "{prompt}");
    assert_eq!(turns.len(), 3);
    stage.finished(&job).await;
    stage.host.stop().await;
}

/// Whatever the question names, and also where it came when nobody watched.
#[tokio::test]
async fn a_question_about_a_result_is_shown_and_once_more_with_the_next_answer() {
    let (stage, go, job, reader) = asking("after").await;
    let text = content(&reader.rest().await);
    let (asks, diff) = ("> **Helix:** Job pages waits for you (phase `page`):", format!("helix jobs diff {job}"));
    assert!([asks, &diff, "\n> What the agent says:\n>\n> > "].iter().all(|part| text.contains(part)), "{text}");
    let mut messages = second(&go);
    messages.as_array_mut().unwrap().extend([said("assistant", &text), said("user", "what? [[fake: say That.]]")]);
    let text = content(&stage.watched(&messages).await.rest().await);
    assert!(text.starts_with("That.") && text.contains(asks), "{text}");
    stage.host.stop().await;
}

#[tokio::test]
async fn whoever_stops_watching_stops_neither_the_job_nor_a_turn() {
    let stage = Stage::new(Host::with_agent(ServerConfig::default()).await, "").await;
    let job = stage.start().await;
    let mut reader = stage.watched(&second("go [[fake: say It runs.]]")).await;
    reader.until_after("It runs.", "agent running").await;
    drop(reader);
    let mut messages = second("go [[fake: say It runs.]]");
    messages.as_array_mut().unwrap().extend([said("assistant", "It runs."), said("user", "so? [[fake: say Yes.]]")]);
    stage.whole(messages).await;
    let turns = stage.turns().await;
    assert_eq!(turns[1]["end"]["facts"]["stopped"], Value::Null, "{turns:#?}");
    let (_, prompt) = stage.host.asked(turns[2]["run"].as_str().unwrap());
    assert!(!prompt.contains("stopped your last answer"), "{prompt}");
    std::fs::write(&stage.gate, "").unwrap();
    stage.finished(&job).await;
    stage.host.stop().await;
}

#[tokio::test]
async fn a_message_that_waits_for_a_free_agent_says_so_and_can_be_stopped_while_it_waits() {
    let host = Host::with_engine(ServerConfig::default(), |engine| engine.admission.agents = 1).await;
    let stage = Stage::new(host, "").await;
    let job = stage.start().await;
    // A person comes first wherever somebody waits: only once the job's agent is there, the only place is taken.
    let run = stage.host.state().join("runs").join(format!("{job}.page.1"));
    while !run.exists() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let go = second("go [[fake: say It runs.]]");
    let mut reader = stage.watched(&go).await;
    let waits = "Your message is waiting for a place: 1 of 1 agents running, 1 waiting";
    reader.until(waits).await;
    // The session's next message waits for this one.
    let mut other = stage.watched(&second("other [[fake: say It runs.]]")).await;
    other.until("Waiting for 1 earlier message of this chat").await;
    for seen in [&reader.seen, &other.seen] {
        assert!(!seen.contains("\"done\":false"), "who presses Stop now sees it for ever: {seen}");
    }
    drop((reader, other));
    while stage.turns().await.get(1).is_none_or(|turn| turn["end"].is_null()) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let stopped = &stage.turns().await[1]["end"]["facts"]["stopped"];
    assert_eq!(stopped, "cancelled", "Stop ends a turn that has not started");
    // Another one waits until the place is free, and is answered then.
    let mut reader = stage.watched(&go).await;
    reader.until(waits).await;
    std::fs::write(&stage.gate, "").unwrap();
    let frames = reader.rest().await;
    assert_eq!(content(&frames).split("\n\n").next().unwrap(), "It runs.");
    assert!(statuses(&frames).contains(&waits), "{frames:?}");
    let plain = stage.send("plain", &second("now [[fake: say Yes.]]"), true).await.text().await.unwrap();
    assert!(!plain.contains("is queued"), "{plain}");
    stage.host.stop().await;
}

#[tokio::test]
async fn the_next_message_ends_the_watching_in_order() {
    let stage = Stage::new(Host::with_agent(ServerConfig::default()).await, "").await;
    stage.start().await;
    let mut reader = stage.watched(&second("go [[fake: say It runs.]]")).await;
    reader.until_after("It runs.", "agent running").await;
    // From another tab. Plain clients are not kept waiting: the job cannot end before the file is there.
    let answer = stage.whole(second("other [[fake: say Yes.]]")).await;
    assert_eq!(answer["choices"][0]["message"]["content"], "Yes.");
    let frames = reader.rest().await;
    assert_eq!(content(&frames), "It runs.", "nothing has ended that would be worth a line in the answer");
    let last = last_status(&frames);
    assert!(
        last["description"].as_str().unwrap().contains("Ask here for its progress") && last["done"] == true,
        "{last}"
    );
    let plain = stage.send("plain", &second("again [[fake: say Yes.]]"), true).await.text().await.unwrap();
    assert_eq!(content(&super::frames(&plain)), "Yes.");
    std::fs::write(&stage.gate, "").unwrap();
    stage.host.stop().await;
}

#[tokio::test]
async fn watching_has_a_limit_and_can_be_switched_off() {
    for (limit, last) in [(Duration::from_millis(50), "Ask here for its progress"), (Duration::ZERO, "Answered")] {
        let host = Host::with_engine(ServerConfig::default(), |engine| engine.consultant.follow_jobs = limit).await;
        let stage = Stage::new(host, "").await;
        stage.start().await;
        let frames = stage.watched(&second("go [[fake: say It runs.]]")).await.rest().await;
        assert!(last_status(&frames)["description"].as_str().unwrap().contains(last), "{frames:?}");
        let (text, table) = (content(&frames), "Job pages is running: ");
        assert_eq!((text.starts_with("It runs."), text.contains(table)), (true, !limit.is_zero()), "{text}");
        let asked = stage.tool("job_status", json!({})).await;
        assert!(
            asked
                .contains("show this table, its head in their language:\n\n| Phase | Attempts | Gates | Time | Cost |"),
            "{asked}"
        );
        std::fs::write(&stage.gate, "").unwrap();
        stage.host.stop().await;
    }
}

#[tokio::test]
async fn a_server_that_ends_while_a_job_is_watched_has_not_failed() {
    let stage = Stage::new(Host::with_agent(ServerConfig::default()).await, "").await;
    stage.start().await;
    let mut reader = stage.watched(&second("go [[fake: say It runs.]]")).await;
    reader.until_after("It runs.", "agent running").await;
    let Stage { host, gate, .. } = stage;
    let ((), frames) = tokio::join!(host.stop(), reader.rest());
    assert!(frames.iter().all(|frame| frame["error"].is_null()), "{frames:?}");
    assert_eq!(content(&frames), "It runs.");
    // The phase's agent goes on under its keeper: let it end.
    std::fs::write(&gate, "").unwrap();
}

#[tokio::test]
async fn titles_and_follow_ups_come_from_what_the_session_has_come_to() {
    let stage = Stage::new(Host::with_agent(ServerConfig::default()).await, "").await;
    let ask = async |chat: &str, task: &str| {
        let prompt = "### Task:\nx\n<chat_history>\nUSER: hello\nASSISTANT: Hi.\n</chat_history>";
        let request = stage.host.post("/v1/chat/completions").header("x-chat", chat).header("x-task", task);
        let body = json!({ "messages": [{ "role": "user", "content": prompt }] });
        let answer: Value = request.json(&body).send().await.unwrap().json().await.unwrap();
        serde_json::from_str::<Value>(answer["choices"][0]["message"]["content"].as_str().unwrap()).unwrap()
    };
    assert_eq!(ask("c", "title_generation").await["title"], "hello", "only talk so far");
    assert_eq!(ask("c", "follow_up_generation").await["follow_ups"], json!([]));
    stage.start().await;
    assert_eq!(ask("c", "title_generation").await["title"], "pages");
    assert_eq!(ask("c", "tags_generation").await["tags"], json!(["shop"]));
    assert_eq!(ask("c", "follow_up_generation").await["follow_ups"], json!(["How far is it?"]));
    assert_eq!(ask("other", "title_generation").await["title"], "hello", "another session");
    let sessions: Value = stage.host.get("/api/v1/sessions").send().await.unwrap().json().await.unwrap();
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(stage.turns().await.len(), 1);
    stage.put("go");
    stage.host.stop().await;
}

/// Nobody is to be asked to go ahead with what did not pass its checks, and nothing says that it is done.
#[tokio::test]
async fn an_answer_that_did_not_pass_its_checks_is_not_followed_by_go_ahead() {
    use helix_engine::consultant::{Enforcement, Validator};
    for is_checked in [true, false] {
        let host = Host::with_engine(ServerConfig::default(), |engine| {
            let validators = if is_checked { vec![Validator::StepMarker] } else { Vec::new() };
            engine.consultant.enforcement = Enforcement { validators, own: Vec::new(), retries: 0 };
        })
        .await;
        let request = || host.post("/v1/chat/completions").header("x-chat", "c");
        let order = "[[fake: run echo '# ADR' > adr-draft.md]] [[fake: say Without a marker.]]";
        let body = json!({ "stream": true, "messages": [said("user", order)] });
        let answer = request().header("x-helix-client", "openwebui").json(&body).send().await.unwrap();
        let frames = frames(&answer.text().await.unwrap());
        let last = last_status(&frames)["description"].as_str().unwrap();
        assert_eq!(last.contains("see the note below"), is_checked, "{last}");
        assert!(last.starts_with("Answered"), "{last}");
        assert_eq!(content(&frames).contains("did not pass its checks"), is_checked, "{frames:?}");
        let prompt = "### Task:\nx\n<chat_history>\nUSER: hello\n</chat_history>";
        let body = json!({ "messages": [said("user", prompt)] });
        let answer = request().header("x-task", "follow_up_generation").json(&body).send().await.unwrap();
        let answer: Value = answer.json().await.unwrap();
        let offers = answer["choices"][0]["message"]["content"].as_str().unwrap().contains("Go ahead");
        assert_eq!(offers, !is_checked, "{answer}");
        host.stop().await;
    }
}

#[tokio::test]
async fn a_session_with_an_open_job_is_not_forgotten() {
    let stage = Stage::new(Host::with_agent(ServerConfig::default()).await, "").await;
    let job = stage.start().await;
    let request = stage.host.post("/v1/chat/completions").header("x-chat", "over");
    let request = request.json(&json!({ "messages": [said("user", "hi [[fake: say Hi.]]")] }));
    assert_eq!(request.send().await.unwrap().status(), 200);
    let Stage { host, sandbox, signals, gate, session } = stage;
    let none = helix_engine::consultant::Retention { days: None, count: Some(0) };
    let host = host.restart_with(ServerConfig::default(), |engine| engine.consultant.retention = none).await;
    let stage = Stage { host, sandbox, signals, gate, session };
    // The host looks after its start and tells nobody when it is through.
    loop {
        let list: Value = stage.host.get("/api/v1/sessions").send().await.unwrap().json().await.unwrap();
        if let [left] = &list["sessions"].as_array().unwrap()[..] {
            assert_eq!(left["id"], stage.session.as_str(), "{list}");
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    std::fs::write(&stage.gate, "").unwrap();
    stage.finished(&job).await;
    assert_eq!(stage.turns().await.len(), 1, "its record is whole");
    stage.host.stop().await;
}

#[tokio::test]
async fn a_job_that_was_asked_about_belongs_to_the_session() {
    let stage = Stage::new(Host::with_agent(ServerConfig::default()).await, "").await;
    let body = json!({ "project_path": stage.sandbox.path().join("shop") });
    let job: Value = stage.host.post("/api/v1/jobs").json(&body).send().await.unwrap().json().await.unwrap();
    let job = job["id"].as_str().unwrap_or_else(|| panic!("{job}"));
    for _ in 0..2 {
        let told = stage.tool("job_status", json!({ "job": job })).await;
        assert!(told.contains("\n- page "), "{told}");
    }
    let path = format!("/api/v1/sessions/{}", stage.session);
    let view: Value = stage.host.get(&path).send().await.unwrap().json().await.unwrap();
    assert_eq!(view["jobs"], json!([job]), "{view:#}");
    let mut reader = stage.watched(&second("so? [[fake: say It runs.]]")).await;
    reader.until("Phase 1 of 1, Write the page: agent running").await;
    std::fs::write(&stage.gate, "").unwrap();
    assert!(content(&reader.rest().await).contains("Job pages succeeded"));
    stage.host.stop().await;
}

/// Whatever waits in silence says so every few seconds, outside of the content: a turn whose agent runs a tool, a job that is
/// watched in a chat, a job's events and its activity.
#[tokio::test]
async fn every_stream_is_kept_alive_while_nothing_happens() {
    let config = ServerConfig { heartbeat: Duration::from_millis(20), ..ServerConfig::default() };
    let stage = Stage::new(Host::with_agent(config).await, "").await;
    let beats = |text: &str| text.matches(": keep-alive\n\n").count();
    let silent = async |reader: &mut Reader| {
        let before = beats(&reader.seen);
        while beats(&reader.seen) < before + 3 {
            let piece = reader.bytes.next().await.unwrap().unwrap();
            reader.seen.push_str(std::str::from_utf8(&piece).unwrap());
        }
    };
    let go = format!("go [[fake: text Hm.]] {} [[fake: say It runs.]]", stage.until_there("said"));
    let job = stage.start().await;
    let mut turn = stage.watched(&second(&go)).await;
    turn.until("Hm.").await;
    silent(&mut turn).await;
    stage.put("said");
    turn.until("agent running").await;
    silent(&mut turn).await;
    for path in ["events?after=1000", "activity"] {
        let answer = stage.host.get(&format!("/api/v1/jobs/{job}/{path}")).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        silent(&mut Reader { bytes: answer.bytes_stream().boxed(), seen: String::new() }).await;
    }
    std::fs::write(&stage.gate, "").unwrap();
    let frames = turn.rest().await;
    assert!(content(&frames).contains("Job pages succeeded") && !content(&frames).contains("keep-alive"), "{frames:?}");
    stage.host.stop().await;
}

/// Each client gets every event, whoever else listens, and one that comes back gets the rest.
#[tokio::test]
async fn two_clients_of_a_job_get_all_events_each() {
    let stage = Stage::new(Host::with_agent(ServerConfig::default()).await, "").await;
    let job = stage.start().await;
    let open = async |after: &str, last: Option<&str>| {
        let mut request = stage.host.get(&format!("/api/v1/jobs/{job}/events{after}"));
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        request.send().await.unwrap()
    };
    let (one, two) = (open("", None).await, open("", None).await);
    let (third, back) = (open("?after=2", None).await, open("?after=0", Some("3")).await);
    std::fs::write(&stage.gate, "").unwrap();
    let (one, two, third, back) = tokio::join!(one.text(), two.text(), third.text(), back.text());
    let numbers = |text: reqwest::Result<String>| -> Vec<u64> {
        let text = text.unwrap();
        text.lines().filter_map(|line| line.strip_prefix("id: ")?.parse().ok()).collect()
    };
    let (one, two, third, back) = (numbers(one), numbers(two), numbers(third), numbers(back));
    assert!(one.len() > 5, "{one:?}");
    assert_eq!(one, (1..=one.len() as u64).collect::<Vec<_>>());
    assert_eq!(one, two);
    assert_eq!((&one[2..], &one[3..]), (third.as_slice(), back.as_slice()));
    stage.host.stop().await;
}
