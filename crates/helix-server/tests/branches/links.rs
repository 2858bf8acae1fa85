//! Links of answers to files: they open in a browser, whoever shows the answer, and the agent never sees what became of them.

use std::os::unix::fs::symlink;

use helix_core::ids::SessionId;
use helix_core::secrets::Secret;
use helix_engine::tools::{Caller, Tools};
use helix_server::ServerConfig;
use serde_json::{Value, json};

use super::{ask, ids, messages, option, send, session};
use crate::host::Host;

const SAID: &str = "See [note](note.md \"The note\"), ![p](p.PNG), [top](./note.md#top) and [web](https://example.com/note.md).\n\n\
     ```md\n[note](note.md)\n```\n\n`[note](note.md)` [env](.env) [none](none.md) [link](link.md) [up](../judged.json) [dir](docs)";

/// The addresses of Helix in a text.
fn addresses(text: &str) -> Vec<&str> {
    text.split(['(', ')', ' ']).filter(|part| part.contains("/helix/files/")).collect()
}

/// A session with files in its directory; its session and that directory.
async fn with_files(host: &Host) -> (String, std::path::PathBuf) {
    let first = ask(host, &ids("c", "m1", ""), messages(&["hi [[fake: say Hi.]]"])).await;
    let directory = session(host, &first.session).await["directory"].as_str().unwrap().to_owned();
    let directory = std::path::PathBuf::from(directory);
    for (name, content) in
        [("note.md", "<b>kept</b>\n"), ("p.PNG", "\u{89}PNG"), (".env", "SECRET=1"), ("other.md", "x")]
    {
        std::fs::write(directory.join(name), content).unwrap();
    }
    std::fs::create_dir(directory.join("docs")).unwrap();
    symlink("/etc/hostname", directory.join("link.md")).unwrap();
    (first.session, directory)
}

