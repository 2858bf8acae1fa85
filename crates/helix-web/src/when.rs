//! Times, figures and phrases as pages show them. Must not know what happened then.

use helix_language::Language;
use jiff::Timestamp;
use maud::{Markup, html};

/// How long ago something was, with the exact time on hover; a script keeps it true.
pub(crate) fn ago(language: Language, at: Timestamp) -> Markup {
    html! { time datetime=(at) title=(language.local(at)) data-ago { (language.ago(at, Timestamp::now())) } }
}

/// The time of day, with the exact time on hover.
pub(crate) fn clock(language: Language, at: Timestamp) -> Markup {
    let local = at.to_zoned(jiff::tz::TimeZone::system());
    html! { time datetime=(at) title=(language.local(at)) { (local.strftime("%H:%M:%S").to_string()) } }
}

/// A length of time; of what is under way, a script goes on counting.
pub(crate) fn length(language: Language, seconds: f64, is_under_way: bool) -> Markup {
    let text = language.duration(seconds);
    if !is_under_way {
        return html! { span.figure { (text) } };
    }
    html! { span.figure data-seconds=(format!("{seconds:.0}")) { (text) } }
}

/// A phrase, in which what stands between backquotes is code.
pub(crate) fn phrase(text: &str) -> Markup {
    html! {
        @for (at, piece) in text.split('`').enumerate() {
            @if at % 2 == 1 { code { (piece) } } @else { (piece) }
        }
    }
}
