//! What Helix says, in the languages of people: a table of messages for each (Project Fluent), and which language somebody writes.
//!
//! Must not know who reads it, nor what is told: jobs, gates and sessions name their messages. What agents and programs read is English.

pub mod english;
mod error_view;

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::OnceLock;

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource};
use helix_core::evidence::GateReport;
use helix_core::finding::{Correction, Fault, FaultKind, Finding};
use helix_core::said::{self, Piece, Words};
use helix_core::text;
use jiff::Timestamp;
use jiff::tz::TimeZone;

pub use error_view::ErrorView;
pub use fluent_bundle::FluentValue as Value;
pub use helix_core::recorded;

/// A language that Helix speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Language {
    #[default]
    English,
    German,
}

/// A message in a language: `say!(language, "id")`, `say!(language, "id", name = value)`.
#[macro_export]
macro_rules! say {
    ($language:expr, $id:literal $(, $name:ident = $value:expr)* $(,)?) => {
        $language.message($id, &[$((stringify!($name), $crate::Value::from($value))),*])
    };
}

/// A message about something that went wrong, with its attribute `hint` as what to do.
#[macro_export]
macro_rules! problem {
    ($language:expr, $id:literal $(, $name:ident = $value:expr)* $(,)?) => {
        $language.problem($id, &[$((stringify!($name), $crate::Value::from($value))),*])
    };
}

/// What is recorded is said in English, too.
pub const RECORD: Language = Language::English;

/// What kept a check from being made, in Helix's own words, with what to do about the message.
pub fn fault(kind: FaultKind, message: Words) -> Fault {
    let hint = message.hint();
    fault_with_hint(kind, message, hint)
}

/// What kept a check from being made, and what to do or nothing, in Helix's own words.
pub fn fault_with_hint(kind: FaultKind, message: Words, hint: Words) -> Fault {
    let ErrorView { message, hint, said } = ErrorView::of_words(message, hint);
    Fault { kind, message, hint, said }
}

/// What is wrong, in Helix's own words; its fix is what to do about the message.
pub fn finding(rule: &str, message: Words) -> Finding {
    let fix = message.hint();
    finding_with_fix(rule, message, fix)
}

/// What is wrong, and how to fix it or nothing, in Helix's own words.
pub fn finding_with_fix(rule: &str, message: Words, fix: Words) -> Finding {
    let told = ErrorView::of_words(message, fix);
    let (said, fix_said) = (told.words().own(), told.hint_words().own());
    Finding { fix: told.hint, said, fix_said, ..Finding::new(rule, told.message) }
}

/// A gate's answer with its summary as words.
pub fn summed_up(report: GateReport, summary: Words) -> GateReport {
    GateReport { summary: RECORD.words(&summary), said: summary.own(), ..report }
}

/// What an agent is told, with the summary as words.
pub fn correction(summary: Words, findings: Vec<Finding>) -> Correction {
    Correction { said: summary.clone(), ..Correction::new(RECORD.words(&summary), findings) }
}

type Table = FluentBundle<FluentResource>;

/// Words of a message that are looked at to tell its language.
const MOST_WORDS: usize = 400;
/// Messages that are looked at to tell the language of a conversation, which clients send whole with each turn.
pub const MOST_MESSAGES: usize = 20;

impl Language {
    pub const ALL: [Self; 2] = [Self::English, Self::German];

