//! Files that are kept apart from the commits that name them (Git LFS): work places have them as they are, from the objects that the
//! user's repository has, and results name them as before.
//!
//! Must not run a filter, nor fetch anything. Pointers are written by anybody: they name one object, by its digest, and nothing else.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use helix_process::bounded::open_plain_beneath;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::error::GitError;
use super::files::{put_record, read_record, remove_tree};
use super::objects::{TreeListing, escape_path};
use super::workspaces::{Place, Workspaces};

/// A pointer is shorter: <https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md>.
const MAX_POINTER: usize = 1024;
/// Most files of a work place that are put, and most bytes in them; the others stay pointers.
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

/// A file that was put, as it was then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Put {
    pointer: Pointer,
    /// When its content was changed last, as it says, and when anything of it was, which nobody sets; and which file it is.
    changed: (i64, i64),
    touched: (i64, i64),
    inode: u64,
    mode: u32,
}

type Record = BTreeMap<String, Put>;

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
    /// Puts what is kept apart into a work place that was just brought to a commit; the files that it names.
    ///
    /// # Errors
    /// Git or the disk failed.
    pub(crate) fn put_kept_apart(&self, place: &Place, files: &TreeListing) -> Result<(), GitError> {
        let mut record = Record::new();
        let objects = self.repository().user().common_dir().join("lfs/objects");
        if let Ok(objects) = objects.canonicalize() {
            let (mut left, mut room) = (MAX_SIZE, MAX_RECORD);
            for path in self.marked(place, files)?.into_iter().take(MOST) {
                let Some(pointer) = self.pointer(files, &path)? else { continue };
                let needed = serde_json::to_string(&path).map_or(u64::MAX, |name| name.len() as u64 + ENTRY);
                if needed > room {
                    tracing::warn!(
                        path,
                        "the names of files that are kept apart are too long: this one stays a pointer"
                    );
                    continue;
                }
                // What a pointer says is not what is there: only that counts.
                match put_one(&objects, &pointer, left, place, &path) {
                    Ok(Some(put)) => {
                        (left, room) = (left.saturating_sub(pointer.size), room.saturating_sub(needed));
                        record.insert(path, put);
                    }
                    Ok(None) => {}
                    Err(error) => return Err(GitError::disk("fill", place.path.join(path))(error)),
                }
            }
        }
        place.write_apart(&record)
    }

    /// Files that are kept apart by the attributes of the commit.
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
    /// another mode. Only where the attributes in the index keep them apart.
    pub(crate) fn pointed(&self, place: &Place, changed: &[Vec<u8>]) -> Result<HashMap<Vec<u8>, String>, GitError> {
        let record = place.apart()?;
        let known: HashMap<&str, &Pointer> =
            record.values().map(|put| (put.pointer.digest.as_str(), &put.pointer)).collect();
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
    pub(crate) fn point_again(&self, place: &Place, pointed: &HashMap<Vec<u8>, String>) -> Result<(), GitError> {
        if pointed.is_empty() {
            return Ok(());
        }
        let args = ["update-index", "--add", "--replace", "--info-only", "-z", "--stdin"];
        self.inside(place, args).paths(pointed.keys().map(Vec::as_slice)).run()?;
        let mut entries = Vec::new();
        for entry in self.inside(place, ["ls-files", "-z", "--stage"]).run()?.names() {
            let mut parts = entry.splitn(2, |byte| *byte == b'\t');
            let (Some(before), Some(path)) = (parts.next(), parts.next()) else { continue };
            let (Some(object), Some(mode)) = (pointed.get(path), before.split(|byte| *byte == b' ').next()) else {
                continue;
            };
            entries.extend([mode, b" ", object.as_bytes(), b"\t", path, b"\0"].concat());
        }
        self.inside(place, ["update-index", "-z", "--index-info"]).stdin(entries).run().map(drop)
    }

    /// What the git of a work place is not to show as changed.
    pub(crate) fn hide_kept_apart(&self, place: &Place) -> Result<(), GitError> {
        let record = place.apart()?;
        if record.is_empty() {
            return Ok(());
        }
        let own = place.path.join(".git/index");
        let call = self.inside(place, ["update-index", "-z", "--assume-unchanged", "--stdin"]);
        call.env("GIT_INDEX_FILE", own).paths(record.keys().map(String::as_bytes)).run().map(drop)
    }
}

