//! What happened to a job, line by line, the newest first. Must not know words of its own for events: all clients say the same.

use helix_job::phrases;
use helix_language::{Language, say};
use maud::{Markup, html};

use super::detail::{JobDetail, Selected};
use super::head::version;
use crate::sign::sign;
use crate::when::clock;

/// Most events that are shown.
const MOST: usize = 300;

pub(super) fn timeline(language: Language, detail: &JobDetail, selected: &Selected<'_>) -> Markup {
    let all = detail.events.iter().rev();
    let lines = all.filter_map(|one| Some((one, phrases::event(language, &one.event, &detail.view)?))).take(MOST);
    html! {
        aside #timeline.timeline data-v=(version(detail)) aria-labelledby="title-timeline" {
            h2 #title-timeline { (say!(language, "web-timeline")) }
            ol {
                @for (one, line) in lines {
                    @let is_selected = line.phase.is_some() && line.phase.as_ref() == selected.phase.map(|phase| &phase.id);
                    li id={ "event-" (one.number) } .this[is_selected] {
                        (sign(line.sign, None))
                        div {
                            p { @if let Some(phase) = &line.phase { a href={ "/jobs/" (detail.view.id) "?phase=" (phase) } { (phase) } " " } (line.text) }
                            @for detail in &line.details { p.weak.detail { (detail) } }
                        }
                        span.weak { (clock(language, one.at)) }
                    }
                }
            }
        }
    }
}
