//! Preparations on disk: each made once, whole or not at all, and found again by what it was made of.
//!
//! What a run changes of one it changes in a layer of its own (`helix_process::Prepared`): nothing here is ever changed once it is whole.
//! Must not know who works with it.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File, FileTimes, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use async_recursion::async_recursion as boxed;
use helix_core::finding::FaultKind;
use helix_core::ids::{CommitId, RunId};
use helix_core::run::NetworkAccess;
use helix_core::said::Words;
use helix_core::secrets::of_variables;
use helix_git::{Fitting, Workspaces};
use helix_language::{fault, fault_with_hint, recorded};
use helix_process::bounded::read_bytes;
use helix_process::{Supervisor, ToolEnvironment, remove_tree, replace_file, secrets, spawn_blocking};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::copied::Copied;
use super::key::{key_of, locks};
use super::settings::{Workspace, is_below};
use super::setup::{Setup, SetupFailure, broken};

/// Below the state directory.
const DIRECTORY: &str = "prepared";
/// Says that a preparation is whole, and what it has.
const WHOLE: &str = "whole.json";
/// Most of that file, in bytes.
const MAX_WHOLE: u64 = 4 << 20;
/// Most paths that are kept of one set-up.
const MAX_ENTRIES: usize = 2_000;
/// How long one that nobody uses stays.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// How often somebody looks whether another one has finished what both want.
const LOOK: Duration = Duration::from_millis(100);
/// Python's compiled code is known by the second in which its source was written, which a checkout does not keep.
const COMPILED: &str = "__pycache__";

/// The preparations of a state directory. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Preparations {
    root: Arc<PathBuf>,
    supervisor: Supervisor,
}

/// A work place that is to be prepared.
pub struct Wanted<'a> {
    pub spaces: &'a Workspaces,
    pub workspace: &'a Workspace,
    /// What it has.
    pub commit: &'a CommitId,
    /// Where the job began: the user's own, which a set-up may trust.
    pub origin: &'a CommitId,
    /// Where the phase began.
    pub base: &'a CommitId,
    /// What the set-up finds of the environment.
    pub environment: ToolEnvironment,
    /// What a set-up of an agent's files may reach.
    pub network: NetworkAccess,
    pub cancel: &'a CancellationToken,
}

/// A whole preparation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Whole {
    /// Its directory: each try has one of its own, so that what a killed one has left running changes nothing that counts.
    directory: String,
    /// The repository that it was made for.
    pub repository: PathBuf,
    pub entries: Vec<String>,
    /// What the set-up took.
    pub seconds: f64,
}

/// What a preparation is made of, and its name.
struct Recipe {
    key: String,
    commit: CommitId,
    copied: Copied,
    /// Whether all of it is the user's.
    is_own: bool,
}

impl Preparations {
    /// Those below a state directory; their set-ups run under this supervisor.
    pub fn new(state: &Path, supervisor: Supervisor) -> Self {
        Self { root: Arc::new(state.join(DIRECTORY)), supervisor }
    }

