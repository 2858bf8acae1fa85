//! Where `helix.toml` files are looked for, how they are read, and how several of them become one tree.
//!
//! Must not know what the keys mean.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use std::ops::Range;

use helix_core::diagnostic::Diagnostic;
use helix_core::document::{Entry, FieldCodes, FieldReader, FromNode, Node, Paths, Placed, Value, read_toml};
use helix_core::source_text::{SourceText, utf8};
use helix_language::{Language, say};
use helix_process::bounded::{read_bytes, read_bytes_beneath};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use super::keys::File;
use super::trust::{ProjectFile, Trust, only_the_user_writes};
use crate::environment::Environment;
use crate::error::{CommandError, RAISE_OPEN_FILES, codes};

/// The origin of a value that nobody has written.
pub(crate) const BUILT_IN: &str = "built in";

/// The origin of a value as a person reads it.
pub(crate) fn in_words(language: Language, origin: &str) -> String {
    origin.replace(BUILT_IN, &say!(language, "settings-built-in"))
}

/// Name of the file.
pub(crate) const FILE_NAME: &str = "helix.toml";

/// Size of the largest file that is read, in bytes.
const LARGEST: u64 = 1 << 20;

const FIELD_CODES: FieldCodes = FieldCodes {
    unknown_key: codes::CONFIG_UNKNOWN_KEY,
    duplicate_key: codes::CONFIG_SYNTAX,
    missing_key: codes::CONFIG_VALUE,
    wrong_type: codes::CONFIG_VALUE,
    unknown_word: codes::CONFIG_VALUE,
    out_of_range: codes::CONFIG_VALUE,
    bad_duration: codes::CONFIG_VALUE,
};

/// A value and where it came from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Setting<T> {
    pub(crate) value: T,
    /// For people: `built in`, `--state-dir`, `HELIX_STATE_DIR`, `/path/helix.toml:3`.
    pub(crate) origin: String,
}

impl<T> Setting<T> {
    pub(super) fn new(value: T, origin: impl Into<String>) -> Self {
        Self { value, origin: origin.into() }
    }

    /// A value that nobody has written.
    pub(super) fn built_in(value: T) -> Self {
        Self::new(value, BUILT_IN)
    }
}

/// The files in force, the strongest first. Places count as if the texts stood behind each other.
#[derive(Debug, Clone, Default)]
pub(crate) struct Files {
    pub(super) files: Vec<(PathBuf, String)>,
}

impl Files {
    /// Reads the given file, else that of the project, if it is wanted, as far as the user trusts it; then the user's own.
    ///
    /// # Errors
    /// A file that exists and cannot be read, or has errors; one of a project that needs trust and has none; one of the user's own that
    /// others can write.
    pub(super) fn read(
        environment: &Environment,
        given: Option<&Path>,
        trust: &Trust<'_>,
        of_project: bool,
    ) -> Result<Self, CommandError> {
        let mut files = Vec::new();
        if let Some(path) = given.map(|path| environment.directory.join(path)) {
            files.push(load(&path)?.ok_or_else(|| {
                CommandError::usage(codes::CONFIG_UNREADABLE, format!("no file {}", path.display()))
                    .hint("check the path given with --config")
            })?);
        } else if let Some(project) = project_file(environment, None)?.filter(|_| of_project) {
            trust.check(&project)?;
            files.push((project.path, project.text));
        }
        if let Some(found) = user_file(environment).map(|path| load(&path)).transpose()?.flatten() {
            only_the_user_writes(&found.0)?;
            files.push(found);
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

    pub(crate) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.files.iter().map(|(path, _)| path)
    }

    /// Digests of their texts, in the same order.
    pub(crate) fn digests(&self) -> impl Iterator<Item = String> {
        self.files.iter().map(|(_, text)| format!("{:x}", Sha256::digest(text)))
    }

    /// The directory that relative paths at this place are meant from.
    pub(super) fn base(&self, place: &Range<usize>) -> &Path {
        self.at(place).and_then(|(path, _)| path.parent()).unwrap_or(Path::new("/"))
    }

    /// A written value with its place.
    pub(super) fn setting<T: Clone>(&self, written: &Option<Placed<T>>) -> Option<Setting<T>> {
        written.as_ref().map(|written| Setting::new(written.value.clone(), self.origin(&written.range)))
    }

    /// File and line of a place, for people.
    pub(super) fn origin(&self, place: &Range<usize>) -> String {
        self.at(place).map_or_else(|| BUILT_IN.into(), |(path, line)| format!("{}:{line}", path.display()))
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

/// The user's own file; it needs not exist.
fn user_file(environment: &Environment) -> Option<PathBuf> {
    Some(user_directory(environment)?.join(FILE_NAME))
}

/// The file of a project: the given one, else the nearest in the working directory or above it, unless that is the user's own.
///
/// # Errors
/// When it cannot be read, or has errors.
pub(crate) fn project_file(
    environment: &Environment,
    given: Option<&Path>,
) -> Result<Option<ProjectFile>, CommandError> {
    let of_user = user_file(environment);
    let mut nearest = environment.directory.ancestors().map(|directory| {
        let path = directory.join(FILE_NAME);
        // A cloned repository may bring a link to any file: errors would show what is in it.
        let root = (of_user.as_ref() != Some(&path)).then_some(directory);
        load_beneath(root, &path)
    });
    let found = match given {
        Some(path) => load(&environment.directory.join(path))?,
        None => nearest.find_map(Result::transpose).transpose()?,
    };
    let of_project = found.filter(|(path, _)| of_user.as_ref() != Some(path));
    Ok(of_project.map(|(path, text)| ProjectFile::new(path, text)))
}

fn load(path: &Path) -> Result<Option<(PathBuf, String)>, CommandError> {
    load_beneath(None, path)
}

/// Reads a file, which has to lie below a directory where one is given.
fn load_beneath(root: Option<&Path>, path: &Path) -> Result<Option<(PathBuf, String)>, CommandError> {
    let read = root.map_or_else(|| read_bytes(path, LARGEST), |root| read_bytes_beneath(root, path, LARGEST));
    let bytes = match read {
        Ok(bytes) => bytes,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        Err(error) => {
            let cannot = format!("cannot read {}", path.display());
            if let Some(Errno::MFILE | Errno::NFILE) = Errno::from_io_error(&error) {
                let refused = CommandError::environment(codes::CONFIG_UNREADABLE, cannot);
                return Err(refused.because(&error).hint(RAISE_OPEN_FILES));
            }
            return Err(CommandError::usage(codes::CONFIG_UNREADABLE, cannot)
                .because(&error)
                .hint("make it a readable file, or name another one with --config"));
        }
    };
    let name = path.display().to_string();
    let (text, diagnostics) = match utf8(&name, &bytes, codes::CONFIG_SYNTAX) {
        Ok(text) => (text.to_owned(), check(&name, text)),
        Err(diagnostic) => (String::from_utf8_lossy(&bytes).into_owned(), vec![*diagnostic]),
    };
    if diagnostics.is_empty() {
        return Ok(Some((path.to_owned(), text)));
    }
    Err(refused(&name, diagnostics, text, "every key is described in docs/configuration.md"))
}

/// A file of the configuration with errors; `see` describes what may stand in it.
pub(super) fn refused(name: &str, diagnostics: Vec<Diagnostic>, text: String, see: &str) -> CommandError {
    let code = diagnostics.first().map_or(codes::CONFIG_SYNTAX, |first| first.code.as_str()).to_owned();
    CommandError::file_errors(&code, name, diagnostics, text).hint(format!("fix the file; {see}"))
}
