//! The embedded agent's process: picks a take, performs it, and ends as the take says.
//!
//! Must not be asynchronous, keep anything between runs except the session's file, or hide a failure of what it does.

use std::error::Error;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use helix_core::agent_event::AgentEvent;
use helix_core::run::{AgentErrorKind, LimitKind, RateLimit, StopReason, Terminal, TerminalKind, TerminalReason};
use helix_core::usage::Usage;
use serde_json::{Value, json};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::super::TOOL_OUTPUT_LIMIT;
use super::super::reader::completed;
use super::arguments::Play;
use super::cassette::{Cassette, CassetteAction, CassetteTake, ProviderFailure, TakeEnd};
use super::perform::{self, Done};
use super::record::{Record, TerminalRecord};
use super::session_file::SessionFile;

/// Most of a prompt that a session remembers, in characters.
const REMEMBERED_PROMPT: usize = 2000;

/// Model name that the embedded agent announces.
const MODEL: &str = "replay";

/// Runs the embedded agent: `args` without the program's and the subcommand's own names. The prompt comes from stdin.
///
/// Exit status: 0 after a terminal record of success and after SIGINT, 1 after one of failure or for anything that keeps it
/// from starting (then stderr says what), 143 after SIGTERM, or what the take says.
pub fn replay_main(args: &[String]) -> ExitCode {
    let played = if args.iter().any(|arg| arg == "--version") {
        print(concat!(env!("CARGO_PKG_VERSION"), " (helix replay agent)")).map(|()| 0).map_err(Box::from)
    } else {
        Play::parse(args).map_err(Box::from).and_then(|play| self::play(&play))
    };
    match played {
        Ok(code) => ExitCode::from(code),
        Err(problem) => {
            // If stderr is gone too there is nobody left to tell; the exit status still says it.
            drop(writeln!(io::stderr(), "helix replay agent: {problem}"));
            ExitCode::from(1)
        }
    }
}

fn play(play: &Play) -> Result<u8, Box<dyn Error>> {
    let cassette = Cassette::read(&play.cassette)?;
    let mut prompt = String::new();
    io::stdin().read_to_string(&mut prompt).map_err(|error| format!("cannot read the prompt: {error}"))?;
    let stage = Stage::new();
    stage.obey_signals()?;
    let session = match &play.resume {
        Some(id) => match SessionFile::read(&play.sessions, id)? {
            Some(session) => session,
            None => {
                let mut terminal = terminal(TerminalKind::ErrorDuringExecution);
                terminal.message = format!("no session {id}");
                stage.end(record_of(failed(terminal)))?;
                return Ok(1);
            }
        },
        None => SessionFile::default(),
    };
    let number = play.take.unwrap_or_else(|| session.takes.get(&play.key).copied().unwrap_or(0) + 1);
    let take = cassette.take(&play.key, number)?;
    remember(play, session, number, &prompt).map_err(|error| format!("cannot keep the session: {error}"))?;
    let workdir = std::env::current_dir()?;
    let helix = match &play.helix {
        Some(helix) => helix.clone(),
        None => std::env::current_exe()?,
    };
    let variables = Variables { workdir, helix, session: play.session.to_string(), take: number };
    let pause = Duration::from_millis(play.pause_ms.unwrap_or(cassette.pause_ms));
    Ok(Player { stage, variables, pause, calls: 0 }.perform(play, take, &prompt)?)
}

fn remember(play: &Play, mut session: SessionFile, number: u32, prompt: &str) -> Result<(), io::Error> {
    session.takes.insert(play.key.clone(), number);
    session.prompts.push(prompt.chars().take(REMEMBERED_PROMPT).collect());
    session.write(&play.sessions, &play.session)
}

/// What the placeholders of a cassette stand for.
struct Variables {
    workdir: PathBuf,
    helix: PathBuf,
    session: String,
    take: u32,
}

