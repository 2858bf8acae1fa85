//! `helix explain`: the page of an error code.

use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, Ended, codes};

/// Code and page of each error, in the order of the codes.
static PAGES: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/error_pages.rs"));

pub(crate) fn run(context: &Context, code: &str) -> Ended {
    let code = code.trim().to_ascii_uppercase();
    let found = PAGES.binary_search_by_key(&code.as_str(), |(code, _)| code).ok().and_then(|at| PAGES.get(at));
    let Some((code, page)) = found else {
        return Err(CommandError::usage(codes::NOT_FOUND, format!("no error has the code {code:?}"))
            .hint("give the code that stands in brackets after `error`, such as HX0403"));
    };
    context.terminal.answer(&json!({ "code": code, "page": page }), page.trim_end())
}
