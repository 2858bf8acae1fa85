//! What nobody may read in what Helix keeps, shows or sends: values that it knows, in every form in which programs write them, and
//! texts that have the form of a key.
//!
//! Must not know where a value comes from, nor where a text goes. Masking keeps the length: a record can be masked where it lies,
//! a line of JSON stays one, and what was read before and after is the same.

mod forms;
mod redact;
mod shapes;
mod variables;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use self::forms::Form;
pub use self::redact::{PLACEHOLDER, redact};
pub use self::variables::{is_trivial, of_variables};

/// Bytes of a value by which it is found.
const GRAM: usize = 6;
/// Of how many bytes one is looked at: whatever has [`SHORTEST`] bytes has a gram that begins at one of them.
const STRIDE: usize = 3;
/// Shortest value that is looked for, in bytes.
pub const SHORTEST: usize = GRAM + STRIDE - 1;
/// Bytes of the shortest line in which there can be anything: `pwd=abc`.
const LEAST: usize = 7;
/// Places of values that are tried where a gram is seen.
const TRIED: usize = 16;
/// Different bytes in a part of a value, at least.
const DISTINCT: usize = 6;
/// Bits of the first, rough look at a gram.
const ROUGH: u32 = 18;
/// Blanks that may stand before the rest of a value on the next line.
const INDENT: usize = 40;

/// A value that nobody may read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Secret {
    /// What people call it, such as the variable's name; empty where there is none.
    pub name: String,
    pub value: String,
}

/// Values that nobody may read, ready to be looked for.
#[derive(Default)]
pub struct Secrets {
    known: BTreeSet<Secret>,
    forms: Vec<Form>,
    /// Where each gram stands: form and offset.
    grams: HashMap<u64, Vec<(u32, u32)>>,
    /// Which grams there may be.
    rough: Vec<u64>,
    /// First bytes of forms, fewer than a gram.
    beginnings: BTreeSet<Vec<u8>>,
    longest: usize,
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Secrets({})", self.known.len())
    }
}

/// Where a value may go on in the next line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cut {
    form: usize,
    at: usize,
}

/// What was found.
struct Found {
    start: usize,
    end: usize,
    form: usize,
    /// How much of the form it was, from its beginning.
    upto: usize,
}

impl Secrets {
    /// Those that are worth looking for: not too short, and no words that any text may have.
    pub fn new(secrets: impl IntoIterator<Item = Secret>) -> Self {
        let known: BTreeSet<Secret> = secrets.into_iter().filter(|one| !is_trivial(&one.value)).collect();
        let mut all = Self { known, rough: vec![0; 1 << (ROUGH - 6)], ..Self::default() };
        let mut seen = BTreeSet::new();
        for secret in &all.known {
            all.forms.extend(forms::all_of(secret).into_iter().filter(|form| seen.insert(form.bytes.clone())));
        }
        for (number, form) in all.forms.iter().enumerate() {
            all.longest = all.longest.max(form.bytes.len());
            for at in 0..=form.bytes.len().saturating_sub(GRAM) {
                let Some(gram) = gram(&form.bytes, at) else { continue };
                let (word, bit) = place(gram);
                all.rough[word] |= bit;
                let places = all.grams.entry(gram).or_default();
                if places.len() < TRIED {
                    places.push((u32::try_from(number).unwrap_or(u32::MAX), u32::try_from(at).unwrap_or(u32::MAX)));
                }
            }
            all.beginnings.extend((1..GRAM).filter_map(|length| Some(form.bytes.get(..length)?.to_vec())));
        }
        all
    }

    /// The values themselves.
    pub fn known(&self) -> impl Iterator<Item = &Secret> {
        self.known.iter()
    }

    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Whether this value is looked for.
    pub fn knows(&self, secret: &Secret) -> bool {
        self.known.contains(secret)
    }

    /// Overwrites what nobody may read by `[secret NAME]` and asterisks, as long as it was; whether there was anything. Linear in
    /// the text's length.
    pub fn mask(&self, text: &mut [u8]) -> bool {
        let known = self.mask_known(text, 0, &mut None);
        shapes::mask(text) || known
    }

    /// The same for known values alone: what somebody wrote who may have meant it.
    pub fn mask_known_values(&self, text: &mut [u8]) -> bool {
        self.mask_known(text, 0, &mut None)
    }