    /// What a work place gets, made now unless it is there; `None` where nothing is to be prepared.
    ///
    /// # Errors
    /// [`SetupFailure`] says who is at fault.
    #[boxed]
    pub async fn of<'a>(&'a self, wanted: Wanted<'a>) -> Result<Option<Fitting>, SetupFailure> {
        let (spaces, workspace) = (wanted.spaces.clone(), wanted.workspace.clone());
        let commits = [wanted.origin, wanted.base, wanted.commit].map(Clone::clone);
        let Some(recipe) = blocking(move || recipe(&spaces, &workspace, commits)).await? else { return Ok(None) };
        let directory = self.root.join(&recipe.key);
        if let Some(fitting) = self.ready(&directory).await? {
            return Ok(Some(fitting));
        }
        let lock = self.locked(&recipe.key, wanted.cancel).await?;
        let fitting = match self.ready(&directory).await? {
            Some(fitting) => fitting,
            None => self.make(&wanted, recipe, &directory).await?,
        };
        drop(lock);
        Ok(Some(fitting))
    }

    /// Those that are whole, for people: each with its directory.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn list(state: &Path) -> std::io::Result<Vec<(PathBuf, Whole)>> {
        let entries = match fs::read_dir(state.join(DIRECTORY)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        Ok(entries.flatten().filter_map(|entry| Some((entry.path(), whole(&entry.path())?))).collect())
    }

    async fn ready(&self, directory: &Path) -> Result<Option<Fitting>, SetupFailure> {
        let directory = directory.to_path_buf();
        blocking(move || {
            let Some(Whole { entries, directory: made, .. }) = whole(&directory) else { return Ok(None) };
            // Used today: it stays.
            let now = FileTimes::new().set_modified(SystemTime::now());
            drop(File::options().write(true).open(directory.join(WHOLE)).and_then(|file| file.set_times(now)));
            let tree = directory.join(made).join("tree");
            // A path without links: it is compared with what the kernel says.
            let Ok(tree) = tree.canonicalize() else { return Ok(None) };
            hold_secrets(&tree, entries.iter());
            Ok(Some(Fitting { tree, entries }))
        })
        .await
    }

    /// Waits until nobody else makes the same; also another process.
    async fn locked(&self, key: &str, cancel: &CancellationToken) -> Result<File, SetupFailure> {
        let (root, path) = (Arc::clone(&self.root), self.root.join(format!("{key}.lock")));
        let file = blocking(move || {
            DirBuilder::new().recursive(true).mode(0o700).create(&*root).map_err(|error| broken(&error))?;
            File::options().create(true).append(true).open(path).map_err(|error| broken(&error))
        })
        .await?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::Error(error)) => return Err(broken(&error)),
                Err(TryLockError::WouldBlock) => tokio::select! {
                    () = tokio::time::sleep(LOOK) => {}
                    () = cancel.cancelled() => return Err(SetupFailure::Cancelled),
                },
            }
        }
    }

    /// Makes it; the caller holds its lock. Until the last step nothing counts.
    async fn make(&self, wanted: &Wanted<'_>, recipe: Recipe, directory: &Path) -> Result<Fitting, SetupFailure> {
        let Recipe { key, commit, copied, is_own } = recipe;
        let started = Instant::now();
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let name = format!("{:x}", since.as_nanos());
        let place = directory.join(&name);
        let run = RunId::new(format!("w{key}.setup")).map_err(|error| broken(&error))?;
        let mut setup = Setup {
            supervisor: &self.supervisor,
            run,
            tree: place.join("tree"),
            log: directory.join("setup.log"),
            readable: Vec::new(),
            environment: with_installers(&wanted.environment, is_own),
            // What the user has written may reach what any run may.
            network: if is_own { self.supervisor.sandbox().network } else { wanted.network },
            limit: Duration::from_secs(wanted.workspace.timeout_seconds),
            beside: None,
            cancel: wanted.cancel,
        };
        setup.end_former().await?;
        let (spaces, workspace) = (wanted.spaces.clone(), wanted.workspace.clone());
        let (own, fresh) = (directory.to_path_buf(), place.clone());
        let filled = blocking(move || {
            prune(own.parent().unwrap_or(&own));
            clear(&own);
            let place = fresh;
            DirBuilder::new().recursive(true).mode(0o700).create(&place).map_err(|error| broken(&error))?;
            let place = place.canonicalize().map_err(|error| broken(&error))?;
            spaces.repository().step(|| "a directory is there to be prepared".into());
            let tree = spaces.checkout_in(&place, &commit).map_err(|error| error.fault())?;
            copied.put(&workspace.repository, &tree)?;
            hold_secrets(&tree, copied.paths());
            spaces.repository().step(|| "a directory has what is copied".into());
            let files =
                spaces.repository().commit(commit.as_str()).and_then(|one| spaces.repository().listing(&one.tree));
            let files = files.map_err(|error| error.fault())?;
            for cache in &workspace.cache {
                let below = format!("{}/", cache.trim_end_matches('/'));
                let tracked = files.range(below.clone()..).next().is_some_and(|(path, _)| path.starts_with(&below));
                if tracked || files.contains_key(cache) || !is_below(cache) {
                    return Err(named_wrongly(recorded!("workspace-cache-not-ignored", path = format!("{cache:?}"))));
                }
            }
            let readable = spaces.readable().map_err(|error| error.fault())?;
            Ok((tree, copied, readable))
        });
        let (tree, copied, readable) = filled.await?;
        (setup.tree, setup.readable) = (tree.clone(), readable);
        setup.beside = wanted.workspace.beside();
        match setup.run(&wanted.workspace.setup).await {
            // The user's own files cannot be at fault for what an agent is to fix.
            Err(SetupFailure::Refused { fault, .. }) if is_own => return Err(fault.into()),
            ran => ran?,
        }
        let (spaces, workspace, own) = (wanted.spaces.clone(), wanted.workspace.clone(), directory.to_path_buf());
        blocking(move || {
            spaces.repository().step(|| "a set-up has ended".into());
            let entries = entries(&spaces, &workspace, &place, &copied)?;
            keep(&place, &entries).map_err(|error| broken(&error))?;
            spaces.repository().step(|| "what a set-up left is kept".into());
            let repository = workspace.repository.clone();
            let whole = Whole {
                directory: name,
                repository,
                entries: entries.clone(),
                seconds: started.elapsed().as_secs_f64(),
            };
            let text = serde_json::to_vec(&whole).map_err(|error| broken(&error))?;
            // All that it speaks of is on the disk before it is.
            if !workspace.setup.is_empty() {
                File::open(&place).and_then(|file| Ok(rustix::fs::syncfs(file)?)).map_err(|error| broken(&error))?;
            }
            replace_file(&own.join(WHOLE), &text).map_err(|error| broken(&error))?;
            Ok(Fitting { tree, entries })
        })
        .await
    }
}

