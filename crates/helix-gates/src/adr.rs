//! `adr_valid` and `adr_complete`: the rule set of `helix_adr`, with facts from git objects.
//!
//! Must not know the rules: they are the same for the command, the save hook and the Consultant.

use std::sync::Arc;

use helix_adr::{Adr, KnownAdrs, RepoFacts, Rule, Standing, built_in_rules, check_as, complete, parse_rules};
use helix_core::diagnostic::Diagnostic;
use helix_core::evidence::ChangeKind;
use helix_core::finding::{Fault, FaultKind, Finding};

use super::GateContext;
use super::judgement::{Judgement, Trouble};
use super::pattern::Pattern;
use helix_git::TreeListing;
use helix_language::recorded;
use helix_project::adr_files::{RULES, is_decision_name};

/// How far an ADR is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    Valid,
    Complete,
}

/// Facts for ADR checks: which files there were before the job, which files and ADRs there are now.
struct CommitFacts {
    /// What earlier phases of the job made was not there: it is what the decision is about.
    before: Arc<TreeListing>,
    now: Arc<TreeListing>,
    known: KnownAdrs,
}

impl RepoFacts for CommitFacts {
    fn exists(&self, path: &str) -> Option<bool> {
        Some(holds(&self.before, path))
    }

    fn exists_now(&self, path: &str) -> Option<bool> {
        Some(holds(&self.now, path))
    }

    fn adrs(&self) -> Option<&KnownAdrs> {
        Some(&self.known)
    }
}

/// Whether a tree has a file, or a directory, of this name.
pub fn holds(listing: &TreeListing, path: &str) -> bool {
    let path = path.trim_end_matches('/');
    let inside = format!("{path}/");
    listing.contains_key(path)
        || listing.range(inside.clone()..).next().is_some_and(|(found, _)| found.starts_with(&inside))
}

/// Whether a file is a decision by its place: beside the plan's, or where decisions usually lie.
fn is_adr(path: &str, beside: Option<&str>) -> bool {
    let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
    let usual = matches!(directory.rsplit('/').next(), Some("adr" | "adrs" | "decisions"));
    (usual || beside == Some(directory)) && is_decision_name(name)
}

/// The directory of the plan's decision.
fn directory(context: &GateContext) -> Option<&str> {
    context.plan_adr.as_deref().and_then(|path| path.rsplit_once('/')).map(|(directory, _)| directory)
}

pub(super) fn check(context: &GateContext, files: &[String], depth: Depth) -> Result<Judgement, Trouble> {
    let repository = context.repository();
    let listing = context.files()?;
    let patterns = Pattern::all(files);
    let changed =
        |path: &str| context.result.changed.iter().any(|file| file.path == path && file.how != ChangeKind::Deleted);
    let wanted: Vec<&String> = listing
        .keys()
        .filter(|path| match patterns.is_empty() {
            true => context.plan_adr.as_ref() == Some(path) || is_adr(path, directory(context)) && changed(path),
            false => path.ends_with(".md") && patterns.iter().any(|pattern| pattern.matches(path)),
        })
        .collect();
    if wanted.is_empty() {
        return Ok(Judgement::nothing(recorded!("gate-adr-none")));
    }
    let facts = facts(context, &listing)?;
    let rules = match depth {
        Depth::Valid => Vec::new(),
        Depth::Complete => rules(context)?,
    };
    let (mut findings, mut notes) = (Vec::new(), Vec::new());
    for path in &wanted {
        let Some(entry) = listing.get(*path) else { continue };
        let diagnostics = match Adr::parse_bytes(path, &repository.blob(&entry.object)?) {
            Ok(adr) => {
                // What passes here is built on: an unfilled template is no decision, numbered or not.
                let mut all = check_as(&adr, &facts, Standing::Decision);
                if depth == Depth::Complete {
                    all.extend(complete(&adr, &rules));
                }
                all
            }
            Err(diagnostic) => vec![*diagnostic],
        };
        for diagnostic in diagnostics {
            if diagnostic.is_error() {
                findings.push(as_finding(path, &diagnostic));
            } else {
                notes.push(diagnostic.to_string().into());
            }
        }
    }
    notes.truncate(super::judgement::MAX_FINDINGS);
    let summary = recorded!("gate-adr", decisions = wanted.len(), errors = findings.len());
    Ok(Judgement::of(findings, summary, notes))
}

fn as_finding(path: &str, diagnostic: &Diagnostic) -> Finding {
    let (line, column) = diagnostic.span.map(|span| (span.line, span.column)).unzip();
    let mut found =
        Finding::new(format!("adr.{}", diagnostic.code.to_lowercase()), &diagnostic.message).at(path, line, column);
    found.fix.clone_from(&diagnostic.help);
    found
}

/// The built-in rules and those that the project had before the phase: what the phase adds to them is not yet a rule.
fn rules(context: &GateContext) -> Result<Vec<Rule>, Trouble> {
    let mut rules = built_in_rules();
    let path = format!("{}/{RULES}", directory(context).unwrap_or("adr"));
    if let Some(text) = context.text(&*context.files_at(&context.base)?, &path)? {
        rules.extend(parse_rules(&path, &text).map_err(|diagnostic| {
            let message = diagnostic.to_string().lines().next().unwrap_or_default().to_owned();
            Fault { kind: FaultKind::Unreadable, message, hint: diagnostic.help, said: None }
        })?);
    }
    Ok(rules)
}

fn facts(context: &GateContext, listing: &Arc<TreeListing>) -> Result<CommitFacts, Trouble> {
    let repository = context.repository();
    let mut adrs = Vec::new();
    for (path, entry) in listing.iter().filter(|(path, _)| is_adr(path, directory(context))) {
        adrs.push(Adr::parse(path, &String::from_utf8_lossy(&repository.blob(&entry.object)?)));
    }
    let known = KnownAdrs::new(&adrs);
    Ok(CommitFacts { before: context.files_at(&context.origin)?, now: listing.clone(), known })
}
