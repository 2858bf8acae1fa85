//! Whose a session is, what its agent remembers, and answers that were finished while nobody read them.

use futures::StreamExt;
use helix_engine::consultant::{Enforcement, Validator};
use helix_server::ServerConfig;
use serde_json::{Value, json};

use super::{ask, ids, messages, option, send, session};
use crate::host::{Host, signals};

/// A chat client's suggestions have everybody begin with the same words, and everybody behind it has the same key.
#[tokio::test]
async fn whoever_begins_with_the_same_words_has_a_session_of_their_own() {
    let host = Host::with_agent(ServerConfig::default()).await;
    let hi = "hi [[fake: say A]]";
    let (one, other) = (ask(&host, &[], messages(&[hi])).await, ask(&host, &[], messages(&[hi])).await);
    assert_ne!(one.session, other.session);
    // Two have said this: neither is given to somebody who may be the other one. What the client tells is what is known.
    let third = ask(&host, &[], messages(&[hi, "A", "and? [[fake: say B]]"])).await;
    assert!(![&one.session, &other.session].contains(&&third.session));
    let (args, stdin) = host.asked(&third.run());
    assert_eq!(option(&args, "--resume"), None);
    assert!(stdin.contains("[consultant]\\nA"), "{stdin}");
    // From then on, the chat goes on in the one that was opened in its middle.
    let mut texts = vec![hi, "A", "and? [[fake: say B]]", "B", "so? [[fake: say C]]"];
    let fourth = ask(&host, &[], messages(&texts)).await;
    assert_eq!(fourth.session, third.session);
    assert_eq!(option(&host.asked(&fourth.run()).0, "--resume"), option(&args, "--session-id"));
    texts.extend(["C", "then? [[fake: say D]]"]);
    assert_eq!(ask(&host, &[], messages(&texts)).await.session, third.session);
    let others = [hi, "A", "and? [[fake: say B]]", "No.", "so? [[fake: say C]]"];
    assert_ne!(ask(&host, &[], messages(&others)).await.session, third.session, "what another one said proves nothing");
    // Its own answers prove it, all of them; the half of one, where the client stopped reading, only among those of the same person or
    // temporary chat: another one's may begin alike.
    let ho = "ho [[fake: say A whole answer.]]";
    for (headers, is_own) in
        [(vec![], false), (vec![("x-openwebui-user-id", "cid")], true), (vec![("x-chat", "temporary:t")], true)]
    {
        let own = ask(&host, &headers, messages(&[ho])).await;
        let half = ask(&host, &headers, messages(&[ho, "A whole", "so? [[fake: say C]]"])).await;
        assert_eq!(half.session == own.session, is_own, "{headers:?}");
        if !is_own {
            let (args, stdin) = host.asked(&half.run());
            assert!(option(&args, "--resume").is_none() && stdin.contains("[consultant]\\nA whole"), "{stdin}");
        }
        let next = ask(&host, &headers, messages(&[ho, "A whole answer.", "so? [[fake: say C]]"])).await;
        assert_eq!(next.session, own.session, "{headers:?}");
        for changed in [["Something else.", "C"], ["A whole answer.", "D"], ["A whole", "C"]] {
            let tell = [ho, changed[0], "so? [[fake: say C]]", changed[1], "now? [[fake: say E]]"];
            let told = ask(&host, &headers, messages(&tell)).await;
            assert!(is_own || told.session != own.session, "{headers:?} {changed:?}");
        }
        let tell = [ho, "Something else.", "so? [[fake: say C]]"];
        assert_ne!(ask(&host, &headers, messages(&tell)).await.session, own.session);
    }

    // With the users forwarded, nobody reaches another one's session by its names either.
    let as_user = |user: &'static str| [("x-openwebui-user-id", user), ("x-chat", "c"), ("x-message", user)];
    let (ann, bob) = (as_user("ann"), as_user("bob"));
    let (of_ann, of_bob) = (ask(&host, &ann, messages(&[hi])).await, ask(&host, &bob, messages(&[hi])).await);
    assert_ne!(of_ann.session, of_bob.session);
    let by_id = |user: &'static str| [("x-openwebui-user-id", user), ("x-helix-session", of_ann.session.as_str())];
    assert_eq!(send(&host, &by_id("bob"), messages(&[hi]), false).await.status(), 404);
    assert_eq!(send(&host, &by_id("ann"), messages(&[hi]), false).await.status(), 200);
    host.stop().await;
}

