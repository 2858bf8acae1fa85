//! Plays an act: init, steps, faults, result.
//!
//! Must not know how a script is written down.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::arguments::{Arguments, OutputFormat};
use super::attempts::Attempt;
use super::directives::Directive;
use super::faults;
use super::output::{Output, stderr_line};
use super::records::{Ending, Records, sample};
use super::script::{Act, AgentFault, AgentFaultKind as Kind, AgentScript, SessionRule, Step};
use super::signals::SignalState;
use super::tools;

/// Plays the turns of one process.
#[derive(Debug)]
pub(crate) struct Player {
    script: AgentScript,
    arguments: Arguments,
    output: Output,
    records: Records,
    signals: SignalState,
    listening: bool,
    over: bool,
    turns: usize,
}

/// What became of the steps.
enum Work {
    Done { turns: u64 },
    OutOfTurns { limit: u32 },
}

impl Player {
    pub(crate) fn new(script: AgentScript, arguments: Arguments) -> Result<Self, String> {
        let resumed = arguments.resume.clone().filter(|_| !arguments.fork);
        let session =
            resumed.or_else(|| arguments.session_id.clone()).unwrap_or_else(|| uuid::Uuid::now_v7().to_string());
        let records = Records::new(
            session,
            arguments.model.clone().unwrap_or_else(|| "claude-fake-1".to_owned()),
            script.version.clone(),
            arguments.permission_mode.clone(),
            arguments.schema.is_some(),
        );
        Ok(Self {
            script,
            arguments,
            output: Output::stdout()?,
            records,
            signals: SignalState::default(),
            listening: false,
            over: false,
            turns: 0,
        })
    }

    /// Whether the last turn ended the process.
    pub(crate) fn is_over(&self) -> bool {
        self.over
    }

    /// Answers a control request as the real CLI does: with success and nothing else.
    pub(crate) fn answer_control(&mut self, request: &Value) {
        let response = json!({"type": "control_response", "response": {
            "subtype": "success", "request_id": request["request_id"], "response": {},
        }});
        self.write(&response);
    }

    /// Plays a turn; the answer is the exit code if it is the last.
    pub(crate) fn turn(&mut self, prompt: &str) -> Result<u8, String> {
        self.turns += 1;
        let (act, _attempt) = self.act(prompt)?;
        let fault = |kind: Kind| act.faults.iter().find(|fault| fault.kind == kind);
        if !act.faults.is_empty() || !act.steps.is_empty() {
            self.listen()?;
        }
        if let Some(fault) = fault(Kind::SlowStart) {
            faults::pause(fault.seconds.unwrap_or(1.0));
        }
        if let Some(fault) = fault(Kind::EmptyExit) {
            return self.exit(fault.exit.unwrap_or(0));
        }
        if let Some(fault) = fault(Kind::StderrOnly) {
            stderr_line(fault.text.as_deref().unwrap_or("error: the agent cannot start"));
            return self.exit(fault.exit.unwrap_or(1));
        }
        if fault(Kind::UnknownSession).is_some() || !self.session_known()? {
            return self.unknown_session(&act);
        }
        if fault(Kind::Deaf).is_some() {
            self.signals.deafen();
        }
        if fault(Kind::WrongSession).is_some() {
            self.records.session = "00000000-dead-4000-8000-000000000000".to_owned();
        }
        self.remember_session()?;
        let init = self.records.init();
        self.write(&init);

        let mut ending = self.success(&act);
        if fault(Kind::LyingDone).is_none() {
            match self.work(&act.steps)? {
                Work::Done { turns } => ending.turns = turns,
                Work::OutOfTurns { limit } => {
                    let ending = faults::limit(Kind::MaxTurns, &limit.to_string(), ending);
                    return self.finish(&ending, 1);
                }
            }
        }
        let speaks = act.say.is_some() || !act.steps.is_empty() || !act.faults.is_empty();
        if speaks && let Some(text) = ending.result.clone().filter(|text| !text.is_empty()) {
            self.say(&text);
        }
        if let Some(output) = ending.structured.clone() {
            let tool = self.records.tool_id();
            let record = self
                .records
                .assistant(json!({"type": "tool_use", "id": tool, "name": "StructuredOutput", "input": output}));
            self.write(&record);
            let record = self.records.tool_result(&tool, "Structured output provided successfully", false);
            self.write(&record);
            ending.turns += 1;
        }
        for fault in &act.faults {
            if let Some(code) = self.before_result(fault, &mut ending)? {
                return self.exit(code);
            }
        }
        self.result(&act, ending)
    }

