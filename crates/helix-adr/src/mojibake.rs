//! Finds text that was once read in a wrong encoding, such as `Ã¤` for `ä`, and gives what it was, where that is certain.
//!
//! Must not guess: a place is reported only if its characters are exactly those that the wrong reading of another text gives,
//! and that other text is one that people write.

use std::ops::Range;
use std::sync::LazyLock;

use encoding_rs::Encoding;

use super::finalize::replace;

/// Characters of Windows-1252 for the bytes 0x80 to 0x9F; those without one stand for themselves, as browsers read them.
static WINDOWS_1252: LazyLock<Vec<char>> = LazyLock::new(|| shown(encoding_rs::WINDOWS_1252, 0x9F));

/// Characters of Mac OS Roman for the bytes 0x80 to 0xFF.
static MAC_ROMAN: LazyLock<Vec<char>> = LazyLock::new(|| shown(encoding_rs::MACINTOSH, 0xFF));

fn shown(encoding: &'static Encoding, last: u8) -> Vec<char> {
    encoding.decode_without_bom_handling(&(0x80..=last).collect::<Vec<u8>>()).0.chars().collect()
}

/// How often a text can have been read wrongly; more has not been seen.
const MOST_READINGS: usize = 4;

/// A place with text in a wrong encoding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mojibake {
    pub range: Range<usize>,
    /// What stood there; `None` when a wrong reading has lost it (`U+FFFD`).
    pub repaired: Option<String>,
}

/// Finds the places, in the order of the text; at most `most` of them.
pub fn mojibake(text: &str, most: usize) -> Vec<Mojibake> {
    let mut found = Vec::new();
    for stretch in stretches(text) {
        for piece in pieces(text, stretch) {
            if found.len() == most {
                return found;
            }
            if piece.read_again {
                found.push(Mojibake { range: piece.range, repaired: Some(piece.character.to_string()) });
            } else if piece.character == '\u{fffd}' {
                found.push(Mojibake { range: piece.range, repaired: None });
            }
        }
    }
    found
}

/// The text with every place repaired that can be, and how many those were.
///
/// Exact: reading each repaired place wrongly again gives the text that was there.
pub fn repair_mojibake(text: &str) -> (String, usize) {
    let places = mojibake(text, usize::MAX).into_iter();
    let edits: Vec<_> = places.filter_map(|place| Some((place.range, place.repaired?))).collect();
    let count = edits.len();
    (replace(text, edits), count)
}

/// Stretches of characters outside of ASCII: only there is anything to find.
fn stretches(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(start) = bytes[at..].iter().position(|byte| !byte.is_ascii()).map(|offset| at + offset) {
        let length = bytes[start..].iter().position(u8::is_ascii).unwrap_or(bytes.len() - start);
        found.push(start..start + length);
        at = start + length;
    }
    found
}

/// A character and the bytes that it was made of.
#[derive(Debug, Clone)]
struct Piece {
    character: char,
    range: Range<usize>,
    read_again: bool,
}

/// Reads a stretch again and again until nothing changes any more: each time undoes one wrong reading.
fn pieces(text: &str, stretch: Range<usize>) -> Vec<Piece> {
    let slice = &text[stretch.clone()];
    let mut pieces: Vec<Piece> = slice
        .char_indices()
        .map(|(at, character)| {
            let start = stretch.start + at;
            Piece { character, range: start..start + character.len_utf8(), read_again: false }
        })
        .collect();
    let before = text[..stretch.start].chars().next_back();
    let after = text[stretch.end..].chars().next();
    for _ in 0..MOST_READINGS {
        let (next, changed) = undo_one(&pieces, before, after);
        pieces = next;
        if !changed {
            break;
        }
    }
    pieces
}

fn undo_one(pieces: &[Piece], before: Option<char>, after: Option<char>) -> (Vec<Piece>, bool) {
    let mut out: Vec<Piece> = Vec::with_capacity(pieces.len());
    let (mut at, mut changed) = (0, false);
    while at < pieces.len() {
        let around = Around {
            previous: out.last().map(|piece| piece.character).or(before),
            after_place: out.last().is_some_and(|piece| piece.read_again),
            after,
        };
        match undo_at(&pieces[at..], &around) {
            Some((characters, taken)) => {
                // Each character of a word has its own bytes; all were of one length.
                let each = taken / characters.len();
                for (bytes, character) in pieces[at..at + taken].chunks(each).zip(characters) {
                    let range = bytes[0].range.start..bytes[each - 1].range.end;
                    out.push(Piece { character, range, read_again: true });
                }
                at += taken;
                changed = true;
            }
            None => {
                out.push(pieces[at].clone());
                at += 1;
            }
        }
    }
    (out, changed)
}

/// What stands before the pieces and after the stretch.
struct Around {
    previous: Option<char>,
    /// Whether what stands before was itself read wrongly.
    after_place: bool,
    after: Option<char>,
}