/// What installers need of this process's environment. What an agent has written, a script of a package above all, gets no login.
fn with_installers(environment: &ToolEnvironment, is_own: bool) -> ToolEnvironment {
    let variables =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let given = environment.clone().with_installers(variables, is_own);
    // Commands print the addresses that they ask, with what is in them.
    secrets::hold(of_variables(given.iter()).into_iter().chain(given.logins()));
    given
}

/// What the preparation of a commit is made of. One that decides as the user's own does is prepared as that is, so that nothing an agent
/// wrote gets into what others share.
fn recipe(spaces: &Workspaces, workspace: &Workspace, commits: [CommitId; 3]) -> Result<Option<Recipe>, SetupFailure> {
    let copied = Copied::find(spaces, workspace)?;
    if workspace.setup.is_empty() && workspace.services.is_empty() && copied.is_empty() {
        return Ok(None);
    }
    let repository = spaces.repository();
    let [origin, base, commit] = commits;
    let wanted = locks(repository, &commit).map_err(|error| error.fault())?;
    let mut chosen = commit;
    for other in [base, origin.clone()] {
        if locks(repository, &other).map_err(|error| error.fault())? == wanted {
            chosen = other;
        }
    }
    let is_own = chosen == origin;
    let tree = repository.commit(chosen.as_str()).map_err(|error| error.fault())?.tree;
    let Workspace { setup, link, cache, env, .. } = workspace;
    let said = serde_json::to_string(&(setup, link, cache, env)).map_err(|error| broken(&error))?;
    let top = workspace.repository.to_string_lossy();
    let of_tree = if is_own { "" } else { tree.as_str() };
    let key = key_of(&[&top, &said, &copied.digest, &wanted, of_tree]);
    Ok(Some(Recipe { key, commit: chosen, copied, is_own }))
}

/// From now on nothing that is secret in a copied `.env` is shown, or gets into a result.
fn hold_secrets<'p>(tree: &Path, paths: impl Iterator<Item = &'p String>) {
    for path in paths {
        let Ok(bytes) = read_bytes(&tree.join(path), 1 << 20) else { continue };
        let text = String::from_utf8_lossy(&bytes);
        let lines = text.lines().filter_map(|line| line.trim().trim_start_matches("export ").split_once('='));
        let variables = lines.map(|(name, value)| (name.trim(), value.trim().trim_matches(['"', '\''])));
        secrets::hold(of_variables(variables));
    }
}

