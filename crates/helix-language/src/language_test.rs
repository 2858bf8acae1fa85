use super::*;

#[test]
fn the_commonest_words_tell_a_language_and_nothing_else_does() {
    for (text, language) in [
        ("Bau mir bitte einen Taschenrechner", Some(Language::German)),
        ("Ich möchte die Konten in Cent führen", Some(Language::German)),
        ("Wie weit ist es?", Some(Language::German)),
        ("Was wurde geändert? Zeig es mir.", Some(Language::German)),
        ("ja, mach das", Some(Language::German)),
        ("Erstelle ein Kommandozeilenprogramm, das CSV-Dateien zusammenführt", Some(Language::German)),
        ("Please build me a calculator", Some(Language::English)),
        ("What could go wrong with this plan?", Some(Language::English)),
        ("add a CSV export to the report page", Some(Language::English)),
        ("Why did it fail?", Some(Language::English)),
        ("ok", None),
        ("", None),
        ("42 + 3", None),
        ("https://example.com/the/and/with", None),
        (
            "Der Fehler kommt hier:\n```\nfor this in that: print('the and you with')\n```\nwarum?",
            Some(Language::German),
        ),
        ("```\nfor this in that\n```", None),
    ] {
        assert_eq!(Language::of_text(text), language, "{text}");
    }
    let newest_first = ["ok", "weiter bitte", "please start"];
    assert_eq!(Language::of_texts(newest_first), Some(Language::German), "the newest that tells");
    assert_eq!(Language::of_texts(["ok", "1"]), None);
    let long = std::iter::repeat_n("ok", MOST_MESSAGES).chain(["please start"]);
    assert_eq!(Language::of_texts(long), None, "a long conversation is not read to its beginning");
}

#[test]
fn a_locale_names_a_language_by_the_usual_variables() {
    let of = |set: &[(&str, &str)]| {
        Language::of_locale(|name| set.iter().find(|(set, _)| *set == name).map(|(_, value)| (*value).to_owned()))
    };
    assert_eq!(of(&[("LANG", "de_DE.UTF-8")]), Language::German);
    assert_eq!(of(&[("LANG", "de")]), Language::German);
    assert_eq!(of(&[("LANG", "de_AT@euro")]), Language::German);
    assert_eq!(of(&[("LC_MESSAGES", "C"), ("LANG", "de_DE.UTF-8")]), Language::English);
    assert_eq!(of(&[("LC_ALL", "de_DE.UTF-8"), ("LC_MESSAGES", "C"), ("LANG", "en_US.UTF-8")]), Language::German);
    assert_eq!(of(&[("LC_ALL", ""), ("LANG", "de_CH.UTF-8")]), Language::German);
    for english in ["C", "POSIX", "C.UTF-8", "en_GB.UTF-8", "fr_FR.UTF-8", "den_XX", ""] {
        assert_eq!(of(&[("LANG", english)]), Language::English, "{english}");
    }
    assert_eq!(of(&[]), Language::English);
}

#[test]
fn figures_and_times_are_written_as_people_of_the_language_write_them() {
    assert_eq!(Language::English.money(0.04), "$0.0400");
    assert_eq!(Language::German.money(1.5), "1,50 $");
    assert_eq!(Language::English.cents(0.04), "$0.04");
    assert_eq!(Language::German.cents(0.04), "0,04 $");
    assert_eq!(Language::German.cents(0.004), "0,0040 $");
    assert_eq!(Language::German.duration(0.42), "0,4 s");
    assert_eq!(Language::German.duration(185.0), "3 min 05 s");

    let zone = TimeZone::fixed(jiff::tz::offset(1));
    let now = "2026-11-22T12:00:00Z".parse().unwrap();
    let of = |language: Language, at: &str| language.time(at.parse().unwrap(), now, &zone);
    for (at, english, german) in [
        ("2026-11-22T14:18:31Z", "in 2 h, at 15:18", "in 2 Stunden, um 15:18 Uhr"),
        ("2026-11-22T13:59:58Z", "in 2 h, at 14:59", "in 2 Stunden, um 14:59 Uhr"),
        ("2026-11-22T12:20:00Z", "in 20 min, at 13:20", "in 20 Minuten, um 13:20 Uhr"),
        ("2026-11-22T23:30:00Z", "in 11 h, on 2026-11-23 at 00:30", "in 11 Stunden, am 23.11.2026 um 00:30 Uhr"),
        ("2026-11-26T12:00:00Z", "in 4 days, on 2026-11-26 at 13:00", "in 4 Tagen, am 26.11.2026 um 13:00 Uhr"),
        ("2026-11-22T11:00:00Z", "at 12:00", "um 12:00 Uhr"),
    ] {
        assert_eq!(of(Language::English, at), english);
        assert_eq!(of(Language::German, at), german);
    }
    assert_eq!(Language::German.date("2026-11-22T11:00:00Z".parse().unwrap(), zone), "22.11.2026 12:00");
}

