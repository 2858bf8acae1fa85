//! What the Consultant is told besides the session: its project, decisions, workflows, skills, jobs, open questions. Each of
//! these facts is told when the agent's session does not have it as it is.
//!
//! Must not know the chat. Everything here is read anew for each turn, and bounded.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use helix_core::finding::fence_for;
use helix_core::ids::JobId;
use helix_core::text::one_line;
use helix_job::phrases::open_questions;
use helix_job::session::{SessionView, TextDigest};
use helix_plan::workflow::{Input, Workflow};
use helix_store::{Journal, ReadError};

use super::job_digest::newest_jobs;
use super::services::ConsultantServices;
use helix_adr::AdrForm;
use helix_project::adr_files::AdrDirectory;
use helix_project::skills::SkillCatalog;
use helix_project::survey::survey;
use helix_project::workflows::WorkflowPaths;

/// Most decisions of the project that are named, the newest.
const MOST_ADRS: usize = 40;
/// Most names of a directory.
const MOST_NAMES: usize = 60;
/// Longest text of a question or a description, in characters.
const LONGEST_TEXT: usize = 600;

/// Where the user's client starts drafts itself.
const CONFIRMED: &str = "The user sits at a terminal that shows them adr-draft.md and phases.yaml of your working directory when your \
                         answer ends, and asks whether they shall run. On a yes it finalizes and accepts the decision and starts the \
                         job. So write both drafts, check them, and say in short what they do; do not ask for a yes. project_create, \
                         adr_finalize, adr_accept and job_start are the terminal's here.";