impl Place {
    /// Whether a file that git takes for changed is one that is kept apart, and is as it was put.
    pub(crate) fn is_kept_apart(&self) -> Result<impl Fn(&[u8]) -> bool + use<>, GitError> {
        let (record, top) = (self.apart()?, self.path.clone());
        Ok(move |path: &[u8]| {
            let put = std::str::from_utf8(path).ok().and_then(|path| Some((path, record.get(path)?)));
            put.is_some_and(|(path, put)| put.is_as_it_was(&top, path))
        })
    }

    /// The blobs that are pointers to what was put.
    pub(crate) fn pointers(&self) -> Result<HashSet<String>, GitError> {
        Ok(self.apart()?.into_values().map(|put| put.pointer.object).collect())
    }

    fn apart(&self) -> Result<Record, GitError> {
        read_record(&self.kept_apart(), MAX_RECORD)
    }

    fn write_apart(&self, record: &Record) -> Result<(), GitError> {
        let file = self.kept_apart();
        if record.is_empty() {
            return remove_tree(&file);
        }
        put_record(&file, record)
    }
}

impl Put {
    fn of(pointer: Pointer, found: &fs::Metadata) -> Self {
        let (changed, touched) = ((found.mtime(), found.mtime_nsec()), (found.ctime(), found.ctime_nsec()));
        Self { pointer, changed, touched, inode: found.ino(), mode: found.mode() }
    }

    fn is_as_it_was(&self, top: &Path, path: &str) -> bool {
        let Ok(found) = fs::symlink_metadata(top.join(path)) else { return false };
        // Of a mode, git knows this bit.
        let is_executable = |mode: u32| mode & 0o100 != 0;
        if !found.is_file() || is_executable(found.mode()) != is_executable(self.mode) {
            return false;
        }
        let is_untouched = *self == Self::of(self.pointer.clone(), &found) && found.len() == self.pointer.size;
        is_untouched
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

/// Puts one of at most so many bytes in the place of its pointer; `None` where the user has not got it, or it is not what it is called.
fn put_one(objects: &Path, pointer: &Pointer, most: u64, place: &Place, path: &str) -> std::io::Result<Option<Put>> {
    let Ok(from) = open_plain_beneath(objects, &objects.join(pointer.path())) else { return Ok(None) };
    if from.metadata()?.len() != pointer.size {
        return Ok(None);
    }
    if pointer.size > most {
        tracing::warn!(path, "the files that are kept apart are too large: this one stays a pointer");
        return Ok(None);
    }
    let target = place.path.join(path);
    let found = match fs::symlink_metadata(&target) {
        // Its name is no text, and is written otherwise here.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        found => found?,
    };
    let parent = target.parent().unwrap_or(&place.path);
    if !found.is_file() || parent.canonicalize()? != parent {
        return Ok(None);
    }
    let mut to = tempfile::Builder::new().prefix(".kept-apart").tempfile_in(parent)?;
    let (mut from, mut hash, mut buffer) = (from.take(pointer.size), Sha256::new(), vec![0; 256 << 10]);
    loop {
        let read = from.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        hash.update(&buffer[..read]);
        to.write_all(&buffer[..read])?;
    }
    if format!("{:x}", hash.finalize()) != pointer.digest {
        return Ok(None);
    }
    to.as_file().set_permissions(found.permissions())?;
    to.persist(&target).map_err(|error| error.error)?;
    Ok(Some(Put::of(pointer.clone(), &fs::symlink_metadata(&target)?)))
}

#[cfg(test)]
#[path = "kept_apart_test.rs"]
mod tests;
