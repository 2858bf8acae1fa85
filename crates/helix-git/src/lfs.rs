//! Files of Git LFS: work places have them as they are, from the objects that the user's repository has, and results name them by
//! pointers as before.
//!
//! Must not run a filter, nor fetch anything. Pointers are written by anybody: they name one object, by its digest, and nothing else. No
//! two places have one file: who may write to a place may write to every file in it, through a hard link too. Blocks are shared where the
//! file system copies them on write.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use helix_process::bounded::open_plain_beneath;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;

use super::error::GitError;
use super::files::{put_record, read_record, remove_tree};
use super::objects::{TreeListing, escape_path};
use super::workspaces::{Place, Workspaces};

/// A pointer is shorter: <https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md>.
const MAX_POINTER: usize = 1024;
/// Most files of LFS that a work place gets, and most bytes in them; the others stay pointers.
const MOST: usize = 20_000;
const MAX_SIZE: u64 = 16 << 30;
/// Most of a record that is read, in bytes.
const MAX_RECORD: u64 = 16 << 20;
/// Most bytes there of a file beside its name.
const ENTRY: u64 = 448;

/// The content that a pointer names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Pointer {
    /// SHA-256, hex.
    digest: String,
    size: u64,
    /// Id of the blob that is the pointer.
    object: String,
}

/// A file of LFS in a work place, as it was put there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct LfsFile {
    pointer: Pointer,
    /// When its content was changed last, as it says, and when anything of it was, which nobody sets; and which file it is.
    changed: (i64, i64),
    touched: (i64, i64),
    inode: u64,
    mode: u32,
}

type Record = BTreeMap<String, LfsFile>;

impl Pointer {
    fn parse(text: &[u8], object: &str) -> Option<Self> {
        let mut lines = std::str::from_utf8(text).ok()?.lines();
        let version = lines.next()?.strip_prefix("version ")?;
        let known = ["https://git-lfs.github.com/spec/v1", "https://hawser.github.com/spec/v1"];
        let mut value = |key: &str| lines.find_map(|line| line.strip_prefix(key));
        let digest = value("oid sha256:").filter(|_| known.contains(&version))?.to_owned();
        let size = value("size ")?.parse().ok()?;
        let is_digest = digest.len() == 64 && digest.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        is_digest.then(|| Self { digest, size, object: object.to_owned() })
    }

    /// Where its content lies below the directory of objects.
    fn path(&self) -> String {
        format!("{}/{}/{}", &self.digest[..2], &self.digest[2..4], self.digest)
    }
}

impl Workspaces {
    /// Takes the files of LFS that are as they were put out of a work place that is to be brought to another commit, so that none of
    /// them is copied again. Nobody works in it any more.
    ///
    /// # Errors
    /// The disk failed.
    pub(crate) fn keep_lfs(&self, place: &Place) -> Result<(), GitError> {
        let (record, kept) = (place.lfs_record()?, place.lfs_kept());
        remove_tree(&kept)?;
        if record.is_empty() {
            return Ok(());
        }
        fs::create_dir_all(&kept).map_err(GitError::disk("create", &kept))?;
        for (path, file) in record {
            let at = place.path.join(path);
            if fs::symlink_metadata(&at).is_ok_and(|found| file.is_untouched(&found)) && is_where_it_says(&at) {
                let to = kept.join(&file.pointer.digest);
                fs::rename(&at, &to).map_err(GitError::disk("move", at))?;
            }
        }
        Ok(())
    }

