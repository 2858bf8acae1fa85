//! Templates that a user or a repository brings: they end after a number of instructions, and may take little memory. The engine of
//! templates counts the first alone, so another process renders each before this one does.
//!
//! Must not know what is rendered.

use std::io::{self, Read};
use std::process::ExitCode;

use minijinja::value::Serde;
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior, Value};
use serde::{Deserialize, Serialize};

/// The command of the program that tries a template.
pub const TRY_TEMPLATE: &str = "try-template";
/// Instructions that one template may take: far more than any loop over its inputs needs.
const FUEL: u64 = 2_000_000;

/// A template with what it is rendered with.
#[derive(Debug, Clone, Copy)]
pub struct OwnTemplate<'a> {
    /// Its name in messages.
    pub name: &'a str,
    pub text: &'a str,
    /// Name and text of one that it may extend.
    pub base: Option<(&'a str, &'a str)>,
}

#[derive(Serialize, Deserialize)]
struct Work {
    name: String,
    text: String,
    base: Option<(String, String)>,
    values: serde_json::Value,
}

impl OwnTemplate<'_> {
    /// Renders it, once another process has shown that it takes little.
    ///
    /// # Errors
    /// What is wrong with it, with its place; also that it takes too much.
    pub fn render(&self, values: &impl Serialize) -> Result<String, Error> {
        let work = self.with(values)?;
        let input = serde_json::to_vec(&work).map_err(|error| failed(error.to_string()))?;
        match helix_process::try_out(TRY_TEMPLATE, &input) {
            Ok(true) => work.render(),
            Ok(false) => Err(failed("it takes more than 256 MiB of memory or 10 s of processor time".into())),
            Err(error) => Err(failed(format!("no process can be started to try it: {error}"))),
        }
    }

    /// Renders one that came with Helix.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn render_trusted(&self, values: &impl Serialize) -> Result<String, Error> {
        // Values that are the engine's already are taken as they are: those of a whole plan are many, and so are its phases.
        self.rendered(Value::from(Serde(values)))
    }

    fn rendered(&self, values: Value) -> Result<String, Error> {
        let mut environment = own_environment();
        if let Some((name, text)) = self.base {
            environment.add_template(name, text)?;
        }
        environment.render_named_str(self.name, self.text, values)
    }

    fn with(&self, values: &impl Serialize) -> Result<Work, Error> {
        let values = serde_json::to_value(values).map_err(|error| failed(error.to_string()))?;
        let base = self.base.map(|(name, text)| (name.to_owned(), text.to_owned()));
        Ok(Work { name: self.name.to_owned(), text: self.text.to_owned(), base, values })
    }
}

fn failed(what: String) -> Error {
    Error::new(ErrorKind::InvalidOperation, what)
}

impl Work {
    fn render(&self) -> Result<String, Error> {
        let base = self.base.as_ref().map(|(name, text)| (name.as_str(), text.as_str()));
        OwnTemplate { name: &self.name, text: &self.text, base }.rendered(Value::from(Serde(&self.values)))
    }
}

/// Templates of users are read strictly, and end.
pub(crate) fn own_environment<'a>() -> Environment<'a> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    environment
}

/// The process that tries a template: reads it from stdin. Exit status 0 if it can be rendered, or told to be wrong.
pub fn try_template_main() -> ExitCode {
    let mut input = Vec::new();
    let read = helix_process::may_take_memory().and_then(|()| io::stdin().lock().read_to_end(&mut input));
    match read.map_err(|_| ()).and_then(|_| serde_json::from_slice::<Work>(&input).map_err(|_| ())) {
        Ok(work) => {
            drop(work.render());
            ExitCode::SUCCESS
        }
        Err(()) => ExitCode::FAILURE,
    }
}
