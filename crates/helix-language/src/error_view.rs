//! Why something failed, for who reads it: in English, and as words where they are Helix's own.
//!
//! Must not know what failed.

use helix_core::finding::Fault;
use helix_core::ids::JobId;
use helix_core::said::{self, Said, Words};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Language, RECORD};

/// Why something failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorView {
    /// What happened.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
    /// The same as words, where they are Helix's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<Box<Said>>,
}

impl ErrorView {
    /// What nothing can be done about, or nothing needs to be.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, said: None }
    }

    /// What happened, as words.
    pub fn words(&self) -> Words {
        self.said.as_ref().map_or_else(|| Words::from(&self.message), |said| said.message.clone())
    }

    /// What to do, as words; empty where there is nothing.
    pub fn hint_words(&self) -> Words {
        match (&self.hint, &self.said) {
            (None, _) => Words::default(),
            (Some(_), Some(said)) => said.hint.clone(),
            (Some(hint), None) => hint.into(),
        }
    }

    /// Both in one line.
    pub fn line(&self) -> String {
        match &self.hint {
            Some(hint) => format!("{}: {hint}", self.message),
            None => self.message.clone(),
        }
    }

    /// What is recorded in Helix's own words, with what to do or nothing.
    pub fn of_words(message: Words, hint: Words) -> Self {
        let text = Some(RECORD.words(&hint)).filter(|text| !text.is_empty());
        let said = Said { message, hint: text.as_ref().map_or_else(Words::default, |_| hint) };
        Self { message: RECORD.words(&said.message), hint: text, said: Some(Box::new(said)) }
    }

    /// The same with the id of its job in the commands that it names.
    #[must_use]
    pub fn of_job(mut self, job: &JobId) -> Self {
        self.hint = self.hint.map(|hint| said::of_job(&hint, job));
        if let Some(said) = &mut self.said {
            said.hint = said.hint.of_job(job);
        }
        self
    }

    /// What kept a check from being made.
    pub fn of_fault(fault: &Fault) -> Self {
        Self { message: fault.message.clone(), hint: fault.hint.clone(), said: fault.said.clone() }
    }

    /// Both in a language, as far as they are Helix's own words.
    #[must_use]
    pub fn said_in(&self, language: Language) -> Self {
        let Some(said) = self.said.as_ref().filter(|_| language != RECORD) else { return self.clone() };
        let hint = Some(language.words(&said.hint)).filter(|hint| !hint.is_empty());
        Self { message: language.words(&said.message), hint, said: None }
    }
}