    /// Puts the files of LFS into a work place that was just brought to a commit with these files.
    ///
    /// # Errors
    /// Git or the disk failed, or nobody wants it any more.
    pub(crate) fn put_lfs(&self, place: &Place, files: &TreeListing) -> Result<(), GitError> {
        let mut record = Record::new();
        let objects = self.repository().user().common_dir().join("lfs/objects");
        if let Ok(objects) = objects.canonicalize() {
            let (mut left, mut room) = (MAX_SIZE, MAX_RECORD);
            for path in self.marked(place, files)?.into_iter().take(MOST) {
                let Some(pointer) = self.pointer(files, &path)? else { continue };
                let needed = serde_json::to_string(&path).map_or(u64::MAX, |name| name.len() as u64 + ENTRY);
                if needed > room {
                    tracing::warn!(path, "the names of files of LFS are too long: this one stays a pointer");
                    continue;
                }
                // What a pointer says is not what is there: only that counts.
                match self.put_one(&objects, &pointer, left, place, &path) {
                    Ok(Some(file)) => {
                        (left, room) = (left.saturating_sub(pointer.size), room.saturating_sub(needed));
                        record.insert(path, file);
                    }
                    Ok(None) => {}
                    Err(_) if self.is_cancelled() => return Err(GitError::Cancelled),
                    Err(error) => return Err(GitError::disk("fill", place.path.join(path))(error)),
                }
            }
        }
        remove_tree(&place.lfs_kept())?;
        place.write_lfs_record(&record)
    }

    /// Files of LFS by the attributes of the commit.
    fn marked(&self, place: &Place, files: &TreeListing) -> Result<Vec<String>, GitError> {
        let attributes = files.iter().filter(|(path, entry)| {
            entry.kind.is_file() && (path.as_str() == ".gitattributes" || path.ends_with("/.gitattributes"))
        });
        let names_any = |object: &str| {
            let is_small = self.repository().size(object).is_ok_and(|size| size <= 1 << 20);
            is_small && self.repository().blob(object).is_ok_and(|text| String::from_utf8_lossy(&text).contains("=lfs"))
        };
        if !attributes.into_iter().any(|(_, entry)| names_any(&entry.object)) {
            return Ok(Vec::new());
        }
        let all = files.iter().filter(|(_, entry)| entry.kind.is_file()).map(|(path, _)| path.as_bytes());
        Ok(self.filtered(place, all)?.iter().map(|path| escape_path(path)).collect())
    }

