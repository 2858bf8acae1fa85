//! Questions at the terminal: shown, and answered by the person who sits there.
//!
//! Must not know what follows from an answer.

use std::io::IsTerminal;

use helix_core::text::one_line;
use helix_job::phrases::{approvals, asks, attempted, option};
use helix_job::question::{About, QuestionKind, QuestionView};
use helix_language::say;
use helix_server::wire::AnswerRequest;
use tokio::signal::unix::SignalKind;

use crate::agent_log::clean_lines;
use crate::context::Context;
use crate::error::CommandError;
use crate::runtime::signal_stream;
use crate::terminal::{Hidden, Meaning, plain, typed_line};

/// A question for people, with how to answer it.
pub(crate) fn shown(context: &Context, question: &QuestionView) -> String {
    let paint = |text: &str| context.terminal.paint(Meaning::Attention, text);
    let language = context.terminal.language;
    let (id, phase, job) = (question.id.as_str(), question.phase.as_str(), &question.job_name);
    let about = say!(language, "term-question", id = id, phase = phase, job = job);
    let mut lines = vec![format!("{} {about}", paint("?"))];
    let text = plain(&asks(language, question));
    let mut words = text.lines();
    // Helix's own sentence comes first; what others have written stands behind a mark.
    let own = match question.kind {
        QuestionKind::Agent => Some(say!(language, "term-agent-asks")),
        _ => words.next().map(str::to_owned),
    };
    lines.extend(own.map(|line| format!("    {line}")));
    lines.extend(words.map(|line| format!("    │ {line}")));
    if !question.set_out.is_empty() {
        lines.push(format!("    {}", say!(language, "ask-set-out")));
        lines.extend(clean_lines(&question.set_out).iter().map(|line| format!("    │ {line}")));
    }
    if matches!(question.about, About::Gate { .. }) {
        let command = format!("{} jobs diff {} --phase {}", context.helix(), question.job, question.phase);
        lines.push(format!("    {}", say!(language, "term-changes", command = command)));
    }
    for one in &question.options {
        lines.push(format!("    [{}] {}", one.key, one_line(&option(language, one), usize::MAX)));
    }
    for one in &question.attempted {
        let text = attempted(language, one.run.as_str(), &one.asked);
        lines.push(format!("    {}", context.terminal.paint(Meaning::Bad, &plain(&text))));
    }
    if let Some(approvals) = approvals(language, question) {
        lines.push(format!("    {}", plain(&approvals)));
    }
    if let Some(expires) = question.expires_at {
        lines.push(format!("    {}", say!(language, "term-expires", at = language.local(expires))));
    }
    lines.push(format!("    {}", say!(language, "term-answer-by", command = how_to_answer(context, question))));
    lines.join("\n")
}

/// The command that answers it.
pub(crate) fn how_to_answer(context: &Context, question: &QuestionView) -> String {
    let keys: Vec<&str> = question.options.iter().map(|option| option.key.as_str()).collect();
    let choice = if keys.is_empty() { String::new() } else { format!(" --choice {}", keys.join("|")) };
    let text = match (question.free_text, keys.is_empty()) {
        (_, true) => " --text \"…\"",
        (true, false) => " [--text \"…\"]",
        (false, false) => "",
    };
    format!("{} answer {}{choice}{text}", context.helix(), question.id)
}

/// Asks at the terminal; `None` when the user would rather not answer now: an empty line, Ctrl-C or Ctrl-D.
pub(crate) async fn ask(context: &Context, question: &QuestionView) -> Result<Option<AnswerRequest>, CommandError> {
    let language = context.terminal.language;
    if question.options.is_empty() {
        let text = line(context, &say!(language, "term-your-answer")).await?;
        return Ok(text.map(|text| AnswerRequest { choice: None, text: Some(text) }));
    }
    loop {
        let keys: Vec<&str> = question.options.iter().map(|option| option.key.as_str()).collect();
        let Some(said) = line(context, &say!(language, "term-your-choice", choices = keys.join(" / "))).await? else {
            return Ok(None);
        };
        let fitting: Vec<&&str> = keys.iter().filter(|key| key.starts_with(said.as_str())).collect();
        let choice = match (keys.iter().find(|key| **key == said), &fitting[..]) {
            (Some(exact), _) => (*exact).to_owned(),
            (None, [only]) => (**only).to_owned(),
            // What an agent asks may be answered in words although it named options.
            (None, _) if question.kind == QuestionKind::Agent => {
                return Ok(Some(AnswerRequest { choice: None, text: Some(said) }));
            }
            (None, _) => {
                context.terminal.say(&say!(language, "term-choose", choices = keys.join(", ")));
                continue;
            }
        };
        let wanted = say!(language, "term-your-text");
        let text = if question.free_text { line(context, &wanted).await? } else { None };
        return Ok(Some(AnswerRequest { choice: Some(choice), text }));
    }
}

/// Has the person at the terminal choose from a list by number; `None` when they would rather not.
pub(crate) async fn choose(context: &Context, names: &[String]) -> Result<Option<usize>, CommandError> {
    let language = context.terminal.language;
    for (number, name) in (1..).zip(names) {
        context.terminal.say(&format!("  {number}  {}", plain(name)));
    }
    loop {
        let numbers = format!("1-{}", names.len());
        let Some(said) = line(context, &say!(language, "term-your-choice", choices = numbers.as_str())).await? else {
            return Ok(None);
        };
        let chosen = said.parse::<usize>().ok().filter(|number| (1..=names.len()).contains(number));
        match chosen {
            Some(number) => return Ok(Some(number - 1)),
            None => context.terminal.say(&say!(language, "term-choose", choices = numbers)),
        }
    }
}

/// A secret: typed unseen, or the first line of what is piped in. `None` when it is empty.
pub(crate) async fn secret(context: &Context, what: &str) -> Result<Option<String>, CommandError> {
    if !std::io::stdin().is_terminal() {
        let typed = typed_line().await?;
        return Ok(typed.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()));
    }
    let _hidden = Hidden::begin();
    line(context, what).await
}

/// A line from the terminal; `None` when it is empty, at its end, or interrupted.
async fn line(context: &Context, prompt: &str) -> Result<Option<String>, CommandError> {
    // Listened to before anybody can see the prompt: an interrupt must not kill what has only just asked.
    let mut interrupts = signal_stream(SignalKind::interrupt())?;
    context.terminal.prompt(&format!("{prompt}:"));
    let typed = tokio::select! {
        typed = typed_line() => typed?,
        _ = interrupts.recv() => None,
    };
    Ok(typed.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()))
}
