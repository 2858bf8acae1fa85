//! Sources are read by a process of its own: agents and repositories wrote them, and a parser that one of them exhausts ends that process
//! and not Helix.
//!
//! Must not judge: answers are those of the modules that read.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use helix_core::finding::FaultKind;
use helix_core::said::Words;
use helix_language::{fault_with_hint, recorded};
use helix_process::{Apart, NoAnswer, answer_apart, program_of_untrusted_work};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::GateContext;
use super::code::{self, Asked, Code, Helpers, Mutant, TestFile, Version};
use super::judgement::{Trouble, fault};
use super::markdown;
use super::output::{Runner, counted};
use super::syntax::{self, Language};

/// The command of the program that reads sources.
pub const READ_SOURCES: &str = "read-sources";

/// Longest that the sources of one check may take together.
const LONGEST: Duration = Duration::from_secs(30);

/// What is asked about sources.
#[derive(Serialize, Deserialize)]
pub(crate) enum Question<'q> {
    Syntax {
        language: Language,
        path: Cow<'q, str>,
        source: Cow<'q, str>,
    },
    Markdown(Cow<'q, str>),
    Helpers(Code, Cow<'q, str>),
    Weakened {
        code: Code,
        is_test: bool,
        before: Cow<'q, str>,
        now: Cow<'q, str>,
        helpers_before: Cow<'q, Helpers>,
        helpers_now: Cow<'q, Helpers>,
    },
    OtherAnswers {
        before: Cow<'q, [TestFile]>,
        now: Cow<'q, [TestFile]>,
    },
    Bound(Code, Cow<'q, str>),
    Asked(Code, Cow<'q, str>),
    KnownAnswers {
        code: Code,
        source: Cow<'q, str>,
        lines: Cow<'q, BTreeSet<u32>>,
        asked: Cow<'q, [Asked]>,
    },
    Blinded {
        code: Code,
        source: Cow<'q, str>,
        lines: Cow<'q, BTreeSet<u32>>,
        keep: bool,
    },
    Expecting(Code, Cow<'q, str>),
    Stubbed(Code, Cow<'q, str>),
    Weaker(Code, Cow<'q, str>),
    Lying {
        code: Code,
        source: Cow<'q, str>,
        passed: u32,
    },
    Mutants {
        code: Code,
        source: Cow<'q, str>,
        lines: Cow<'q, BTreeSet<u32>>,
    },
    Planted {
        code: Code,
        source: Cow<'q, str>,
        mutant: Cow<'q, Mutant>,
    },
    TestRun {
        runner: Runner,
        has_ended: bool,
        output: Cow<'q, str>,
        report: Option<Cow<'q, str>>,
    },
}

impl Question<'_> {
    fn answer(&self) -> serde_json::Result<Vec<u8>> {
        fn told(answer: &impl Serialize) -> serde_json::Result<Vec<u8>> {
            serde_json::to_vec(answer)
        }
        match self {
            Self::Syntax { language, path, source } => told(&syntax::check(*language, path, source)),
            Self::Markdown(source) => told(&markdown::read(source)),
            Self::Helpers(code, source) => told(&code::helpers(*code, source)),
            Self::Weakened { code, is_test, before, now, helpers_before, helpers_now } => {
                let before = Version { source: before, elsewhere: helpers_before };
                told(&code::weakened(*code, *is_test, before, Version { source: now, elsewhere: helpers_now }))
            }
            Self::OtherAnswers { before, now } => told(&code::other_answers(before, now)),
            Self::Bound(code, source) => told(&code::bound(*code, source)),
            Self::Asked(code, source) => told(&code::asked(*code, source)),
            Self::KnownAnswers { code, source, lines, asked } => {
                told(&code::known_answers(*code, source, lines, asked))
            }
            Self::Blinded { code, source, lines, keep } => told(&code::blinded(*code, source, lines, *keep)),
            Self::Expecting(code, source) => told(&code::expecting(*code, source)),
            Self::Stubbed(code, source) => told(&code::stubbed(*code, source)),
            Self::Weaker(code, source) => told(&code::weaker(*code, source)),
            Self::Lying { code, source, passed } => told(&code::lying(*code, source, *passed)),
            Self::Mutants { code, source, lines } => told(&code::mutants(*code, source, lines)),
            Self::Planted { code, source, mutant } => told(&mutant.planted(*code, source)),
            Self::TestRun { runner, has_ended, output, report } => {
                told(&counted(*runner, *has_ended, output, report.as_deref()))
            }
        }
    }
}

/// The process that reads sources.
pub fn read_sources_main() -> ExitCode {
    answer_apart(|question| serde_json::from_slice::<Question<'_>>(question).and_then(|asked| asked.answer()).ok())
}

/// Reads the sources of one check.
pub(crate) struct Sources<'c> {
    context: &'c GateContext,
    apart: Option<Apart>,
    /// Time that is left for further questions.
    left: Duration,
}

impl<'c> Sources<'c> {
    pub(crate) fn of(context: &'c GateContext) -> Self {
        Self { context, apart: None, left: LONGEST }
    }

    /// The same with another time than that of a check.
    pub(crate) fn within(self, left: Duration) -> Self {
        Self { left, ..self }
    }

    pub(crate) fn context(&self) -> &'c GateContext {
        self.context
    }

    /// Asks about a file, or what `path` calls it. What takes too much ends the check: nobody knows what is in it.
    pub(crate) fn ask<T: DeserializeOwned>(
        &mut self,
        path: impl Into<Words>,
        question: &Question<'_>,
    ) -> Result<T, Trouble> {
        let path: Words = path.into();
        let broken = |error: serde_json::Error| {
            Trouble::Broken(recorded!("gate-source-unread", path = &path, error = error.to_string()))
        };
        let Some(program) = program_of_untrusted_work() else {
            return question.answer().and_then(|answer| serde_json::from_slice(&answer)).map_err(broken);
        };
        let begun = Instant::now();
        let asked = serde_json::to_vec(question).map_err(broken)?;
        let cancel = &self.context.cancel;
        let apart = match self.apart.take() {
            Some(apart) => Ok(apart),
            None => Apart::start(program, READ_SOURCES),
        };
        let answer = apart.and_then(|mut apart| {
            let answer = apart.ask(&asked, || !cancel.is_cancelled() && begun.elapsed() < self.left)?;
            self.apart = Some(apart);
            Ok(answer)
        });
        self.left = self.left.saturating_sub(begun.elapsed());
        match answer {
            Ok(answer) => serde_json::from_slice(&answer).map_err(broken),
            Err(NoAnswer::Unwanted) if cancel.is_cancelled() => Err(Trouble::Cancelled),
            Err(NoAnswer::Unstartable(error)) => {
                Err(Trouble::Broken(recorded!("gate-source-no-process", path = path, error = error.to_string())))
            }
            Err(error @ (NoAnswer::Unwanted | NoAnswer::TooMuch)) => {
                let why = match error {
                    NoAnswer::TooMuch => error.to_string().into(),
                    _ => recorded!("gate-source-too-long"),
                };
                let message = recorded!("gate-source-unchecked", path = path, why = why);
                let hint = match question {
                    Question::TestRun { .. } => recorded!("gate-print-less"),
                    _ => message.hint(),
                };
                Err(fault_with_hint(FaultKind::Unreadable, message, hint).into())
            }
        }
    }
}

/// Ends what Helix itself compares in a file since then, when it is cancelled or takes as long as the sources of a check may.
pub(crate) fn go_on(context: &GateContext, path: &str, since: Instant) -> Result<(), Trouble> {
    if context.cancel.is_cancelled() {
        return Err(Trouble::Cancelled);
    }
    if since.elapsed() < LONGEST {
        return Ok(());
    }
    let why = recorded!("gate-source-too-long");
    Err(fault(FaultKind::Unreadable, recorded!("gate-source-unchecked", path = path, why = why)).into())
}