impl Variables {
    fn filled(&self, text: &str) -> String {
        text.replace("{{workdir}}", &self.workdir.to_string_lossy())
            .replace("{{helix}}", &self.helix.to_string_lossy())
            .replace("{{session}}", &self.session)
            .replace("{{take}}", &self.take.to_string())
    }

    fn path(&self, path: &Path) -> PathBuf {
        PathBuf::from(self.filled(&path.to_string_lossy()))
    }
}

struct Player {
    stage: Stage,
    variables: Variables,
    pause: Duration,
    calls: u32,
}

impl Player {
    fn perform(mut self, play: &Play, take: &CassetteTake, prompt: &str) -> Result<u8, io::Error> {
        self.stage.event(AgentEvent::Started {
            session: Some(play.session.clone()),
            model: Some(MODEL.to_owned()),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        })?;
        // About four bytes a token, as everywhere; the figures are for show.
        self.stage.lock().usage.input_tokens += prompt.len() as u64 / 4;
        if let Some(missing) = take.expects.iter().find(|expected| !prompt.contains(expected.as_str())) {
            return self.broken(format!("the prompt does not contain {missing:?}"));
        }
        for action in &take.actions {
            if let Some(problem) = self.act(action)? {
                return self.broken(problem);
            }
        }
        self.end(&take.end)
    }

    /// Performs one action; a problem ends the take.
    fn act(&mut self, action: &CassetteAction) -> Result<Option<String>, io::Error> {
        match action {
            CassetteAction::Say(text) => {
                let text = self.variables.filled(text);
                self.speak(&text, |text, partial| AgentEvent::Text { text, partial, parent: None })?;
                self.stage.lock().said(text);
            }
            CassetteAction::Think(text) => {
                let text = self.variables.filled(text);
                self.speak(&text, |text, partial| AgentEvent::Thinking { text, partial, parent: None })?;
            }
            CassetteAction::Write(file) => {
                let mut file = file.clone();
                (file.path, file.text) = (self.variables.path(&file.path), self.variables.filled(&file.text));
                let input = json!({"file_path": file.path, "content": file.text});
                self.tool("Write", input, |workdir, _| perform::write(workdir, &file))?;
            }
            CassetteAction::Edit(edit) => {
                let mut edit = edit.clone();
                edit.path = self.variables.path(&edit.path);
                edit.find = self.variables.filled(&edit.find);
                edit.replace = self.variables.filled(&edit.replace);
                let input = json!({"file_path": edit.path, "old_string": edit.find, "new_string": edit.replace});
                let done = self.tool("Edit", input, |workdir, _| perform::edit(workdir, &edit))?;
                // A real agent would look again; a cassette whose edit does not fit is wrong.
                return Ok(done.failed.then_some(done.output));
            }
            CassetteAction::Delete(path) => {
                let path = self.variables.path(path);
                let done =
                    self.tool("Delete", json!({"file_path": path}), |workdir, _| perform::delete(workdir, &path))?;
                return Ok(done.failed.then_some(done.output));
            }
            CassetteAction::Run(program) => {
                let mut program = program.clone();
                program.command = program.command.iter().map(|word| self.variables.filled(word)).collect();
                program.stdin = self.variables.filled(&program.stdin);
                let input = json!({"command": program.command.join(" ")});
                let done = self.tool("Bash", input, |workdir, stage| {
                    perform::run(workdir, &program, TOOL_OUTPUT_LIMIT, |child| stage.lock().child = child)
                })?;
                return Ok((done.failed && program.must_succeed).then_some(done.output));
            }
            CassetteAction::Denied(tool) => {
                let denied = Done { output: format!("permission to use {tool} was denied"), failed: true };
                self.tool(tool, json!({}), |_, _| denied)?;
                self.stage.lock().denials += 1;
            }
            CassetteAction::Ask(question) => {
                self.stage.event(AgentEvent::Question { text: self.variables.filled(question) })?;
            }
            CassetteAction::WaitMs(milliseconds) => thread::sleep(Duration::from_millis(*milliseconds)),
            CassetteAction::ApiRetry(kind) => {
                let reason = format!("{kind:?}");
                self.stage.event(AgentEvent::ApiRetry { attempt: 1, max: 3, delay_ms: 0, reason })?;
            }
            CassetteAction::TaskBegan(id) => self.stage.line(&Record::TaskBegan { id: id.clone() })?,
            CassetteAction::TaskDone(id) => self.stage.line(&Record::TaskEnded { id: id.clone(), lost: false })?,
            CassetteAction::Structured(value) => self.stage.lock().structured = Some(value.clone()),
            CassetteAction::Consume(more) => {
                let mut state = self.stage.lock();
                state.usage.input_tokens += more.input_tokens;
                state.usage.output_tokens += more.output_tokens;
                state.usage.cost_usd += more.cost_usd;
            }
            CassetteAction::RawLine(line) => self.stage.raw(&self.variables.filled(line))?,
        }
        Ok(None)
    }

