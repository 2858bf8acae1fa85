//! What an agent does, item by item: what it says and thinks, its tool calls with arguments and results.
//!
//! Must not know whether the run goes on.

use std::collections::HashMap;

use helix_core::agent_event::AgentEvent;
use helix_core::ids::JobId;
use helix_core::text::{bounded, one_line};
use helix_job::phrases::{Sign, retry_reason, tool_call};
use helix_language::{Language, say};
use maud::{Markup, html};
use serde_json::Value;

use crate::diff;
use crate::markdown::markdown;
use crate::sign::sign;

/// Longest text of one item, in bytes.
const LONGEST: usize = 24 << 10;

/// The items of a run, made of its events from the first.
pub(crate) struct Items {
    language: Language,
    job: JobId,
    next: u32,
    /// Calls that have not ended: their item, name, arguments, and whether a sub-agent made them.
    open: HashMap<String, (u32, String, Value, bool)>,
}

/// An item, which replaces one with the same number.
pub(crate) struct Item {
    pub(crate) number: u32,
    pub(crate) markup: Markup,
}

impl Items {
    pub(crate) fn new(language: Language, job: &JobId) -> Self {
        Self { language, job: job.clone(), next: 0, open: HashMap::new() }
    }

    /// What an event adds or changes.
    pub(crate) fn hear(&mut self, event: AgentEvent) -> Option<Item> {
        let language = self.language;
        match event {
            AgentEvent::Text { text, partial: false, parent } if !text.trim().is_empty() => {
                self.add("says", parent.is_some(), markdown(&bounded(&text, LONGEST)))
            }
            AgentEvent::Thinking { text, partial: false, parent } if !text.trim().is_empty() => {
                let body = html! { details { summary.weak { (say!(language, "web-thinking")) } p.text.weak { (bounded(&text, LONGEST)) } } };
                self.add("thinks", parent.is_some(), body)
            }
            AgentEvent::ToolStarted { id, name, input, parent } => {
                let (number, sub) = (self.number(), parent.is_some());
                let markup = self.tool(number, &name, &input, sub, None);
                self.open.insert(id, (number, name, input, sub));
                Some(Item { number, markup })
            }
            AgentEvent::ToolFinished { id, output, failed } => {
                let (number, name, input, sub) = self.open.remove(&id)?;
                Some(Item { number, markup: self.tool(number, &name, &input, sub, Some((&output, failed))) })
            }
            AgentEvent::RateLimited { rejected: true, resets_at } => {
                let text = match resets_at {
                    Some(at) => say!(language, "web-limited-until", until = language.local(at)),
                    None => say!(language, "web-limited"),
                };
                self.add("note", false, html! { p { (sign(Sign::Waiting, None)) (text) } })
            }
            AgentEvent::ApiRetry { attempt, max, reason, .. } => {
                let reason = one_line(&retry_reason(language, &reason), 160);
                let text = say!(language, "web-api-retry", attempt = attempt, max = max, reason = reason);
                self.add("note", false, html! { p { (sign(Sign::Note, None)) (text) } })
            }
            AgentEvent::Question { text } => {
                self.add("note", false, html! { p { (sign(Sign::Waiting, None)) (bounded(&text, LONGEST)) } })
            }
            AgentEvent::Finished { is_error, usage, answer, .. } => {
                let of = if is_error { Sign::Failed } else { Sign::Note };
                // Its text is the report of the failure, which no other event has.
                let failure = answer.filter(|_| is_error);
                let text = say!(language, "web-agent-ended", cost = language.cents(usage.cost_usd));
                self.add(
                    "note",
                    false,
                    html! {
                        @if let Some(failure) = failure { p { (bounded(&failure, LONGEST)) } }
                        p.weak { (sign(of, None)) (text) }
                    },
                )
            }
            _ => None,
        }
    }

    fn number(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    fn add(&mut self, kind: &str, is_sub: bool, body: Markup) -> Option<Item> {
        let number = self.number();
        let markup = html! { li.item .(kind) .sub[is_sub] id={ "item-" (number) } { (body) } };
        Some(Item { number, markup })
    }

    fn tool(&self, number: u32, name: &str, input: &Value, is_sub: bool, result: Option<(&str, bool)>) -> Markup {
        let of = match result {
            None => Sign::Running,
            Some((_, true)) => Sign::Failed,
            Some((_, false)) => Sign::Passed,
        };
        let text = |key: &str| input.get(key).and_then(Value::as_str);
        html! {
            li.item.tool .sub[is_sub] id={ "item-" (number) } {
                details {
                    summary { (sign(of, None)) code { (tool_call(&self.job, name, input)) } }
                    @match (text("old_string"), text("new_string"), text("content")) {
                        (Some(old), Some(new), _) => { (diff::of_texts(&bounded(old, LONGEST), &bounded(new, LONGEST))) }
                        (_, _, Some(content)) => { pre.code { (bounded(content, LONGEST)) } }
                        _ => { pre.code { (bounded(&serde_json::to_string_pretty(input).unwrap_or_default(), LONGEST)) } }
                    }
                    @if let Some((output, _)) = result {
                        @if !output.trim().is_empty() { pre.code.output { (bounded(output, LONGEST)) } }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "activity_test.rs"]
mod tests;
