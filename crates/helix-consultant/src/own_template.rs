//! Templates that a user or a repository brings: they end after a number of instructions, and may take little memory. The engine of
//! templates counts the first alone, so another process renders each before this one does.
//!
//! Must not know what is rendered.

use std::io::{self, Read};
use std::process::ExitCode;

use minijinja::value::Serde;
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior, Value};
use serde::Serialize;

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

/// What another process reads: name and text of a template, those of its base, and the values.
type Work = (String, String, Option<(String, String)>, serde_json::Value);

impl OwnTemplate<'_> {
    /// Renders it, once another process has shown that it takes little.
    ///
    /// # Errors
    /// What is wrong with it, with its place; also that it takes too much.
    pub fn render(&self, values: &impl Serialize) -> Result<String, Error> {
        let broken = |error: serde_json::Error| failed(error.to_string());
        let values = serde_json::to_value(values).map_err(broken)?;
        let input = serde_json::to_vec(&(self.name, self.text, self.base, &values)).map_err(broken)?;
        match helix_process::try_out(TRY_TEMPLATE, &input) {
            Ok(true) => self.render_trusted(&values),
            Ok(false) => Err(failed("it takes more than 256 MiB of memory or 10 s of processor time".into())),
            Err(error) => Err(failed(format!("no process can be started to try it: {error}"))),
        }
    }

    /// Renders one that came with Helix.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn render_trusted(&self, values: &impl Serialize) -> Result<String, Error> {
        let mut environment = own_environment();
        if let Some((name, text)) = self.base {
            environment.add_template(name, text)?;
        }
        // Values that are the engine's already are taken as they are: those of a whole plan are many, and so are its phases.
        environment.render_named_str(self.name, self.text, Value::from(Serde(values)))
    }
}

fn failed(what: String) -> Error {
    Error::new(ErrorKind::InvalidOperation, what)
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
        Ok((name, text, base, values)) => {
            let base = base.as_ref().map(|(name, text)| (name.as_str(), text.as_str()));
            drop(OwnTemplate { name: &name, text: &text, base }.render_trusted(&values));
            ExitCode::SUCCESS
        }
        Err(()) => ExitCode::FAILURE,
    }
}