    /// Its code (ISO 639), as locales begin.
    pub const fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::German => "de",
        }
    }

    const fn source(self) -> &'static str {
        match self {
            Self::English => include_str!("languages/en.ftl"),
            Self::German => include_str!("languages/de.ftl"),
        }
    }

    /// The language of the environment, by the first of these variables that is set and not empty; English where none of ours is
    /// named.
    pub fn of_locale(variable: impl Fn(&str) -> Option<String>) -> Self {
        let named = ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().filter_map(variable).find(|name| !name.is_empty());
        named.as_deref().and_then(Self::of_tag).unwrap_or_default()
    }

    /// The language of a locale, or the first of ours that a client asks for (`Accept-Language`).
    pub fn of_tag(tags: &str) -> Option<Self> {
        let codes = tags.split(',').map(|tag| tag.trim().split(|letter: char| !letter.is_ascii_alphabetic()).next());
        codes.flatten().find_map(|code| Self::ALL.into_iter().find(|one| one.code().eq_ignore_ascii_case(code)))
    }

    /// The language that a person writes, by its commonest words; `None` where they do not tell.
    pub fn of_text(written: &str) -> Option<Self> {
        let prose = written.split("```").step_by(2).flat_map(str::split_whitespace);
        // Paths, addresses and names of programs are of no language.
        let prose = prose.filter(|word| !word.contains(['/', '\\', '_', '`']));
        let words = prose.map(|word| word.trim_matches(|letter: char| !letter.is_alphabetic()).to_lowercase());
        let words: Vec<String> = words.filter(|word| !word.is_empty()).take(MOST_WORDS).collect();
        let hits = |one: Self| {
            let known = say!(one, "language-words");
            let known: HashSet<&str> = known.split_whitespace().collect();
            words.iter().filter(|word| known.contains(word.as_str())).count()
        };
        let mut found: Vec<(usize, Self)> = Self::ALL.into_iter().map(|one| (hits(one), one)).collect();
        found.sort_by_key(|(hits, _)| std::cmp::Reverse(*hits));
        match found[..] {
            [(most, language), (next, _), ..] if most > next => Some(language),
            _ => None,
        }
    }

    /// The language of the newest of these texts that tells, the newest first; of [`MOST_MESSAGES`] at most.
    pub fn of_texts<'a>(newest_first: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        newest_first.into_iter().take(MOST_MESSAGES).find_map(Self::of_text)
    }

    fn table(self) -> &'static Table {
        static TABLES: [OnceLock<Table>; Language::ALL.len()] = [const { OnceLock::new() }; Language::ALL.len()];
        TABLES[self as usize].get_or_init(|| {
            // What is wrong with a table, its tests say.
            let (Ok(source) | Err((source, _))) = FluentResource::try_new(self.source().to_owned());
            let mut table = FluentBundle::new_concurrent(vec![self.code().parse().unwrap_or_default()]);
            // Everything that Helix says is written from left to right; isolating marks would stand in commands that people copy.
            table.set_use_isolating(false);
            table.add_resource_overriding(source);
            table
        })
    }

    /// A message, by [`say!`]. One that the table lacks is its own id.
    pub fn message(self, id: &str, values: &[(&'static str, Value<'_>)]) -> String {
        self.text(id, None, values).unwrap_or_else(|| id.to_owned())
    }

    /// What went wrong and what to do, by [`problem!`].
    pub fn problem(self, id: &str, values: &[(&'static str, Value<'_>)]) -> ErrorView {
        ErrorView { message: self.message(id, values), hint: self.text(id, Some("hint"), values), said: None }
    }

    /// Recorded words in this language.
    pub fn words(self, words: &Words) -> String {
        words.pieces().iter().map(|piece| self.piece(piece)).collect()
    }

    fn piece(self, piece: &Piece) -> String {
        let (name, with) = match piece {
            Piece::Text(text) => return text.clone(),
            Piece::Number(number) => return number.to_string(),
            Piece::Time(at) if self == RECORD => return at.to_string(),
            Piece::Time(at) => return self.local(*at),
            Piece::Say { name, with } => (name, with),
        };
        let value = |words: &Words| match words.pieces() {
            [Piece::Number(number)] => Value::from(*number),
            _ => Value::from(self.words(words)),
        };
        let values: Vec<(&str, Value<'_>)> = with.iter().map(|(name, words)| (name.as_str(), value(words))).collect();
        match name.split_once('.') {
            Some((name, attribute)) => self.text(name, Some(attribute), &values).unwrap_or_default(),
            None => self.text(name, None, &values).unwrap_or_else(|| name.clone()),
        }
    }

    /// Date and time of day by this machine's clock, to the minute.
    pub fn local(self, at: Timestamp) -> String {
        self.date(at, TimeZone::system())
    }

    fn text<'a>(self, id: &str, attribute: Option<&str>, values: &[(&'a str, Value<'a>)]) -> Option<String> {
        let message = self.table().get_message(id)?;
        let pattern = match attribute {
            None => message.value()?,
            Some(name) => message.get_attribute(name)?.value(),
        };
        // What is recorded does not know its job; who reads it does.
        let job = [("job", Value::from(said::JOB))];
        let values: FluentArgs<'_> = job.into_iter().chain(values.iter().cloned()).collect();
        let mut errors = Vec::new();
        let text = self.table().format_pattern(pattern, Some(&values), &mut errors).into_owned();
        debug_assert!(errors.is_empty(), "{id} in {self:?}: {errors:?}");
        Some(text)
    }

    /// `0.4 s`, `12 s`, `3 min 05 s`, `2 h 10 min`.
    pub fn duration(self, seconds: f64) -> String {
        self.decimal(&text::duration(seconds)).into_owned()
    }

    /// US dollars: cents, or finer where cents would show nothing.
    pub fn money(self, dollars: f64) -> String {
        self.dollars(text::money(dollars).trim_start_matches('$'))
    }

    /// US dollars to the cent, or finer below one cent.
    pub fn cents(self, dollars: f64) -> String {
        if dollars < 0.01 { self.money(dollars) } else { self.dollars(&format!("{dollars:.2}")) }
    }

    fn dollars(self, amount: &str) -> String {
        say!(self, "money", amount = self.decimal(amount).as_ref())
    }

    /// Figures with this language's decimal mark.
    pub fn decimal(self, figures: &str) -> Cow<'_, str> {
        Cow::Owned(figures.replace('.', &say!(self, "decimal-mark")))
    }

    /// Date and time of day in a zone, to the minute, as tables show them.
    pub fn date(self, at: Timestamp, zone: TimeZone) -> String {
        let local = at.to_zoned(zone);
        let part = |form: &str| local.strftime(form).to_string();
        say!(self, "term-date", year = part("%Y"), month = part("%m"), day = part("%d"), clock = part("%H:%M"))
    }

    /// How long ago something was: `just now`, `2 min ago`, `3 h ago`, `5 days ago`; the date of this machine's calendar after a month.
    pub fn ago(self, at: Timestamp, now: Timestamp) -> String {
        match now.duration_since(at).as_secs().max(0) / 60 {
            0 => say!(self, "ago-now"),
            minutes @ 1..60 => say!(self, "ago-minutes", minutes = minutes),
            minutes @ 60..2880 => say!(self, "ago-hours", hours = minutes / 60),
            minutes @ 2880..43_200 => say!(self, "ago-days", days = minutes / 1440),
            _ => {
                let local = at.to_zoned(TimeZone::system());
                let part = |form: &str| local.strftime(form).to_string();
                say!(self, "ago-on", year = part("%Y"), month = part("%m"), day = part("%d"))
            }
        }
    }

    /// A time as people read it: how far away, and by the clock of a zone.
    pub fn time(self, at: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
        let (local, today) = (at.to_zoned(zone.clone()), now.to_zoned(zone.clone()).date());
        let part = |form: &str| local.strftime(form).to_string();
        let at_time = match local.date() == today {
            true => say!(self, "time-at", clock = part("%H:%M")),
            false => {
                say!(self, "time-on", year = part("%Y"), month = part("%m"), day = part("%d"), clock = part("%H:%M"))
            }
        };
        // What is two hours away when it is written is not read as 119 minutes.
        match at.duration_since(now).as_secs().saturating_add(30) / 60 {
            ..1 => at_time,
            minutes @ 1..120 => say!(self, "time-in-minutes", minutes = minutes, at = at_time),
            minutes @ 120..2880 => say!(self, "time-in-hours", hours = minutes / 60, at = at_time),
            minutes => say!(self, "time-in-days", days = minutes / 1440, at = at_time),
        }
    }
}

#[cfg(test)]
#[path = "language_test.rs"]
mod tests;
