//! The Consultant in an editor: `helix acp` from outside, with the client of the protocol's own crate.

use std::io::Write as _;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    CancelNotification, ContentBlock, InitializeRequest, InitializeResponse, ListSessionsRequest, LoadSessionRequest,
    NewSessionRequest, PromptRequest, RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse,
    SelectedPermissionOutcome, SessionId, SessionNotification, StopReason,
};
use agent_client_protocol::{Agent, Error, Lines};
use futures::{sink, stream};
use helix_testkit::locate::PINNED_CLAUDE;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use crate::e2e::Bed;
use crate::stage::{LIMIT, LOOK_AGAIN, Process, Stage};

/// What an editor was told and asked, in order.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<Value>>>);

impl Seen {
    fn all(&self) -> Vec<Value> {
        self.0.lock().unwrap().clone()
    }

    fn of(&self, kind: &str) -> Vec<Value> {
        self.all().into_iter().filter(|one| one["sessionUpdate"] == kind).collect()
    }

    fn said(&self) -> String {
        let chunks = self.of("agent_message_chunk");
        chunks.iter().map(|chunk| chunk["content"]["text"].as_str().unwrap()).collect()
    }

    fn asked(&self) -> Vec<Value> {
        self.all().into_iter().filter(|one| one.get("options").is_some()).collect()
    }
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Runtime::new().unwrap().block_on(work)
}