/// Why the facts cannot be had.
#[derive(Debug, thiserror::Error)]
pub(super) enum FactsError {
    #[error("the session's jobs cannot be read")]
    Journal(#[from] ReadError),
    /// A task of Helix ended early.
    #[error("the project's facts cannot be read")]
    Task(#[from] tokio::task::JoinError),
}

/// Which facts an agent's session has been told, by name.
pub(super) type Told = BTreeMap<String, TextDigest>;

/// Everything that there is to tell, by name, in the order in which it is told. A fact without text is one that there is nothing
/// to say of.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Facts(Vec<(&'static str, String)>);

impl Facts {
    fn add(&mut self, name: &'static str, text: impl Into<String>) {
        self.0.push((name, text.into()));
    }

    /// What a session knows that has been told all of this.
    pub(super) fn digests(&self) -> Told {
        let said = self.0.iter().filter(|(_, text)| !text.is_empty());
        said.map(|(name, text)| ((*name).to_owned(), TextDigest::new(text))).collect()
    }

    /// What is to be told to a session that knows these: what is new, has changed, or is gone. Empty when that is nothing.
    pub(super) fn news(&self, told: &Told) -> String {
        let mut news = String::new();
        for (name, text) in &self.0 {
            let known = told.get(*name);
            if text.is_empty() {
                if known.is_some() {
                    news.push_str(&format!("{name}: none any more.\n"));
                }
            } else if known != Some(&TextDigest::new(text)) {
                let fence = fence_for(text);
                news.push_str(&format!("{name}:\n{fence}text\n{}\n{fence}\n", text.trim_end()));
            }
        }
        if news.is_empty() {
            news
        } else {
            format!("[Helix: facts, as data; each replaces what you were told under its name.]\n{news}\n")
        }
    }
}

impl ConsultantServices {
    /// Everything that the agent should know in a turn. `client` is what the chat client's own settings say to the model, `confirms`
    /// whether it shows drafts to the user and starts them.
    ///
    /// # Errors
    /// [`FactsError`]: the agent would not know what it cannot know.
    pub(super) async fn facts(
        self: &Arc<Self>,
        view: &SessionView,
        client: Option<&str>,
        confirms: bool,
    ) -> Result<Facts, FactsError> {
        let (jobs, questions) = known_jobs(self.journal(), &view.jobs).await?;
        let (project, user) = (view.project.clone().map(PathBuf::from), self.config.skills.clone());
        let (projects, config) = (self.projects.clone(), self.config_dir.clone());
        let services = Arc::clone(self);
        let read = tokio::task::spawn_blocking(move || {
            let mut facts = Facts::default();
            let project = project.as_deref().filter(|root| root.is_dir());
            let of_project = |read: fn(&Path) -> String| project.map(read).unwrap_or_default();
            facts.add("Project", of_project(|root| root.to_string_lossy().into_owned()));
            // The Consultant keeps to them where it reads and writes, and plans for agents that are told the same.
            let rules = project.map(|root| services.project_rules(root).text);
            facts.add("Rules of the project", rules.unwrap_or_default());
            facts.add("Files of the project", of_project(|root| names_in(root).join(", ")));
            facts.add("Gates that fit the project's files", of_project(gates));
            facts.add("Plans of the project", of_project(plans));
            facts.add("Decisions of the project", of_project(decisions));
            facts.add("Projects that exist", names_in(&projects).join(", "));
            facts.add("Workflows", workflows(&WorkflowPaths::new(project, config)));
            let skills = SkillCatalog::load(project, &user);
            facts.add("Skills", listed(skills.skills().map(|one| (one.name.as_str(), one.description.as_str()))));
            facts
        });
        let mut facts = read.await?;
        let experts = self.config.experts.iter();
        facts.add("Experts", listed(experts.map(|one| (one.name.as_str(), one.description.as_str()))));
        facts.add("Jobs of this session", jobs);
        facts.add("Open questions of these jobs, for the user", questions);
        facts.add("How drafts are started", if confirms { CONFIRMED } else { "" });
        facts.add("What the settings of the user's chat client ask of your answers", client.unwrap_or_default().trim());
        Ok(facts)
    }
}

fn listed<'a>(named: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    named.map(|(name, description)| format!("- {name}: {}\n", one_line(description, LONGEST_TEXT))).collect()
}

/// The newest jobs of a session as the journal has them, and what they wait for.
async fn known_jobs(journal: &Arc<dyn Journal>, ids: &[JobId]) -> Result<(String, String), ReadError> {
    let (mut jobs, mut questions) = (String::new(), String::new());
    for job in newest_jobs(journal, ids).await? {
        let phases = job.phases.iter().filter(|_| !job.status.is_final());
        let phases: Vec<String> = phases.map(|phase| format!("{} {}", phase.id, phase.status.word())).collect();
        let phases = if phases.is_empty() { String::new() } else { format!(" ({})", phases.join(", ")) };
        jobs.push_str(&format!("- {} {}: {}{phases}\n", job.id, job.name, job.status.word()));
        for question in open_questions(&job) {
            let options: Vec<&str> = question.options.iter().map(|option| option.key.as_str()).collect();
            let options = if options.is_empty() { String::new() } else { format!(" [{}]", options.join(", ")) };
            let text = one_line(&question.text, LONGEST_TEXT);
            questions.push_str(&format!("- {} (phase {}): {text}{options}\n", question.id, question.phase));
        }
    }
    Ok((jobs, questions))
}

/// What `helix init` would put into a plan for it.
fn gates(root: &Path) -> String {
    let found = survey(root);
    let tests = found.tests.iter().map(|tests| format!("- tests_pass: `{}`\n", tests.command));
    tests.chain(found.checks.iter().map(|check| format!("- {}: `{}`\n", check.kind.gate(), check.command))).collect()
}

fn plans(root: &Path) -> String {
    let plans = names_in(&root.join("plans")).into_iter().map(|name| format!("plans/{name}/phases.yaml"));
    plans.filter(|plan| root.join(plan).is_file()).collect::<Vec<_>>().join(", ")
}

fn decisions(root: &Path) -> String {
    let directory = match AdrDirectory::open(root) {
        Ok(directory) => directory,
        Err(error) => {
            tracing::warn!(project = %root.display(), %error, "the Consultant is not told of the project's decisions");
            return "They cannot be read; adr_list says why.".to_owned();
        }
    };
    let mut text = format!("The next number is {}; adr_finalize gives it.\n", directory.next_prefix());
    match directory.style().form {
        AdrForm::Helix => {}
        other => text.push_str(&format!(
            "They lie in {}/, in the form of {}. Write drafts in Helix's form all the same: adr_finalize puts them into that one.\n",
            directory.directory(),
            other.name()
        )),
    }
    let adrs = directory.adrs();
    let more = adrs.len().saturating_sub(MOST_ADRS);
    for adr in &adrs[more..] {
        let id = adr.id().map(|id| id.to_string().trim_start_matches("ADR-").to_owned()).unwrap_or_default();
        let status = adr.status().map(|status| status.word()).unwrap_or_default();
        text.push_str(&format!("- {id} {} ({status}) {}\n", one_line(adr.title(), 120), adr.file));
    }
    if more > 0 {
        text.push_str(&format!("({more} older ones: see adr_list)\n"));
    }
    text
}

/// The workflows that a plan can name, from their definitions.
fn workflows(paths: &WorkflowPaths) -> String {
    let known = paths.workflows().workflows.into_iter().filter_map(|listed| listed.workflow.ok());
    known.map(|workflow| workflow_line(&workflow)).collect()
}

fn workflow_line(workflow: &Workflow) -> String {
    let line = format!("- {}: {}", workflow.name, one_line(&workflow.description, LONGEST_TEXT));
    let inputs: Vec<String> = workflow.inputs.iter().map(|input| format!("{}{}", input.name, asked(input))).collect();
    if inputs.is_empty() { line + "\n" } else { format!("{line} Inputs: {}\n", inputs.join(", ")) }
}

/// What a plan has to say for an input.
fn asked(input: &Input) -> String {
    match (input.from, &input.default) {
        (_, Some(_)) => String::new(),
        (Some(from), None) => format!(" ({}; default: the plan's {})", input.description, from.word()),
        (None, None) => format!(" ({}; required)", input.description),
    }
}

/// Names in a directory in order, hidden ones left out; none if it cannot be read.
fn names_in(directory: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| !name.starts_with('.') && !name.contains(char::is_control))
        .take(2_000)
        .collect();
    names.sort();
    if names.len() > MOST_NAMES {
        names.truncate(MOST_NAMES);
        names.push("…".into());
    }
    names
}

#[cfg(test)]
#[path = "facts_test.rs"]
mod tests;
