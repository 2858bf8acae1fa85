//! Texts that were read wrongly, and texts that only look so.

use super::*;

fn western(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            0x80..=0x9f => WINDOWS_1252[usize::from(byte) - 0x80],
            other => char::from(other),
        })
        .collect()
}

fn latin1(text: &str) -> String {
    text.bytes().map(char::from).collect()
}

fn mac(text: &str) -> String {
    text.bytes().map(|byte| if byte < 0x80 { char::from(byte) } else { MAC_ROMAN[usize::from(byte) - 0x80] }).collect()
}

#[test]
fn wrong_readings_are_found_and_right_ones_are_not() {
    for (text, signs) in [
        ("fÃ¼r", vec!["Ã¼"]),
        ("a â†’ b", vec!["â†’"]),
        ("f√ºr ‚Üí", vec!["√º", "‚Üí"]),
        ("Â§ 5", vec!["Â§"]),
        ("lost \u{fffd} letter", vec!["\u{fffd}"]),
    ] {
        let found: Vec<&str> = mojibake(text, 10).into_iter().map(|place| &text[place.range]).collect();
        assert_eq!(found, signs, "{text}");
    }
    assert_eq!(mojibake(&"Ã¤".repeat(100), 3).len(), 3);
}

#[test]
fn what_people_write_stays_as_it_is() {
    for text in [
        "für → ä ö ü ß Ä Ö Ü",
        "São Paulo, NÃO, Âmbar, Ângela",
        "√2 ≈ 1.4, √π, √∞, ¬π, ≈∞, ƒ°",
        "pâté, château, voilâ… élève »",
        "„quoted“ – dash… „Spaß“ „Maß“. „Ä“ „Å“, „Ö“; die Umlaute ‚Ä‘ und ‚Ü‘",
        "café…” «été» naïve» «à»",
        "Ελλάδα, Россия, 日本語, 한국어, עברית",
        "😀 ✅ ⚠️ ☕ 5 €, 10 °C, ½, ¿qué?, ©®™",
        "řčšžťďň ąęłńóśźż őű",
    ] {
        assert_eq!(mojibake(text, 10), [], "{text}");
        assert_eq!(repair_mojibake(text).0, text);
    }
}

/// Every wrong reading of a text of every kind is undone, also when it happened two or three times.
#[test]
fn what_was_read_wrongly_is_repaired_exactly() {
    let texts = [
        "für → ä ö ü ß Ä Ö Ü, – und „Anführung“ … 5 €",
        "Größe ≥ 3 ✓ ✅ 😀 ➜ │ ├── └──",
        "où être naïve, São, piñata, crème brûlée",
        "Россия, Ελλάδα, 日本語",
        "nur ein § und 10 °C",
    ];
    for text in texts {
        for (name, read) in [("cp1252", western as fn(&str) -> String), ("latin-1", latin1)] {
            let once = read(text);
            assert_eq!(repair_mojibake(&once).0, text, "{name}: {once}");
            assert_eq!(repair_mojibake(&read(&once)).0, text, "{name} twice");
            assert_eq!(repair_mojibake(&read(&read(&once))).0, text, "{name} three times");
        }
        let once = mac(text);
        assert_eq!(repair_mojibake(&once).0, text, "mac: {once}");
    }
    let mixed = format!("richtig: ä, falsch: {}, doppelt: {}", western("ü"), western(&western("ö")));
    assert_eq!(repair_mojibake(&mixed), ("richtig: ä, falsch: ü, doppelt: ö".to_owned(), 2));
    assert_eq!(repair_mojibake("lost \u{fffd}"), ("lost \u{fffd}".to_owned(), 0), "what is lost cannot be repaired");
}

/// The tables as Apple and Microsoft publish them.
#[test]
fn the_encodings_are_those_that_texts_were_read_in() {
    let windows = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ";
    let mac = "ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø¿¡¬√ƒ≈∆«»…\u{a0}ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄€‹›ﬁﬂ‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\u{f8ff}ÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇ";
    assert_eq!(WINDOWS_1252.iter().collect::<String>(), windows);
    assert_eq!(MAC_ROMAN.iter().collect::<String>(), mac);
}
