//! The decisions of the projects that have jobs: a list, and one as it reads. Must not change any.

use std::collections::BTreeMap;
use std::path::PathBuf;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use helix_core::text::one_line;
use helix_engine::JobFilter;
use helix_job::JobView;
use helix_job::phrases::{self, Sign};
use helix_language::{Language, say};
use helix_project::adr_files::AdrSummary;
use maud::{Markup, html};
use serde::Deserialize;

use crate::Pages;
use crate::card;
use crate::layout::{Frame, Place};
use crate::markdown::markdown;
use crate::page_error::{PageError, Shown};
use crate::reader::Reader;
use crate::sign::{badge, sign};

/// Most jobs that are looked at for their projects.
const JOBS: usize = 500;

/// Which project.
#[derive(Debug, Deserialize)]
pub(crate) struct ProjectQuery {
    project: String,
}

/// The projects that have jobs, with those.
async fn projects(pages: &Pages) -> Result<BTreeMap<String, Vec<JobView>>, PageError> {
    let jobs = pages.engine.jobs().page(JobFilter::default(), None, JOBS).await?.jobs;
    let mut all: BTreeMap<String, Vec<JobView>> = BTreeMap::new();
    for job in jobs {
        all.entry(job.project_path.clone()).or_default().push(job);
    }
    Ok(all)
}

/// `GET /decisions`
pub(crate) async fn list(State(pages): State<Pages>, reader: Reader) -> Shown<Response> {
    let language = reader.language;
    let known = projects(&pages).await.map_err(|error| error.page(&reader))?;
    let mut shown = Vec::new();
    for project in known.into_keys() {
        let decisions = pages.engine.projects().decisions(PathBuf::from(&project)).await;
        shown.push((project, decisions.map_err(PageError::from)));
    }
    let nothing = shown.iter().all(|(_, decisions)| decisions.as_ref().is_ok_and(Vec::is_empty));
    let body = html! {
        div.head { h1 { (say!(language, "web-decisions")) } }
        @if nothing {
            section.beginning {
                p { (say!(language, "web-no-decisions")) }
                pre { "helix chat" }
            }
        }
        @for (project, decisions) in &shown {
            @match decisions {
                Err(error) => section.group { h2 { (card::project(project)) } p.weak { (error.message()) } },
                Ok(decisions) if !decisions.is_empty() => section.group {
                    h2 title=(project) { (card::project(project)) }
                    ul.list { @for one in decisions { li { (line(language, project, one)) } } }
                },
                Ok(_) => {}
            }
        }
    };
    Ok(Frame::new(&reader, Place::Decisions, &say!(language, "web-decisions")).page(body))
}

fn line(language: Language, project: &str, one: &AdrSummary) -> Markup {
    html! {
        a.open href=(card::decision(project, &one.file)) {
            @if let Some(id) = &one.id { span.weak.number { (id) } }
            span.title { (title(one)) }
        }
        span.right.row {
            @if one.criteria > 0 { span.weak.figure { (say!(language, "web-criteria", met = one.met, criteria = one.criteria)) } }
            @if let Some(status) = &one.status { (badge(status_sign(status), status)) }
        }
    }
}

fn title(one: &AdrSummary) -> &str {
    if one.title.is_empty() { &one.file } else { &one.title }
}

/// The state of a decision as a shape, by the word in its file.
fn status_sign(status: &str) -> Sign {
    match status.to_lowercase().as_str() {
        "implemented" => Sign::Passed,
        "accepted" => Sign::Running,
        "rejected" | "deprecated" | "superseded" => Sign::Skipped,
        _ => Sign::Pending,
    }
}

/// `GET /decisions/{name}`
pub(crate) async fn show(
    State(pages): State<Pages>,
    reader: Reader,
    Path(file): Path<String>,
    Query(ProjectQuery { project }): Query<ProjectQuery>,
) -> Shown<Response> {
    let language = reader.language;
    let found = async {
        // Only projects that have jobs here: an address must not lead anywhere else on the disk.
        let missing = || PageError::new(StatusCode::NOT_FOUND, say!(language, "web-no-such-decision"));
        let jobs = projects(&pages).await?.remove(&project).ok_or_else(missing)?;
        let found = pages.engine.projects().decision(PathBuf::from(&project), file.clone()).await?;
        let (summary, text) = found.ok_or_else(missing)?;
        Ok::<_, PageError>((
            summary,
            text,
            jobs.into_iter().filter(|job| job.adr.as_deref() == Some(&*file)).collect::<Vec<_>>(),
        ))
    };
    let (summary, text, jobs) = found.await.map_err(|error| error.page(&reader))?;
    let body = html! {
        p.crumbs { a href="/decisions" { (say!(language, "web-decisions")) } " / " (card::project(&project)) }
        div.decision {
            article { (markdown(&text)) }
            aside {
                @if let Some(status) = &summary.status { p { (badge(status_sign(status), status)) } }
                @if summary.criteria > 0 { p { (say!(language, "web-criteria", met = summary.met, criteria = summary.criteria)) } }
                p.weak.path { (summary.file) }
                h2 { (say!(language, "web-jobs-of-decision")) }
                @if jobs.is_empty() { p.weak { (say!(language, "web-no-jobs-of-decision")) } }
                ul.plain {
                    @for job in &jobs {
                        li { (sign(job.status.into(), Some(&phrases::job_status(language, job.status)))) a href=(card::address(job)) { (one_line(&job.name, 60)) } }
                    }
                }
            }
        }
    };
    Ok(Frame::new(&reader, Place::Decisions, title(&summary)).page(body))
}
