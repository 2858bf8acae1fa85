//! `helix adr edit`: a decision in the user's editor, and what the check says of it then.
//!
//! Must not change the file itself.

use std::path::Path;

use helix_project::adr_files::AdrDirectory;

use super::{check, file_of};
use crate::context::Context;
use crate::editor::edit;
use crate::error::Ended;
use crate::files::readable;

pub(super) fn run(context: &Context, root: &Path, wanted: &str) -> Ended {
    let path = file_of(context, root, Path::new(wanted))?;
    readable(&path)?;
    context.block_on(edit(context, &path))?;
    AdrDirectory::refresh_index(root)?;
    check::run(context, root, &check::Arguments::for_file(path))
}
