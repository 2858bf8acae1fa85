//! States as shapes: each has a form of its own beside its colour, and its word for those who do not see it. Must not know what is in a state.

use helix_job::phrases::Sign;
use maud::{Markup, html};

/// The class of a state's colour.
pub(crate) fn class(sign: Sign) -> &'static str {
    match sign {
        Sign::Pending => "pending",
        Sign::Running => "running",
        Sign::Waiting => "waiting",
        Sign::Passed => "passed",
        Sign::Failed => "failed",
        Sign::Skipped => "skipped",
        Sign::Unclear => "unclear",
        Sign::Note => "note",
    }
}

/// The shape, 16 by 16, within an `svg`.
pub(crate) fn shape(sign: Sign) -> Markup {
    html! {
        @match sign {
            Sign::Pending => { circle cx="8" cy="8" r="5.5" fill="none" stroke="currentColor" stroke-width="1.6" {} }
            Sign::Running => {
                circle cx="8" cy="8" r="5.5" fill="none" stroke="currentColor" stroke-width="1.6" {}
                path d="M8 2.5a5.5 5.5 0 0 1 0 11z" fill="currentColor" {}
            }
            Sign::Waiting => {
                rect x="2" y="2" width="12" height="12" rx="3" fill="currentColor" {}
                path d="M6.2 5.2v5.6M9.8 5.2v5.6" class="cut" stroke-width="1.6" stroke-linecap="round" {}
            }
            Sign::Passed => {
                circle cx="8" cy="8" r="6.5" fill="currentColor" {}
                path d="m5 8.2 2.1 2.1L11 6.2" fill="none" class="cut" stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round" {}
            }
            Sign::Failed => {
                path d="M5.3 1.5h5.4l3.8 3.8v5.4l-3.8 3.8H5.3l-3.8-3.8V5.3z" fill="currentColor" {}
                path d="m5.8 5.8 4.4 4.4m0-4.4-4.4 4.4" class="cut" stroke-width="1.6" stroke-linecap="round" {}
            }
            Sign::Skipped => {
                circle cx="8" cy="8" r="5.5" fill="none" stroke="currentColor" stroke-width="1.6" {}
                path d="M5.5 8h5" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" {}
            }
            Sign::Unclear => {
                path d="M8 1.2 14.8 8 8 14.8 1.2 8z" fill="currentColor" {}
                path d="M8 5v3.4M8 10.7v.1" class="cut" stroke-width="1.6" stroke-linecap="round" {}
            }
            Sign::Note => { circle cx="8" cy="8" r="2.5" fill="currentColor" {} }
        }
    }
}

/// A state by its shape, with its word for screen readers where none stands beside it.
pub(crate) fn sign(sign: Sign, word: Option<&str>) -> Markup {
    html! {
        span class={ "sign " (class(sign)) } {
            svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false" { (shape(sign)) }
            @if let Some(word) = word { span.unseen { (word) } }
        }
    }
}

/// A state in a word, with its shape.
pub(crate) fn badge(of: Sign, word: &str) -> Markup {
    html! { span class={ "badge " (class(of)) } { (sign(of, None)) (word) } }
}
