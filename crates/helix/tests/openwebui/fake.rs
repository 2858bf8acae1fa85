//! The part of Open WebUI 0.12.4 that `helix openwebui connect` uses: what its routes take, answer, keep, and ask Helix.

use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Map, Value, json};

pub(crate) const TOKEN: &str = "administrator";
pub(crate) const PASSWORD: &str = "correct horse";

/// What it keeps.
#[derive(Default)]
pub(crate) struct Kept {
    pub(crate) config: Value,
    pub(crate) models: Vec<Value>,
    /// Everything that was changed, by path.
    pub(crate) writes: Vec<String>,
    /// A proxy that takes this header out.
    pub(crate) loses: Option<&'static str>,
}

pub(crate) struct OpenWebUi {
    pub(crate) page: String,
    pub(crate) kept: Arc<Mutex<Kept>>,
    _runtime: tokio::runtime::Runtime,
}

#[derive(Clone)]
struct Shared(Arc<Mutex<Kept>>);

type Answer = Result<Json<Value>, (StatusCode, Json<Value>)>;

impl OpenWebUi {
    pub(crate) fn start(version: &'static str) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let config = json!({
            "ENABLE_OPENAI_API": false, "OPENAI_API_BASE_URLS": ["https://api.openai.example/v1"], "OPENAI_API_KEYS": ["other"],
            "OPENAI_API_CONFIGS": { "0": { "enable": true, "prefix_id": "oa" } },
        });
        let kept = Arc::new(Mutex::new(Kept { config, ..Kept::default() }));
        let routes = Router::new()
            .route("/api/version", get(async move || Json(json!({ "version": version }))))
            .route("/api/v1/auths/signin", post(sign_in))
            .route("/openai/config", get(config_of))
            .route("/openai/config/update", post(update_config))
            .route("/openai/verify", post(verify))
            .route("/api/v1/models/base", get(models))
            .route("/api/v1/models/create", post(create))
            .route("/api/v1/models/model/update", post(update))
            .route("/api/v1/models/model/access/update", post(update_access))
            .route("/api/models", get(models))
            .route("/openai/chat/completions", post(chat))
            .with_state(Shared(Arc::clone(&kept)));
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let page = format!("http://{}", listener.local_addr().unwrap());
        runtime.spawn(async move { axum::serve(listener, routes).await });
        Self { page, kept, _runtime: runtime }
    }

    /// What was changed since the last look.
    pub(crate) fn writes(&self) -> Vec<String> {
        std::mem::take(&mut self.kept.lock().unwrap().writes)
    }
}

fn refused(status: u16, detail: &str) -> (StatusCode, Json<Value>) {
    (StatusCode::from_u16(status).unwrap(), Json(json!({ "detail": detail })))
}

fn admitted(headers: &HeaderMap) -> Result<(), (StatusCode, Json<Value>)> {
    let right = headers.get("authorization").is_some_and(|one| one == format!("Bearer {TOKEN}").as_str());
    if right { Ok(()) } else { Err(refused(401, "401 Unauthorized")) }
}

async fn sign_in(Json(form): Json<Value>) -> Answer {
    if form["password"] == PASSWORD { Ok(Json(json!({ "token": TOKEN }))) } else { Err(refused(400, "wrong password")) }
}

async fn config_of(State(Shared(kept)): State<Shared>, headers: HeaderMap) -> Answer {
    admitted(&headers)?;
    Ok(Json(kept.lock().unwrap().config.clone()))
}

async fn update_config(State(Shared(kept)): State<Shared>, headers: HeaderMap, Json(form): Json<Value>) -> Answer {
    admitted(&headers)?;
    let mut kept = kept.lock().unwrap();
    kept.config = form.clone();
    kept.writes.push("config".to_owned());
    Ok(Json(form))
}

/// The headers of a connection, filled as `open_webui/utils/headers.py` does.
fn filled(config: &Value, metadata: &Value, loses: Option<&str>) -> Vec<(String, String)> {
    let of = |place: &str| metadata.pointer(place).and_then(Value::as_str).unwrap_or_default().to_owned();
    let values = [
        ("{{TASK}}", of("/task")),
        ("{{CHAT_ID}}", of("/chat_id")),
        ("{{MESSAGE_ID}}", of("/message_id")),
        ("{{USER_MESSAGE_ID}}", of("/user_message/id")),
        ("{{USER_MESSAGE_PARENT_ID}}", of("/user_message/parentId")),
        ("{{USER_ID}}", "admin-id".to_owned()),
    ];
    let headers = config["headers"].as_object().into_iter().flatten();
    let fill = |value: &Value| {
        values.iter().fold(value.as_str().unwrap().to_owned(), |text, (from, to)| text.replace(from, to))
    };
    let kept = headers.filter(|(name, _)| Some(name.as_str()) != loses);
    kept.map(|(name, value)| (name.clone(), fill(value))).collect()
}

