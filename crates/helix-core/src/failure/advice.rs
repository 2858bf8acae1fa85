//! What to do about a failure: two to four concrete steps from its cause, its category and its place.
//!
//! Must not know what helped before: the memory adds that.

use super::cause;
use super::classify::Classified;
use super::location::Ownership;
use super::verdict::{Category, RetryAdvice};

/// Two to four different steps, most useful first.
pub fn actions(classified: &Classified) -> Vec<String> {
    let known = cause::ALL.iter().find(|known| known.slug == classified.cause).copied().unwrap_or(&cause::UNEXPLAINED);
    let mut steps = Vec::new();
    let place = classified.locations.iter().find(|location| location.ownership == Ownership::Project);
    if let (Some(place), true) = (place, points_at_code(classified.category)) {
        steps.push(format!("open {}:{}", place.path, place.line));
    }
    steps.extend(known.actions.iter().map(|step| (*step).to_owned()));
    let general = match classified.retry {
        RetryAdvice::Now => Some("try again as it is"),
        RetryAdvice::AfterDelay => Some("try again as it is, after a while"),
        RetryAdvice::AfterChange | RetryAdvice::Never => None,
        RetryAdvice::Human => Some("leave it to a person: no agent can mend this"),
    };
    steps.extend(general.map(str::to_owned));
    steps.truncate(4);
    steps
}

fn points_at_code(category: Category) -> bool {
    match category {
        Category::FunctionError | Category::SyntaxError | Category::AssertionFailure | Category::TypeError => true,
        Category::FileAccess | Category::Timeout | Category::MemoryError | Category::Unknown => true,
        Category::NetworkError | Category::ResourceError => false,
    }
}
