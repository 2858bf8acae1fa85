//! Where workflows lie, and a plan with the phases of the one that it names.
//!
//! Must not know how a workflow and a plan become one; that is a rule of `helix_plan::workflow`.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use helix_core::diagnostic::{Diagnostic, did_you_mean};
use helix_job::{Briefing, PromptFile, SkillEntry};
use helix_plan::workflow::Workflow;
use helix_plan::{ParsedPlan, PhaseType, Plan, codes};

use crate::skills::{SKILL_FILE, Skill, SkillCatalog};
use helix_process::bounded::read_text;

/// Directory of workflows, in a project and in the configuration directory.
const DIRECTORY: &str = "workflows";
/// How files of workflows end.
const ENDINGS: [&str; 2] = ["yaml", "yml"];
/// Largest workflow or prompt template that is read, in bytes.
const MAX_BYTES: u64 = 1 << 20;
/// What to do about one that cannot be read.
const READABLE: &str = "make it a readable file of UTF-8 text, of at most 1 MiB";

/// Where a user's own files lie that are found by their names: `workflows/NAME.yaml`, `prompts/TYPE.md.j2`.
/// The project's win over those of the configuration directory, and these over the built-in ones.
#[derive(Debug, Clone, Default)]
pub struct WorkflowPaths {
    /// Root of the project.
    pub project: Option<PathBuf>,
    /// The user's configuration directory.
    pub config: Option<PathBuf>,
}

/// All workflows that can be named.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    /// One of each name, the user's own first.
    pub workflows: Vec<Listed>,
    /// Directories that cannot be searched, and why: workflows may lie there that are not listed.
    pub problems: Vec<Diagnostic>,
    /// Files among the workflows that are none, and why: nothing that lies there is passed over in silence.
    pub strangers: Vec<Diagnostic>,
}

impl Catalog {
    /// Whether everything was found and can be used.
    pub fn is_whole(&self) -> bool {
        self.problems.is_empty() && self.workflows.iter().all(|one| one.workflow.is_ok())
    }
}

/// A workflow that can be named, whether it can be used or not.
#[derive(Debug, Clone)]
pub struct Listed {
    /// What plans call it.
    pub name: String,
    /// Where it comes from, for people: a path, or `built in`.
    pub place: String,
    /// The workflow, or what is wrong with it.
    pub workflow: Result<Workflow, Vec<Diagnostic>>,
}

impl WorkflowPaths {
    /// The workflow_paths of the project that a directory lies in: the nearest directory above it with a `.git`.
    pub fn around(directory: &Path, config: Option<PathBuf>) -> Self {
        let directory = std::fs::canonicalize(directory).unwrap_or_else(|_| directory.to_path_buf());
        let root = directory.ancestors().find(|above| above.join(".git").exists()).map(Path::to_path_buf);
        Self { project: Some(root.unwrap_or(directory)), config }
    }

    /// The workflow_paths for a file of this project; of no project, the user's own alone.
    pub fn new(project: Option<&Path>, config: Option<PathBuf>) -> Self {
        match project {
            Some(project) => Self::around(project, config),
            None => Self { project: None, config },
        }
    }

    /// Reads a plan and adds the phases of the workflow that it names. `file` is what messages call the plan.
    ///
    /// # Errors
    /// Every problem, at its place in the plan.
    pub fn read(&self, file: &str, bytes: &[u8]) -> Result<ParsedPlan, Vec<Diagnostic>> {
        self.expand(Plan::parse_bytes(file, bytes)?, file)
    }

    /// Directories in the order in which a name is looked up.
    pub(crate) fn places(&self, directory: &'static str) -> impl Iterator<Item = PathBuf> {
        self.project.iter().chain(&self.config).map(move |place| place.join(directory))
    }

    /// What a file must lie beneath: the project for its own, nothing for the user's.
    fn beneath(&self, path: &Path) -> Option<&Path> {
        self.project.as_deref().filter(|project| path.starts_with(project))
    }