async fn ask(request: reqwest::RequestBuilder, key: &str, headers: Vec<(String, String)>) -> Answer {
    let request = request.bearer_auth(key).header("user-agent", "Python/3.11 aiohttp/3.14.5");
    let request = headers.into_iter().fold(request, |request, (name, value)| request.header(name, value));
    let answer = request.send().await.map_err(|_| refused(500, "Open WebUI: Server Connection Error"))?;
    let status = answer.status();
    let body: Value = answer.json().await.unwrap_or_default();
    if status.is_success() { Ok(Json(body)) } else { Err((status, Json(body))) }
}

fn http() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().build().unwrap()
}

async fn verify(State(Shared(kept)): State<Shared>, headers: HeaderMap, Json(form): Json<Value>) -> Answer {
    admitted(&headers)?;
    let loses = kept.lock().unwrap().loses;
    let request = http().get(format!("{}/models", form["url"].as_str().unwrap()));
    ask(request, form["key"].as_str().unwrap(), filled(&form["config"], &Value::Null, loses)).await
}

async fn models(State(Shared(kept)): State<Shared>, headers: HeaderMap) -> Answer {
    admitted(&headers)?;
    Ok(Json(kept.lock().unwrap().models.clone().into()))
}

/// As it stands in the database: with what Open WebUI adds.
fn stored(form: &Value) -> Value {
    let mut model: Map<String, Value> = form.as_object().unwrap().clone();
    for grant in model["access_grants"].as_array_mut().unwrap() {
        grant["id"] = "g1".into();
        grant["resource_id"] = form["id"].clone();
    }
    model.insert("user_id".into(), "admin-id".into());
    model.insert("updated_at".into(), 1.into());
    model["meta"]["knowledge"] = Value::Null;
    model.into()
}

async fn create(State(Shared(kept)): State<Shared>, headers: HeaderMap, Json(form): Json<Value>) -> Answer {
    admitted(&headers)?;
    let mut kept = kept.lock().unwrap();
    if kept.models.iter().any(|one| one["id"] == form["id"]) {
        return Err(refused(401, "Uh-oh! This model id is already registered."));
    }
    let model = stored(&form);
    kept.writes.push(format!("create {}", form["id"].as_str().unwrap()));
    kept.models.push(model.clone());
    Ok(Json(model))
}

async fn update(State(Shared(kept)): State<Shared>, headers: HeaderMap, Json(form): Json<Value>) -> Answer {
    admitted(&headers)?;
    let mut kept = kept.lock().unwrap();
    kept.writes.push(format!("update {}", form["id"].as_str().unwrap()));
    let mut model = stored(&form);
    let place = kept.models.iter_mut().find(|one| one["id"] == form["id"]).ok_or(refused(401, "not found"))?;
    model["access_grants"] = place["access_grants"].take();
    *place = model.clone();
    Ok(Json(model))
}

async fn update_access(State(Shared(kept)): State<Shared>, headers: HeaderMap, Json(form): Json<Value>) -> Answer {
    admitted(&headers)?;
    let mut kept = kept.lock().unwrap();
    kept.writes.push(format!("access {}", form["id"].as_str().unwrap()));
    let place = kept.models.iter_mut().find(|one| one["id"] == form["id"]).ok_or(refused(401, "not found"))?;
    place["access_grants"] = form["access_grants"].clone();
    Ok(Json(place.clone()))
}

async fn chat(State(Shared(kept)): State<Shared>, headers: HeaderMap, Json(mut form): Json<Value>) -> Answer {
    admitted(&headers)?;
    let metadata = form.as_object_mut().unwrap().remove("metadata").unwrap_or_default();
    let (url, key, filled) = {
        let kept = kept.lock().unwrap();
        let last = kept.config["OPENAI_API_BASE_URLS"].as_array().unwrap().len() - 1;
        let text = |name: &str| kept.config[name][last].as_str().unwrap().to_owned();
        let own = &kept.config["OPENAI_API_CONFIGS"][last.to_string()];
        (text("OPENAI_API_BASE_URLS"), text("OPENAI_API_KEYS"), filled(own, &metadata, kept.loses))
    };
    ask(http().post(format!("{url}/chat/completions")).json(&form), &key, filled).await
}