    /// Which of the paths have the filter `lfs`, by the index.
    fn filtered<'p>(&self, place: &Place, paths: impl Iterator<Item = &'p [u8]>) -> Result<Vec<Vec<u8>>, GitError> {
        let asked = self.inside(place, ["check-attr", "--cached", "-z", "--stdin", "filter"]).paths(paths).run()?;
        let fields: Vec<&[u8]> = asked.stdout.split(|byte| *byte == 0).collect();
        Ok(fields.chunks_exact(3).filter(|field| field[2] == b"lfs").map(|field| field[0].to_vec()).collect())
    }

    fn pointer(&self, files: &TreeListing, path: &str) -> Result<Option<Pointer>, GitError> {
        let Some(entry) = files.get(path) else { return Ok(None) };
        if self.repository().size(&entry.object)? > MAX_POINTER {
            return Ok(None);
        }
        Ok(Pointer::parse(&self.repository().blob(&entry.object)?, &entry.object))
    }

    /// The pointers, as ids of blobs, of changed files that have the content of one that was put: they were moved, copied, or have
    /// another mode. Only where the attributes in the index say that they are of LFS.
    pub(crate) fn lfs_pointers(
        &self,
        place: &Place,
        changed: &[Vec<u8>],
    ) -> Result<HashMap<Vec<u8>, String>, GitError> {
        let record = place.lfs_record()?;
        let known: HashMap<&str, &Pointer> =
            record.values().map(|file| (file.pointer.digest.as_str(), &file.pointer)).collect();
        let sizes: HashSet<u64> = known.values().map(|pointer| pointer.size).collect();
        // However often one was linked to, no more is read than can be put.
        let left = Cell::new(MAX_SIZE);
        let is_read = |size| {
            let rest = left.get().checked_sub(size).filter(|_| sizes.contains(&size));
            rest.inspect(|rest| left.set(*rest)).is_some()
        };
        let pointer = |path: &[u8]| {
            known.get(digest(&place.path, Path::new(OsStr::from_bytes(path)), is_read)?.as_str()).copied()
        };
        let changed = changed.iter().filter(|_| !sizes.is_empty());
        let same: HashMap<&[u8], &Pointer> = changed.filter_map(|path| Some((&path[..], pointer(path)?))).collect();
        if same.is_empty() {
            return Ok(HashMap::new());
        }
        let marked = self.filtered(place, same.keys().copied())?.into_iter();
        Ok(marked
            .filter_map(|path| same.get(&*path).map(|pointer| pointer.object.clone()).map(|it| (path, it)))
            .collect())
    }

    /// Takes files into the index by their pointers: what is in them is stored nowhere.
    pub(crate) fn add_lfs_pointers(&self, place: &Place, pointers: &HashMap<Vec<u8>, String>) -> Result<(), GitError> {
        if pointers.is_empty() {
            return Ok(());
        }
        let args = ["update-index", "--add", "--replace", "--info-only", "-z", "--stdin"];
        self.inside(place, args).paths(pointers.keys().map(Vec::as_slice)).run()?;
        let mut entries = Vec::new();
        for entry in self.inside(place, ["ls-files", "-z", "--stage"]).run()?.names() {
            let mut parts = entry.splitn(2, |byte| *byte == b'\t');
            let (Some(before), Some(path)) = (parts.next(), parts.next()) else { continue };
            let (Some(object), Some(mode)) = (pointers.get(path), before.split(|byte| *byte == b' ').next()) else {
                continue;
            };
            entries.extend([mode, b" ", object.as_bytes(), b"\t", path, b"\0"].concat());
        }
        self.inside(place, ["update-index", "-z", "--index-info"]).stdin(entries).run().map(drop)
    }

    /// What the git of a work place is not to show as changed.
    pub(crate) fn hide_lfs(&self, place: &Place) -> Result<(), GitError> {
        let record = place.lfs_record()?;
        if record.is_empty() {
            return Ok(());
        }
        let own = place.path.join(".git/index");
        let call = self.inside(place, ["update-index", "-z", "--assume-unchanged", "--stdin"]);
        call.env("GIT_INDEX_FILE", own).paths(record.keys().map(String::as_bytes)).run().map(drop)
    }

    /// Puts one of at most so many bytes in the place of its pointer; `None` where the user has not got it, or it is not what it is
    /// called. Interrupted when nobody wants it any more.
    fn put_one(
        &self,
        objects: &Path,
        pointer: &Pointer,
        most: u64,
        place: &Place,
        path: &str,
    ) -> std::io::Result<Option<LfsFile>> {
        if pointer.size > most {
            tracing::warn!(path, "the files of LFS are too large: this one stays a pointer");
            return Ok(None);
        }
        let target = place.path.join(path);
        let found = match fs::symlink_metadata(&target) {
            // Its name is no text, and is written otherwise here.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
            found => found?,
        };
        if !found.is_file() || !is_where_it_says(&target) {
            return Ok(None);
        }
        let kept = place.lfs_kept().join(&pointer.digest);
        let is_whole = fs::symlink_metadata(&kept).is_ok_and(|found| found.len() == pointer.size);
        if is_whole && fs::set_permissions(&kept, found.permissions()).is_ok() {
            fs::rename(&kept, &target)?;
        } else {
            let Some(copy) = self.copy_object(objects, pointer, target.parent().unwrap_or(&place.path))? else {
                return Ok(None);
            };
            copy.as_file().set_permissions(found.permissions())?;
            copy.persist(&target).map_err(|error| error.error)?;
        }
        Ok(Some(LfsFile::of(pointer.clone(), &fs::symlink_metadata(&target)?)))
    }

    /// A copy of an object that is what it is called, in a directory.
    fn copy_object(&self, objects: &Path, pointer: &Pointer, to: &Path) -> std::io::Result<Option<NamedTempFile>> {
        let Ok(from) = open_plain_beneath(objects, &objects.join(pointer.path())) else { return Ok(None) };
        if from.metadata()?.len() != pointer.size {
            return Ok(None);
        }
        let mut to = tempfile::Builder::new().prefix(".lfs").tempfile_in(to)?;
        // Where blocks are shared, what is read is what was shared.
        let is_shared = rustix::fs::ioctl_ficlone(to.as_file(), &from).is_ok();
        let mut from = if is_shared { to.reopen()? } else { from }.take(pointer.size);
        let (mut hash, mut buffer) = (Sha256::new(), vec![0; 256 << 10]);
        loop {
            if self.is_cancelled() {
                return Err(ErrorKind::Interrupted.into());
            }
            let read = from.read(&mut buffer)?;
            if read == 0 {
                break;
            }
            hash.update(&buffer[..read]);
            if !is_shared {
                to.write_all(&buffer[..read])?;
            }
        }
        let is_it =
            format!("{:x}", hash.finalize()) == pointer.digest && to.as_file().metadata()?.len() == pointer.size;
        Ok(is_it.then_some(to))
    }
}

