//! The front matter of an ADR: which keys there are, what they hold and where they stand.
//!
//! Must not know the text below it or the repository.

use helix_core::diagnostic::{Diagnostic, Severity};
use helix_core::document::{FieldCodes, FieldReader, Fields, FromNode, Node, Placed};
use helix_core::source_text::SourceText;
use helix_plan::normal_path;

use super::codes;
use super::words::{AdrId, ChangeScope, Classification, ComponentType, Status};

const FIELD_CODES: FieldCodes = FieldCodes {
    unknown_key: codes::UNKNOWN_KEY,
    duplicate_key: codes::DUPLICATE_KEY,
    missing_key: codes::MISSING_KEY,
    wrong_type: codes::WRONG_TYPE,
    unknown_word: codes::UNKNOWN_WORD,
    out_of_range: codes::WRONG_TYPE,
    bad_duration: codes::WRONG_TYPE,
};

/// What the front matter says; fields that could not be read are absent and reported.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FrontMatter {
    pub adr_id: Option<Placed<AdrId>>,
    pub title: Option<Placed<String>>,
    pub status: Option<Placed<Status>>,
    pub component_type: Option<Placed<ComponentType>>,
    pub classification: Option<Placed<Classification>>,
    pub change_scope: Option<Placed<ChangeScope>>,
    pub project_type: Option<Placed<String>>,
    pub domain: Option<Placed<String>>,
    pub language: Option<Placed<String>>,
    pub skills: Vec<Placed<String>>,
    /// Which files are touched.
    pub files: FileClaims,
    /// ADRs that this one builds on.
    pub depends_on: Vec<Placed<AdrId>>,
    /// ADRs worth reading with it.
    pub related_to: Vec<Placed<AdrId>>,
    /// ADRs that this one replaces.
    pub supersedes: Vec<Placed<AdrId>>,
    /// ADRs that replace this one.
    pub superseded_by: Vec<Placed<AdrId>>,
    /// Date of the decision, as written.
    pub date: Option<Placed<String>>,
    /// Who has accepted it.
    pub accepted_by: Option<Placed<String>>,
    /// When, as written.
    pub accepted_on: Option<Placed<String>>,
    /// Keys whose values could not be read.
    pub(super) unreadable: Vec<&'static str>,
}

impl FrontMatter {
    /// Its lists of other ADRs, by their keys.
    pub fn links(&self) -> [(&'static str, &[Placed<AdrId>]); 4] {
        [
            ("depends_on", &self.depends_on),
            ("related_to", &self.related_to),
            ("supersedes", &self.supersedes),
            ("superseded_by", &self.superseded_by),
        ]
    }
}

/// Files that a decision touches, relative to the repository's root.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FileClaims {
    /// Must not exist yet.
    pub create: Vec<Placed<String>>,
    pub modify: Vec<Placed<String>>,
    pub delete: Vec<Placed<String>>,
    /// Documentation, to be mentioned in its section.
    pub docs: Vec<Placed<String>>,
}

impl FileClaims {
    /// Every claimed path, each kind in its order.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        let kinds = [&self.create, &self.modify, &self.delete, &self.docs];
        kinds.into_iter().flatten().map(|path| path.value.as_str())
    }
}

/// Reads the fields; problems come back beside them.
pub(super) fn read(node: &Node, source: &SourceText<'_>) -> (FrontMatter, Vec<Diagnostic>) {
    let mut reader = FieldReader::new(source, FIELD_CODES);
    let mut front = FrontMatter::default();
    if let Some(mut fields) = reader.open(node, "the front matter") {
        front.adr_id = fields.require::<AdrId>(
            "adr_id",
            "write `adr_id: draft`; `helix adr finalize` allocates the number",
            &mut reader,
        );
        front.title = fields.require::<String>("title", "write a title of a few words", &mut reader);
        front.status = fields.require::<Status>("status", "write `status: Proposed`", &mut reader);
        front.component_type = fields.take::<ComponentType>("component_type", &mut reader);
        front.classification = fields.take::<Classification>("classification", &mut reader);
        front.change_scope = fields.take::<ChangeScope>("change_scope", &mut reader);
        front.project_type = fields.take::<String>("project_type", &mut reader);
        front.domain = fields.take::<String>("domain", &mut reader);
        front.language = fields.take::<String>("language", &mut reader);
        front.skills = list::<String>(&mut fields, "skills", &mut reader);
        claims(&mut front, &mut fields, &mut reader);
        front.date = fields.take::<String>("date", &mut reader);
        front.accepted_by = fields.take::<String>("accepted_by", &mut reader);
        front.accepted_on = fields.take::<String>("accepted_on", &mut reader);
        // Free-form notes of older files: allowed, not read.
        fields.entry("meta");
        front.unreadable = fields.finish(&mut reader);
    }
    let mut problems = reader.problems;
    for problem in problems.iter_mut().filter(|problem| problem.code == codes::UNKNOWN_KEY) {
        problem.severity = Severity::Warning;
    }
    (front, problems)
}