    fn act(&self, prompt: &str) -> Result<(Act, Attempt), String> {
        let model = self.arguments.model.clone().unwrap_or_default();
        let mut captured = std::collections::BTreeMap::new();
        let part = self.script.parts.iter().find(|part| {
            part.prompt.holds(prompt, &mut captured)
                && part.model.as_ref().is_none_or(|test| test.holds(&model, &mut captured))
        });
        let directives = Directive::all(prompt);
        let state = self.script.state_dir();
        let name = part.map_or("prompt", |part| part.name.as_str());
        let counted = part.is_some() || directives.iter().any(|directive| directive.attempt.is_some());
        let attempt = match &state {
            Some(state) if counted => Attempt::begin(state, name)?,
            _ => Attempt::uncounted(if self.arguments.resume.is_some() { 2 } else { self.turns }),
        };
        let mut act = match part {
            None => Act::default(),
            Some(part) => match &part.act {
                Some(act) => act.clone(),
                None => part.attempts.get(attempt.number - 1).or(part.attempts.last()).cloned().unwrap_or_default(),
            },
        };
        for directive in directives {
            if directive.attempt.is_none_or(|number| number == attempt.number) {
                directive.apply(&mut act).map_err(|error| error.to_string())?;
            }
        }
        Ok((act, attempt))
    }

    fn listen(&mut self) -> Result<(), String> {
        if self.listening {
            return Ok(());
        }
        self.listening = true;
        let mut ending = self.success(&Act::default());
        ending.subtype = "error_during_execution";
        ending.terminal_reason = "aborted_streaming";
        ending.is_error = true;
        ending.stop_reason = Value::Null;
        ending.result = None;
        ending.errors = vec!["[ede_diagnostic] result_type=user last_content_type=n/a stop_reason=null".to_owned()];
        let farewell = self.records.result(&ending).to_string();
        self.signals.listen(self.output.clone(), farewell)
    }

    fn success(&self, act: &Act) -> Ending {
        let structured =
            self.arguments.schema.as_ref().map(|schema| act.structured.clone().unwrap_or_else(|| sample(schema)));
        let stop_reason = if structured.is_some() { "tool_use" } else { "end_turn" };
        let result = match &structured {
            Some(output) => output.to_string(),
            None => act.say.clone().unwrap_or_else(|| "Done.".to_owned()),
        };
        Ending {
            subtype: "success",
            is_error: false,
            terminal_reason: "completed",
            stop_reason: json!(stop_reason),
            result: Some(result),
            errors: Vec::new(),
            structured,
            turns: 1,
            input_tokens: act.input_tokens.unwrap_or(100),
            output_tokens: act.output_tokens.unwrap_or(20),
            cost_usd: act.cost_usd.unwrap_or(0.0008),
            api_error: None,
            denials: Vec::new(),
        }
    }

    fn work(&mut self, steps: &[Step]) -> Result<Work, String> {
        let mut turns = 1;
        for step in steps {
            let called;
            let (name, input) = match step {
                Step::Text(text) => {
                    self.say(text);
                    continue;
                }
                Step::Think(text) => {
                    let record =
                        self.records.assistant(json!({"type": "thinking", "thinking": text, "signature": "ZmFrZQ=="}));
                    self.write(&record);
                    continue;
                }
                Step::Sleep(milliseconds) => {
                    faults::pause(*milliseconds as f64 / 1000.0);
                    continue;
                }
                Step::Deltas { count, per_second, bytes } => {
                    self.stream(*count, *per_second, *bytes);
                    continue;
                }
                Step::Write { path, content } => {
                    ("Write", json!({"file_path": self.absolute(path), "content": content}))
                }
                Step::Edit { path, find, replace } => {
                    ("Edit", json!({"file_path": self.absolute(path), "old_string": find, "new_string": replace}))
                }
                Step::Delete(path) => {
                    ("Bash", json!({"command": format!("rm {path}"), "description": "removes a file"}))
                }
                Step::Run(command) => ("Bash", json!({"command": command, "description": "runs a command"})),
                Step::Call { tool, arguments } => {
                    called = format!("mcp__{}__{tool}", tools::server_name(self.arguments.mcp_config.as_deref()));
                    (called.as_str(), arguments.clone())
                }
            };
            if let Some(limit) = self.arguments.max_turns
                && turns > u64::from(limit)
            {
                return Ok(Work::OutOfTurns { limit });
            }
            turns += 1;
            let tool = self.records.tool_id();
            let record = self.records.assistant(json!({"type": "tool_use", "id": tool, "name": name, "input": input}));
            self.write(&record);
            let (content, is_error) = match self.perform(step) {
                Ok(content) => (content, false),
                Err(message) => (message, true),
            };
            let record = self.records.tool_result(&tool, &content, is_error);
            self.write(&record);
        }
        Ok(Work::Done { turns })
    }

