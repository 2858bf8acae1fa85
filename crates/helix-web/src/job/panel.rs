//! The phase that is selected: its tabs, what its agent did, and what it was told. Must not know the other tabs.

use std::collections::BTreeMap;

use helix_core::text::one_line;
use helix_engine::{EngineError, Follow};
use helix_job::JobStatus;
use helix_language::{Language, say};
use maud::{Markup, html};
use serde_json::Value;

use super::detail::{JobDetail, Selected, Tab};
use super::head::version;
use crate::Pages;
use crate::activity::Items;
use crate::card;
use crate::sign::sign;
use crate::when::phrase;

/// Most items of an activity that a page begins with.
const MOST_ITEMS: usize = 400;

/// The selected phase in a line, with the ways to its sides.
pub(super) fn tabs(language: Language, detail: &JobDetail, selected: &Selected<'_>) -> Markup {
    let words = [
        (Tab::Activity, say!(language, "web-tab-activity")),
        (Tab::Changes, say!(language, "web-tab-changes")),
        (Tab::Checks, say!(language, "web-tab-checks")),
        (Tab::Evidence, say!(language, "web-tab-evidence")),
        (Tab::Prompt, say!(language, "web-tab-prompt")),
    ];
    let fixed = selected.attempt().filter(|_| selected.is_fixed).map(|one| one.number);
    let has_failed = detail.view.status.is_final() && detail.view.status != JobStatus::Succeeded;
    html! {
        div #phase.phase data-v=(version(detail)) {
            @if let Some(phase) = selected.phase {
                div.row {
                    (sign(phase.status.into(), None))
                    h2 { (one_line(&phase.name, 100)) }
                    span.weak { (card::stage(language, phase)) }
                    @if has_failed && phase.attempt > 0 {
                        details.act.right {
                            summary { (say!(language, "web-retry")) }
                            form method="post" action={ "/jobs/" (detail.view.id) "/retry" } {
                                input type="hidden" name="phase" value=(phase.id);
                                p { (say!(language, "web-retry-sure")) }
                                button { (say!(language, "web-retry-now")) }
                            }
                        }
                    }
                }
                @if let Some(error) = phase.error.as_ref().map(|error| error.said_in(language)) {
                    p.warning { (phrase(&error.message)) @if let Some(hint) = &error.hint { br; span.weak { (phrase(hint)) } } }
                }
                nav.tabs aria-label=(phase.name) {
                    @for (tab, word) in &words {
                        a href=(selected.query(*tab, fixed)) aria-current=[(selected.tab == *tab).then_some("page")] { (word) }
                    }
                    @if selected.attempts.len() > 1 {
                        span.attempts {
                            @for (at, one) in selected.attempts.iter().enumerate() {
                                a href=(selected.query(selected.tab, Some(one.number))) aria-current=[(selected.attempt == Some(at)).then_some("true")]
                                    title=(say!(language, "web-attempt", number = one.number)) aria-label=(say!(language, "web-attempt", number = one.number)) { (one.number) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What is shown below the tabs.
pub(super) fn shell(selected: &Selected<'_>, shown: Markup) -> Markup {
    let attempt = selected.attempt().map(|one| format!("{}-{}", one.run, one.gates.len() + one.reviews.len()));
    let version = match selected.tab {
        // Its items come one by one.
        Tab::Activity => selected.run().map(|run| run.to_string()),
        _ => attempt,
    };
    html! { div #panel.panel data-v={ (selected.tab.word()) "-" (version.unwrap_or_default()) } { (shown) } }
}

/// What the agent of the attempt did so far.
pub(super) async fn activity(
    pages: &Pages,
    language: Language,
    detail: &JobDetail,
    selected: &Selected<'_>,
) -> Result<Markup, EngineError> {
    let Some(run) = selected.run() else { return Ok(list(language, selected, 0, &[])) };
    let (mut items, mut shown, mut heard) = (Items::new(language, &detail.view.id), BTreeMap::new(), 0_u64);
    let mut left_out = 0_u64;
    match pages.engine.jobs().run_events(&run, Follow::Now).await {
        Ok(mut events) => {
            while let Some(event) = events.recv().await {
                heard += 1;
                if let Some(item) = items.hear(event) {
                    shown.insert(item.number, item.markup);
                }
                if shown.len() > MOST_ITEMS {
                    shown.pop_first();
                    left_out += 1;
                }
            }
        }
        // It has not begun yet.
        Err(EngineError::NotFound { .. }) => {}
        Err(error) => return Err(error),
    }
    let all: Vec<Markup> = shown.into_values().collect();
    Ok(html! {
        @if left_out > 0 { p.weak { (say!(language, "web-items-left-out", items = left_out)) " " code { (whole_log(detail, selected)) } } }
        (list(language, selected, heard, &all))
    })
}

/// The command that prints all that the agents of the phase did.
fn whole_log(detail: &JobDetail, selected: &Selected<'_>) -> String {
    let phase = selected.phase.map(|phase| format!(" --phase {}", phase.id)).unwrap_or_default();
    format!("helix jobs logs {}{phase}", detail.view.id)
}

/// The items of the attempt, which more follow.
pub(super) fn list(language: Language, selected: &Selected<'_>, heard: u64, items: &[Markup]) -> Markup {
    let Some(run) = selected.run() else { return html! { p.empty { (say!(language, "web-no-attempt")) } } };
    html! {
        ol #items.items data-run=(run) data-heard=(heard) { @for item in items { (item) } }
        p.empty.waiting-items { (say!(language, "web-no-activity")) }
    }
}

/// What the agent of the attempt was told.
pub(super) async fn prompt(pages: &Pages, language: Language, selected: &Selected<'_>) -> Result<Markup, EngineError> {
    let told = match selected.run() {
        Some(run) => pages.engine.jobs().told(&run).await?,
        None => None,
    };
    let Some(told) = told else { return Ok(html! { p.empty { (say!(language, "web-no-prompt")) } }) };
    Ok(html! { pre.prompt { (words(&told)) } })
}

/// The words of what an agent was given: of messages in JSON, their texts.
fn words(told: &str) -> String {
    let texts = told.lines().map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        let content = message.get("message")?.get("content")?;
        match content {
            Value::String(text) => Some(text.clone()),
            Value::Array(parts) => {
                Some(parts.iter().filter_map(|part| part.get("text")?.as_str()).collect::<Vec<_>>().join("\n"))
            }
            _ => None,
        }
    });
    let texts: Option<Vec<String>> = texts.collect();
    texts.filter(|texts| !texts.is_empty()).map_or_else(|| told.to_owned(), |texts| texts.join("\n\n"))
}