#[tokio::test]
async fn links_to_files_open_in_a_browser_and_the_agent_keeps_its_own_words() {
    let host = Host::with_agent(ServerConfig::default()).await;
    let (id, directory) = with_files(&host).await;
    let order = format!("so? [[fake: say {SAID}]]");
    let second = ["hi [[fake: say Hi.]]", "Hi.", &order];
    let whole = ask(&host, &ids("c", "m2", "m1"), messages(&second)).await;
    let streamed = send(&host, &ids("c", "m3", "m1"), messages(&second), true).await.text().await.unwrap();
    let content: String = streamed
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data: ")?).ok())
        .filter_map(|frame| Some(frame.pointer("/choices/0/delta/content")?.as_str()?.to_owned()))
        .collect();
    assert_eq!(content, whole.text, "both forms say the same");
    let found = addresses(&whole.text);
    assert_eq!(found.len(), 3, "{}", whole.text);
    assert!(found.iter().all(|one| one.starts_with(&format!("{}/helix/files/", host.url))), "{found:?}");
    let kept = whole.text.replace(found[0], "note.md").replace(found[1], "p.PNG").replace(found[2], "./note.md#top");
    for gone in [".env", "none.md", "link.md", "../judged.json", "docs"] {
        assert!(kept.contains(&format!("]\u{2060}({gone})")), "no link: {gone} of {kept}");
    }
    assert_eq!(kept.replace('\u{2060}', ""), SAID, "nothing else is changed");

    // Without the token: a browser has none.
    let open = async |address: &str| host.http.get(address).send().await.unwrap();
    let (note, picture) = (open(found[0]).await, open(found[1]).await);
    let header = |answer: &reqwest::Response, name: &str| answer.headers()[name].to_str().unwrap().to_owned();
    assert_eq!((note.status().as_u16(), header(&note, "content-type")), (200, "text/plain; charset=utf-8".into()));
    assert!(header(&note, "content-security-policy").starts_with("sandbox;"), "{:?}", note.headers());
    assert_eq!(header(&note, "x-content-type-options"), "nosniff");
    assert_eq!(note.text().await.unwrap(), "<b>kept</b>\n");
    assert_eq!((picture.status().as_u16(), header(&picture, "content-type")), (200, "image/png".into()));
    assert_eq!(open(found[2]).await.status(), 200);
    // What the host knows is masked here as everywhere.
    let value = "correct-horse-battery-staple-9";
    helix_engine::secrets::hold([Secret { name: "KEY".into(), value: value.into() }]);
    std::fs::write(directory.join("note.md"), format!("{value}\n")).unwrap();
    assert_eq!(open(found[0]).await.text().await.unwrap(), format!("[secret KEY]{}\n", "*".repeat(18)));
    // Another file under the same signature, a changed signature, another way in.
    let (name, signature) = found[0].rsplit_once('.').unwrap();
    let (path, _) = name.rsplit_once('/').unwrap();
    use base64::Engine as _;
    let encode = |text: &str| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(text);
    for written in ["other.md", ".env", "link.md", "../judged.json", "/etc/hostname"] {
        let other = format!("{path}/{}.{signature}", encode(&format!("{id}/{written}")));
        assert_eq!(open(&other).await.status(), 404, "{written}");
    }
    let last = if signature.starts_with('A') { "B" } else { "A" };
    assert_eq!(open(&format!("{name}.{last}{}", &signature[1..])).await.status(), 404);
    assert_eq!(open(&format!("{path}/x")).await.status(), 404);
    assert_eq!(host.http.delete(found[0]).send().await.unwrap().status(), 405);

    // The client sends back what it was shown: the place is found, and nothing counts as changed.
    let turns = session(&host, &id).await["turns"].clone();
    assert_eq!(turns[1]["end"]["answer"], SAID, "the record has the agent's own words");
    for headers in [ids("c", "m4", "m2").to_vec(), Vec::new()] {
        let history = [&second[..], &[&whole.text, "and? [[fake: say Fine.]]"]].concat();
        let next = ask(&host, &headers, messages(&history)).await;
        let (args, stdin) = host.asked(&next.run());
        if headers.is_empty() {
            continue;
        }
        assert_eq!(next.session, id);
        assert!(option(&args, "--resume").is_some(), "{args:?}");
        assert!(!stdin.contains("/helix/files/") && !stdin.contains("edited"), "{stdin}");
    }

    // The key is kept; a file that was deleted is gone.
    let path = found[0].strip_prefix(&host.url).unwrap().to_owned();
    let host = host.restart(ServerConfig::default()).await;
    let again = format!("{}{path}", host.url);
    assert_eq!(host.http.get(&again).send().await.unwrap().status(), 200);
    std::fs::remove_file(directory.join("note.md")).unwrap();
    assert_eq!(host.http.get(&again).send().await.unwrap().status(), 404);
    host.stop().await;
}

/// A client without ids is known by the answers that it shows, links included.
#[tokio::test]
async fn a_history_with_links_leads_to_its_session() {
    let host = Host::with_agent(ServerConfig::default()).await;
    let order = "hi [[fake: run echo kept > note.md]] [[fake: say It is in [note](note.md).]]";
    let first = ask(&host, &[], messages(&[order])).await;
    assert_eq!(addresses(&first.text).len(), 1, "{}", first.text);
    let next = ask(&host, &[], messages(&[order, &first.text, "and? [[fake: say Fine.]]"])).await;
    assert_eq!(next.session, first.session);
    assert!(option(&host.asked(&next.run()).0, "--resume").is_some());
    // A stored response is shown the same way.
    let body = json!({ "input": order });
    let response: Value = host.post("/v1/responses").json(&body).send().await.unwrap().json().await.unwrap();
    let stored = format!("/v1/responses/{}", response["id"].as_str().unwrap());
    let stored = host.get(&stored).send().await.unwrap().text().await.unwrap();
    assert_eq!(addresses(&stored).len(), 1, "{stored}");
    host.stop().await;
}

