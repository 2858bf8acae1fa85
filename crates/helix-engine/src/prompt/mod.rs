//! Prompts: built-in templates rendered with typed inputs. Text from outside stands in fences and is named as data.
//!
//! Must not know agents' dialects, and reads no files: what a prompt says is decided by its arguments.

mod phase;
mod side;
mod template;
mod tried;

pub(crate) use phase::{check, correction, first, phase};
pub(crate) use side::{advice, both_sides, review};

use minijinja::{Environment, UndefinedBehavior};

/// Why a prompt could not be made. Found at submit, and for the built-in templates by their tests.
#[derive(Debug, thiserror::Error)]
#[error("the prompt template {template} cannot be rendered")]
pub(crate) struct PromptError {
    template: String,
    source: minijinja::Error,
}

impl PromptError {
    /// What is wrong, with line and column in the template where they are known.
    pub(crate) fn place(&self) -> String {
        let what = match self.source.detail() {
            Some(detail) => format!("{}: {detail}", self.source.kind()),
            None => self.source.kind().to_string(),
        };
        let name = self.source.name().unwrap_or(&self.template);
        match (self.source.line(), self.column()) {
            (Some(line), Some(column)) => format!("{name}:{line}:{column}: {what}"),
            (Some(line), None) => format!("{name}:{line}: {what}"),
            (None, _) => format!("{name}: {what}"),
        }
    }

    fn column(&self) -> Option<u32> {
        let (source, range) = (self.source.template_source()?, self.source.range()?);
        Some(helix_core::source_text::SourceText::new("", source).span(range).column)
    }
}

pub(crate) fn render(
    name: &'static str,
    template: &'static str,
    values: minijinja::Value,
) -> Result<String, PromptError> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.render_str(template, values).map_err(|source| PromptError { template: name.into(), source })
}