/// What the pieces were before they were read wrongly, and how many of them that takes.
fn undo_at(pieces: &[Piece], around: &Around) -> Option<(Vec<char>, usize)> {
    for table in [Table::Western, Table::MacRoman] {
        let Some((character, taken)) = decoded(pieces, table) else { continue };
        let next = pieces.get(taken).map(|piece| piece.character).or(around.after);
        let shown = Shown { last: pieces[taken - 1].character, previous: around.previous, next };
        // What was read twice shows the signs of the first reading, which are none that people write next to each other.
        let again = around.after_place && table == Table::Western && WINDOWS_1252.contains(&character);
        if again || table.alone(pieces[0].character, character, &shown) {
            return Some((vec![character], taken));
        }
        // Letters of another script come in words: two of them in a row are no accident.
        let Some(own) = script(character) else { continue };
        let mut characters = vec![character];
        let mut all = taken;
        while let Some((next, more)) = pieces.get(all..).and_then(|rest| decoded(rest, table)) {
            if more != taken || script(next) != Some(own) {
                break;
            }
            characters.push(next);
            all += more;
        }
        if characters.len() >= 2 {
            return Some((characters, all));
        }
    }
    None
}

/// Decodes one character of UTF-8 whose bytes are shown as these pieces.
fn decoded(pieces: &[Piece], table: Table) -> Option<(char, usize)> {
    let first = table.byte(pieces.first()?.character)?;
    let length = match first {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => return None,
    };
    let mut bytes = [first, 0, 0, 0];
    for (byte, piece) in bytes.iter_mut().zip(pieces.get(..length)?).skip(1) {
        *byte = table.byte(piece.character)?;
    }
    let character = std::str::from_utf8(&bytes[..length]).ok()?.chars().next()?;
    (!character.is_control() || ('\u{80}'..='\u{9f}').contains(&character)).then_some((character, length))
}

/// A one-byte encoding in which UTF-8 was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Table {
    /// Latin-1 and Windows-1252; mixtures of them occur.
    Western,
    MacRoman,
}

/// What stands around a possible place.
struct Shown {
    /// The last of its characters.
    last: char,
    previous: Option<char>,
    next: Option<char>,
}

impl Table {
    fn byte(self, character: char) -> Option<u8> {
        let shown = match self {
            Self::Western => {
                if ('\u{80}'..='\u{ff}').contains(&character) {
                    return u8::try_from(u32::from(character)).ok();
                }
                &*WINDOWS_1252
            }
            Self::MacRoman => &*MAC_ROMAN,
        };
        u8::try_from(0x80 + shown.iter().position(|known| *known == character)?).ok()
    }

    /// Whether a single place is certain: nobody writes these characters one after the other for themselves.
    fn alone(self, first: char, character: char, shown: &Shown) -> bool {
        let in_word = shown.next.is_some_and(char::is_alphabetic);
        let after_letter = shown.previous.is_some_and(char::is_alphabetic);
        match self {
            Self::Western => match first {
                'Â' | 'Ã' => ('\u{80}'..='\u{ff}').contains(&character),
                // Ä and Å are letters of their own; quotation marks and full stops may follow them.
                'Ä' | 'Å' => ('\u{100}'..='\u{17f}').contains(&character) && (in_word || !closes(shown.last)),
                'â' => symbol(character),
                'ð' => ('\u{1f000}'..='\u{1ffff}').contains(&character),
                'ï' => matches!(character, '\u{feff}' | '\u{fe0f}' | '\u{fffd}' | '\u{fb01}' | '\u{fb02}'),
                _ => false,
            },
            Self::MacRoman => match first {
                // A root of pi, of a sum or of infinity is mathematics, unless it stands in a word.
                '√' => {
                    ('\u{c0}'..='\u{ff}').contains(&character) && (!"π∞∑Ωµ∆∫".contains(shown.last) || after_letter)
                }
                // Not infinity, unless a unit follows: `10 ¬∞C` are degrees.
                '¬' => {
                    let degree = shown.last == '∞' && in_word;
                    ('\u{a0}'..='\u{bf}').contains(&character) && (degree || !"π∞∑Ωµ∆∫√¬".contains(shown.last))
                }
                '‚' => symbol(character),
                'ƒ' | '≈' => ('\u{100}'..='\u{17f}').contains(&character) && in_word && after_letter,
                '\u{f8ff}' => ('\u{1f000}'..='\u{1ffff}').contains(&character),
                _ => false,
            },
        }
    }
}

/// Punctuation that may follow a letter at the end of a word.
fn closes(character: char) -> bool {
    "“”’‘…–—›»™®°²³§©«‹\u{a0}".contains(character)
}

/// Dashes, quotation marks, arrows, signs of mathematics and boxes: what people write besides letters.
fn symbol(character: char) -> bool {
    ('\u{2000}'..='\u{2bff}').contains(&character) || ('\u{1e00}'..='\u{1eff}').contains(&character)
}

/// The script of a letter that two bytes or three show, other than Latin.
fn script(character: char) -> Option<u8> {
    match u32::from(character) {
        0x100..=0x17F => Some(0),
        0x370..=0x3FF => Some(1),
        0x400..=0x4FF => Some(2),
        0x5D0..=0x5EA => Some(3),
        0x620..=0x64A => Some(4),
        0x3040..=0x30FF | 0x4E00..=0x9FFF => Some(5),
        0xAC00..=0xD7A3 => Some(6),
        _ => None,
    }
}

#[cfg(test)]
#[path = "mojibake_test.rs"]
mod tests;
