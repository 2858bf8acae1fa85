//! Files that come with messages: kept in the session's directory, where the agent can read them.
//!
//! Must not know how clients send them. Names are made from content, so that a file that is sent again is kept once.

use std::path::{Path, PathBuf};

use helix_core::text::one_line;
use helix_job::session::Attachment;
use helix_language::{ErrorView, Language};
use sha2::{Digest, Sha256};

use super::{Upload, phrases};
use helix_process::replace_private;

/// Directory of the files, in the session's.
const DIRECTORY: &str = "attachments";
/// Longest part of a file's own name that is kept, in characters.
const NAME_LIMIT: usize = 60;

/// Keeps files and says where they are.
///
/// # Errors
/// When one cannot be written.
pub(super) async fn keep(
    directory: &str,
    uploads: &[Upload],
    language: Language,
) -> Result<Vec<Attachment>, ErrorView> {
    if uploads.is_empty() {
        return Ok(Vec::new());
    }
    let (directory, uploads) = (PathBuf::from(directory), uploads.to_vec());
    let kept = tokio::task::spawn_blocking(move || {
        std::fs::create_dir_all(directory.join(DIRECTORY))?;
        uploads.iter().map(|upload| write(&directory, upload)).collect::<std::io::Result<Vec<_>>>()
    });
    kept.await.map_err(std::io::Error::other).flatten().map_err(phrases::not_stored(language))
}

fn write(directory: &Path, upload: &Upload) -> std::io::Result<Attachment> {
    let digest = format!("{:x}", Sha256::digest(&upload.bytes));
    let path = format!("{DIRECTORY}/{}-{}", &digest[..12], file_name(upload));
    let target = directory.join(&path);
    let bytes = upload.bytes.len() as u64;
    if std::fs::metadata(&target).map_or(true, |found| found.len() != bytes) {
        replace_private(&target, &upload.bytes)?;
    }
    Ok(Attachment { path, name: upload.name.clone(), media_type: upload.media_type.clone(), bytes })
}

/// A name that is safe in every file system and ends as the agent's tools expect.
fn file_name(upload: &Upload) -> String {
    let safe = |letter: char| if letter.is_ascii_alphanumeric() || ".-_".contains(letter) { letter } else { '_' };
    let name: String = upload.name.as_deref().unwrap_or("file").chars().map(safe).collect();
    let cut = name[name.len().saturating_sub(NAME_LIMIT)..].trim_start_matches('.');
    let base = if cut.is_empty() { "file" } else { cut };
    match (base.contains('.'), extension(&upload.media_type)) {
        (false, Some(extension)) => format!("{base}.{extension}"),
        (true, _) | (false, None) => base.to_owned(),
    }
}

/// The end of a name for files of this type: mostly the second half of the type, as in `image/png`.
fn extension(media_type: &str) -> Option<&str> {
    let (_, kind) = media_type.split([';', '+']).next()?.trim().split_once('/')?;
    let is_word = !kind.is_empty() && kind.len() <= 8 && kind.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_word.then_some(match kind {
        "plain" => "txt",
        "markdown" => "md",
        "mpeg" => "mp3",
        kind => kind,
    })
}

/// Where the files lie that came with a message, for the agent; empty where none came.
pub(super) fn named(directory: &str, attachments: &[&Attachment]) -> String {
    if attachments.is_empty() {
        return String::new();
    }
    let mut text = String::from("[Helix: files that came with this message, to be opened with your Read tool:\n");
    for one in attachments {
        let name = one.name.as_ref().map_or_else(String::new, |name| format!(", sent as {name:?}"));
        let size = one.bytes.div_ceil(1000);
        let kind = one_line(&one.media_type, 100);
        text.push_str(&format!("- {directory}/{} ({kind}, {size} kB{name})\n", one.path));
    }
    text + "]\n\n"
}

#[cfg(test)]
#[path = "uploads_test.rs"]
mod tests;
