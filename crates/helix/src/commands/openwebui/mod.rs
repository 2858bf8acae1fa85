//! `helix openwebui connect`: enters Helix into a running Open WebUI, and checks that its requests arrive as they should.
//!
//! Must not print secrets, nor write again what is there already.

mod api;
mod wanted;

use clap::{Args, Subcommand};
use helix_language::{Language, say};
use helix_server::NewsKey;
use helix_server::wire::Holder;
use helix_store::StateDir;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::client::Client;
use crate::config::Settings;
use crate::context::Context;
use crate::error::{CommandError, Ended, Exit, codes};
use crate::files::{unreadable, unwritable};
use crate::host::find;
use crate::question::secret;
use crate::terminal::Meaning;

use api::Api;
use wanted::{ACCESS, Change, Connections, entry};

/// Holds the token of an administrator of Open WebUI.
const TOKEN: &str = "OPENWEBUI_TOKEN";
/// Holds the password that belongs to `--email`.
const PASSWORD: &str = "OPENWEBUI_PASSWORD";
/// Where a state directory says which Open WebUI it was connected to.
const RECORD: &str = "openwebui.json";
/// The message of a probe, which Helix knows.
const PROBE: &str = "### Helix probe: which headers arrive?";

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Connect a running Open WebUI (0.10 or later) to this Helix, and check the connection
    Connect(Arguments),
}

/// Arguments of `helix openwebui connect`.
#[derive(Debug, Args)]
#[command(
    after_help = "The token of an administrator (Settings > Account in Open WebUI) is read from OPENWEBUI_TOKEN, else from standard \
                  input (unseen at a terminal); with --email, the password from OPENWEBUI_PASSWORD, else from standard input."
)]
pub(crate) struct Arguments {
    /// Address of Open WebUI, such as http://127.0.0.1:3000
    #[arg(value_name = "URL")]
    page: String,
    /// Address of Helix as Open WebUI reaches it [default: that of the running host]
    #[arg(long, value_name = "URL")]
    helix_url: Option<String>,
    /// Sign in with this account instead of a token
    #[arg(long, value_name = "ADDRESS")]
    email: Option<String>,
    /// Show Helix's models to administrators only; without it, models that are new to Open WebUI are for all accounts
    #[arg(long)]
    private: bool,
    /// Keep the token, so that chats show what their jobs do after an answer has ended
    #[arg(long)]
    news: bool,
}

/// What was connected.
#[derive(Debug, Serialize, Deserialize)]
struct Connected {
    /// Address of Open WebUI.
    page: String,
    /// Address of Helix's API as Open WebUI reaches it.
    base: String,
    private: bool,
    /// SHA-256 of the key.
    key: String,
}

pub(crate) fn run(context: &Context, action: Action) -> Ended {
    let Action::Connect(arguments) = action;
    context.block_on(connect(context, arguments))
}

