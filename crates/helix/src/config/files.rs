//! Where `helix.toml` files are looked for, and how they are read.
//!
//! Must not know what the keys mean.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use helix_core::diagnostic::Diagnostic;

use super::layer::{Layer, read};
use crate::codes;
use crate::environment::Environment;
use crate::error::CommandError;

/// Name of the file.
pub(crate) const FILE_NAME: &str = "helix.toml";

/// The layers in force, the strongest first.
///
/// # Errors
/// A file that exists and cannot be read, or has errors.
pub(super) fn layers(environment: &Environment, given: Option<&Path>) -> Result<Vec<(PathBuf, Layer)>, CommandError> {
    let mut layers = Vec::new();
    match given {
        Some(path) => {
            let path = environment.directory.join(path);
            match load(&path)? {
                Some(layer) => layers.push((path, layer)),
                None => {
                    return Err(CommandError::usage(
                        codes::CONFIG_UNREADABLE,
                        format!("there is no file {}", path.display()),
                    )
                    .hint("check the path given with --config"));
                }
            }
        }
        None => {
            for directory in environment.directory.ancestors() {
                let path = directory.join(FILE_NAME);
                if let Some(layer) = load(&path)? {
                    layers.push((path, layer));
                    break;
                }
            }
        }
    }
    if let Some(path) = user_file(environment)
        && layers.iter().all(|(other, _)| *other != path)
        && let Some(layer) = load(&path)?
    {
        layers.push((path, layer));
    }
    Ok(layers)
}

/// The user's own file.
pub(super) fn user_file(environment: &Environment) -> Option<PathBuf> {
    Some(user_directory(environment)?.join(FILE_NAME))
}

/// The user's own directory.
pub(crate) fn user_directory(environment: &Environment) -> Option<PathBuf> {
    Some(environment.xdg("XDG_CONFIG_HOME", ".config")?.join("helix"))
}

fn load(path: &Path) -> Result<Option<Layer>, CommandError> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        Err(error) => {
            return Err(CommandError::usage(codes::CONFIG_UNREADABLE, format!("cannot read {}", path.display()))
                .because(&error)
                .hint("make it a readable file, or name another one with --config"));
        }
    };
    let name = path.display().to_string();
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let valid = String::from_utf8_lossy(&error.as_bytes()[..error.utf8_error().valid_up_to()]).into_owned();
            let place = helix_core::diagnostic::Span::locate(&valid, valid.len(), valid.len());
            let diagnostic = Diagnostic::error(codes::CONFIG_SYNTAX, &name, "the file is not UTF-8")
                .at(place)
                .help("save it as UTF-8");
            return Err(refused(&name, vec![diagnostic], valid));
        }
    };
    let (layer, diagnostics) = read(path, &name, &text);
    if diagnostics.is_empty() { Ok(Some(layer)) } else { Err(refused(&name, diagnostics, text)) }
}

fn refused(name: &str, diagnostics: Vec<Diagnostic>, text: String) -> CommandError {
    let code = diagnostics.first().map_or(codes::CONFIG_SYNTAX, |first| {
        [codes::CONFIG_UNKNOWN_KEY, codes::CONFIG_VALUE]
            .into_iter()
            .find(|code| *code == first.code)
            .unwrap_or(codes::CONFIG_SYNTAX)
    });
    let count = diagnostics.len();
    let errors = if count == 1 { "error" } else { "errors" };
    CommandError::usage(code, format!("{name} has {count} {errors}"))
        .hint("mend the file; every key is described in docs/configuration.md")
        .diagnostics(diagnostics, text)
}