    fn perform(&self, step: &Step) -> Result<String, String> {
        match step {
            Step::Write { path, content } => {
                let path = self.absolute(path);
                if let Some(parent) = path.parent() {
                    std::fs::create_dir_all(parent).map_err(|error| format!("{}: {error}", parent.display()))?;
                }
                std::fs::write(&path, content).map_err(|error| format!("{}: {error}", path.display()))?;
                Ok(format!("File created successfully at: {}", path.display()))
            }
            Step::Edit { path, find, replace } => {
                let path = self.absolute(path);
                let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
                if !text.contains(find.as_str()) {
                    return Err(format!("String to replace not found in file.\nString: {find}"));
                }
                std::fs::write(&path, text.replacen(find.as_str(), replace, 1))
                    .map_err(|error| format!("{}: {error}", path.display()))?;
                Ok(format!("The file {} has been updated.", path.display()))
            }
            Step::Delete(path) => {
                let path = self.absolute(path);
                std::fs::remove_file(&path).map_err(|error| format!("{}: {error}", path.display()))?;
                Ok(String::new())
            }
            Step::Run(command) => self.run(command),
            Step::Call { tool, arguments } => tools::call(self.arguments.mcp_config.as_deref(), tool, arguments),
            Step::Text(_) | Step::Think(_) | Step::Sleep(_) | Step::Deltas { .. } => Ok(String::new()),
        }
    }

    fn run(&self, command: &str) -> Result<String, String> {
        let own = std::env::current_exe().map_err(|error| format!("own executable: {error}"))?;
        let mut child = Command::new(own)
            .args(["--fake-own-session", "sh", "-c", &format!("exec 2>&1\n{command}")])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{command}: {error}"))?;
        self.signals.set_child(i32::try_from(child.id()).unwrap_or_default());
        let mut bytes = Vec::new();
        if let Some(mut stdout) = child.stdout.take() {
            stdout.read_to_end(&mut bytes).map_err(|error| format!("{command}: {error}"))?;
        }
        let status = child.wait().map_err(|error| format!("{command}: {error}"))?;
        self.signals.set_child(0);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        match status.code() {
            Some(0) => Ok(text),
            Some(code) => Err(format!("Exit code {code}\n{text}")),
            None => Err(format!("{status}\n{text}")),
        }
    }

    fn absolute(&self, path: &str) -> PathBuf {
        Path::new(&self.records.cwd).join(path)
    }

    /// Carries out a fault that comes before the result; `Some` ends the process.
    fn before_result(&mut self, fault: &AgentFault, ending: &mut Ending) -> Result<Option<u8>, String> {
        match fault.kind {
            Kind::Orphan => faults::orphan(fault)?,
            Kind::Flood => faults::flood(&self.output, fault, &self.records.session),
            Kind::HugeLine => {
                let records = &mut self.records;
                faults::huge_line(&self.output, fault, |text| {
                    records.assistant(json!({"type": "text", "text": text})).to_string()
                });
            }
            Kind::InvalidUtf8 => {
                self.output.raw(b"{\"type\":\"system\",\"subtype\":\"informational\",\"content\":\"\xff\xfe\xc3(\"}\n")
            }
            Kind::Garbage => self.output.line("this line is no JSON {"),
            Kind::Silence => faults::pause(fault.seconds.unwrap_or(2.0)),
            Kind::Hang => faults::hang(),
            Kind::Sigkill => faults::kill_self(),
            Kind::Crash => return Ok(Some(fault.exit.unwrap_or(134))),
            Kind::NoResult => return Ok(Some(0)),
            Kind::HalfLine => {
                let line = self.records.result(ending).to_string();
                let mut half = line.len() / 2;
                while !line.is_char_boundary(half) {
                    half -= 1;
                }
                self.output.raw(&line.as_bytes()[..half]);
                return Ok(Some(0));
            }
            Kind::RateLimited | Kind::Overloaded | Kind::Credentials | Kind::ContextOverflow => {
                self.api_error(fault, ending);
                return Ok(Some(1));
            }
            Kind::Refusal => {
                ending.is_error = true;
                ending.terminal_reason = "api_error";
                ending.stop_reason = json!("refusal");
                ending.api_error = Some((None, "refusal"));
                let record = self.records.result(ending);
                self.write(&record);
                return Ok(Some(1));
            }
            Kind::MaxTurns | Kind::MaxBudget => {
                let detail = fault.text.as_deref().unwrap_or("2");
                let usual = self.success(&Act::default());
                let limited = faults::limit(fault.kind, detail, std::mem::replace(ending, usual));
                let record = self.records.result(&limited);
                self.write(&record);
                return Ok(Some(1));
            }
            Kind::TasksLost => self.lose_task(),
            Kind::Denial => self.deny(ending),
            Kind::NullStopReason => {
                ending.stop_reason = Value::Null;
                ending.input_tokens = 0;
                ending.output_tokens = 0;
                ending.cost_usd = 0.0;
            }
            Kind::EmptyAnswer => ending.result = Some(String::new()),
            Kind::SlowStart
            | Kind::EmptyExit
            | Kind::StderrOnly
            | Kind::UnknownSession
            | Kind::Deaf
            | Kind::WrongSession
            | Kind::LyingDone
            | Kind::NoUsage
            | Kind::SuccessExit
            | Kind::LateResult
            | Kind::ResultThenHang
            | Kind::WriteAfterResult => {}
        }
        Ok(None)
    }