async fn connect(context: &Context, arguments: Arguments) -> Ended {
    let settings = context.settings()?;
    let Some(host) = find(settings).await? else {
        return Err(CommandError::environment(codes::HOST_SILENT, "Helix is not running, and Open WebUI needs it")
            .hint("start `helix serve` in another terminal, then run this command again"));
    };
    let page = arguments.page.trim_end_matches('/').to_owned();
    let api = signed_in(context, Api::at(&page).await?, arguments.email.as_deref()).await?;
    let address = arguments.helix_url.as_deref().unwrap_or(&host.url).trim_end_matches('/');
    let base = format!("{}/v1", address.trim_end_matches("/v1"));
    let key = key(&api, &host, settings, &page, &base).await?;
    let connected = Connected { page, base, private: arguments.private, key: digest(&key) };
    let found = Found::compare(&api, &connected, &key).await?;
    found.write(&api).await?;
    let language = context.terminal.language;
    let changes: Vec<String> = found.changes().map(|change| change.text(language)).collect();
    let set =
        |what: &str| format!("{} {what}", context.terminal.paint(Meaning::Good, &say!(language, "openwebui-set")));
    let mut lines: Vec<String> = changes.iter().map(|change| set(change)).collect();
    let models = match found.probe(&api).await {
        Ok(models) => models,
        Err(error) => {
            // What is written stays written.
            lines.iter().for_each(|line| context.terminal.note(line));
            return Err(error);
        }
    };
    let state = StateDir::open(&settings.state_dir.value)?;
    let path = state.root().join(RECORD);
    let record = serde_json::to_string_pretty(&connected).unwrap_or_default();
    helix_process::replace_private(&path, record.as_bytes()).map_err(unwritable(&path))?;
    if changes.is_empty() {
        lines.push(say!(language, "openwebui-unchanged"));
    }
    if arguments.news {
        let path = state.root().join(NewsKey::FILE);
        let key = NewsKey { page: connected.page.clone(), token: api.token().to_owned() };
        let key = serde_json::to_string(&key).unwrap_or_default();
        helix_process::replace_private(&path, key.as_bytes()).map_err(unwritable(&path))?;
        lines.push(set(&say!(language, "openwebui-kept", file = path.display().to_string())));
    }
    let sign = context.terminal.paint(Meaning::Good, "✓");
    lines.push(format!("{sign} {}", say!(language, "openwebui-connected", page = &connected.page)));
    context
        .terminal
        .answer(&json!({ "page": connected.page, "changes": changes, "models": models }), &lines.join("\n"))?;
    if found.changes().any(|change| matches!(change, Change::Model { private: false, .. })) {
        context.terminal.note(&say!(language, "openwebui-all"));
    }
    Ok(Exit::Success)
}

/// How a recorded connection stands; `None` where there is none. Writes nothing.
pub(super) async fn examine(context: &Context, settings: &Settings) -> Option<Result<String, CommandError>> {
    let path = settings.state_dir.value.join(RECORD);
    let text = match std::fs::read_to_string(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        Err(error) => return Some(Err(unreadable(&path)(error))),
        Ok(text) => text,
    };
    Some(examined(context, settings, &text).await)
}

async fn examined(context: &Context, settings: &Settings, record: &str) -> Result<String, CommandError> {
    let language = context.terminal.language;
    let connected: Connected = serde_json::from_str(record).map_err(|error| {
        CommandError::environment(codes::OPEN_WEBUI, format!("{RECORD} in the state directory cannot be read"))
            .because(&error)
            .hint("run `helix openwebui connect URL` again")
    })?;
    let again = || {
        let private = if connected.private { " --private" } else { "" };
        let (page, base) = (&connected.page, connected.base.trim_end_matches("/v1"));
        format!("run `helix openwebui connect {page} --helix-url {base}{private}` again")
    };
    let api = Api::at(&connected.page).await?;
    let Some(host) = find(settings).await? else {
        return Ok(say!(language, "openwebui-no-helix", page = &connected.page));
    };
    let page = &connected.page;
    if !host.keys().await?.iter().any(|one| one.holder == Holder::Chat && one.name == name(page)) {
        let message = format!("{page} has an old key: its token was revoked");
        return Err(CommandError::environment(codes::OPEN_WEBUI, message).hint(again()));
    }
    let given = context.environment.variable(TOKEN).map(str::to_owned);
    let Some(token) = given.or_else(|| kept_token(settings, page)) else {
        return Ok(say!(language, "openwebui-answers", page = page, variable = TOKEN));
    };
    let api = api.with_token(token);
    let present = Connections::key(&api.get("/openai/config").await?, &connected.base);
    // One that is not what was connected differs from anything.
    let key = present.filter(|key| digest(key) == connected.key).unwrap_or_default();
    let found = Found::compare(&api, &connected, &key).await?;
    let changes: Vec<String> = found.changes().map(|change| change.text(Language::English)).collect();
    if !changes.is_empty() {
        let message = format!("{page} differs from what was connected: {}", changes.join("; "));
        return Err(CommandError::environment(codes::OPEN_WEBUI, message).hint(again()));
    }
    found.probe(&api).await?;
    Ok(say!(language, "openwebui-connected", page = page))
}

