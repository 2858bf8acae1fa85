//! What all sessions share: the host's services, the prompt, and what the agent may do.
//!
//! Must not know any single session's progress.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use helix_agents::{McpAccess, ToolAccess, Walls, own_settings};
use helix_job::session::{SessionState, SessionView};
use helix_language::{ErrorView, Language};
use helix_store::Journal;

use super::config::ConsultantConfig;
use super::phrases;
use super::prompt::Inputs;
use helix_project::rules::{ProjectRules, Told};
use helix_runs::agent_run::AgentRunner;
use helix_runs::event_log::SessionLog;
use helix_runs::mutex::lock;
use helix_runs::services::{Services, TOOL_NAMES, TOOL_SERVER};

/// What all sessions share.
pub(crate) struct ConsultantServices {
    pub(crate) host: Arc<Services>,
    /// The host's, with less patience for what is asked to stop.
    pub(crate) runner: AgentRunner,
    pub(crate) config: ConsultantConfig,
    pub(crate) projects: PathBuf,
    /// Where projects may lie; anywhere if empty.
    pub(crate) roots: Vec<PathBuf>,
    /// The user's configuration directory, with workflows of their own.
    pub(crate) config_dir: Option<PathBuf>,
    /// What projects told when their sessions' facts were last read.
    pub(crate) told: Mutex<HashMap<PathBuf, Told>>,
}

impl ConsultantServices {
    pub(crate) fn journal(&self) -> &Arc<dyn Journal> {
        self.host.journal()
    }

    pub(super) fn log(&self, view: SessionView) -> SessionLog {
        SessionLog::new(view.id.clone(), SessionState { view, turn: None }, self.host.writer.clone())
    }

    /// The agent's standing instructions: the same in every turn of a session, since an agent may keep those of the first.
    pub(super) fn system_prompt(&self, view: &SessionView, language: Language) -> Result<String, ErrorView> {
        let (projects, tools) = (self.projects.to_string_lossy(), self.host.tools.as_ref().map(|_| &TOOL_NAMES[..]));
        let inputs = Inputs::new(&view.directory, &projects, tools.unwrap_or_default());
        self.config.prompt.render(&inputs).map_err(|error| phrases::own_failure(language, &error))
    }

    /// What the Consultant may read besides: its session and its project; while it has none, where projects are. Without `roots`
    /// these are the directories of the home that are not hidden. Looks at the disk.
    pub(super) fn walls(&self, view: &SessionView) -> Walls {
        let own = Path::new(&view.directory);
        let mut readable = vec![own.parent().unwrap_or(own).to_owned()];
        match &view.project {
            Some(project) => readable.push(project.into()),
            None => {
                readable.extend(self.roots.iter().chain([&self.projects]).cloned());
                let home = std::env::var_os("HOME").filter(|_| self.roots.is_empty());
                let entries = home.and_then(|home| std::fs::read_dir(home).ok()).into_iter().flatten().flatten();
                let shown = entries.filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."));
                readable.extend(shown.map(|entry| entry.path()));
            }
        }
        let network = self.runner.supervisor().sandbox().network.into();
        Walls { readable, network, ..Walls::default() }
    }

    /// What a project tells in its last commit, read anew. Looks at the disk.
    pub(super) fn project_rules(&self, project: &Path) -> Told {
        let told = ProjectRules::of_project(project, &self.runner.shared_files()).unwrap_or_default();
        lock(&self.told).insert(project.to_owned(), told.clone());
        told
    }

    /// What the project keeps the Consultant from, and where it reads the project's skills. Looks at the disk.
    pub(super) fn keep_rules(&self, view: &SessionView, tools: &mut ToolAccess, walls: &mut Walls) {
        let Some(project) = view.project.as_deref().map(Path::new) else { return };
        let known = lock(&self.told).get(project).cloned();
        let told = known.unwrap_or_else(|| self.project_rules(project));
        walls.readable.extend(told.directory);
        match told.settings.as_deref().map(own_settings::denied) {
            Some(Ok(rules)) => tools.rules.deny.extend(rules.iter().map(|rule| rule.beneath(project))),
            // Jobs are refused there; a chat may help to correct it.
            Some(Err(error)) => {
                tracing::warn!(project = %project.display(), %error, "what the project forbids is not known")
            }
            None => {}
        }
    }

    /// What the Consultant may do without asking: read, write in its own directory, and use Helix's tools.
    pub(super) fn tool_access(view: &SessionView) -> ToolAccess {
        ToolAccess {
            task_list: true,
            write_below: vec![view.directory.clone().into()],
            mcp: vec![McpAccess { server: TOOL_SERVER.into(), tools: None }],
            ..ToolAccess::read_only()
        }
    }
}
