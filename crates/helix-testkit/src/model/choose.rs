//! Finds the scripted answer to a request.
//!
//! Must not know HTTP; state between requests is only what counts uses.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Value, json};

use super::fault::{Fault, Repeat};
use super::request::{RequestView, Role};
use super::script::{AtEnd, LastMessage, Reply, Scene, Script, When};
use super::stream::{Answer, Block};
use super::template::{render, render_value};

/// Counts that outlive a request.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    rules: HashMap<usize, u64>,
    faults: HashMap<String, u64>,
    /// Per scene, the prompts that began it, in order.
    takes: HashMap<usize, Vec<String>>,
    next_id: u64,
}

impl Uses {
    /// A new number for ids.
    pub(crate) fn id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }
}

/// The answer, and what in the script gave it.
#[derive(Debug)]
pub(crate) struct Choice {
    pub(crate) by: String,
    pub(crate) answer: Answer,
    /// The fault that strikes this time.
    pub(crate) fault: Option<Fault>,
}

/// Chooses the answer.
///
/// # Errors
/// A sentence that says why the script has none.
pub(crate) fn choose(script: &Script, uses: &mut Uses, view: &RequestView) -> Result<Choice, String> {
    let mut variables = script.variables.clone();
    variables.extend(view.variables());
    for (index, rule) in script.rules.iter().enumerate() {
        let mut captured = variables.clone();
        if !holds(&rule.when, view, &mut captured) {
            continue;
        }
        let used = uses.rules.entry(index).or_default();
        if matches!(rule.times, Repeat::Times(most) if *used >= most) {
            continue;
        }
        *used += 1;
        let by = if rule.name.is_empty() { format!("rule {}", index + 1) } else { format!("rule {}", rule.name) };
        return answer(&rule.reply, by, view, uses, captured);
    }
    if let Some((index, scene, start, captured)) = scene_of(script, view, &variables) {
        let identity = format!("{start}\n{}", view.conversation);
        let takes = uses.takes.entry(index).or_default();
        let take = takes.iter().position(|known| *known == identity).unwrap_or_else(|| {
            takes.push(identity);
            takes.len() - 1
        });
        let steps = scene.take(take);
        let done = view.messages[start..].iter().filter(|message| message.role == Role::Assistant).count();
        let last = steps.len().saturating_sub(1);
        let step = match scene.at_end {
            AtEnd::RepeatLast => done.min(last),
            AtEnd::Fail => done,
        };
        let Some(reply) = steps.get(step) else {
            return Err(format!(
                "scene {:?} has {} steps, but {} asks for one more",
                scene.name,
                steps.len(),
                view.summary()
            ));
        };
        return answer(
            reply,
            format!("scene {} take {} step {}", scene.name, take + 1, step + 1),
            view,
            uses,
            captured,
        );
    }
    title(view, uses).ok_or_else(|| format!("nothing in the script answers {}", view.summary()))
}

fn scene_of<'s>(
    script: &'s Script,
    view: &RequestView,
    variables: &BTreeMap<String, String>,
) -> Option<(usize, &'s Scene, usize, BTreeMap<String, String>)> {
    let mut best: Option<(usize, &Scene, usize, BTreeMap<String, String>)> = None;
    for (index, scene) in script.scenes.iter().enumerate() {
        let mut captured = variables.clone();
        if !holds(&scene.when, view, &mut captured) {
            continue;
        }
        let start = view.messages.iter().enumerate().rev().find_map(|(at, message)| {
            let speaks = message.role == Role::User && !message.prompt.is_empty();
            (speaks && scene.prompt.holds(&message.prompt, &mut captured)).then_some(at)
        });
        if let Some(start) = start
            && best.as_ref().is_none_or(|(_, _, other, _)| start > *other)
        {
            best = Some((index, scene, start, captured));
        }
    }
    best
}

