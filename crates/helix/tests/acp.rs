//! The Consultant in an editor: `helix acp` from outside, with the client of the protocol's own crate.

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
use crate::stage::Stage;

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
    act: {{ steps: [{{ write: {{ path: notes.txt, content: \"notes\\n\" }} }}], say: Done. }}
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
    command.current_dir(stage.sandbox.home());
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
    let said = seen.said();
    assert!(said.contains("Verstanden.") && stage.repo.join("notes.txt").is_file(), "{said}");
    let plan = seen.of("plan").pop().unwrap();
    assert_eq!(plan["entries"][0]["status"], "completed", "{plan:#}");
}

/// An agent that speaks ACP: it asks before it writes, and says what it was allowed. `dies`: it ends in the middle of its turn.
const AGENT: &str = r#"
import json, os, sys
def say(**message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
def tell(**update): say(method="session/update", params={"sessionId": "s", "update": update})
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
        call = {"toolCallId": "c", "title": "Write", "kind": "edit", "locations": [{"path": path}], "rawInput": {"path": path}}
        options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}, {"optionId": "no", "name": "No", "kind": "reject_once"}]
        say(id=7, method="session/request_permission", params={"sessionId": "s", "toolCall": call, "options": options})
    elif number == 7:
        if sys.argv[1] == "dies":
            sys.exit(0)
        if message["result"]["outcome"].get("optionId") == "yes":
            open(path, "w").write("notes\n")
        tell(sessionUpdate="tool_call_update", toolCallId="c", status="completed")
        tell(sessionUpdate="agent_message_chunk", content={"type": "text", "text": "Written."})
        say(id=prompt, result={"stopReason": "end_turn", "usage": {"inputTokens": 5, "outputTokens": 2}})
"#;

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
    fs::write(&file, format!("{}{}{config}", agent("works"), agent("dies"))).unwrap();
    let plan = "name: notes\ndescription: Keep notes.\nphases:\n  - id: write\n    name: Write\n    type: development\n    description: Write notes.txt.\n    outputs: [notes.txt]\n    max_attempts: 1\n    gates:\n      - { type: files_exist }\n";
    let plan = stage.plan("notes", plan);
    let run = |agent: &str| {
        let arguments = ["run", plan.to_str().unwrap(), "--agent", agent, "--project", stage.repo.to_str().unwrap()];
        let output = stage.helix(&arguments).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8_lossy(&text).into_owned())
    };
    let (code, said) = run("dies");
    assert!(code != Some(0) && !stage.repo.join("notes.txt").exists(), "{said}");
    assert!(said.contains("before it answered"), "{said}");
    let (code, said) = run("works");
    assert!(code == Some(0) && stage.repo.join("notes.txt").is_file(), "{said}");
    let doctor = stage.helix(&["doctor"]).current_dir(&stage.repo).output().unwrap();
    let doctor = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(doctor.contains("works") && doctor.contains("1.2.3"), "{doctor}");
}