    /// Every workflow that a plan can name.
    pub fn workflows(&self) -> Catalog {
        let mut all: Vec<Listed> = Vec::new();
        let (mut problems, mut strangers) = (Vec::new(), Vec::new());
        for directory in self.places(DIRECTORY) {
            let (names, others) = entries_of(&directory).unwrap_or_else(|problem| {
                problems.push(*problem);
                Default::default()
            });
            strangers.extend(others);
            for name in names {
                if all.iter().all(|known| known.name != name)
                    && let Some(workflow) = self.read_in(&directory, &name)
                {
                    let place = file_of(&directory, &name).unwrap_or_else(|_| directory.clone()).display().to_string();
                    all.push(Listed { name, place, workflow });
                }
            }
        }
        for name in Workflow::built_in_names() {
            if all.iter().all(|known| known.name != name)
                && let Some(workflow) = Workflow::built_in(name)
            {
                all.push(Listed { name: name.into(), place: "built in".into(), workflow });
            }
        }
        Catalog { workflows: all, problems, strangers }
    }

    /// The workflow of this name; `None` when there is none.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn workflow(&self, name: &str) -> Option<Result<Workflow, Vec<Diagnostic>>> {
        // Only a name that a workflow can have is made into a path.
        helix_core::ids::PhaseId::new(name).ok()?;
        self.places(DIRECTORY).find_map(|directory| self.read_in(&directory, name)).or_else(|| Workflow::built_in(name))
    }

    /// The plan with the phases of the workflow that it names; a plan that names none as it is. `file` is what messages
    /// call the plan.
    ///
    /// # Errors
    /// Every problem, at its place in the plan.
    pub fn expand(&self, parsed: ParsedPlan, file: &str) -> Result<ParsedPlan, Vec<Diagnostic>> {
        let Some(call) = &parsed.plan.workflow else { return Ok(parsed) };
        let at = |diagnostic: Diagnostic| match parsed.places.workflow {
            Some(span) => diagnostic.at(span),
            None => diagnostic,
        };
        match self.workflow(&call.name) {
            Some(Ok(workflow)) => parsed.with_workflow(file, &workflow),
            Some(Err(problems)) => Err(problems
                .iter()
                .filter(|problem| problem.is_error())
                .map(|problem| {
                    let line = problem.span.map(|span| format!(":{}:{}", span.line, span.column)).unwrap_or_default();
                    let message = format!(
                        "the workflow {} cannot be used: {}{line}: {}",
                        call.name, problem.file, problem.message
                    );
                    let help = problem.help.clone().unwrap_or_else(|| "fix the workflow".into());
                    at(Diagnostic::error(codes::BAD_WORKFLOW, file, message).help(help))
                })
                .collect()),
            None => {
                let all = self.workflows();
                let names = || all.workflows.iter().map(|known| known.name.as_str());
                let known = names().collect::<Vec<_>>().join(", ");
                let help = match did_you_mean(&call.name, names()) {
                    Some(near) => format!("did you mean `{near}`? Known are: {known}"),
                    None => format!("known are: {known}; your own lie in {DIRECTORY}/NAME.yaml"),
                };
                let message = format!("unknown workflow `{}`", call.name);
                let unknown = at(Diagnostic::error(codes::UNKNOWN_WORKFLOW, file, message).help(help));
                let unsearched = all.problems.iter().chain(&all.strangers).map(|problem| {
                    let help = problem.help.clone().unwrap_or_default();
                    at(Diagnostic::error(codes::BAD_WORKFLOW, file, problem.message.clone()).help(help))
                });
                Err(std::iter::once(unknown).chain(unsearched).collect())
            }
        }
    }
}

impl WorkflowPaths {
    /// The user's own prompt templates, and the skills that phases may name.
    ///
    /// # Errors
    /// Those that are there and cannot be read.
    pub fn briefing(&self, skills: &SkillCatalog) -> Result<Briefing, Vec<Diagnostic>> {
        let entry = |skill: &Skill| {
            // A skill of the project is read where the agent works; the others lie where they are, and Helix's own in no file.
            let page = skill.directory.as_ref().map(|directory| directory.join(SKILL_FILE));
            let path = page.map_or_else(
                || format!("skill_read({:?})", skill.name),
                |page| {
                    let inside = self.project.as_ref().and_then(|project| page.strip_prefix(project).ok());
                    inside.unwrap_or(&page).display().to_string()
                },
            );
            SkillEntry { name: skill.name.clone(), description: skill.description.clone(), path }
        };
        let mut briefing = Briefing { skills: skills.skills().map(entry).collect(), ..Briefing::default() };
        let mut problems = Vec::new();
        for kind in PhaseType::ALL {
            for directory in self.places("prompts") {
                let path = directory.join(prompt_file_name(kind));
                let file = path.display().to_string();
                match read_text(self.beneath(&path), &path, MAX_BYTES) {
                    Ok(Some(text)) => {
                        briefing.prompts.insert(kind.word().into(), PromptFile { file, text });
                        break;
                    }
                    Ok(None) => {}
                    Err(error) => problems.push(
                        Diagnostic::error(codes::BAD_PROMPT, &file, format!("{file} cannot be read: {error}"))
                            .help(READABLE),
                    ),
                }
            }
        }
        if problems.is_empty() { Ok(briefing) } else { Err(problems) }
    }

