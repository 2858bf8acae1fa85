//! What the disk itself says when git could not write: git's own words name the cause only now and then.
//!
//! Must not know what was to be written.

use std::path::Path;

use rustix::fs::{StatVfsMountFlags, statvfs};

/// With less than this nothing is written any more, whatever it is, in bytes.
const FULL: u64 = 64 << 10;

/// The trouble of the file systems that hold these paths, in the words of the system; `None` where they have room and can be written.
pub(crate) fn trouble<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Option<String> {
    paths.into_iter().find_map(|path| {
        // Of a path that is gone there is nothing to say; git's words stand alone then.
        let found = statvfs(path).ok()?;
        if found.f_flag.contains(StatVfsMountFlags::RDONLY) {
            return Some(format!("{}: Read-only file system", path.display()));
        }
        let free = found.f_bavail.saturating_mul(found.f_frsize);
        (free < FULL).then(|| format!("{}: No space left on device", path.display()))
    })
}