    fn api_error(&mut self, fault: &AgentFault, ending: &mut Ending) {
        let Some((error, retries)) = faults::api_error(fault) else { return };
        if let Some(name) = retries {
            let record = self.records.system(
                "api_retry",
                json!({"attempt": 1, "max_retries": 1, "retry_delay_ms": 500, "error_status": error.status, "error": name}),
            );
            self.write(&record);
        }
        if let Some(seconds) = fault.resets_in {
            let record = self.records.rate_limit(faults::in_seconds(seconds));
            self.write(&record);
        }
        let record = self.records.synthetic(&error);
        self.write(&record);
        ending.is_error = true;
        ending.terminal_reason = error.terminal_reason;
        ending.stop_reason = json!("stop_sequence");
        ending.api_error = Some((error.status, error.api_type));
        ending.result = Some(error.text);
        ending.structured = None;
        ending.output_tokens = 0;
        ending.input_tokens = 0;
        ending.cost_usd = 0.0;
        let record = self.records.result(ending);
        self.write(&record);
    }

    fn lose_task(&mut self) {
        let tool = self.records.tool_id();
        let started = json!({"task_id": "bfake0001", "tool_use_id": tool, "description": "fake", "is_backgrounded": true, "task_type": "local_bash"});
        let record = self.records.system("task_started", started);
        self.write(&record);
        let stopped = json!({
            "task_id": "bfake0001", "tool_use_id": tool, "status": "stopped", "output_file": "/dev/null",
            "summary": "Background command \"fake\" was stopped after reaching its background time limit",
        });
        let record = self.records.system("task_notification", stopped);
        self.write(&record);
    }

    fn deny(&mut self, ending: &mut Ending) {
        let tool = self.records.tool_id();
        let input = json!({"command": "touch denied", "description": "fake"});
        let record = self.records.assistant(json!({"type": "tool_use", "id": tool, "name": "Bash", "input": input}));
        self.write(&record);
        let message = "Permission to use Bash has been denied because Claude Code is running in don't ask mode.";
        let denied =
            json!({"tool_name": "Bash", "tool_use_id": tool, "decision_reason_type": "mode", "message": message});
        let record = self.records.system("permission_denied", denied);
        self.write(&record);
        let record = self.records.tool_result(&tool, message, true);
        self.write(&record);
        ending.denials.push(json!({"tool_name": "Bash", "tool_use_id": tool, "tool_input": input}));
    }

    /// Writes the result and what the faults put around it.
    fn result(&mut self, act: &Act, ending: Ending) -> Result<u8, String> {
        let fault = |kind: Kind| act.faults.iter().find(|fault| fault.kind == kind);
        let mut record = self.records.result(&ending);
        if fault(Kind::NoUsage).is_some()
            && let Value::Object(fields) = &mut record
        {
            fields.remove("usage");
            fields.insert("modelUsage".to_owned(), json!({}));
        }
        self.write_result(&record, &ending);
        if fault(Kind::LateResult).is_some() {
            let mut late = self.success(&Act::default());
            late.turns = 0;
            late.stop_reason = Value::Null;
            late.result = Some(String::new());
            let mut record = self.records.result(&late);
            record["origin"] = json!({"kind": "task-notification"});
            record["result_index"] = json!(1);
            self.write(&record);
        }
        if let Some(fault) = fault(Kind::WriteAfterResult) {
            faults::pause(fault.seconds.unwrap_or(0.2));
            let path = self.absolute(fault.path.as_deref().unwrap_or("written-after-result.txt"));
            std::fs::write(&path, fault.text.as_deref().unwrap_or("late\n"))
                .map_err(|error| format!("{}: {error}", path.display()))?;
        }
        if fault(Kind::ResultThenHang).is_some() {
            faults::hang();
        }
        if let Some(fault) = fault(Kind::SuccessExit) {
            return self.exit(fault.exit.unwrap_or(1));
        }
        Ok(0)
    }