impl Place {
    /// Whether a file that git takes for changed is one of LFS, and is as it was put.
    pub(crate) fn is_lfs_as_put(&self) -> Result<impl Fn(&[u8]) -> bool + use<>, GitError> {
        let (record, top) = (self.lfs_record()?, self.path.clone());
        Ok(move |path: &[u8]| {
            let file = std::str::from_utf8(path).ok().and_then(|path| Some((path, record.get(path)?)));
            file.is_some_and(|(path, file)| file.is_as_it_was(&top, path))
        })
    }

    /// The blobs that are pointers to what was put.
    pub(crate) fn pointers(&self) -> Result<HashSet<String>, GitError> {
        Ok(self.lfs_record()?.into_values().map(|file| file.pointer.object).collect())
    }

    /// Where files of LFS wait while the place is brought to another commit: beside it, in the same file system.
    pub(crate) fn lfs_kept(&self) -> PathBuf {
        self.path.with_added_extension("lfs")
    }

    fn lfs_record(&self) -> Result<Record, GitError> {
        read_record(&self.lfs(), MAX_RECORD)
    }

    fn write_lfs_record(&self, record: &Record) -> Result<(), GitError> {
        let file = self.lfs();
        if record.is_empty() {
            return remove_tree(&file);
        }
        put_record(&file, record)
    }
}

impl LfsFile {
    fn of(pointer: Pointer, found: &fs::Metadata) -> Self {
        let (changed, touched) = ((found.mtime(), found.mtime_nsec()), (found.ctime(), found.ctime_nsec()));
        Self { pointer, changed, touched, inode: found.ino(), mode: found.mode() }
    }

    /// Whether nobody has touched what is found there.
    fn is_untouched(&self, found: &fs::Metadata) -> bool {
        *self == Self::of(self.pointer.clone(), found) && found.len() == self.pointer.size
    }

    fn is_as_it_was(&self, top: &Path, path: &str) -> bool {
        let Ok(found) = fs::symlink_metadata(top.join(path)) else { return false };
        // Of a mode, git knows this bit.
        let is_executable = |mode: u32| mode & 0o100 != 0;
        if !found.is_file() || is_executable(found.mode()) != is_executable(self.mode) {
            return false;
        }
        self.is_untouched(&found)
            || digest(top, Path::new(path), |size| size == self.pointer.size).as_ref() == Some(&self.pointer.digest)
    }
}

/// SHA-256 of a file of a work place, hex, if it has a size that is asked for.
fn digest(top: &Path, path: &Path, is_asked: impl Fn(u64) -> bool) -> Option<String> {
    let mut file = open_plain_beneath(top, &top.join(path)).ok()?;
    let mut hash = Sha256::new();
    if !is_asked(file.metadata().ok()?.len()) {
        return None;
    }
    std::io::copy(&mut file, &mut hash).ok()?;
    Some(format!("{:x}", hash.finalize()))
}

/// Whether no directory on the way to a file is a link.
fn is_where_it_says(file: &Path) -> bool {
    file.parent().is_some_and(|parent| parent.canonicalize().is_ok_and(|real| real == parent))
}

#[cfg(test)]
#[path = "lfs_test.rs"]
mod tests;
