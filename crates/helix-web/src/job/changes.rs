//! What a phase, or one of its attempts, changed: the files, and their lines. Must not judge them.

use super::detail::{JobDetail, Selected, Tab};
use crate::Pages;
use crate::card::encoded;
use crate::diff::{self, File};
use helix_core::text::{short_commit, visible};
use helix_engine::EngineError;
use helix_engine::evidence::{DiffSelection, Difference};
use helix_language::{Language, say};
use maud::{Markup, html};

/// Most lines of all files that are shown at once; one that is asked for is shown whatever its size.
const MOST_LINES: usize = 3_000;

pub(super) async fn changes(
    pages: &Pages,
    language: Language,
    detail: &JobDetail,
    selected: &Selected<'_>,
    file: Option<&str>,
) -> Markup {
    let fixed = selected.attempt().filter(|_| selected.is_fixed).map(|one| one.number);
    let selection = DiffSelection { phase: selected.phase.map(|phase| phase.id.clone()), attempt: fixed };
    match pages.engine.reports().archive().diff(detail.view.id.as_str(), selection).await {
        Ok(found) => shown(language, selected, &found, file),
        Err(EngineError::Refused { .. }) => html! { p.empty { (say!(language, "web-no-changes-yet")) } },
        Err(error) => html! { p.warning { (helix_core::error_chain(&error)) } },
    }
}

fn shown(language: Language, selected: &Selected<'_>, found: &Difference, wanted: Option<&str>) -> Markup {
    let files = diff::files(&found.patch);
    if files.is_empty() {
        return html! { p.empty { (say!(language, "web-no-changes")) } };
    }
    let (mut room, mut pairs) = (MOST_LINES, diff::MOST_PAIRS);
    let added: usize = files.iter().map(|file| file.added).sum();
    let removed: usize = files.iter().map(|file| file.removed).sum();
    let attempt = found.attempt;
    let tables: Vec<Option<Markup>> = files
        .iter()
        .zip(1..)
        .map(|(file, number)| {
            let fits = file.lines() <= room;
            room = if fits { room - file.lines() } else { 0 };
            (fits || wanted == Some(&file.path)).then(|| diff::table(language, file, number, &mut pairs))
        })
        .collect();
    html! {
        p.weak.row {
            span { (say!(language, "web-files", files = files.len())) }
            (counts(added, removed))
            code { (short_commit(found.from.as_str())) " → " (short_commit(found.to.as_str())) }
        }
        @if files.len() > 1 {
            ul.tree {
                @for (file, number) in files.iter().zip(1..) { li { a href={ "#file-" (number) } { (name(file)) } (counts(file.added, file.removed)) } }
            }
        }
        @for ((file, table), number) in files.iter().zip(&tables).zip(1..) {
            details.file id={ "file-" (number) } open {
                summary { (kind(language, file)) span.path { (name(file)) } span.right { (counts(file.added, file.removed)) } }
                @match table {
                    Some(table) => (table),
                    None => p.note {
                        (say!(language, "web-large-file", lines = file.lines())) " "
                        a href={ (selected.query(Tab::Changes, attempt)) "&file=" (encoded(&file.path)) "#file-" (number) } { (say!(language, "web-show-file")) }
                    },
                }
            }
        }
        @if found.cut > 0 {
            p.warning { (say!(language, "diff-more", bytes = found.cut, from = found.from.to_string(), to = found.to.to_string())) }
        }
    }
}

fn name(file: &File) -> String {
    visible(&file.path).replace('\n', " ")
}

fn kind(language: Language, file: &File) -> Markup {
    html! {
        @if file.is_new { span.tag.passed { (say!(language, "web-file-new")) } }
        @if file.is_gone { span.tag.failed { (say!(language, "web-file-gone")) } }
    }
}

fn counts(added: usize, removed: usize) -> Markup {
    html! { span.counts { span.plus { "+" (added) } " " span.minus { "−" (removed) } } }
}
