//! Recognises UTF-8 that was once read in a one-byte encoding, such as `Ã¤` for `ä` or `â†’` for `→`.
//!
//! Must not repair: whether the round trip is exact is another question.

use std::ops::Range;

/// Characters of Windows-1252 for the bytes 0x80 to 0x9F (0 where there is none).
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}', '‘', '’',
    '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// Signs of text in Mac OS Roman: what the first bytes of umlauts and arrows become there.
const MAC_ROMAN: [&str; 8] = ["√§", "√∂", "√º", "√Ñ", "√ñ", "√ú", "√ü", "‚Üí"];

/// Finds the places, in the order of the text; at most `most` of them.
pub fn mojibake(text: &str, most: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut rest = text.char_indices().peekable();
    while let Some((at, character)) = rest.next() {
        if found.len() == most {
            break;
        }
        let tail = &text[at..];
        if let Some(sign) = MAC_ROMAN.iter().find(|sign| tail.starts_with(**sign)) {
            found.push(at..at + sign.len());
            continue;
        }
        // A byte that begins a character of two or three bytes, followed by as many that continue one.
        let needed = match character {
            'Ã' | 'Â' => 1,
            'â' => 2,
            _ => continue,
        };
        let mut next = tail.chars().skip(1);
        let bytes: Vec<u8> = next.by_ref().take(needed).map_while(continuation).collect();
        if bytes.len() == needed {
            let end = at + tail.chars().take(needed + 1).map(char::len_utf8).sum::<usize>();
            found.push(at..end);
            while rest.peek().is_some_and(|(next, _)| *next < end) {
                rest.next();
            }
        }
    }
    found
}

/// The byte 0x80 to 0xBF that a one-byte encoding shows as this character.
fn continuation(character: char) -> Option<u8> {
    if ('\u{80}'..='\u{bf}').contains(&character) {
        return u8::try_from(u32::from(character)).ok();
    }
    let place = WINDOWS_1252.iter().position(|known| *known == character)?;
    u8::try_from(0x80 + place).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_readings_are_found_and_right_ones_are_not() {
        for (text, signs) in
            [("fÃ¼r", vec!["Ã¼"]), ("a â†’ b", vec!["â†’"]), ("f√ºr ‚Üí", vec!["√º", "‚Üí"]), ("Â§ 5", vec!["Â§"])]
        {
            let found: Vec<&str> = mojibake(text, 10).into_iter().map(|range| &text[range]).collect();
            assert_eq!(found, signs, "{text}");
        }
        for text in ["für → ä ö ü ß", "São Paulo, NÃO, Âmbar", "√2 ≈ 1.4", "pâté, château", "„quoted“ – dash…"]
        {
            assert!(mojibake(text, 10).is_empty(), "{text}");
        }
        assert_eq!(mojibake(&"Ã¤".repeat(100), 3).len(), 3);
    }
}