/// An editor that starts `helix acp`; each request for permission is answered with one of these options, in order.
async fn in_editor<T>(
    command: std::process::Command,
    chosen: &[&str],
    work: impl AsyncFnOnce(ConnectionTo<Agent>, Seen) -> Result<T, Error> + Send,
) -> T {
    let mut command = tokio::process::Command::from(command);
    let mut helix = command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    let stdin = helix.stdin.take().unwrap();
    let outgoing = sink::unfold(stdin, async |mut stdin, line: String| {
        stdin.write_all(format!("{}\n", line.trim_end()).as_bytes()).await?;
        Ok::<_, std::io::Error>(stdin)
    });
    let lines = BufReader::new(helix.stdout.take().unwrap()).lines();
    let incoming =
        stream::unfold(lines, async |mut lines| lines.next_line().await.transpose().map(|line| (line, lines)));
    let seen = Seen::default();
    let (told, asked) = (seen.clone(), seen.clone());
    let mut chosen = chosen.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>().into_iter();
    agent_client_protocol::Client
        .v1()
        .on_receive_notification(
            async move |notification: SessionNotification, _| {
                told.0.lock().unwrap().push(serde_json::to_value(notification.update).unwrap());
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: RequestPermissionRequest, responder, _| {
                asked.0.lock().unwrap().push(serde_json::to_value(&request).unwrap());
                let outcome = chosen.next().map_or(RequestPermissionOutcome::Cancelled, |option| {
                    RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(option))
                });
                responder.respond(RequestPermissionResponse::new(outcome))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .connect_with(Lines::new(Box::pin(outgoing), Box::pin(incoming)), async move |connection| {
            work(connection, seen).await
        })
        .await
        .unwrap()
}

async fn begin(editor: &ConnectionTo<Agent>, project: &Path) -> Result<SessionId, Error> {
    let told: InitializeResponse =
        editor.send_request(InitializeRequest::new(ProtocolVersion::V1)).block_task().await?;
    let told = serde_json::to_value(told).unwrap();
    assert_eq!((&told["protocolVersion"], &told["agentInfo"]["name"]), (&json!(1), &json!("helix")), "{told:#}");
    assert_eq!(told["agentCapabilities"]["loadSession"], true, "{told:#}");
    Ok(editor.send_request(NewSessionRequest::new(project)).block_task().await?.session_id)
}

async fn say(editor: &ConnectionTo<Agent>, session: &SessionId, text: &str) -> Result<StopReason, Error> {
    let request = PromptRequest::new(session.clone(), vec![ContentBlock::from(text)]);
    Ok(editor.send_request(request).block_task().await?.stop_reason)
}

/// With the real agent CLI: an answer with its tool calls, a plan that runs on a yes, its phases, and the change with its proof.
#[test]
fn a_sentence_in_an_editor_becomes_a_merged_job() {
    let bed = Bed::serve(PINNED_CLAUDE, include_str!("e2e/do.yaml").parse().unwrap());
    let ledger = bed.projects().join("ledger");
    fs::create_dir_all(&ledger).unwrap();
    let book = "def balance(entries):\n    return sum(cents for _, cents in entries)\n";
    fs::write(ledger.join("book.py"), book).unwrap();
    let test = "from book import balance\n\n\ndef test_nothing():\n    assert balance([]) == 0\n";
    fs::write(ledger.join("test_book.py"), test).unwrap();
    fs::write(ledger.join(".gitignore"), "__pycache__/\n.pytest_cache/\n").unwrap();
    for arguments in [&["init", "-q", "-b", "main"][..], &["add", "."], &["commit", "-qm", "The book"]] {
        bed.git(&ledger, arguments);
    }
    let place = ledger.clone();
    let (session, seen) = block_on(in_editor(bed.command(&ledger, &["acp"]), &["run"], async move |editor, seen| {
        let session = begin(&editor, &place).await?;
        assert_eq!(say(&editor, &session, "Add the balance of a month").await?, StopReason::EndTurn);
        Ok((session, seen))
    }));

    let said = seen.said();
    assert!(said.contains("One phase adds **month.py** and its tests.") && !said.contains("STEP"), "{said}");
    assert!(said.contains("merged into main"), "{said}");
    let calls = seen.of("tool_call");
    let read = calls.iter().find(|call| call["title"] == "Read book.py").unwrap();
    assert_eq!(read["kind"], "read", "{read:#}");
    assert_eq!(read["locations"][0]["path"], ledger.join("book.py").to_str().unwrap(), "{read:#}");
    let ended = |id: &Value| -> Option<Value> {
        seen.of("tool_call_update").into_iter().rfind(|update| update["toolCallId"] == *id)
    };
    assert_eq!(ended(&read["toolCallId"]).unwrap()["status"], "completed");
    // What was asked before anything ran: the decision, and the plan with its checks.
    let asked = seen.asked();
    let [asked] = &asked[..] else { panic!("{asked:#?}") };
    let shown = asked["toolCall"]["content"].to_string();
    for part in ["Balance of a month", "(development): Add the balance of a month", "pytest -q"] {
        assert!(shown.contains(part), "{part:?} is not in {shown}");
    }
    let plans: Vec<Value> = seen.of("plan").iter().map(|plan| plan["entries"][0]["status"].clone()).collect();
    assert!(plans.contains(&json!("in_progress")) && plans.last() == Some(&json!("completed")), "{plans:?}");
    // The job's end: what it changed, and what proves it.
    let job = calls.iter().find(|call| call["title"] == "Job month").unwrap();
    let job = ended(&job["toolCallId"]).unwrap();
    assert_eq!(job["status"], "completed", "{job:#}");
    let content = job["content"].as_array().unwrap();
    let diff = content.iter().find(|part| part["path"] == ledger.join("month.py").to_str().unwrap()).unwrap();
    assert!(diff["oldText"].is_null() && diff["newText"].as_str().unwrap().contains("balance_of"), "{diff:#}");
    assert!(job["content"].to_string().contains("tests_pass"), "{job:#}");
    assert!(ledger.join("month.py").is_file());

    // Another start of the editor finds the conversation again.
    let place = ledger.clone();
    let seen = block_on(in_editor(bed.command(&ledger, &["acp"]), &[], async move |editor, seen| {
        let listed = editor.send_request(ListSessionsRequest::new().cwd(place.clone())).block_task().await?;
        assert_eq!(listed.sessions.len(), 1, "{listed:?}");
        let load = LoadSessionRequest::new(listed.sessions[0].session_id.clone(), place.clone());
        editor.send_request(load).block_task().await?;
        editor.send_request(LoadSessionRequest::new(session, place)).block_task().await?;
        Ok(seen)
    }));
    assert_eq!(seen.of("user_message_chunk")[0]["content"]["text"], "Add the balance of a month");
    assert!(seen.said().contains("One phase adds"), "{}", seen.said());
    bed.leave();
}

const PLAN: &str = "name: notes\\ndescription: Keep notes.\\nphases:\\n  - id: write\\n    name: Write the notes\\n    type: development\\n    description: Write notes.txt.\\n    outputs: [notes.txt]\\n    gates:\\n      - { type: approval, question: Passt das? }\\n";

fn script() -> String {
    format!(
        "parts:
  - name: draft
    prompt: Notizen
    act:
      steps:
        - write: {{ path: phases.yaml, content: \"{PLAN}\" }}
      say: \"Eine Phase schreibt sie.\\n<!-- STEP: finalize -->\"
  - name: phase
    prompt: {{ matches: '# Phase `write`' }}
    act: {{ steps: [{{ write: {{ path: notes.txt, content: \"notes\\n\" }} }}, {{ run: \"printf %300000s x > large.txt\" }}], say: Done. }}
  - name: hang
    prompt: lange
    act: {{ faults: [hang] }}
  - name: broken
    prompt: kaputt
    act: {{ faults: [credentials] }}
  - name: other
    prompt: ''
    act: {{ say: \"Verstanden.\\n<!-- STEP: what -->\" }}
"
    )
}

/// In German: a plan that waits, an approval that is asked for, an answer that is stopped, and one that fails.
#[test]
fn an_editor_is_asked_in_the_language_of_the_conversation() {
    let stage = Stage::new(&script(), "");
    let (mut command, repo) = (stage.helix(&["acp"]), stage.repo.clone());
    command.current_dir(stage.sandbox.home()).env("CLICOLOR_FORCE", "1");
    let seen = block_on(in_editor(command, &["not-now", "run", "approve"], async move |editor, seen| {
        let session = begin(&editor, &repo).await?;
        let end = StopReason::EndTurn;
        assert_eq!(say(&editor, &session, "Bitte schreib mir die Notizen auf").await?, end);
        assert_eq!(seen.of("plan").len(), 0);
        assert_eq!(say(&editor, &session, "Das ist gut, und wie geht es jetzt weiter?").await?, end);
        // It is offered once, until it is another one or asked for.
        assert_eq!(seen.asked().len(), 1);
        assert_eq!(say(&editor, &session, "/plan").await?, end);
        // Stopped: the agent as well.
        let (other, to_stop) = (editor.clone(), session.clone());
        let hanging = tokio::spawn(async move { say(&other, &to_stop, "Denk bitte lange darüber nach").await });
        tokio::time::sleep(std::time::Duration::from_secs(3)).await;
        // Loaded again meanwhile, it can still be stopped.
        editor.send_request(LoadSessionRequest::new(session.clone(), repo.clone())).block_task().await?;
        editor.send_notification(CancelNotification::new(session.clone()))?;
        assert_eq!(hanging.await.unwrap()?, StopReason::Cancelled);
        // What fails is an error and no answer.
        let failed = say(&editor, &session, "Das ist kaputt").await.unwrap_err();
        assert!(!failed.message.is_empty(), "{failed:?}");
        // Another session knows nothing of this one; one that nobody opened is refused.
        say(&editor, &SessionId::new("nobody"), "Hallo").await.unwrap_err();
        Ok(seen)
    }));
    let asked = seen.asked();
    assert_eq!(asked.len(), 3, "{asked:#?}");
    assert_eq!(asked[1]["toolCall"]["title"], "Den Plan ausführen?", "{asked:#?}");
    assert_eq!(asked[2]["toolCall"]["title"], "Job notes fragt zu Write the notes", "{asked:#?}");
    let options: Vec<&Value> = asked[2]["options"].as_array().unwrap().iter().map(|one| &one["kind"]).collect();
    assert_eq!(options, [&json!("allow_once"), &json!("reject_once")], "{asked:#?}");
    assert!(asked[2]["toolCall"]["content"].to_string().contains("Passt das?"), "{asked:#?}");
    let all = json!(seen.all()).to_string();
    assert!(all.contains("1 geänderte Datei ist hier nicht gezeigt"), "{all}");
    assert!(!all.contains("\\u001b"), "colours: {all}");
    let said = seen.said();
    assert!(said.contains("Verstanden.") && stage.repo.join("notes.txt").is_file(), "{said}");
    let plan = seen.of("plan").pop().unwrap();
    assert_eq!(plan["entries"][0]["status"], "completed", "{plan:#}");
}

/// What an editor sends without end is refused and dropped, and the next message is answered.
#[test]
fn a_message_without_end_is_refused() {
    let stage = Stage::new("parts: []\n", "");
    let mut helix = stage.helix(&["acp"]);
    let mut helix = helix.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = helix.stdin.take().unwrap();
    for _ in 0..33 {
        stdin.write_all(&[b'x'; 1 << 20]).unwrap();
    }
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": 1 } });
    stdin.write_all(format!("\n{hello}\n").as_bytes()).unwrap();
    let lines = std::io::BufRead::lines(std::io::BufReader::new(helix.stdout.take().unwrap()));
    let said: Vec<Value> = lines.take(2).map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    drop(stdin);
    assert!(helix.wait().unwrap().success());
    assert_eq!(said[0]["error"]["data"], "a line of more than 16777216 bytes", "{said:#?}");
    assert_eq!(said[1]["result"]["agentInfo"]["name"], "helix", "{said:#?}");
}

/// An agent that speaks ACP: it asks before it writes, and says what it was allowed. `dies`: it ends in the middle of its turn; `leaves`:
/// and something that it has started holds its output; `long`: it sends a message without end; `asks`: it wants to run a command.
const AGENT: &str = r#"
import json, os, subprocess, sys, time
how = sys.argv[1]
def say(**message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
def tell(session, **update): say(method="session/update", params={"sessionId": session, "update": update})
for line in sys.stdin:
    message = json.loads(line)
    method, number = message.get("method"), message.get("id")
    if method == "initialize":
        told = {"protocolVersion": 1, "agentInfo": {"name": "fake", "version": "1.2.3"}}
        say(id=number, result={**told, "agentCapabilities": {"mcpCapabilities": {"http": True}}})
    elif method == "session/new":
        cwd = message["params"]["cwd"]
        say(id=number, result={"sessionId": "s"})
    elif method == "session/prompt":
        prompt = number
        path = os.path.join(cwd, "notes.txt")
        if how == "asks":
            text = message["params"]["prompt"][0]["text"]
            open(os.path.join(sys.argv[2], "prompts"), "a").write(json.dumps(text) + "\n")
            while "go" not in os.listdir(sys.argv[2]): time.sleep(0.02)
            call = {"toolCallId": "c", "title": "touch", "kind": "execute", "rawInput": {"at": time.time(), "command": ["touch", path]}}
        elif how == "leaves":
            subprocess.Popen(["sleep", "300"])
            sys.exit(3)
        elif how == "long":
            say(id=7, method="session/request_permission", params={"sessionId": "x" * (17 << 20)})
        tell("other", sessionUpdate="agent_message_chunk", content={"type": "text", "text": "Of another session."})
        if how != "asks": call = {"toolCallId": "c", "title": "Write", "kind": "edit", "locations": [{"path": path}], "rawInput": {"path": path}}
        options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}, {"optionId": "no", "name": "No", "kind": "reject_once"}]
        say(id=7, method="session/request_permission", params={"sessionId": "s", "toolCall": call, "options": options})
    elif number == 7:
        if how == "dies":
            sys.exit(0)
        if message["result"]["outcome"].get("optionId") == "yes":
            open(path, "w").write("notes\n")
        tell("s", sessionUpdate="tool_call_update", toolCallId="c", status="completed")
        tell("s", sessionUpdate="agent_message_chunk", content={"type": "text", "text": "Written."})
        say(id=prompt, result={"stopReason": "end_turn", "usage": {"inputTokens": 5, "outputTokens": 2}})
"#;

const NOTES: &str = "name: notes\ndescription: Keep notes.\nphases:\n  - id: write\n    name: Write\n    type: development\n    description: Write notes.txt.\n    outputs: [notes.txt]\n    max_attempts: 1\n    gates:\n      - { type: files_exist }\n";

/// A job whose agent speaks ACP lands; one whose agent dies in the middle does not, whatever it has exited with.
#[test]
fn an_agent_that_speaks_acp_works_in_a_job() {
    let stage = Stage::new("parts: []\n", "");
    let script = stage.shared().join("agent.py");
    fs::write(&script, AGENT).unwrap();
    let file = stage.sandbox.home().join(".config/helix/helix.toml");
    let config = fs::read_to_string(&file).unwrap();
    let agent = |name: &str| {
        let command = json!(["python3", script, name]);
        format!("[agents.{name}]\ndialect = \"acp\"\ncommand = {command}\n\n")
    };
    fs::write(&file, format!("{}{config}", ["works", "dies", "leaves", "long"].map(agent).concat())).unwrap();
    let plan = stage.plan("notes", NOTES);
    let run = |agent: &str| {
        let arguments = ["run", plan.to_str().unwrap(), "--agent", agent, "--project", stage.repo.to_str().unwrap()];
        let output = stage.helix(&arguments).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8_lossy(&text).into_owned())
    };
    let (code, said) = run("dies");
    assert!(code != Some(0) && !stage.repo.join("notes.txt").exists(), "{said}");
    assert!(said.contains("before it answered"), "{said}");
    let (code, said) = run("leaves");
    assert!(code != Some(0) && said.contains("ended with exit status: 3 before it answered"), "{said}");
    let (code, said) = run("long");
    assert!(code != Some(0) && said.contains("the agent sent a line of more than 16777216 bytes"), "{said}");
    let (code, said) = run("works");
    assert!(code == Some(0) && stage.repo.join("notes.txt").is_file(), "{said}");
    let doctor = stage.helix(&["doctor"]).current_dir(&stage.repo).output().unwrap();
    let doctor = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(doctor.contains("works") && doctor.contains("1.2.3"), "{doctor}");
}

/// A stage whose only agent wants to run a command about which a person is asked.
fn asking(timeout: &str) -> Stage {
    let stage = Stage::new("parts: []\n", "");
    let script = stage.shared().join("agent.py");
    fs::write(&script, AGENT).unwrap();
    let file = stage.sandbox.home().join(".config/helix/helix.toml");
    let config = fs::read_to_string(&file).unwrap().replace("agent = \"fake\"", "agent = \"asks\"");
    let command = json!(["python3", script, "asks", stage.shared()]);
    let agent = format!(
        "[agents.asks]\ndialect = \"acp\"\ncommand = {command}\ntools = {{ ask = [\"shell:touch *\"] }}\n\n\
         [questions]\ntimeout = \"{timeout}\"\n\n"
    );
    fs::write(&file, agent + &config).unwrap();
    stage
}

/// What the agent was told each time that it was started.
fn prompts(stage: &Stage) -> Vec<String> {
    let told = fs::read_to_string(stage.shared().join("prompts")).unwrap_or_default();
    told.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

async fn until<T>(what: impl AsyncFn() -> Option<T>) -> T {
    let start = std::time::Instant::now();
    loop {
        if let Some(found) = what().await {
            return found;
        }
        assert!(start.elapsed() < LIMIT);
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// A call that a person decides: the host is killed while the agent is about to ask, and again while nobody has answered. What the
/// person says is what the agent gets to hear, and it counts for this very call.
#[tokio::test]
async fn a_person_decides_a_call_of_an_agent_that_speaks_acp() {
    for choice in ["1", "2"] {
        let stage = asking("never");
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let serve = || {
            let mut command = stage.helix(&["serve", "--listen", &format!("127.0.0.1:{port}")]);
            let log = fs::OpenOptions::new().create(true).append(true).open(stage.sandbox.path().join("host.log"));
            command.stdout(Stdio::null()).stderr(log.unwrap());
            Process(command.spawn().unwrap())
        };
        let host = serve();
        let job = stage.submit(&stage.plan("notes", NOTES), &stage.repo, "one").await;
        until(async || (prompts(&stage).len() == 1).then_some(())).await;
        drop(host);
        fs::write(stage.shared().join("go"), "").unwrap();
        let host = serve();
        let question = async || {
            let job = stage.job(&job).await;
            (job["questions"][0]["status"] == "open" && job["status"] == "waiting").then(|| job["questions"].clone())
        };
        let asked = until(question).await;
        assert!(asked[0]["text"].as_str().unwrap().ends_with("touch {work place}/notes.txt"), "{asked:#}");
        let labels: Vec<&Value> = asked[0]["options"].as_array().unwrap().iter().map(|one| &one["label"]).collect();
        assert_eq!(labels, ["yes", "no"], "{asked:#}");
        Stage::no_agent_is_left(&job);
        drop(host);
        let _host = serve();
        assert_eq!(until(question).await, asked);
        let id = asked[0]["id"].as_str().unwrap();
        let answered = stage.helix(&["answer", id, "--choice", choice]).output().unwrap();
        assert!(answered.status.success(), "{answered:?}");
        // One that got a no has written nothing: that is what a person is asked about next.
        let view = until(async || {
            let view = stage.job(&job).await;
            let asks = view["questions"].as_array().unwrap().iter().any(|one| one["status"] == "open");
            (asks || ["succeeded", "failed"].contains(&view["status"].as_str().unwrap())).then_some(view)
        })
        .await;
        assert_eq!(view["status"] == "succeeded", choice == "1", "{view:#}");
        assert_eq!(stage.repo.join("notes.txt").exists(), choice == "1", "{view:#}");
        let questions = view["questions"].as_array().unwrap();
        let calls = questions.iter().filter(|one| one["text"].as_str().unwrap().contains("touch")).count();
        assert_eq!(calls, 1, "{view:#}");
        assert!(questions[0]["answer"]["by"].as_str().unwrap().ends_with(" (terminal)"), "{view:#}");
        let told = prompts(&stage);
        assert!(told[0].contains("- `shell:touch *`") && !told[0].contains("answers: "), "{}", told[0]);
        assert!(told[1].contains("touch {work place}/notes.txt") && told[1].contains("answers: "), "{}", told[1]);
    }
}

/// Nobody's answer is a no of its own: it is said as such, and the same call does not ask again.
#[tokio::test]
async fn what_nobody_answers_is_denied_and_not_asked_again() {
    let stage = asking("1s");
    fs::write(stage.shared().join("go"), "").unwrap();
    let _host = stage.start();
    let job = stage.submit(&stage.plan("notes", NOTES), &stage.repo, "one").await;
    let view = until(async || {
        let view = stage.job(&job).await;
        // What asks last is no agent: its phase has no result.
        let asks = view["questions"].as_array().unwrap().iter().filter(|one| one["status"] == "open").count();
        (view["status"] == "failed" || (asks > 0 && prompts(&stage).len() > 1)).then_some(view)
    })
    .await;
    let questions = view["questions"].as_array().unwrap();
    let calls: Vec<&Value> = questions.iter().filter(|one| one["text"].as_str().unwrap().contains("touch")).collect();
    assert!(calls.len() == 1 && calls[0]["status"] == "expired", "{view:#}");
    let told = prompts(&stage);
    assert!(told[1].contains("Nobody answered your question in time"), "{}", told[1]);
    let runs = fs::read_dir(stage.sandbox.state().join("runs")).unwrap().flatten();
    let said: Vec<String> = runs.filter_map(|run| fs::read_to_string(run.path().join("stdout.jsonl")).ok()).collect();
    let denied = said.iter().filter(|said| said.contains("nobody answered in time")).count();
    assert_eq!(denied, 1, "{said:#?}");
}