/// Reads from front matter of another form what Helix understands there too: claimed files and links. Its other keys are its own.
pub(super) fn read_claims(node: &Node, source: &SourceText<'_>) -> (FrontMatter, Vec<Diagnostic>) {
    let mut reader = FieldReader::new(source, FIELD_CODES);
    let mut front = FrontMatter::default();
    if let Some(mut fields) = reader.open(node, "the front matter") {
        claims(&mut front, &mut fields, &mut reader);
    }
    (front, reader.problems)
}

fn claims(front: &mut FrontMatter, fields: &mut Fields<'_>, reader: &mut FieldReader<'_>) {
    if let Some(entry) = fields.entry("files") {
        front.files = read_files(&entry.value, reader);
    }
    front.depends_on = ids(fields, "depends_on", reader);
    front.related_to = ids(fields, "related_to", reader);
    front.supersedes = ids(fields, "supersedes", reader);
    front.superseded_by = ids(fields, "superseded_by", reader);
}

fn read_files(node: &Node, reader: &mut FieldReader<'_>) -> FileClaims {
    let Some(mut fields) = reader.open(node, "`files`") else { return FileClaims::default() };
    let claims = FileClaims {
        create: paths(&mut fields, "create", reader),
        modify: paths(&mut fields, "modify", reader),
        delete: paths(&mut fields, "delete", reader),
        docs: paths(&mut fields, "docs", reader),
    };
    fields.finish(reader);
    claims
}

fn list<T: FromNode>(
    fields: &mut Fields<'_>,
    key: &'static str,
    reader: &mut FieldReader<'_>,
) -> Vec<Placed<T::Value>> {
    fields.take::<Vec<T>>(key, reader).map(|list| list.value).unwrap_or_default()
}

fn paths(fields: &mut Fields<'_>, key: &'static str, reader: &mut FieldReader<'_>) -> Vec<Placed<String>> {
    let mut good = Vec::new();
    for path in list::<String>(fields, key, reader) {
        match normal_path(&path.value) {
            Ok(plain) => good.push(Placed::new(plain, path.range)),
            Err(error) => {
                reader.error(codes::BAD_PATH, &path.range, format!("`files.{key}`: {error}"), error.remedy);
            }
        }
    }
    good
}

/// One id or a list of them.
fn ids(fields: &mut Fields<'_>, key: &'static str, reader: &mut FieldReader<'_>) -> Vec<Placed<AdrId>> {
    let Some(entry) = fields.entry(key) else { return Vec::new() };
    let what = format!("`{key}`");
    let read = |node: &Node| AdrId::from_node(node, &what, reader).map(|id| Placed::new(id, node.range.clone()));
    entry.value.items().iter().filter_map(read).collect()
}

impl FromNode for AdrId {
    type Value = Self;
    fn from_node(node: &Node, what: &str, reader: &mut FieldReader<'_>) -> Option<Self> {
        let Some(text) = node.scalar() else {
            reader.wrong_type(node, what, "an ADR id such as \"012\"", None);
            return None;
        };
        match text.parse() {
            Ok(id) => Some(id),
            Err(error) => {
                let help = "write a number such as \"012\" or ADR-012; a new ADR has `adr_id: draft`";
                reader.error(codes::BAD_ID, &node.range, format!("{what}: {error}"), help);
                None
            }
        }
    }
}