/// The token that news are told with, if it is kept.
fn kept_token(settings: &Settings, page: &str) -> Option<String> {
    let text = std::fs::read(settings.state_dir.value.join(NewsKey::FILE)).ok()?;
    serde_json::from_slice::<NewsKey>(&text).ok().filter(|key| key.page == page).map(|key| key.token)
}

/// The token of the chat client that a page is.
fn name(page: &str) -> String {
    let place = page.split_once("://").map_or(page, |(_, place)| place);
    let plain: String =
        place.chars().map(|one| if one.is_ascii_alphanumeric() || one == '.' { one } else { '-' }).collect();
    format!("openwebui-{plain}").chars().take(64).collect()
}

/// The token that the page has, if it is one that was made for it, else a new one. It opens the OpenAI-compatible API alone.
async fn key(api: &Api, host: &Client, settings: &Settings, page: &str, base: &str) -> Result<String, CommandError> {
    let name = name(page);
    let is_known = host.keys().await?.iter().any(|one| one.holder == Holder::Chat && one.name == name);
    let record = std::fs::read_to_string(settings.state_dir.value.join(RECORD)).unwrap_or_default();
    let record: Option<Connected> = serde_json::from_str(&record).ok();
    let present = Connections::key(&api.get("/openai/config").await?, base);
    let is_recorded = |key: &String| record.is_some_and(|record| record.key == digest(key));
    if let Some(key) = present.filter(|key| is_known && is_recorded(key)) {
        return Ok(key);
    }
    if is_known {
        host.revoke_key(Holder::Chat, &name).await?;
    }
    Ok(host.create_key(Holder::Chat, &name).await?.key)
}

/// With the token, or signed in.
async fn signed_in(context: &Context, api: Api, email: Option<&str>) -> Result<Api, CommandError> {
    let language = context.terminal.language;
    let (variable, what, asked) = match email {
        Some(_) => (PASSWORD, "password", say!(language, "openwebui-password")),
        None => (TOKEN, "token of an administrator", say!(language, "openwebui-token")),
    };
    let given = match context.environment.variable(variable) {
        Some(given) => Some(given.trim().to_owned()),
        None => secret(context, &asked).await?.map(|typed| typed.trim().to_owned()),
    };
    let secret = given.ok_or_else(|| {
        CommandError::usage(codes::OPEN_WEBUI, format!("no {what} of Open WebUI was given"))
            .hint(format!("set {variable}, or pipe it to this command"))
    })?;
    match email {
        Some(email) => api.sign_in(email, &secret).await,
        None => Ok(api.with_token(secret)),
    }
}

/// What Open WebUI holds beside what it should hold.
struct Found {
    connections: Connections,
    /// Entries of models: whether there is one, how it should be, what differs.
    models: Vec<(bool, Value, Vec<Change>)>,
    base: String,
}

impl Found {
    /// Compares. Open WebUI has reached Helix in between.
    async fn compare(api: &Api, connected: &Connected, key: &str) -> Result<Self, CommandError> {
        let connections = Connections::with(&api.get("/openai/config").await?, &connected.base, key);
        let tried = json!({ "url": connected.base, "key": key, "config": connections.own() });
        let unreachable = |error: CommandError| {
            let message = format!("Open WebUI does not reach Helix at {}", connected.base);
            let unreached = CommandError::environment(codes::NOT_REACHED, message).hint(
                "give the address as Open WebUI sees it with --helix-url; from a container, see docs/open-webui.md",
            );
            match error {
                CommandError::Problem(one) => {
                    one.causes.iter().fold(unreached.cause(&one.message), CommandError::cause)
                }
                CommandError::ReaderLeft => unreached,
            }
        };
        let offered = api.post("/openai/verify", &tried).await.map_err(unreachable)?;
        let there = api.get("/api/v1/models/base").await?;
        let mut models = Vec::new();
        for model in offered["data"].as_array().into_iter().flatten() {
            let id = connections.model_id(model["id"].as_str().unwrap_or_default());
            let existing = there.as_array().into_iter().flatten().find(|one| one["id"] == id.as_str());
            let (wanted, changes) = entry(existing, &id, model, connected.private);
            models.push((existing.is_some(), wanted, changes));
        }
        if models.is_empty() {
            let message = format!("{} answers Open WebUI, but is not Helix", connected.base);
            return Err(CommandError::environment(codes::NOT_REACHED, message).hint("correct --helix-url"));
        }
        Ok(Self { connections, models, base: connected.base.clone() })
    }

