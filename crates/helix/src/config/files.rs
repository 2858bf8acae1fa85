//! Where `helix.toml` files are looked for, how they are read, and how several of them become one tree.
//!
//! Must not know what the keys mean.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use std::ops::Range;

use helix_core::diagnostic::Diagnostic;
use helix_core::document::{Entry, FieldCodes, FieldReader, FromNode, Node, Paths, Value, read_toml};
use helix_core::source_text::SourceText;

use super::keys::File;
use crate::codes;
use crate::environment::Environment;
use crate::error::CommandError;

/// Name of the file.
pub(crate) const FILE_NAME: &str = "helix.toml";

const FIELD_CODES: FieldCodes = FieldCodes {
    unknown_key: codes::CONFIG_UNKNOWN_KEY,
    duplicate_key: codes::CONFIG_SYNTAX,
    missing_key: codes::CONFIG_VALUE,
    wrong_type: codes::CONFIG_VALUE,
    unknown_word: codes::CONFIG_VALUE,
    out_of_range: codes::CONFIG_VALUE,
    bad_duration: codes::CONFIG_VALUE,
};

/// The files in force, the strongest first. Places count as if the texts stood behind each other.
#[derive(Debug, Clone, Default)]
pub(super) struct Files {
    files: Vec<(PathBuf, String)>,
}

impl Files {
    #[cfg(test)]
    pub(super) fn of(files: Vec<(PathBuf, String)>) -> Self {
        Self { files }
    }

    /// Reads the given file, else the nearest one above the working directory; then the user's own.
    ///
    /// # Errors
    /// A file that exists and cannot be read, or has errors.
    pub(super) fn read(environment: &Environment, given: Option<&Path>) -> Result<Self, CommandError> {
        let mut files = Vec::new();
        match given {
            Some(path) => {
                let path = environment.directory.join(path);
                let missing = || {
                    CommandError::usage(codes::CONFIG_UNREADABLE, format!("no file {}", path.display()))
                        .hint("check the path given with --config")
                };
                files.push(load(&path)?.ok_or_else(missing)?);
            }
            None => {
                for directory in environment.directory.ancestors() {
                    if let Some(file) = load(&directory.join(FILE_NAME))? {
                        files.push(file);
                        break;
                    }
                }
            }
        }
        if let Some(path) = user_directory(environment).map(|directory| directory.join(FILE_NAME))
            && files.iter().all(|(other, _)| *other != path)
        {
            files.extend(load(&path)?);
        }
        Ok(Self { files })
    }

    /// What all files say together: each key as in the strongest one that has it.
    pub(super) fn merged(&self) -> (Node, File) {
        let mut start = 0;
        let mut tree = Node { range: 0..0, value: Value::Mapping([].into()) };
        for (_, text) in &self.files {
            // The file was read before: it has no errors.
            if let Ok(weaker) = read_toml(text, start) {
                tree = over(tree, &weaker);
            }
            start += text.len() + 1;
        }
        let source = SourceText::new(FILE_NAME, "");
        let file = File::from_node(&tree, FILE_NAME, &mut FieldReader::new(&source, FIELD_CODES));
        (tree, file.unwrap_or_default())
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.files.iter().map(|(path, _)| path)
    }

    /// The directory that relative paths at this place are meant from.
    pub(super) fn base(&self, place: &Range<usize>) -> &Path {
        self.at(place).and_then(|(path, _)| path.parent()).unwrap_or(Path::new("/"))
    }

    /// File and line of a place, for people.
    pub(super) fn origin(&self, place: &Range<usize>) -> String {
        self.at(place).map_or_else(|| "built in".into(), |(path, line)| format!("{}:{line}", path.display()))
    }

    fn at(&self, place: &Range<usize>) -> Option<(&Path, usize)> {
        let mut start = 0;
        for (path, text) in &self.files {
            if place.start <= start + text.len() {
                let before = text.get(..place.start - start).unwrap_or_default();
                return Some((path, before.matches('\n').count() + 1));
            }
            start += text.len() + 1;
        }
        None
    }
}

/// A table over a weaker one, key by key; anything else hides what is weaker.
fn over(stronger: Node, weaker: &Node) -> Node {
    let (Value::Mapping(own), Value::Mapping(more)) = (&stronger.value, &weaker.value) else { return stronger };
    let mut entries: Vec<Entry> = own.to_vec();
    for entry in more.iter() {
        match entries.iter_mut().find(|known| known.key == entry.key) {
            Some(known) => known.value = over(known.value.clone(), &entry.value),
            None => entries.push(entry.clone()),
        }
    }
    Node { range: stronger.range, value: Value::Mapping(entries.into()) }
}

/// The problems of a file's text.
pub(super) fn check(name: &str, text: &str) -> Vec<Diagnostic> {
    let source = SourceText::new(name, text);
    let help = "write TOML: `key = value` lines below `[section]` headings";
    match read_toml(text, 0) {
        Ok(node) => {
            let mut reader = FieldReader::new(&source, FIELD_CODES).with_paths(Paths::Full);
            File::from_node(&node, FILE_NAME, &mut reader);
            reader.problems
        }
        Err(errors) => {
            let problem = |(at, message)| source.error(codes::CONFIG_SYNTAX, at, message).help(help);
            errors.into_iter().map(problem).collect()
        }
    }
}

/// The user's own directory.
pub(crate) fn user_directory(environment: &Environment) -> Option<PathBuf> {
    Some(environment.xdg("XDG_CONFIG_HOME", ".config")?.join("helix"))
}

fn load(path: &Path) -> Result<Option<(PathBuf, String)>, CommandError> {
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
    let diagnostics = check(&name, &text);
    if diagnostics.is_empty() { Ok(Some((path.to_owned(), text))) } else { Err(refused(&name, diagnostics, text)) }
}

fn refused(name: &str, diagnostics: Vec<Diagnostic>, text: String) -> CommandError {
    let code = diagnostics.first().map_or(codes::CONFIG_SYNTAX, |first| first.code.as_str()).to_owned();
    let errors = if diagnostics.len() == 1 { "error" } else { "errors" };
    CommandError::usage(&code, format!("{name} has {} {errors}", diagnostics.len()))
        .hint("fix the file; every key is described in docs/configuration.md")
        .diagnostics(diagnostics, text)
}