    /// The text with `[secret NAME]` for each known value and `[secret]` for what has a key's form, whatever its length.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut bytes = text.as_bytes().to_vec();
        if !self.mask(&mut bytes) {
            return Cow::Borrowed(text);
        }
        Cow::Owned(shapes::without_padding(&String::from_utf8_lossy(&bytes)))
    }

    /// The name of the first known value in it; `None` where there is none. What has only the form of a key is not looked for.
    pub fn first_in(&self, text: &[u8]) -> Option<&str> {
        let mut at = 0;
        self.find(text, &mut at, 0).and_then(|found| Some(self.forms.get(found.form)?.name.as_str()))
    }

    fn mask_known(&self, text: &mut [u8], mut floor: usize, cut: &mut Option<Cut>) -> bool {
        let mut any = false;
        let mut at = floor;
        while let Some(found) = self.find(text, &mut at, floor) {
            any = true;
            let (start, mut end, mut upto) = (found.start, found.end, found.upto);
            let form = &self.forms[found.form];
            fill(text, unescaped_start(text, start), kept_end(text, end), &form.name);
            // The rest of it may stand in the next line, or where one is written as `\n`.
            loop {
                if upto == form.bytes.len() {
                    end = form.padded_end(text, end);
                    break;
                }
                let after = after_break(text, end);
                if after == text.len() {
                    *cut = Some(Cut { form: found.form, at: upto });
                }
                let more = if after > end { self.goes_on(text, after, found.form, upto) } else { 0 };
                if more == 0 {
                    break;
                }
                fill(text, after, after + more, "");
                (end, upto) = (after + more, upto + more);
            }
            if end > found.end {
                let padding = text.get_mut(kept_end(text, found.end)..end);
                padding.into_iter().flatten().filter(|byte| **byte == b'=').for_each(|byte| *byte = b'*');
            }
            (at, floor) = (end.max(at), end);
        }
        any
    }

    /// How many bytes of a form stand at a place of the text: all that it lacks, or as many as the line has.
    fn goes_on(&self, text: &[u8], at: usize, form: usize, from: usize) -> usize {
        let rest = self.forms.get(form).and_then(|form| form.bytes.get(from..)).unwrap_or_default();
        let here = text.get(at..).unwrap_or_default();
        let same = rest.iter().zip(here).take_while(|(one, other)| one == other).count();
        let ends = here.get(same).is_none_or(|byte| matches!(byte, b'\r' | b'\n' | b'\\' | b' ' | b'"'));
        if same == rest.len() || ends { same } else { 0 }
    }

    /// The next known value, from `at` on and not before `floor`; `at` becomes where to look on.
    fn find(&self, text: &[u8], at: &mut usize, floor: usize) -> Option<Found> {
        if self.grams.is_empty() {
            return None;
        }
        while let Some(seen) = gram(text, *at) {
            let here = *at;
            *at += STRIDE;
            let (word, bit) = place(seen);
            if self.rough[word] & bit == 0 {
                continue;
            }
            let places = self.grams.get(&seen).map(Vec::as_slice).unwrap_or_default();
            let found = places.iter().filter_map(|place| self.around(text, here, *place, floor));
            if let Some(found) = found.max_by_key(|found| found.end - found.start) {
                *at = found.end;
                return Some(found);
            }
        }
        None
    }

    /// As much of a form as stands around a gram, if that is enough of it.
    fn around(&self, text: &[u8], here: usize, (form, offset): (u32, u32), floor: usize) -> Option<Found> {
        let (number, offset) = (form as usize, offset as usize);
        let form = self.forms.get(number)?;
        let before = text.get(floor..here)?.iter().rev().zip(form.bytes.get(..offset)?.iter().rev());
        let before = before.take_while(|(one, other)| one == other).count();
        let after = text.get(here..)?.iter().zip(form.bytes.get(offset..)?);
        let after = after.take_while(|(one, other)| one == other).count();
        let (start, end) = (here - before, here + after);
        if end - start < form.enough.min(form.bytes.len()) {
            return None;
        }
        let is_part = end - start < form.bytes.len();
        // A row of zeros says nothing.
        let mut distinct = text.get(start..end)?.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        (!is_part || distinct.len() >= DISTINCT).then_some(Found { start, end, form: number, upto: offset + after })
    }

    /// From where on a text that goes on may be a part of a value: that is shown only when more of it is there.
    pub fn open_end(&self, text: &str) -> usize {
        let bytes = text.as_bytes();
        let known = if self.is_empty() {
            bytes.len()
        } else {
            let from = text.floor_char_boundary(bytes.len().saturating_sub(self.longest));
            (from..bytes.len()).find(|at| self.may_begin(bytes.get(*at..).unwrap_or_default())).unwrap_or(bytes.len())
        };
        text.floor_char_boundary(known.min(shapes::open_end(text)))
    }

    /// Whether a text is the beginning of a form, or longer than a gram and a part of one.
    fn may_begin(&self, end: &[u8]) -> bool {
        let Some(seen) = gram(end, 0) else { return self.beginnings.contains(end) };
        let places = self.grams.get(&seen).map(Vec::as_slice).unwrap_or_default();
        places.iter().any(|(form, at)| {
            let form = self.forms.get(*form as usize);
            form.and_then(|form| form.bytes.get(*at as usize..)).is_some_and(|rest| rest.starts_with(end))
        })
    }
}

