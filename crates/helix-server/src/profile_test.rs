use super::*;

fn of(pairs: &[(&'static str, &'static str)]) -> Profile {
    let headers = pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
    Profile::choose(&headers, None, None, false)
}

#[test]
fn only_open_webui_gets_its_objects() {
    let items = Profile::OpenWebUi;
    assert_eq!(of(&[("user-agent", "Python/3.11 aiohttp/3.14.5"), ("x-task", "")]), items);
    assert_eq!(of(&[("user-agent", "Python/3.11 aiohttp/3.14.5")]), Profile::Plain);
    assert_eq!(of(&[("user-agent", "OpenAI/Python 1.2"), ("x-chat", "c")]), Profile::Plain);
    assert_eq!(of(&[("x-helix-client", "openwebui")]), items);
    let marked = ("user-agent", "Python/3.11 aiohttp/3.14.5");
    assert_eq!(of(&[marked, ("x-chat", "c"), ("x-helix-client", "plain")]), Profile::Plain);
    let proxied = ("x-stainless-lang", "python");
    assert_eq!(
        of(&[marked, ("x-chat", "c"), ("x-helix-client", "openwebui"), proxied]),
        Profile::Plain,
        "LiteLLM strips them"
    );
}

#[test]
fn the_connection_chooses_before_the_model_before_the_server_before_the_looks() {
    let items = Profile::OpenWebUi;
    let header = HeaderMap::from_iter([("x-helix-client".parse().unwrap(), "plain".parse().unwrap())]);
    assert_eq!(Profile::choose(&header, Some(items), Some(items), false), Profile::Plain);
    assert_eq!(Profile::choose(&HeaderMap::new(), Some(items), Some(Profile::Plain), false), items);
    assert_eq!(Profile::choose(&HeaderMap::new(), None, Some(items), false), items);
    assert_eq!(Profile::choose(&HeaderMap::new(), None, None, false), Profile::Plain);
}

#[test]
fn open_webui_without_headers_is_known_by_its_tasks_from_then_on() {
    let of = |agent: &'static str, key: &'static str| -> HeaderMap {
        [("user-agent", agent), ("authorization", key)]
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect()
    };
    let (web, script) = (of("Python/3.11 aiohttp/3.14.5", "Bearer a"), of("OpenAI/Python 1.2", "Bearer a"));
    let recognised = Recognised::default();
    for headers in [&web, &script] {
        recognised.remember(headers);
    }
    assert!(recognised.has(&web) && !recognised.has(&script));
    assert!(!recognised.has(&of("Python/3.11 aiohttp/3.14.5", "Bearer b")), "another key is another client");
    let mut marked = web.clone();
    marked.insert("x-chat", "c".parse().unwrap());
    assert!(!recognised.has(&marked), "it sends headers");
    let others = Recognised::default();
    for (name, value) in [("x-chat", "c"), ("x-helix-client", "plain")] {
        let mut headers = web.clone();
        headers.insert(name, value.parse().unwrap());
        others.remember(&headers);
    }
    assert!(!others.has(&web), "what sends headers says nothing of what sends none");
    assert_eq!(Profile::choose(&web, None, None, recognised.has(&web)), Profile::OpenWebUi);
    assert_eq!(Profile::choose(&web, Some(Profile::Plain), None, true), Profile::Plain);
}
