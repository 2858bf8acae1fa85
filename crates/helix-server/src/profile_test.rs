use super::*;

fn of(pairs: &[(&'static str, &'static str)]) -> Profile {
    let headers = pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
    Profile::choose(&headers, None, None)
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
}

#[test]
fn the_connection_chooses_before_the_model_before_the_server_before_the_looks() {
    let items = Profile::OpenWebUi;
    let header = HeaderMap::from_iter([("x-helix-client".parse().unwrap(), "plain".parse().unwrap())]);
    assert_eq!(Profile::choose(&header, Some(items), Some(items)), Profile::Plain);
    assert_eq!(Profile::choose(&HeaderMap::new(), Some(items), Some(Profile::Plain)), items);
    assert_eq!(Profile::choose(&HeaderMap::new(), None, Some(items)), items);
    assert_eq!(Profile::choose(&HeaderMap::new(), None, None), Profile::Plain);
}