/// Who deletes a message in the middle wants it forgotten, though the answer before the new message is still the same.
#[tokio::test]
async fn a_deleted_message_is_not_in_the_agents_memory_any_more() {
    let host = Host::with_agent(ServerConfig::default()).await;
    let texts = ["a [[fake: say A]]", "A", "b [[fake: say Secret.]]", "Secret.", "c [[fake: say C]]", "C"];
    ask(&host, &ids("c", "m1", ""), messages(&texts[..1])).await;
    ask(&host, &ids("c", "m2", "m1"), messages(&texts[..3])).await;
    ask(&host, &ids("c", "m3", "m2"), messages(&texts[..5])).await;
    let mut kept = [&texts[..2], &texts[4..], &["d [[fake: say D]]"]].concat();
    let after = ask(&host, &ids("c", "m4", "m3"), messages(&kept)).await;
    let (args, stdin) = host.asked(&after.run());
    assert_eq!(option(&args, "--resume"), None, "{args:?}");
    assert!(stdin.contains("[consultant]\\nC") && !stdin.contains("Secret"), "{stdin}");
    // From then on, it goes on as ever.
    kept.extend(["D", "e [[fake: say E]]"]);
    let next = ask(&host, &ids("c", "m5", "m4"), messages(&kept)).await;
    assert_eq!(option(&host.asked(&next.run()).0, "--resume"), option(&args, "--session-id"));
    kept.extend(["E", "f [[fake: say F]]"]);
    kept.drain(..2);
    let last = ask(&host, &ids("c", "m6", "m5"), messages(&kept)).await;
    assert_eq!(option(&host.asked(&last.run()).0, "--resume"), None, "what was told of the time before counts, too");
    host.stop().await;
}

/// Has an agent say something, wait until a file is there, and say the rest.
fn in_two_parts(path: &std::path::Path) -> String {
    let wait = format!("run while [ ! -e {} ]; do sleep 0.02; done", path.display());
    format!("[[fake: text Hm.]] [[fake: {wait}]] [[fake: say Done.]]")
}

