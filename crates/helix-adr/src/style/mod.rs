//! How decisions are written in a directory: their form, and what differs between files of one form. They are changed and made in it.
//!
//! Must not write files: texts become other texts.

mod edit;
mod write;

use super::file_name::{Numbering, name_parts};
use super::form::{AdrForm, language};
use super::syntax::Adr;
use super::words::{AdrId, Language};

pub use write::Naming;
pub(crate) use write::{hints, with_headings};

/// How the decisions of a directory are written, as far as files of one form differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    pub form: AdrForm,
    /// Whether MADR's facts are front matter, not a list below the title.
    pub front: bool,
    /// What begins an item of a list.
    pub bullet: char,
    pub numbering: Numbering,
    pub language: Language,
}

impl Style {
    /// Helix's own.
    pub const HELIX: Self = Self {
        form: AdrForm::Helix,
        front: true,
        bullet: '-',
        numbering: Numbering::HELIX,
        language: Language::English,
    };
    /// MADR as its newest template has it.
    pub const MADR: Self = Self { form: AdrForm::Madr, bullet: '*', numbering: Numbering::Digits(4), ..Self::HELIX };
    /// MADR as log4brains writes it.
    pub const LOG4BRAINS: Self = Self { front: false, bullet: '-', numbering: Numbering::Dated, ..Self::MADR };
    /// Nygard's form as adr-tools writes it.
    pub const NYGARD: Self = Self { form: AdrForm::Nygard, front: false, ..Self::MADR };

    /// The style of the latest of these decisions, of Helix's own form if there are any; where there is none, the other style.
    pub fn of<'a>(adrs: impl IntoIterator<Item = &'a Adr>, otherwise: Self) -> Self {
        let decided = adrs.into_iter().filter_map(|adr| Some((adr.form == AdrForm::Helix, adr.decided_id()?, adr)));
        let latest = decided.max_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)));
        let Some((_, id, adr)) = latest else { return otherwise };
        if adr.form == AdrForm::Helix {
            return Self { language: language(&adr.sections), ..Self::HELIX };
        }
        let name = adr.file.rsplit('/').next().unwrap_or(&adr.file);
        let (_, digits, _) = name_parts(name);
        Self {
            form: adr.form,
            front: adr.form == AdrForm::Madr && !adr.front_range.is_empty(),
            bullet: adr.bullet(),
            numbering: match id {
                AdrId::Named(_) => Numbering::Dated,
                AdrId::Number(_) | AdrId::Draft => Numbering::Digits(digits.len().max(1)),
            },
            language: language(&adr.sections),
        }
    }
}