#[tokio::test]
async fn the_configured_address_comes_first_and_without_any_the_text_stands_below() {
    let order = "hi [[fake: run printf 'a\\n```\\nb' > note.md]] [[fake: say See [note](note.md).]]";
    let config = ServerConfig { public_url: Some("https://helix.example".into()), ..ServerConfig::default() };
    let host = Host::with_agent(config).await;
    let text = ask(&host, &[], messages(&[order])).await.text;
    let address = addresses(&text)[0];
    let path = address.strip_prefix("https://helix.example").unwrap_or_else(|| panic!("{address}"));
    // As a proxy in front of it passes it on.
    let request = host.http.get(format!("{}{path}", host.url)).header("host", "helix.example");
    assert_eq!(request.send().await.unwrap().status(), 200);
    host.stop().await;

    let config = ServerConfig { allowed_hosts: vec!["host.docker.internal".into()], ..ServerConfig::default() };
    let host = Host::with_agent(config).await;
    let answered = async |texts: &[&str]| {
        let request = host.post("/v1/chat/completions").header("host", "host.docker.internal:8787");
        let answer = request.json(&json!({ "messages": messages(texts) })).send().await.unwrap();
        let answer: Value = answer.json().await.unwrap();
        (answer["choices"][0]["message"]["content"].as_str().unwrap().to_owned(), answer["helix"]["session"].clone())
    };
    let (text, first) = answered(&[order]).await;
    let (answer, below) = text.split_once("\n\n> [!NOTE]\n> **Helix:** ").unwrap_or_else(|| panic!("{text}"));
    assert_eq!(answer, "See [note]\u{2060}(note.md).");
    assert!(below.contains("public_url") && below.contains("> <summary>note.md</summary>"), "{below}");
    assert!(below.contains("\n> ````\n> a\n> ```\n> b\n> ````\n"), "{below}");
    // Open WebUI ends a fold, and makes thoughts, also of what stands in code.
    let hostile = "hi [[fake: run printf '</details>\\rx\\n<think>' > b.md]] [[fake: say See [b](b.md).]]";
    let shown = answered(&[hostile]).await.0;
    let fenced = "\n> ```\n> </details>\n> x\n> <\u{2060}think>\n> ```";
    assert!(shown.contains(fenced) && !shown.contains("<details>"), "{shown}");
    let (next, second) = answered(&[order, &text, "and? [[fake: say Fine.]]"]).await;
    assert_eq!((next.as_str(), second), ("Fine.", first), "it is no part of the answer");
    host.stop().await;
}

/// What a project has is linked, too, as soon as it is the session's.
#[tokio::test]
async fn files_of_the_project_are_linked() {
    let host = Host::with_agent(ServerConfig::default()).await;
    let first = ask(&host, &ids("c", "m1", ""), messages(&["hi [[fake: say Hi.]]"])).await;
    let caller = Caller::Session(SessionId::new(&*first.session).unwrap());
    let created = serde_json::from_value(json!({ "name": "shop" })).unwrap();
    let created = Tools::new(host.engine().clone(), caller).project_create(created).await;
    created.unwrap_or_else(|refusal| panic!("{}", refusal.text));
    let project = session(&host, &first.session).await["project"].as_str().unwrap().to_owned();
    std::fs::create_dir_all(format!("{project}/docs")).unwrap();
    std::fs::write(format!("{project}/docs/a b.md"), "of the project").unwrap();
    let order = format!("so? [[fake: say [a](docs/a%20b.md) [b](<{project}/docs/a b.md>) [c](.git/config)]]");
    let text = ask(&host, &ids("c", "m2", "m1"), messages(&["hi [[fake: say Hi.]]", "Hi.", &order])).await.text;
    let found: Vec<&str> = text.split(['(', ')', '<', '>']).filter(|part| part.contains("/helix/files/")).collect();
    assert_eq!(found.len(), 2, "{text}");
    for address in found {
        assert_eq!(host.http.get(address).send().await.unwrap().text().await.unwrap(), "of the project");
    }
    host.stop().await;
}