    /// Says a text word by word and then as a whole.
    fn speak(&self, text: &str, event: impl Fn(String, bool) -> AgentEvent) -> Result<(), io::Error> {
        for fragment in text.split_inclusive(char::is_whitespace) {
            self.stage.event(event(fragment.to_owned(), true))?;
            if !self.pause.is_zero() {
                thread::sleep(self.pause);
            }
        }
        self.stage.event(event(text.to_owned(), false))
    }

    fn tool(&mut self, name: &str, input: Value, work: impl FnOnce(&Path, &Stage) -> Done) -> Result<Done, io::Error> {
        self.calls += 1;
        let id = format!("call-{}", self.calls);
        self.stage.event(AgentEvent::ToolStarted { id: id.clone(), name: name.to_owned(), input, parent: None })?;
        let done = work(&self.variables.workdir, &self.stage);
        self.stage.lock().usage.turns += 1;
        self.stage.event(AgentEvent::ToolFinished { id, output: done.output.clone(), failed: done.failed })?;
        Ok(done)
    }

    /// Ends a take that cannot be played as it stands.
    fn broken(&self, problem: String) -> Result<u8, io::Error> {
        let terminal = Terminal { message: problem, ..terminal(TerminalKind::Other("broken_take".to_owned())) };
        self.stage.end(record_of(failed(terminal)))?;
        Ok(1)
    }

    fn end(&self, end: &TakeEnd) -> Result<u8, io::Error> {
        let success = || completed("", 0);
        let record = match end {
            TakeEnd::Completed => record_of(success()),
            TakeEnd::CutOff => record_of(Terminal { stop_reason: None, ..success() }),
            TakeEnd::StoppedByHook => record_of(Terminal { reason: Some(TerminalReason::HookStopped), ..success() }),
            TakeEnd::Refused => record_of(failed(Terminal { stop_reason: Some(StopReason::Refusal), ..success() })),
            TakeEnd::Limit(limit) => {
                let kind = match limit {
                    LimitKind::Turns => TerminalKind::MaxTurns,
                    LimitKind::Budget => TerminalKind::MaxBudget,
                    LimitKind::StructuredOutput => TerminalKind::MaxStructuredOutputRetries,
                };
                record_of(failed(Terminal { reason: Some(TerminalReason::Limit), ..terminal(kind) }))
            }
            TakeEnd::Failed(ProviderFailure { error, http_status, resets_at }) => {
                let limited = *error == AgentErrorKind::RateLimit;
                let terminal = Terminal {
                    reason: Some(TerminalReason::ApiError),
                    stop_reason: Some(StopReason::StopSequence),
                    http_status: *http_status,
                    message: format!("API error: {error:?}"),
                    ..terminal(TerminalKind::Success)
                };
                TerminalRecord {
                    error: Some(*error),
                    rate_limit: limited.then_some(RateLimit { rejected: true, resets_at: *resets_at }),
                    ..record_of(failed(terminal))
                }
            }
            TakeEnd::Exit(code) => {
                self.stage.lock().over = true;
                return Ok(*code);
            }
            TakeEnd::Hang => loop {
                thread::park();
            },
        };
        let code = u8::from(record.terminal.is_error);
        self.stage.end(record)?;
        Ok(code)
    }
}