    fn changes(&self) -> impl Iterator<Item = &Change> {
        let models = self.models.iter().flat_map(|(_, _, changes)| changes);
        self.connections.changes.iter().chain(models)
    }

    /// Writes what differs.
    async fn write(&self, api: &Api) -> Result<(), CommandError> {
        if !self.connections.changes.is_empty() {
            api.post("/openai/config/update", &self.connections.all).await?;
        }
        for (exists, entry, changes) in &self.models {
            let (access, other): (Vec<&Change>, Vec<&Change>) = changes.iter().partition(|one| one.is_access());
            if !other.is_empty() {
                let path = if *exists { "/api/v1/models/model/update" } else { "/api/v1/models/create" };
                api.post(path, entry).await?;
            }
            if !access.is_empty() {
                // An update leaves them as they are.
                let body = json!({ "id": entry["id"], "name": entry["name"], "access_grants": entry[ACCESS] });
                api.post("/api/v1/models/model/access/update", &body).await?;
            }
        }
        if self.changes().next().is_some() {
            // It looks at its connections again.
            api.get("/api/models?refresh=true").await?;
        }
        Ok(())
    }

    /// Sends a message through Open WebUI to each model, which says what has arrived. No agent runs for it. Returns their ids.
    async fn probe(&self, api: &Api) -> Result<Vec<&str>, CommandError> {
        let mut ids = Vec::new();
        for (_, entry, _) in &self.models {
            let id = entry["id"].as_str().unwrap_or_default();
            let sent = json!({
                "x-task": "helix_probe", "x-chat": "helix-chat", "x-message": "helix-answer", "x-user-message": "helix-message",
                "x-parent": "helix-parent",
            });
            let body = json!({
                "model": id, "stream": false, "messages": [{ "role": "user", "content": PROBE }],
                "metadata": {
                    "task": sent["x-task"], "chat_id": sent["x-chat"], "message_id": sent["x-message"],
                    "user_message_id": sent["x-user-message"],
                    "user_message": { "id": sent["x-user-message"], "parentId": sent["x-parent"] },
                },
            });
            let answer = api.post("/openai/chat/completions", &body).await?;
            let text = answer.pointer("/choices/0/message/content").and_then(Value::as_str).unwrap_or_default();
            let Ok(arrived) = serde_json::from_str::<Value>(text) else {
                let message = format!("Open WebUI asks another server than {} for model {id}", self.base);
                return Err(CommandError::environment(codes::NOT_REACHED, message)
                    .hint("another connection offers a model of this name: give one of them a prefix in Open WebUI"));
            };
            let sent = sent.as_object().into_iter().flatten();
            let mut missing: Vec<&str> =
                sent.filter(|(name, value)| arrived[name.as_str()] != **value).map(|(name, _)| name.as_str()).collect();
            missing.extend(arrived["x-openwebui-user-id"].is_null().then_some("x-openwebui-user-id"));
            if !missing.is_empty() {
                let message = format!("requests for model {id} arrive without these headers: {}", missing.join(", "));
                return Err(CommandError::environment(codes::NOT_REACHED, message).hint(
                    "a proxy between Open WebUI and Helix may take them out: let it pass them, or go without it",
                ));
            }
            ids.push(id);
        }
        Ok(ids)
    }
}

fn digest(key: &str) -> String {
    format!("{:x}", Sha256::digest(key))
}
