//! Values of arguments that several commands take. Must not know what follows from them.

use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use helix_core::document::parse_duration;
use helix_core::run::Ending;

/// Reads one of these words: the help lists them, and a wrong one is answered with the nearest.
pub(crate) fn words<T: Clone + Send + Sync + 'static>(
    known: impl IntoIterator<Item = (&'static str, T)>,
) -> impl TypedValueParser<Value = T> {
    let known: Vec<(&str, T)> = known.into_iter().collect();
    PossibleValuesParser::new(known.iter().map(|(word, _)| *word).collect::<Vec<_>>()).try_map(move |written| {
        let found = known.iter().find(|(word, _)| word.eq_ignore_ascii_case(&written));
        found.map(|(_, value)| value.clone()).ok_or("none of the known words")
    })
}

/// An exit status, or as Python's subprocess reports it, the negative number of a signal.
pub(crate) fn exit_status(text: &str) -> Result<Ending, String> {
    match text.parse() {
        Ok(code @ 0..=255) => Ok(Ending::Exited { code }),
        Ok(negative @ -64..=-1) => Ok(Ending::Signaled { signal: -negative }),
        Ok(_) | Err(_) => Err("an exit status is 0 to 255; -1 to -64 mean: ended by that signal".into()),
    }
}

/// An amount of US dollars.
pub(crate) fn budget(text: &str) -> Result<f64, String> {
    let amount: f64 = text.parse().map_err(|_| "write an amount of US dollars, such as 2.50".to_owned())?;
    if amount.is_finite() && amount > 0.0 { Ok(amount) } else { Err("the amount must be above 0".into()) }
}

/// An age: days, such as `30d`, or any other duration.
pub(crate) fn age(text: &str) -> Result<Duration, String> {
    const DAY: u64 = 24 * 60 * 60;
    match text.strip_suffix('d').map(str::parse::<u32>) {
        Some(Ok(days)) => Ok(Duration::from_secs(u64::from(days) * DAY)),
        Some(Err(_)) | None => {
            parse_duration(text).map_err(|error| format!("{error}: {}, or days, such as 30d", error.remedy))
        }
    }
}