fn answer(
    reply: &Reply,
    by: String,
    view: &RequestView,
    uses: &mut Uses,
    variables: BTreeMap<String, String>,
) -> Result<Choice, String> {
    if let Some(expected) = &reply.expect
        && !holds(expected, view, &mut variables.clone())
    {
        return Err(format!("{by} expected something else of {}", view.summary()));
    }
    let unknown = |name: String| format!("{by} uses {{{{{name}}}}}, which has no value for {}", view.summary());
    let mut blocks = Vec::new();
    if let Some(thinking) = &reply.thinking {
        blocks.push(Block::Thinking(render(thinking, &variables).map_err(unknown)?));
    }
    if let Some(text) = &reply.text {
        blocks.push(Block::Text(render(text, &variables).map_err(unknown)?));
    }
    for call in &reply.tools {
        let id = call.id.clone().unwrap_or_else(|| format!("toolu_scripted{:06}", uses.id()));
        let input =
            if call.input.is_null() { json!({}) } else { render_value(&call.input, &variables).map_err(unknown)? };
        blocks.push(Block::Tool { id, name: call.name.clone(), input });
    }
    if let Some(output) = &reply.structured {
        let id = format!("toolu_scripted{:06}", uses.id());
        let input = render_value(output, &variables).map_err(unknown)?;
        blocks.push(Block::Tool { id, name: "StructuredOutput".to_owned(), input });
    }
    let calls_tools = blocks.iter().any(|block| matches!(block, Block::Tool { .. }));
    let usual = if calls_tools { "tool_use" } else { "end_turn" };
    let fault = reply.fault.as_ref().filter(|fault| {
        let struck = uses.faults.entry(by.clone()).or_default();
        *struck += 1;
        match fault.times {
            Repeat::Always => true,
            Repeat::Times(most) => *struck <= most,
        }
    });
    Ok(Choice {
        answer: Answer {
            id: format!("msg_scripted{:06}", uses.id()),
            model: reply.model.clone().unwrap_or_else(|| view.model.clone()),
            blocks,
            stop_reason: reply.stop_reason.clone().unwrap_or_else(|| usual.to_owned()),
            usage: reply.usage.clone(),
            headers: reply.headers.clone(),
            first_delay_ms: reply.first_delay_ms,
            chunk_chars: reply.chunk_chars,
            chunk_delay_ms: reply.chunk_delay_ms,
        },
        fault: fault.cloned(),
        by,
    })
}

/// Answers the CLI's own request for a session title, which no script should have to foresee.
fn title(view: &RequestView, uses: &mut Uses) -> Option<Choice> {
    let asks = view.tools.is_empty() && view.system.to_lowercase().contains("title");
    asks.then(|| Choice {
        by: "title".to_owned(),
        answer: Answer {
            id: format!("msg_scripted{:06}", uses.id()),
            model: view.model.clone(),
            blocks: vec![Block::Text(json!({"title": "Scripted session"}).to_string())],
            stop_reason: "end_turn".to_owned(),
            ..Answer::default()
        },
        fault: None,
    })
}

fn holds(when: &When, view: &RequestView, variables: &mut BTreeMap<String, String>) -> bool {
    let results = view.last_tool_results();
    let last = if results.is_empty() { LastMessage::Prompt } else { LastMessage::ToolResult };
    when.request.is_none_or(|number| number == view.number)
        && when.stream.is_none_or(|stream| stream == view.stream)
        && when.last.is_none_or(|wanted| wanted == last)
        && when.has_tool.as_ref().is_none_or(|tool| view.tools.contains(tool))
        && when.lacks_tool.as_ref().is_none_or(|tool| !view.tools.contains(tool))
        && when.model.as_ref().is_none_or(|test| test.holds(&view.model, variables))
        && when.system.as_ref().is_none_or(|test| test.holds(&view.system, variables))
        && when.prompt.as_ref().is_none_or(|test| view.prompt().is_some_and(|(_, text)| test.holds(text, variables)))
        && when.any_prompt.as_ref().is_none_or(|test| {
            view.messages.iter().any(|message| message.role == Role::User && test.holds(&message.prompt, variables))
        })
        && when.headers.iter().all(|(name, test)| {
            view.headers.get(&name.to_lowercase()).is_some_and(|value| test.holds(value, variables))
        })
        && when.tool_result.as_ref().is_none_or(|wanted| {
            results.iter().any(|result| {
                wanted.tool.as_ref().is_none_or(|tool| *tool == result.tool)
                    && wanted.id.as_ref().is_none_or(|id| *id == result.id)
                    && wanted.is_error.is_none_or(|is_error| is_error == result.is_error)
                    && wanted.text.as_ref().is_none_or(|test| test.holds(&result.text, variables))
            })
        })
}

/// An answer as the non-streaming API writes it.
pub(crate) fn whole_message(answer: &Answer, stop_reason: &str) -> Value {
    json!({
        "id": answer.id, "type": "message", "role": "assistant", "model": answer.model,
        "content": answer.blocks.iter().map(Block::whole).collect::<Vec<_>>(),
        "stop_reason": stop_reason, "stop_sequence": null, "usage": answer.usage_json(None),
    })
}
