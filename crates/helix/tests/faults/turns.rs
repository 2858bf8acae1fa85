//! The same faults of the Consultant's agent, in answers as a whole and in streams: what is not a whole answer never looks like one.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::catalogue::{BEHAVIOURS, End};
use crate::stage::Stage;

const ANSWER: &str = "The answer is forty-two.";

/// Faults that a session does not have: nothing is claimed in it.
const NOT_A_TURNS: [&str; 2] = ["lying-done", "{ kind: write-after-result, seconds: 0.1 }"];

/// What a client is shown.
#[derive(Debug)]
struct Shown {
    status: u16,
    text: String,
    /// Finish reasons and errors, in order.
    ends: Vec<String>,
    /// What a stream ends with.
    done: bool,
}

/// How the answer is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Whole,
    Stream,
}

async fn shown(stage: &Stage, name: &str, form: Form) -> Shown {
    let (url, token) = stage.reachable().await;
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let message = json!({ "role": "user", "content": format!("Question {name}?") });
    let body = json!({ "model": "helix", "stream": form == Form::Stream, "messages": [message] });
    let request = http.post(format!("{url}/v1/chat/completions")).header("x-chat", name).bearer_auth(token);
    let answer = request.json(&body).send().await.unwrap();
    let mut shown =
        Shown { status: answer.status().as_u16(), text: String::new(), ends: Vec::new(), done: form == Form::Whole };
    let body = answer.text().await.unwrap();
    if form == Form::Whole || shown.status != 200 {
        let whole: Value = serde_json::from_str(&body).unwrap_or_else(|error| panic!("{name}: {error}: {body}"));
        shown.take(&whole, "message");
        return shown;
    }
    for data in body.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim) {
        match data {
            "[DONE]" => shown.done = true,
            data => shown.take(&serde_json::from_str(data).unwrap(), "delta"),
        }
    }
    shown
}

impl Shown {
    fn take(&mut self, record: &Value, key: &str) {
        if let Some(message) = record["error"]["message"].as_str() {
            self.ends.push(format!("error: {message}"));
        }
        let choice = &record["choices"][0];
        if let Some(text) = choice[key]["content"].as_str() {
            self.text.push_str(text);
        }
        if let Some(reason) = choice["finish_reason"].as_str() {
            self.ends.push(reason.to_owned());
        }
    }

    /// A whole answer, which nothing puts in doubt.
    fn is_answer(&self) -> bool {
        let only = self.ends == ["stop"];
        self.status == 200 && only && self.done && self.text.contains(ANSWER) && !self.text.contains("[!CAUTION]")
    }

    /// Trouble that no client can take for an answer.
    fn is_trouble(&self, form: Form) -> bool {
        let error = self.ends.last().is_some_and(|end| end.len() > "error: ".len() && end.starts_with("error: "));
        match form {
            Form::Whole => self.status >= 400 && error && self.text.is_empty(),
            Form::Stream => error && self.done && !self.ends.contains(&"stop".to_owned()),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_fault_of_the_consultants_agent_looks_like_an_answer() {
    let behaviours: Vec<_> = BEHAVIOURS.iter().filter(|one| !NOT_A_TURNS.contains(&one.fault)).enumerate().collect();
    let script: String = behaviours
        .iter()
        .map(|(index, one)| {
            let act = format!("{{ say: '{ANSWER}', faults: [{}] }}", one.fault);
            format!("  - name: t{index}\n    prompt: {{ matches: 'Question t{index}-' }}\n    act: {act}\n")
        })
        .collect();
    // Corrections of the form would be other turns: here it is about the first one.
    let config =
        "max_agents = 16\nlinger = \"6s\"\nstall = \"12s\"\nstop_grace = \"1s\"\n\n[consultant]\nenforcement = []\n";
    let stage = Arc::new(Stage::new(&format!("parts:\n{script}"), config));
    let host = stage.start();
    stage.reachable().await;
    let mut turns = JoinSet::new();
    for (index, one) in &behaviours {
        for form in [Form::Whole, Form::Stream] {
            let (stage, fault, harmless) = (Arc::clone(&stage), one.fault, one.always == End::Done);
            let name = format!("t{index}-{}", if form == Form::Whole { "whole" } else { "stream" });
            turns.spawn(async move {
                let shown = shown(&stage, &name, form).await;
                let good = if harmless { shown.is_answer() } else { shown.is_trouble(form) };
                (!good).then(|| format!("{name} [{fault}] harmless: {harmless}: {shown:?}"))
            });
        }
    }
    let count = turns.len();
    let mut problems: Vec<String> = turns.join_all().await.into_iter().flatten().collect();
    problems.sort();
    assert!(problems.is_empty(), "{} of {count} turns:\n{}", problems.len(), problems.join("\n"));
    // Ids of sessions and their runs begin so; the state directory is this test's own.
    let runs = std::fs::read_dir(stage.sandbox.state().join("runs")).unwrap().flatten();
    let runs: Vec<String> = runs.map(|run| run.file_name().to_string_lossy().into_owned()).collect();
    assert!(runs.len() >= count, "{runs:?}");
    tokio::task::spawn_blocking(move || runs.iter().for_each(|run| Stage::no_agent_is_left(run))).await.unwrap();
    drop(host);
    println!("{count} turns with a faulty agent: none looks like an answer that it is not, no process left");
}