    fn finish(&mut self, ending: &Ending, code: u8) -> Result<u8, String> {
        let record = self.records.result(ending);
        self.write_result(&record, ending);
        self.exit(code)
    }

    fn exit(&mut self, code: u8) -> Result<u8, String> {
        self.over = true;
        Ok(code)
    }

    fn unknown_session(&mut self, act: &Act) -> Result<u8, String> {
        let id = self.arguments.resume.clone().unwrap_or_else(|| self.records.session.clone());
        let mut ending = self.success(act);
        ending.subtype = "error_during_execution";
        ending.is_error = true;
        ending.result = None;
        ending.structured = None;
        ending.turns = 0;
        ending.stop_reason = Value::Null;
        ending.errors = vec![format!("No conversation found with session ID: {id}")];
        (ending.input_tokens, ending.output_tokens, ending.cost_usd) = (0, 0, 0.0);
        let mut record = self.records.result(&ending);
        if let Value::Object(fields) = &mut record {
            fields.remove("terminal_reason");
        }
        self.write(&record);
        self.exit(1)
    }

    fn session_file(&self, id: &str) -> Result<PathBuf, String> {
        let state = self.script.state_dir().ok_or("sessions: known needs a state directory")?;
        Ok(state.join("sessions").join(id.replace(['/', '.'], "_")))
    }

    fn session_known(&self) -> Result<bool, String> {
        match (&self.arguments.resume, self.script.sessions) {
            (Some(id), SessionRule::Known) => Ok(self.session_file(id)?.exists()),
            (Some(_), SessionRule::Any) | (None, _) => Ok(true),
        }
    }

    fn remember_session(&self) -> Result<(), String> {
        if self.script.sessions == SessionRule::Any {
            return Ok(());
        }
        let file = self.session_file(&self.records.session)?;
        let failed = |error: std::io::Error| format!("{}: {error}", file.display());
        if let Some(parent) = file.parent() {
            std::fs::create_dir_all(parent).map_err(failed)?;
        }
        std::fs::write(&file, "").map_err(failed)
    }

    fn say(&mut self, text: &str) {
        if self.arguments.partial_messages {
            for record in self.records.partials(text) {
                self.write(&record);
            }
        }
        let record = self.records.assistant(json!({"type": "text", "text": text}));
        self.write(&record);
    }

    /// Streams fragments that say when they were written, between a beginning and an end of a message.
    fn stream(&mut self, count: u64, per_second: Option<f64>, bytes: usize) {
        let frame = self.records.partials("");
        let (opening, closing) = frame.split_at(frame.len().min(2));
        opening.iter().for_each(|record| self.write(record));
        let session = self.records.session.clone();
        faults::paced(&self.output, count, per_second, |number, line| {
            // Written by hand: building a tree for each of many thousand lines would take longer than reading them.
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
            let begin = line.len();
            line.push_str(r#"{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":""#);
            line.push_str(&format!("{now} "));
            let tail = format!(
                r#""}}}},"session_id":"{session}","parent_tool_use_id":null,"uuid":"{number:08x}-0000-4000-b000-000000000000"}}"#
            );
            let missing = bytes.saturating_sub(line.len() - begin + tail.len() + 1);
            line.extend(std::iter::repeat_n('x', missing));
            line.push_str(&tail);
            line.push('\n');
        });
        closing.iter().for_each(|record| self.write(record));
    }

    fn write(&self, record: &Value) {
        if self.arguments.output == OutputFormat::StreamJson {
            self.output.line(&record.to_string());
        }
    }

    fn write_result(&self, record: &Value, ending: &Ending) {
        match self.arguments.output {
            OutputFormat::StreamJson | OutputFormat::Json => self.output.line(&record.to_string()),
            OutputFormat::Text => self.output.line(ending.result.as_deref().unwrap_or_default()),
        }
    }
}