fn terminal(kind: TerminalKind) -> Terminal {
    Terminal { kind, reason: None, stop_reason: None, ..completed("", 0) }
}

fn failed(terminal: Terminal) -> Terminal {
    Terminal { is_error: true, ..terminal }
}

fn record_of(terminal: Terminal) -> TerminalRecord {
    let usage = Usage::default();
    TerminalRecord { terminal, error: None, rate_limit: None, answer: None, structured: None, usage }
}

/// What the player and the signals share: the output, the child, and what the terminal record needs.
#[derive(Clone)]
struct Stage(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// The terminal record is out, or none shall come.
    over: bool,
    child: Option<u32>,
    answer: Option<String>,
    structured: Option<Value>,
    usage: Usage,
    denials: u32,
}

impl State {
    fn said(&mut self, text: String) {
        self.usage.output_tokens += text.len() as u64 / 4 + 1;
        self.usage.turns += 1;
        self.answer = Some(text);
    }

    fn kill_child(&mut self) {
        let child = self.child.take().and_then(|pid| i32::try_from(pid).ok()).and_then(rustix::process::Pid::from_raw);
        if let Some(child) = child {
            // It may have ended in the meantime, which is what is wanted.
            let _left = rustix::process::kill_process(child, rustix::process::Signal::KILL);
        }
    }
}

impl Stage {
    fn new() -> Self {
        Self(Arc::new(Mutex::new(State::default())))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // What is inside is whole after every statement, so a panic elsewhere does not spoil it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// SIGINT ends the turn with an aborted record and status 0, SIGTERM ends the process with 143, as the real CLI does.
    fn obey_signals(&self) -> Result<(), io::Error> {
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        let stage = self.clone();
        thread::spawn(move || {
            if let Some(signal) = signals.forever().next() {
                stage.stopped_by(signal);
            }
        });
        Ok(())
    }

    fn stopped_by(&self, signal: i32) {
        self.lock().kill_child();
        if signal != SIGINT {
            std::process::exit(128 + signal);
        }
        let aborted =
            Terminal { reason: Some(TerminalReason::Aborted), ..terminal(TerminalKind::ErrorDuringExecution) };
        let ended = self.end(record_of(failed(aborted)));
        std::process::exit(i32::from(ended.is_err()));
    }

    fn event(&self, event: AgentEvent) -> Result<(), io::Error> {
        self.line(&Record::Event { event })
    }

    /// Prints a line unless the terminal record is out: nothing comes after it.
    fn line(&self, record: &Record) -> Result<(), io::Error> {
        self.raw(&serde_json::to_string(record)?)
    }

    fn raw(&self, line: &str) -> Result<(), io::Error> {
        let state = self.lock();
        if state.over { Ok(()) } else { print(line) }
    }

    /// Prints the terminal record, completed by what happened.
    fn end(&self, mut record: TerminalRecord) -> Result<(), io::Error> {
        let mut state = self.lock();
        if state.over {
            return Ok(());
        }
        state.over = true;
        state.usage.turns = state.usage.turns.max(1);
        record.terminal.turns = state.usage.turns;
        record.terminal.denials = state.denials;
        record.terminal.structured_output = state.structured.is_some();
        record.terminal.answer_empty = state.answer.is_none();
        record.answer = state.answer.take();
        record.structured = state.structured.take();
        record.usage = state.usage;
        print(&serde_json::to_string(&Record::Terminal(Box::new(record)))?)
    }
}

fn print(line: &str) -> Result<(), io::Error> {
    let mut out = io::stdout().lock();
    out.write_all(line.as_bytes())?;
    out.write_all(b"\n")?;
    out.flush()
}
