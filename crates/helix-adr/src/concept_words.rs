//! Words of concepts: what is left of a heading without numbering, filler and endings, in one word for both languages.
//!
//! Must not know where the words stand. A word that is in no list stands for itself.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

/// English and German words of one meaning; the first of a row stands for all; one of two words becomes both of them.
const SYNONYMS: [&[&str]; 63] = [
    &["goal", "objective", "aim", "ziel", "zielsetzung"],
    &["nongoal", "nichtziel", "abgrenzung"],
    &["requirement", "anforderung"],
    &["overview", "summary", "überblick", "übersicht", "zusammenfassung"],
    &["background", "context", "hintergrund", "kontext", "ausgangslage"],
    &["problem", "problemstellung"],
    &["decision", "entscheidung"],
    &["solution", "lösung", "approach", "ansatz", "lösungsansatz"],
    &["architecture", "architektur"],
    &["design", "entwurf"],
    &["component", "komponente", "baustein"],
    &["module", "modul"],
    &["interface", "schnittstelle"],
    &["endpoint", "endpunkt"],
    &["data", "daten"],
    &["model", "modell"],
    &["data model", "datamodel", "datenmodell", "schema"],
    &["database", "datenbank"],
    &["storage", "speicher", "speicherung", "persistenz", "persistence"],
    &["error", "fehler"],
    &["handling", "behandlung"],
    &["error handling", "errorhandling", "fehlerbehandlung"],
    &["validation", "validierung", "prüfung"],
    &["security", "sicherheit"],
    &["authentication", "authentifizierung", "anmeldung", "login"],
    &["authorization", "autorisierung", "berechtigung", "permission"],
    &["privacy", "datenschutz"],
    &["performance", "leistung", "geschwindigkeit"],
    &["scaling", "scalability", "skalierung", "skalierbarkeit"],
    &["monitoring", "überwachung", "observability"],
    &["logging", "protokollierung"],
    &["configuration", "konfiguration", "setting", "einstellung"],
    &["deployment", "bereitstellung", "auslieferung", "rollout"],
    &["migration", "umstellung"],
    &["rollback", "rückbau", "rückfall"],
    &["test", "testing", "prüfen", "tests"],
    &["test strategy", "teststrategy", "teststrategie", "testkonzept", "testplan"],
    &["documentation", "dokumentation", "doku"],
    &["implementation", "implementierung", "umsetzung"],
    &["consequence", "konsequenz", "folge", "auswirkung", "impact"],
    &["risk", "risiko", "risiken"],
    &["alternative", "option", "variante"],
    &[
        "acceptance criterion",
        "acceptancecriterion",
        "akzeptanzkriterium",
        "akzeptanzkriterien",
        "abnahmekriterium",
        "abnahmekriterien",
    ],
    &["acceptance", "abnahme", "akzeptanz"],
    &["criterion", "criteria", "kriterium", "kriterien"],
    &["user", "benutzer", "nutzer", "anwender"],
    &["user interface", "userinterface", "benutzeroberfläche", "oberfläche", "ui"],
    &["workflow", "ablauf", "arbeitsablauf"],
    &["process", "prozess", "vorgang"],
    &["phase", "stage", "abschnitt"],
    &["plan", "planung"],
    &["schedule", "timeline", "zeitplan"],
    &["strategy", "strategie"],
    &["cost", "kosten"],
    &["import", "einlesen"],
    &["export", "ausgabe"],
    &["report", "bericht"],
    &["search", "suche"],
    &["notification", "benachrichtigung"],
    &["file", "datei", "dateien"],
    &["format", "dateiformat"],
    &["question", "frage"],
    &["dependency", "abhängigkeit"],
];

/// Words that say nothing by themselves.
const FILLER: [&str; 56] = [
    "a", "an", "the", "of", "and", "or", "for", "to", "in", "on", "with", "by", "from", "at", "as", "is", "are", "be",
    "it", "its", "this", "that", "how", "what", "why", "our", "we", "der", "die", "das", "des", "dem", "den", "ein",
    "eine", "einer", "eines", "und", "oder", "für", "zu", "zur", "zum", "im", "am", "mit", "von", "vom", "aus", "auf",
    "bei", "ist", "sind", "wie", "was", "als",
];

/// Headings that order a document and ask for nothing.
const STRUCTURAL: [&str; 24] = [
    "table of contents",
    "contents",
    "inhalt",
    "inhaltsverzeichnis",
    "references",
    "referenzen",
    "literatur",
    "quellen",
    "changelog",
    "änderungen",
    "history",
    "historie",
    "license",
    "lizenz",
    "links",
    "appendix",
    "anhang",
    "glossary",
    "glossar",
    "status",
    "see also",
    "siehe auch",
    "original record",
    "ursprüngliche angaben",
];

static CANONICAL: LazyLock<HashMap<String, &'static str>> = LazyLock::new(|| {
    let pairs = || SYNONYMS.iter().flat_map(|row| row.iter().map(|word| (*word, row[0])));
    // A word as it is listed counts more than another one's stem.
    let mut words: HashMap<String, &'static str> = pairs().map(|(word, first)| (stem(word), first)).collect();
    words.extend(pairs().map(|(word, first)| (word.to_owned(), first)));
    words
});

/// Whether a heading only orders its document.
pub(super) fn is_structural(heading: &str) -> bool {
    let plain = heading.trim_start_matches(|c: char| !c.is_alphabetic()).trim().trim_end_matches(':').to_lowercase();
    STRUCTURAL.contains(&plain.as_str())
}

/// The words of a text that carry meaning, each as the one word for both languages.
pub(super) fn terms(text: &str) -> BTreeSet<String> {
    let lower = text.to_lowercase();
    // `Non-goals` is the opposite of goals, so that it must not fall apart.
    let lower = lower.replace("non-goal", "nongoal").replace("nicht-ziel", "nichtziel");
    let words = lower.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    words
        .filter(|word| word.chars().any(char::is_alphabetic) && word.chars().count() > 1 && !FILLER.contains(word))
        .flat_map(canonical)
        .collect()
}

/// What stands for a word. Compounds of two known parts (`Fehlerbehandlung`, `error handling`) become both of them.
fn canonical(word: &str) -> Vec<String> {
    let stem = stem(word);
    match CANONICAL.get(word).or_else(|| CANONICAL.get(&stem)) {
        Some(known) => known.split(' ').map(str::to_owned).collect(),
        None => vec![stem],
    }
}

/// A word without the endings of plural and case. Crude, and the same for both sides of every comparison.
fn stem(word: &str) -> String {
    let lower = word.to_lowercase();
    let length = lower.chars().count();
    for ending in ["ungen", "innen", "ies", "ien", "en", "es", "er", "em", "e", "n", "s"] {
        let Some(rest) = lower.strip_suffix(ending) else { continue };
        if length - ending.len() < 4 {
            continue;
        }
        return match ending {
            "ungen" => format!("{rest}ung"),
            "ies" => format!("{rest}y"),
            _ => rest.to_owned(),
        };
    }
    lower
}

#[cfg(test)]
#[path = "concept_words_test.rs"]
mod tests;
