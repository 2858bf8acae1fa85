//! A control group (v2) for a run's processes, where the system lets one be made.
//!
//! Must not know what runs in it. Nothing depends on it: it is detected, never assumed, and the process tree is swept
//! in any case.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::complain;
use crate::proc::ProcessIdentity;
use crate::run_dir::RunDirError;

/// A group that this keeper made and removes.
#[derive(Debug)]
pub(crate) struct Cgroup {
    path: PathBuf,
}

impl Cgroup {
    /// Makes a group below the keeper's own. `None` where there is no v2 hierarchy, or it may not be written.
    pub(crate) fn create(name: &str) -> Option<Self> {
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        let membership = fs::read_to_string("/proc/self/cgroup").ok()?;
        let path = own_group(&mounts, &membership)?.join(name);
        fs::create_dir(&path).ok()?;
        let group = Self { path };
        if OpenOptions::new().write(true).open(group.path.join("cgroup.procs")).is_ok()
            && group.path.join("cgroup.kill").exists()
        {
            Some(group)
        } else {
            None
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Lets it have no more processes than this; whether the system counts them here.
    pub(crate) fn limit_processes(&self, most: u64) -> bool {
        fs::write(self.path.join("pids.max"), most.to_string()).is_ok()
    }

    /// Whether the system counts processes here.
    pub(crate) fn counts_processes(&self) -> bool {
        self.path.join("pids.max").exists()
    }

    /// The file through which a process enters.
    pub(crate) fn membership(&self) -> Result<File, RunDirError> {
        let path = self.path.join("cgroup.procs");
        OpenOptions::new().write(true).open(&path).map_err(RunDirError::io("open", &path))
    }

    /// What names it when a process is made in it.
    pub(crate) fn directory(&self) -> Result<File, RunDirError> {
        File::open(&self.path).map_err(RunDirError::io("open", &self.path))
    }

    /// The processes in it and in groups below it.
    pub(crate) fn members(&self) -> io::Result<BTreeSet<ProcessIdentity>> {
        members(&self.path)
    }

    /// Ends everything in it at once, faster than anything in it can fork.
    pub(crate) fn kill(&self) -> io::Result<()> {
        kill(&self.path)
    }
}

impl Drop for Cgroup {
    /// Removes the group; whatever ran in it is gone by then, or never came to be.
    fn drop(&mut self) {
        if let Err(error) = remove(&self.path) {
            complain(&format!("cannot remove the control group {}: {error}", self.path.display()));
        }
    }
}

/// See [`Cgroup::members`].
pub(crate) fn members(path: &Path) -> io::Result<BTreeSet<ProcessIdentity>> {
    let mut found: BTreeSet<_> = fs::read_to_string(path.join("cgroup.procs"))?
        .lines()
        .filter_map(|line| ProcessIdentity::read(line.parse().ok()?))
        .collect();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            found.extend(members(&entry.path())?);
        }
    }
    Ok(found)
}

/// See [`Cgroup::kill`].
pub(crate) fn kill(path: &Path) -> io::Result<()> {
    fs::write(path.join("cgroup.kill"), "1")
}

/// Removes a group and those below it, all of which have to be empty.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove(&entry.path())?;
        }
    }
    fs::remove_dir(path)
}

/// A group (v1) that does nothing but count processes, for systems whose v2 hierarchy does not: what root starts, the system counts
/// nowhere else.
#[derive(Debug)]
pub(crate) struct ProcessCount {
    path: PathBuf,
}

impl ProcessCount {
    /// Makes a group below the keeper's own. `None` where there is no such hierarchy, or it may not be written.
    pub(crate) fn create(name: &str, most: u64) -> Option<Self> {
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        let membership = fs::read_to_string("/proc/self/cgroup").ok()?;
        let path = counting_group(&mounts, &membership)?.join(name);
        fs::create_dir(&path).ok()?;
        let group = Self { path };
        fs::write(group.path.join("pids.max"), most.to_string()).ok()?;
        Some(group)
    }

    /// The file through which a process enters.
    pub(crate) fn membership(&self) -> Result<File, RunDirError> {
        let path = self.path.join("cgroup.procs");
        OpenOptions::new().write(true).open(&path).map_err(RunDirError::io("open", &path))
    }
}

impl Drop for ProcessCount {
    fn drop(&mut self) {
        // One that a killed keeper leaves is empty, and gone with the next boot.
        if let Err(error) = fs::remove_dir(&self.path) {
            complain(&format!("cannot remove the control group {}: {error}", self.path.display()));
        }
    }
}

/// Where this process's own v2 group is mounted.
fn own_group(mounts: &str, membership: &str) -> Option<PathBuf> {
    mounted(mounts, membership.lines().find_map(|line| line.strip_prefix("0::"))?, |kind, _| kind == "cgroup2")
}

/// The same of the v1 hierarchy that counts processes.
fn counting_group(mounts: &str, membership: &str) -> Option<PathBuf> {
    let counts = |controllers: &str| controllers.split(',').any(|one| one == "pids");
    let own = membership.lines().find_map(|line| {
        let (controllers, own) = line.split_once(':')?.1.split_once(':')?;
        counts(controllers).then_some(own)
    })?;
    mounted(mounts, own, |kind, options| kind == "cgroup" && counts(options))
}

/// Where a group is, on the first mount whose type and options are wanted.
fn mounted(mounts: &str, own: &str, wanted: impl Fn(&str, &str) -> bool) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        // id, parent, device, root, mount point, options, ..., "-", type, source, options of the file system
        let (fields, kind) = line.split_once(" - ")?;
        let mut fields = fields.split(' ').skip(3);
        let (root, point) = (fields.next()?, fields.next()?);
        let mut kind = kind.split(' ');
        let (name, options) = (kind.next()?, kind.nth(1).unwrap_or_default());
        if !wanted(name, options) || point.contains('\\') {
            return None;
        }
        let below = Path::new(own).strip_prefix(root).ok()?;
        Some(Path::new(point).join(below))
    })
}

#[cfg(test)]
#[path = "cgroup_test.rs"]
mod tests;
