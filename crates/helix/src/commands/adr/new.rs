//! `helix adr new`: a draft in Helix's form, or a proposal in the form of the project's other decisions.
//!
//! Must not know how a form is written.

use std::path::{Path, PathBuf};

use clap::Args;
use helix_adr::{AdrForm, ChangeScope, Classification, ComponentType, Language, TemplateRequest, template, title_slug};
use helix_language::say;
use helix_project::adr_files::AdrDirectory;
use serde_json::json;

use crate::arguments::words;
use crate::commands::draft;
use crate::context::Context;
use crate::error::{CommandError, Ended, codes};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Title of the ADR
    title: String,
    /// Kind of component [default: TOOL]
    #[arg(long, ignore_case = true, value_parser = words(ComponentType::WORDS.iter().copied()))]
    component: Option<ComponentType>,
    /// Kind of change [default: NEW]
    #[arg(long, ignore_case = true, value_parser = words(Classification::WORDS.iter().copied()))]
    classification: Option<Classification>,
    /// Scope of the change [default: minor]
    #[arg(long, ignore_case = true, value_parser = words(ChangeScope::WORDS.iter().copied()))]
    scope: Option<ChangeScope>,
    /// File that it creates; repeat for several
    #[arg(long, value_name = "FILE")]
    creates: Vec<String>,
    /// Language of headings and hints [default: that of the other ADRs, or english]
    #[arg(long, value_parser = words(LANGUAGES))]
    language: Option<Language>,
    /// Where to write it [default: draft-TITLE.md beside the other ADRs]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

const LANGUAGES: [(&str, Language); 2] = [("english", Language::English), ("german", Language::German)];

pub(super) fn run(context: &Context, root: &Path, arguments: Arguments) -> Ended {
    let known = AdrDirectory::open(root)?;
    let style = known.style();
    if style.form != AdrForm::Helix {
        return in_another_form(context, root, &arguments, style.form);
    }
    let Arguments { title, component, classification, scope, creates, language, output } = arguments;
    let request = TemplateRequest {
        language: language.unwrap_or(style.language),
        component_type: component.unwrap_or(ComponentType::Tool),
        classification: classification.unwrap_or(Classification::New),
        change_scope: scope.unwrap_or(ChangeScope::Minor),
        title,
        creates,
    };
    let beside = || root.join(known.directory()).join(format!("draft-{}.md", title_slug(&request.title)));
    let path = output.map_or_else(beside, |path| context.path(path));
    let next = say!(context.terminal.language, "adr-next", file = context.shown(&path));
    draft::give(context, &path, &template(&request), &next)
}

/// Other forms know no drafts: the decision gets its number and its place at once.
fn in_another_form(context: &Context, root: &Path, arguments: &Arguments, form: AdrForm) -> Ended {
    let given = [
        ("--component", arguments.component.is_some()),
        ("--classification", arguments.classification.is_some()),
        ("--scope", arguments.scope.is_some()),
        ("--creates", !arguments.creates.is_empty()),
        ("--output", arguments.output.is_some()),
    ];
    if let Some((flag, _)) = given.iter().find(|(_, given)| *given) {
        let message =
            format!("{flag} is only for ADRs in Helix's form; those of this project have the form of {}", form.name());
        return Err(CommandError::usage(codes::USAGE, message).hint(format!("leave {flag} out")));
    }
    if arguments.title.trim().is_empty() {
        return Err(CommandError::usage(codes::USAGE, "the title is empty").hint("write a title of a few words"));
    }
    let done = AdrDirectory::create(root, arguments.title.trim(), arguments.language)?;
    let path = root.join(&done.path);
    let value = json!({ "written": path, "id": done.id, "number": done.number() });
    let exit = context.terminal.answer(&value, &context.shown(&path))?;
    let named = done.number().map_or_else(|| done.id.to_string(), |number| number.to_string());
    context.terminal.note(&say!(context.terminal.language, "adr-fill-in", number = named));
    Ok(exit)
}