#[test]
fn values_stand_in_messages_as_they_are() {
    let name = "{ $id } \u{2068}x\u{2069} -> [one]";
    let said = say!(Language::German, "term-question", id = "j1", phase = "p", job = name);
    assert_eq!(said, format!("j1, Phase p von {name}"));
    let view = problem!(Language::German, "answer-limited");
    assert_eq!(view.hint.unwrap(), "sende die Nachricht in ein paar Minuten noch einmal");
    assert_eq!(problem!(Language::English, "run-completed").hint, None);
    assert_eq!(say!(Language::German, "chat-queued", ahead = 1), "Wartet auf eine frühere Nachricht dieses Chats");
    assert_eq!(say!(Language::German, "chat-queued", ahead = 2), "Wartet auf 2 frühere Nachrichten dieses Chats");
}

#[test]
fn a_message_without_a_remedy_leaves_nothing_to_do_in_any_language() {
    let of = |name: &str| ErrorView::of_words(Words::message(name, []), Words::message(&format!("{name}.hint"), []));
    let (cancelled, lost) = (of("run-cancelled"), of("run-lost"));
    assert_eq!((cancelled.hint.as_deref(), cancelled.said_in(Language::German).hint), (None, None));
    assert!(cancelled.hint_words().is_empty(), "an empty remedy would be announced");
    assert_eq!(RECORD.words(&lost.hint_words()), lost.hint.unwrap());
}

#[test]
fn a_recorded_time_is_the_same_everywhere_and_read_by_the_readers_clock() {
    let at: Timestamp = "2026-05-20T12:00:00Z".parse().unwrap();
    let words = recorded!("run-limited-until", at = at);
    assert_eq!(RECORD.words(&words), "the provider's limit is reached until 2026-05-20T12:00:00Z");
    assert!(Language::German.words(&words).contains(&Language::German.local(at)), "{}", Language::German.words(&words));
}

#[test]
fn moments_are_told_by_their_distance() {
    let now: Timestamp = "2026-05-20T12:00:00Z".parse().unwrap();
    let told = [30, 120, 7_200, 172_800, 31 * 86_400]
        .map(|seconds| Language::English.ago(now - jiff::SignedDuration::from_secs(seconds), now));
    assert_eq!(told[..4], ["just now", "2 min ago", "2 h ago", "2 days ago"]);
    assert!(told[4].starts_with("2026-04-"), "{told:?}");
    let german = Language::German.ago(now - jiff::SignedDuration::from_hours(31 * 24), now);
    assert!(german.starts_with("am ") && german.ends_with(".04.2026"), "{german}");
}

#[test]
fn recorded_figures_have_the_decimal_mark_of_who_reads_them() {
    let spent = recorded!("spent-budget", budget = Words::decimal("2"), spent = Words::decimal("2.5312"));
    assert_eq!(RECORD.words(&spent), "budget of 2 USD is used up (2.5312 USD spent)");
    assert_eq!(Language::German.words(&spent), "Budget von 2 USD verbraucht (2,5312 USD ausgegeben)");
}

#[test]
fn one_is_told_as_one() {
    let skipped = |before: u32| recorded!("gate-tests-skipped", before = before, since = "job", now = before + 1);
    assert_eq!(RECORD.words(&skipped(0)), "no test was skipped before the job, 1 is now");
    assert_eq!(RECORD.words(&skipped(1)), "1 test was skipped before the job, 2 are now");
    assert_eq!(Language::German.words(&skipped(0)), "vor dem Job wurde kein Test ausgelassen, jetzt 1");
    assert_eq!(Language::German.words(&skipped(2)), "vor dem Job wurden 2 Tests ausgelassen, jetzt 3");
}