/// Masks a text that comes in lines, also what is cut where a line ends.
#[derive(Debug, Clone, Copy, Default)]
pub struct LineMask {
    cut: Option<Cut>,
    in_key: bool,
}

impl LineMask {
    /// Masks the next line, with or without its newline; whether there was anything to mask.
    pub fn line(&mut self, secrets: &Secrets, line: &mut [u8]) -> bool {
        if line.len() < LEAST && self.cut.is_none() && !self.in_key {
            return false;
        }
        let (mut any, mut floor) = (false, 0);
        if let Some(Cut { form, at }) = self.cut.take() {
            let indent = line.iter().take(INDENT).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            let more = secrets.goes_on(line, indent, form, at);
            if more > 0 {
                fill(line, indent, indent + more, "");
                (any, floor) = (true, indent + more);
                let left = secrets.forms.get(form).is_some_and(|form| at + more < form.bytes.len());
                self.cut = left.then_some(Cut { form, at: at + more });
            }
        }
        // First, while the lines still show that they are a key's.
        any |= shapes::mask_key_lines(line, &mut self.in_key);
        any |= secrets.mask_known(line, floor, &mut self.cut);
        shapes::mask(line) || any
    }
}

/// The gram that begins at a place, as a number.
fn gram(text: &[u8], at: usize) -> Option<u64> {
    let six: &[u8; GRAM] = text.get(at..at + GRAM)?.try_into().ok()?;
    let [a, b, c, d, e, f] = *six;
    Some(u64::from_le_bytes([a, b, c, d, e, f, 0, 0]))
}

/// Word and bit of a gram's rough place.
fn place(gram: u64) -> (usize, u64) {
    let hash = gram.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - ROUGH);
    (usize::try_from(hash >> 6).unwrap_or(0), 1 << (hash & 63))
}

/// Overwrites a part of a text by the name of what stood there.
fn fill(text: &mut [u8], start: usize, end: usize, name: &str) {
    let Some(place) = text.get_mut(start..end) else { return };
    let named = format!("[secret {name}]");
    let words = [named.as_bytes(), PLACEHOLDER.as_bytes()];
    let words = words.into_iter().skip(usize::from(name.is_empty())).find(|word| word.len() <= place.len());
    place.fill(b'*');
    let words = words.unwrap_or_default();
    if let Some(beginning) = place.get_mut(..words.len()) {
        beginning.copy_from_slice(words);
    }
}

/// Where a match begins that must not begin within an escape of JSON: `\n` before the rest of a value that begins with `n`.
fn unescaped_start(text: &[u8], start: usize) -> usize {
    let before = text.get(..start).unwrap_or_default();
    let slashes = before.iter().rev().take_while(|byte| **byte == b'\\').count();
    match text.get(start) {
        Some(b'u') if slashes % 2 == 1 => (start + 5).min(text.len()),
        Some(_) if slashes % 2 == 1 => start + 1,
        _ => start,
    }
}

/// Where a match ends that must not leave the second half of an escape behind.
fn kept_end(text: &[u8], end: usize) -> usize {
    let inside = text.get(..end).unwrap_or_default();
    let slashes = inside.iter().rev().take_while(|byte| **byte == b'\\').count();
    end - slashes % 2
}

/// Where a text goes on after one line break, written out or as `\n`, and an indent; the same place where there is none.
fn after_break(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let breaks: [&[u8]; 6] = [b"\r\n", b"\n", b"\\r\\n", b"\\n", b"\\\\n", b"\r"];
    let Some(end) = breaks.iter().find(|end| rest.starts_with(end)).map(|end| end.len()) else { return at };
    let indent = rest.iter().skip(end).take(INDENT).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    at + end + indent
}

#[cfg(test)]
#[path = "secrets_test.rs"]
mod tests;
