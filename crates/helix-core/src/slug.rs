//! People's words as names of files, directories and branches.
//!
//! Must not know what is named.

/// A text as a name: small ASCII letters and digits, words joined by `-`, umlauts and accents written out; at most `longest`
/// bytes. Empty when the text has nothing that such a name can hold, as in other scripts.
pub fn slug(text: &str, longest: usize) -> String {
    let mut slug = String::new();
    for character in text.chars().flat_map(char::to_lowercase) {
        if slug.len() >= longest {
            break;
        }
        match transliterated(character) {
            Some(text) => slug.push_str(text),
            None if character.is_ascii_alphanumeric() => slug.push(character),
            None if character == '\'' || character == '’' => {}
            None if !slug.is_empty() && !slug.ends_with('-') => slug.push('-'),
            None => {}
        }
    }
    slug.truncate(longest);
    slug.truncate(slug.trim_end_matches('-').len());
    slug
}

fn transliterated(character: char) -> Option<&'static str> {
    Some(match character {
        'ä' | 'æ' => "ae",
        'ö' | 'ø' | 'œ' => "oe",
        'ü' => "ue",
        'ß' => "ss",
        'à' | 'á' | 'â' | 'ã' | 'å' | 'ā' | 'ą' => "a",
        'ç' | 'ć' | 'č' => "c",
        'ď' | 'đ' => "d",
        'è' | 'é' | 'ê' | 'ë' | 'ē' | 'ę' | 'ě' => "e",
        'ì' | 'í' | 'î' | 'ï' | 'ī' | 'ı' => "i",
        'ł' => "l",
        'ñ' | 'ń' | 'ň' => "n",
        'ò' | 'ó' | 'ô' | 'õ' | 'ō' | 'ő' => "o",
        'ř' => "r",
        'ś' | 'š' | 'ş' => "s",
        'ť' | 'ţ' => "t",
        'ù' | 'ú' | 'û' | 'ū' | 'ů' | 'ű' => "u",
        'ý' | 'ÿ' => "y",
        'ź' | 'ż' | 'ž' => "z",
        _ => return None,
    })
}

#[cfg(test)]
#[path = "slug_test.rs"]
mod tests;