/// Paths that are kept: what was copied and linked, and what the set-up has left.
fn entries(
    spaces: &Workspaces,
    workspace: &Workspace,
    place: &Path,
    copied: &Copied,
) -> Result<Vec<String>, SetupFailure> {
    let tree = place.join("tree");
    let left = match workspace.cache.as_slice() {
        [] if workspace.setup.is_empty() => Vec::new(),
        [] => spaces.ignored_in(place).map_err(|error| error.fault())?,
        named => named.iter().map(|path| path.trim_end_matches('/').to_owned()).collect(),
    };
    if let Some(missing) = left.iter().find(|path| !workspace.cache.is_empty() && !tree.join(path).exists()) {
        return Err(named_wrongly(recorded!("workspace-cache-not-made", path = format!("{missing:?}"))));
    }
    let compiled = |path: &String| Path::new(path).file_name().is_some_and(|name| name == COMPILED);
    let all: BTreeSet<String> =
        copied.paths().cloned().chain(left.into_iter().filter(|path| !compiled(path))).collect();
    let mut kept: Vec<String> = Vec::new();
    for path in all {
        let covered =
            kept.iter().any(|above| path.strip_prefix(above.as_str()).is_some_and(|rest| rest.starts_with('/')));
        let target = tree.join(&path);
        let real = target.parent().and_then(|parent| parent.canonicalize().ok());
        if !covered && real.as_deref() == target.parent() && fs::symlink_metadata(&target).is_ok() {
            kept.push(path);
        }
    }
    if kept.len() > MAX_ENTRIES {
        let message = recorded!("workspace-left", paths = kept.len(), most = MAX_ENTRIES);
        return Err(SetupFailure::Fault(fault(FaultKind::Environment, message)));
    }
    Ok(kept)
}

/// Leaves nothing of a checkout but what is kept.
fn keep(place: &Path, entries: &[String]) -> std::io::Result<()> {
    let (tree, whole) = (place.join("tree"), place.join("checkout"));
    fs::rename(&tree, &whole)?;
    DirBuilder::new().mode(0o700).create(&tree)?;
    for entry in entries {
        let target = tree.join(entry);
        target.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::rename(whole.join(entry), target)?;
    }
    remove_tree(&whole)?;
    for record in ["checkout.index", "checkout.references", "checkout.around", "checkout.submodules", "checkout.apart"]
    {
        remove_tree(&place.join(record))?;
    }
    Ok(())
}

/// Removes what tries that did not come to their end have left; what one of them has left running may be in the way, and is gone the next
/// time.
fn clear(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if let Err(error) = remove_tree(&entry.path()) {
            tracing::warn!(%error, path = %entry.path().display(), "half of a preparation is left");
        }
    }
}

/// Removes what nobody has used for long; what another process makes at this moment stays.
fn prune(root: &Path) {
    for entry in fs::read_dir(root).into_iter().flatten().flatten() {
        let directory = entry.path();
        let used = fs::metadata(directory.join(WHOLE)).and_then(|whole| whole.modified());
        let is_old = used.is_ok_and(|used| used.elapsed().is_ok_and(|since| since > KEPT));
        let lock = File::options().append(true).open(directory.with_extension("lock"));
        if is_old
            && lock.is_ok_and(|lock| lock.try_lock().is_ok() && fs::remove_file(directory.join(WHOLE)).is_ok())
            && let Err(error) = remove_tree(&directory)
        {
            tracing::warn!(%error, directory = %directory.display(), "what was prepared long ago stays");
        }
    }
}

fn whole(directory: &Path) -> Option<Whole> {
    serde_json::from_slice(&read_bytes(&directory.join(WHOLE), MAX_WHOLE).ok()?).ok()
}

fn named_wrongly(message: Words) -> SetupFailure {
    SetupFailure::Fault(fault_with_hint(FaultKind::Environment, message, recorded!("workspace-cache-fix")))
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, SetupFailure> + Send + 'static,
) -> Result<T, SetupFailure> {
    spawn_blocking(work).await.unwrap_or_else(|error| Err(broken(&error)))
}