    /// A user's own workflow; `None` when the directory has no such file.
    fn read_in(&self, directory: &Path, name: &str) -> Option<Result<Workflow, Vec<Diagnostic>>> {
        let refused = |file: &str, message: String, help: &str| {
            Some(Err(vec![Diagnostic::error(codes::BAD_WORKFLOW, file, message).help(help)]))
        };
        let path = match file_of(directory, name) {
            Ok(path) => path,
            Err([usual, other]) => {
                let file = usual.display().to_string();
                let message = format!("two files have this name: {file} and {}", other.display());
                return refused(&file, message, "remove one of them");
            }
        };
        let file = path.display().to_string();
        let text = match read_text(self.beneath(&path), &path, MAX_BYTES) {
            Ok(text) => text?,
            Err(error) => return refused(&file, format!("it cannot be read: {error}"), READABLE),
        };
        Some(Workflow::parse(&file, &text).and_then(|workflow| {
            if workflow.name == name {
                return Ok(workflow);
            }
            let message = format!("it calls itself `{}`, but its file calls it {name}", workflow.name);
            Err(vec![Diagnostic::error(codes::BAD_WORKFLOW, &file, message).help(format!("write `name: {name}`"))])
        }))
    }
}

/// Name of the file in `prompts/` that takes the place of a type's built-in template.
pub fn prompt_file_name(kind: PhaseType) -> String {
    // `consultant.md.j2` is the prompt of conversations.
    let before = if kind == PhaseType::Consultant { "phase-" } else { "" };
    format!("{before}{}.md.j2", kind.word())
}

/// What lies in a directory of workflows; nothing where there is no such directory.
fn entries_of(directory: &Path) -> Result<(Vec<String>, Vec<Diagnostic>), Box<Diagnostic>> {
    let refused = |error: std::io::Error| {
        let place = directory.display().to_string();
        let message = format!("{place} cannot be read: {error}");
        let help = "make it a directory that you may read, or remove it";
        Box::new(Diagnostic::error(codes::BAD_WORKFLOW, &place, message).help(help))
    };
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Default::default());
        }
        Err(error) => return Err(refused(error)),
    };
    let (mut names, mut strangers) = (Vec::new(), Vec::new());
    for entry in entries {
        let path = entry.map_err(refused)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_workflow = path.extension().is_some_and(|ending| ENDINGS.iter().any(|one| ending == *one));
        // A plan is text: what has a name of other bytes can be named by none.
        match path.file_stem().and_then(|stem| stem.to_str()).filter(|_| is_workflow && !path.is_dir()) {
            Some(stem) => names.push(stem.to_owned()),
            None if name.starts_with('.') => {}
            None => strangers.push(stranger(&path)),
        }
    }
    names.sort();
    names.dedup();
    strangers.sort_by(|one, other| one.file.cmp(&other.file));
    Ok((names, strangers))
}

fn stranger(path: &Path) -> Diagnostic {
    let file = path.display().to_string();
    let message = format!("{file} is not a workflow");
    let help = format!("workflows are files {DIRECTORY}/NAME.yaml (or .yml): rename it, or keep it elsewhere");
    Diagnostic::warning(codes::BAD_WORKFLOW, &file, message).help(help)
}

/// The file of a workflow in a directory: the one with the usual ending where there is none.
///
/// # Errors
/// Both files, when there are two.
fn file_of(directory: &Path, name: &str) -> Result<PathBuf, [PathBuf; 2]> {
    let both = ENDINGS.map(|ending| directory.join(format!("{name}.{ending}")));
    let there = both.clone().map(|path| path.symlink_metadata().is_ok());
    let [usual, other] = both;
    match there {
        [true, true] => Err([usual, other]),
        [false, true] => Ok(other),
        [_, false] => Ok(usual),
    }
}
