//! One word for one meaning in both languages.

use super::*;

#[test]
fn both_languages_have_one_word() {
    for (english, german) in [
        ("Goals", "Ziele"),
        ("Error handling", "3. Fehlerbehandlung"),
        ("Security requirements", "Anforderungen an die Sicherheit"),
        ("Data model", "Datenmodell"),
        ("Risks", "Risiken"),
        ("Configuration", "Einstellungen"),
        ("Dependencies", "Abhängigkeiten"),
        ("Non-goals", "Nicht-Ziele"),
        ("Search in files", "Suche in Dateien"),
        ("Acceptance criteria", "Akzeptanzkriterien"),
    ] {
        let german: BTreeSet<String> = terms(german).into_iter().filter(|term| term != "an").collect();
        assert_eq!(terms(english), german, "{english}");
    }
    assert_ne!(terms("Goals"), terms("Non-goals"));
    assert!(terms("2.1 – der").is_empty());
}