/// Waits for the end of the first turn. Sessions have no stream of events: looking is the only way to learn of it.
async fn first_end(host: &Host) -> Value {
    loop {
        let list: Value = host.get("/api/v1/sessions").send().await.unwrap().json().await.unwrap();
        let end = session(host, list["sessions"][0]["id"].as_str().unwrap()).await["turns"][0]["end"].clone();
        if end.is_object() {
            return end;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn an_answer_that_was_finished_while_helix_was_away_is_given_to_whoever_asks_next() {
    for same in [true, false] {
        let host = Host::with_agent(ServerConfig::default()).await;
        let gate = signals();
        let order = in_two_parts(&gate.path().join("go"));
        let mut headers = ids("c", "m1", "").to_vec();
        headers.push(("x-helix-client", "openwebui"));
        let mut bytes = send(&host, &headers, messages(&[&order]), true).await.bytes_stream();
        let mut seen = String::new();
        while !seen.contains("Hm.") {
            seen.push_str(std::str::from_utf8(&bytes.next().await.unwrap().unwrap()).unwrap());
        }
        let host = host.restart(ServerConfig::default()).await;
        while let Some(Ok(piece)) = bytes.next().await {
            seen.push_str(std::str::from_utf8(&piece).unwrap());
        }
        assert!(seen.contains("the agent goes on") && !seen.contains("Stopped with an error"), "{seen}");
        std::fs::write(gate.path().join("go"), "").unwrap();
        assert_eq!(first_end(&host).await["delivery"], "undelivered");
        if same {
            // "Try Again" names another answer: the one that is there is given, once.
            let again = ask(&host, &ids("c", "m2", ""), messages(&[&order])).await;
            assert!(again.text.contains("Done."), "{}", again.text);
            let end = &session(&host, &again.session).await["turns"][1]["end"];
            assert_eq!((&end["runs"], &end["usage"]["output_tokens"]), (&json!(0), &json!(0)), "{end:#}");
            let other = ask(&host, &ids("c", "m3", ""), messages(&[&order])).await;
            assert_eq!(session(&host, &other.session).await["turns"][2]["end"]["runs"], 1, "another answer");
            let next = ask(&host, &ids("c", "m4", "m2"), messages(&[&order, &again.text, "so? [[fake: say E]]"])).await;
            assert_eq!((next.text.as_str(), &next.session), ("E", &again.session));
            assert!(option(&host.asked(&next.run()).0, "--resume").is_some());
        } else {
            let next = ask(&host, &ids("c", "m2", "m1"), messages(&[&order, "Hm.", "so? [[fake: say Next.]]"])).await;
            assert!(
                next.text.starts_with("> [!NOTE]\n> **Helix:** The answer to your earlier message"),
                "{}",
                next.text
            );
            assert!(next.text.contains("> Hm.\n") && next.text.contains("> Done.\n\nNext."), "{}", next.text);
            // Once, and the agent never reads it as its own words.
            let texts = [order.as_str(), "Hm.", "so? [[fake: say Next.]]", &next.text, "and? [[fake: say E]]"];
            let last = ask(&host, &ids("c", "m3", "m2"), messages(&texts)).await;
            let (args, stdin) = host.asked(&last.run());
            assert!(last.text == "E" && option(&args, "--resume").is_some(), "{} {args:?}", last.text);
            assert!(!stdin.contains("edited"), "{stdin}");
        }
        host.stop().await;
    }
}

/// "Continue" after a connection that broke: the rest is there.
#[tokio::test]
async fn to_continue_an_answer_that_was_cut_off_on_its_way_gives_the_rest_of_it() {
    for is_over in [true, false] {
        let host = Host::with_agent(ServerConfig::default()).await;
        let gate = signals();
        let order = in_two_parts(&gate.path().join("go"));
        broken_off(&host, &order).await;
        if is_over {
            std::fs::write(gate.path().join("go"), "").unwrap();
            first_end(&host).await;
        }
        let more = messages(&[&order, "Hm."]);
        let same = ids("c", "m1", "");
        let (rest, ()) = tokio::join!(ask(&host, &same, more.clone()), async {
            if !is_over {
                // Time for the request to be there.
                tokio::time::sleep(std::time::Duration::from_millis(300)).await;
                std::fs::write(gate.path().join("go"), "").unwrap();
            }
        });
        assert_eq!(rest.text.trim(), "Done.", "is over: {is_over}");
        let view = session(&host, &rest.session).await;
        assert_eq!(view["turns"][0]["end"]["facts"]["stopped"], Value::Null, "{view:#}");
        assert_eq!(view["turns"][1]["end"]["runs"], 0, "no agent was asked: {view:#}");
        // The same again, whose answer may have been lost, too.
        assert_eq!(ask(&host, &ids("c", "m1", ""), more).await.text.trim(), "Done.");
        let shown = format!("Hm.{}", rest.text);
        let next = ask(&host, &ids("c", "m2", "m1"), messages(&[&order, &shown, "so? [[fake: say E]]"])).await;
        let (args, stdin) = host.asked(&next.run());
        assert_eq!(next.text, "E");
        assert!(option(&args, "--resume").is_some() && !stdin.contains("edited"), "{stdin}");
        host.stop().await;
    }
}

/// Every answer has to have a marker, and the agent is not asked again.
fn strict(engine: &mut helix_engine::EngineConfig) {
    let validators = vec![Validator::StepMarker];
    engine.consultant.enforcement = Enforcement { validators, own: Vec::new(), retries: 0 };
}

/// Nobody has read the caution below it either.
#[tokio::test]
async fn an_unread_answer_that_did_not_pass_its_checks_is_not_given_as_a_good_one() {
    let caution = "This answer did not pass its checks;";
    for same in [true, false] {
        let host = Host::with_engine(ServerConfig::default(), strict).await;
        let gate = signals();
        let order = in_two_parts(&gate.path().join("go"));
        let mut bytes = send(&host, &ids("c", "m1", ""), messages(&[&order]), true).await.bytes_stream();
        let mut seen = String::new();
        while !seen.contains("Hm.") {
            seen.push_str(std::str::from_utf8(&bytes.next().await.unwrap().unwrap()).unwrap());
        }
        let host = host.restart_with(ServerConfig::default(), strict).await;
        std::fs::write(gate.path().join("go"), "").unwrap();
        assert_eq!(first_end(&host).await["delivery"], "undelivered");
        if same {
            // Also the record of the turn that gives it knows, and so does whoever asks for that one again.
            for _ in 0..2 {
                let again = ask(&host, &ids("c", "m2", ""), messages(&[&order])).await;
                assert!(again.text.contains("Done.") && again.text.contains(caution), "{}", again.text);
                let turn = &session(&host, &again.session).await["turns"][1];
                assert_eq!(turn["end"]["unfixed"][0]["validator"], "step_marker", "{turn:#}");
            }
        } else {
            let next = ask(&host, &ids("c", "m2", "m1"), messages(&[&order, "Hm.", "so? [[fake: say Next.]]"])).await;
            let (unheard, own) = next.text.split_once("Next.").unwrap();
            assert!(unheard.contains("> Done.\n\n> [!CAUTION]") && unheard.contains(caution), "{}", next.text);
            assert_eq!(own.matches(caution).count(), 1, "{}", next.text);
        }
        host.stop().await;
    }
}

/// The connection broke between the answer and the caution below it; a later host recorded that in the user's language.
#[tokio::test]
async fn a_caution_that_did_not_reach_its_reader_is_told_in_their_language() {
    let host = Host::with_engine(ServerConfig::default(), strict).await;
    let gate = signals();
    let order = format!("Bitte sag mir, was das ist. {}", in_two_parts(&gate.path().join("go")));
    let mut bytes = send(&host, &ids("c", "m1", ""), messages(&[&order]), true).await.bytes_stream();
    let mut seen = String::new();
    while !seen.contains("Hm.") {
        seen.push_str(std::str::from_utf8(&bytes.next().await.unwrap().unwrap()).unwrap());
    }
    let host = host.restart_with(ServerConfig::default(), strict).await;
    std::fs::write(gate.path().join("go"), "").unwrap();
    let end = first_end(&host).await;
    let note = end["note"].as_str().unwrap();
    assert!(note.contains("Diese Antwort hat ihre Prüfungen nicht bestanden"), "{end:#}");
    let shown = end["shown"].as_str().or(end["answer"].as_str()).unwrap();
    let next = ask(&host, &ids("c", "m2", "m1"), messages(&[&order, shown, "so? [[fake: say Next.]]"])).await;
    let (before, _) = next.text.split_once("Next.").unwrap();
    let whose = format!("Dieser Hinweis zur Antwort auf deine frühere Nachricht „{}", &order[..20]);
    let (whose_answer, caution) = before.split_once("erreicht:\n\n").unwrap();
    assert!(whose_answer.contains(&whose), "{before}");
    assert_eq!(caution.trim(), note.trim(), "the caution alone");
    let whole = format!("{shown}\n\n{note}");
    let next = ask(&host, &ids("c", "m3", "m1"), messages(&[&order, &whole, "and? [[fake: say Last.]]"])).await;
    assert!(next.text.starts_with("Last."), "{}", next.text);
    host.stop().await;
}

/// What Helix and the client put around the user's words is English, whatever the user writes.
#[tokio::test]
async fn the_language_is_that_of_the_users_own_words() {
    let host = Host::with_agent(ServerConfig::default()).await;
    let german = "### Task:\nRespond to the user query using the provided context, and what the user has said before.\n\
        <context>\n</context>\n\nBitte sag mir, was das ist. [[fake: say Eins.]]";
    let first = ask(&host, &[], messages(&[german])).await;
    let session = [("x-helix-session", first.session.as_str()), ("x-helix-client", "openwebui")];
    let more = ask(&host, &session, messages(&[german, "Eins."])).await;
    assert_eq!(more.session, first.session);
    let answer = send(&host, &session, messages(&["ok [[fake: overloaded]]"]), true).await.text().await.unwrap();
    assert!(answer.contains("Der Anbieter "), "{answer}");
    host.stop().await;
}

/// Nor any other caution: one that says what could not be checked.
#[tokio::test]
async fn an_unread_answer_that_could_not_be_checked_is_not_given_as_a_good_one() {
    use helix_engine::consultant::{Enforcement, OwnValidator};
    let broken = |engine: &mut helix_engine::EngineConfig| {
        let command = vec!["/nonexistent/check".to_owned()];
        let own = vec![OwnValidator { name: "links".into(), command, timeout: OwnValidator::TIMEOUT }];
        engine.consultant.enforcement = Enforcement { validators: Vec::new(), own, retries: 0 };
    };
    let host = Host::with_engine(ServerConfig::default(), broken).await;
    let gate = signals();
    let order = in_two_parts(&gate.path().join("go"));
    broken_off(&host, &order).await;
    std::fs::write(gate.path().join("go"), "").unwrap();
    assert_eq!(first_end(&host).await["delivery"], "undelivered");
    let again = ask(&host, &ids("c", "m2", ""), messages(&[&order])).await;
    assert!(again.text.contains("Done.") && again.text.contains("could not be made"), "{}", again.text);
    host.stop().await;
}

/// A broken connection is no Stop: nobody closed it.
#[tokio::test]
async fn a_turn_whose_connection_breaks_goes_on_and_is_told_of_later() {
    let host = Host::with_agent(ServerConfig::default()).await;
    let gate = signals();
    let order = in_two_parts(&gate.path().join("go"));
    broken_off(&host, &order).await;
    tokio::time::sleep(std::time::Duration::from_millis(800)).await;
    std::fs::write(gate.path().join("go"), "").unwrap();
    let end = first_end(&host).await;
    assert_eq!((&end["facts"]["stopped"], &end["delivery"]), (&Value::Null, &json!("undelivered")), "{end:#}");
    let next = ask(&host, &ids("c", "m2", "m1"), messages(&[&order, "Hm.", "so? [[fake: say Next.]]"])).await;
    assert!(next.text.contains("> Done.\n\nNext."), "{}", next.text);
    host.stop().await;
}

/// Sends a first message, reads the beginning of the answer, and loses the connection.
async fn broken_off(host: &Host, order: &str) {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let body = json!({ "model": "helix", "stream": true, "messages": messages(&[order]) }).to_string();
    let address = host.url.strip_prefix("http://").unwrap().to_owned();
    let mut socket = tokio::net::TcpStream::connect(&address).await.unwrap();
    let request = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {}\r\nx-chat: c\r\nx-message: m1\r\n\
         x-parent: \r\nx-helix-client: openwebui\r\ncontent-length: {}\r\n\r\n{body}",
        crate::host::TOKEN,
        body.len()
    );
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut seen = Vec::new();
    while !String::from_utf8_lossy(&seen).contains("Hm.") {
        assert!(socket.read_buf(&mut seen).await.unwrap() > 0, "{}", String::from_utf8_lossy(&seen));
    }
    // Without waiting for anything that is not sent: a reset.
    socket.set_zero_linger().unwrap();
    drop(socket);
}

/// Open WebUI sends an attached text with each message: the agent is told of it once.
#[tokio::test]
async fn an_attached_text_is_a_file_that_is_named_once() {
    let host = Host::with_agent(ServerConfig::default()).await;
    let wrapped = |words: &str| {
        format!(
            "### Task:\nRespond to the user query using the provided context\n<context>\n<source id=\"1\" name=\"notes.txt\" \
             resource-type=\"file\" resource-id=\"1a6a\">SECRET-CODE 4711\n</source>\n</context>\n\n{words}"
        )
    };
    let first = "first [[fake: say A]]";
    let one = ask(&host, &ids("c", "m1", ""), messages(&[&wrapped(first)])).await;
    let two = ask(&host, &ids("c", "m2", "m1"), messages(&[first, "A", &wrapped("and? [[fake: say B]]")])).await;
    let ((_, told), (args, again)) = (host.asked(&one.run()), host.asked(&two.run()));
    assert!(told.contains("notes.txt") && !told.contains("4711"), "{told}");
    assert!(option(&args, "--resume").is_some() && !again.contains("notes.txt"), "{again}");
    let view = session(&host, &one.session).await;
    let paths = [0, 1].map(|turn| view["turns"][turn]["attachments"][0]["path"].as_str().unwrap().to_owned());
    assert_eq!(paths[0], paths[1], "kept once");
    let kept = std::fs::read_to_string(format!("{}/{}", view["directory"].as_str().unwrap(), paths[0])).unwrap();
    assert_eq!(kept, "SECRET-CODE 4711\n");
    host.stop().await;
}
