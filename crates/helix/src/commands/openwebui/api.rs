//! Open WebUI's own HTTP API, as its administration pages use it (0.10 to 0.12). Must not know what is entered.

use std::time::Duration;

use reqwest::{Method, StatusCode, Url};
use serde_json::{Value, json};

use crate::error::{CommandError, codes};

/// Time limit for an answer: Open WebUI asks Helix in between.
const LIMIT: Duration = Duration::from_secs(60);
/// The first version whose connections take templates.
const OLDEST: (u32, u32) = (0, 10);

/// A running Open WebUI.
pub(super) struct Api {
    http: reqwest::Client,
    page: Url,
    token: Option<String>,
}

impl Api {
    /// The Open WebUI with this address, which must be one of a version that is known.
    ///
    /// # Errors
    /// When there is none.
    pub(super) async fn at(page: &str) -> Result<Self, CommandError> {
        let wrong = |why: &str| {
            CommandError::usage(codes::OPEN_WEBUI, format!("{page:?} is not an address of Open WebUI")).cause(why)
        };
        let page = Url::parse(page).map_err(|error| {
            wrong(&error.to_string()).hint("write the address of its page, such as http://127.0.0.1:3000")
        })?;
        if page.scheme() != "http" {
            return Err(wrong("only http is supported").hint(
                "call it on the machine of Open WebUI by its own address, such as http://127.0.0.1:8080, or through a tunnel",
            ));
        }
        let mut http = reqwest::Client::builder().timeout(LIMIT);
        if page.host_str().is_some_and(|host| ["127.0.0.1", "localhost", "[::1]"].contains(&host)) {
            // A proxy of the user's is for the world outside.
            http = http.no_proxy();
        }
        let http = http
            .build()
            .map_err(|error| CommandError::helix(codes::RUNTIME, "cannot set up an HTTP client").because(&error))?;
        let api = Self { http, page, token: None };
        let said = api.get("/api/version").await?;
        let version = said["version"].as_str().unwrap_or_default();
        let mut numbers = version.split('.').map(|part| part.parse().unwrap_or(0));
        let read = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        if version.is_empty() || read < OLDEST {
            let what = if version.is_empty() {
                "it does not say its version".to_owned()
            } else {
                format!("version {version}")
            };
            return Err(CommandError::environment(
                codes::OPEN_WEBUI,
                format!("no Open WebUI 0.10 or later at {}", api.page),
            )
            .cause(what)
            .hint("update it; docs/open-webui.md says what to set in older versions"));
        }
        Ok(api)
    }

    /// The same with this token.
    pub(super) fn with_token(self, token: String) -> Self {
        Self { token: Some(token), ..self }
    }

    /// The token in use; empty where there is none.
    pub(super) fn token(&self) -> &str {
        self.token.as_deref().unwrap_or_default()
    }

    /// The same, signed in with an account.
    ///
    /// # Errors
    /// When it does not accept the password.
    pub(super) async fn sign_in(self, email: &str, password: &str) -> Result<Self, CommandError> {
        let answer = self.post("/api/v1/auths/signin", &json!({ "email": email, "password": password })).await?;
        match answer["token"].as_str() {
            Some(token) => {
                let token = token.to_owned();
                Ok(self.with_token(token))
            }
            None => Err(CommandError::environment(codes::OPEN_WEBUI, "Open WebUI gives this account no token")
                .hint("it may ask for a second factor: copy a token from its Settings > Account, and omit --email")),
        }
    }

    pub(super) async fn get(&self, path: &str) -> Result<Value, CommandError> {
        self.call(Method::GET, path, None).await
    }

    pub(super) async fn post(&self, path: &str, body: &Value) -> Result<Value, CommandError> {
        self.call(Method::POST, path, Some(body)).await
    }

    async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, CommandError> {
        let place = format!("{}{path}", self.page.as_str().trim_end_matches('/'));
        let mut request = self.http.request(method, &place);
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        let silent = |error: reqwest::Error| {
            CommandError::environment(codes::OPEN_WEBUI, format!("no Open WebUI answers at {}", self.page))
                .because(&error.without_url())
                .hint("check the address, and that Open WebUI is running")
        };
        let answer = request.send().await.map_err(silent)?;
        let status = answer.status();
        let body = answer.bytes().await.map_err(silent)?;
        let said: Option<Value> = serde_json::from_slice(&body).ok();
        let refused = |message: String| {
            let said = said.as_ref().and_then(|said| {
                let places = ["/detail", "/error/message", "/error", "/message"];
                places.iter().find_map(|place| said.pointer(place)?.as_str().map(str::to_owned))
            });
            let error = CommandError::environment(codes::OPEN_WEBUI, message);
            said.into_iter().fold(error, CommandError::cause)
        };
        match (status, &said) {
            (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN, _) => Err(refused(format!(
                "Open WebUI refuses {path} to this account"
            ))
            .hint("use the token of an administrator: Settings > Account of Open WebUI; or sign in with --email")),
            (status, Some(said)) if status.is_success() => Ok(said.clone()),
            (status, _) => Err(refused(format!("Open WebUI answers {path} with {status}"))
                .hint("see Open WebUI's log; docs/open-webui.md says what to enter by hand")),
        }
    }
}
