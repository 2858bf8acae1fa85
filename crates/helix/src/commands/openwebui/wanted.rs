//! What Open WebUI should hold: the connection to Helix and an entry for each of its models. Pure: compares and makes JSON.
//!
//! Must not lose what others have entered: everything that Helix does not need stays as it is.

use helix_language::{Language, say};
use serde_json::{Map, Value, json};

/// Headers of the connection, with Open WebUI's templates for their values.
pub(super) const HEADERS: [(&str, &str); 6] = [
    ("X-Task", "{{TASK}}"),
    ("X-Chat", "{{CHAT_ID}}"),
    ("X-Message", "{{MESSAGE_ID}}"),
    ("X-User-Message", "{{USER_MESSAGE_ID}}"),
    ("X-Parent", "{{USER_MESSAGE_PARENT_ID}}"),
    ("X-OpenWebUI-User-Id", "{{USER_ID}}"),
];

/// The part of a model's entry that says who may use it.
pub(super) const ACCESS: &str = "access_grants";

/// The pictures of models that have none of their own.
const NO_PICTURE: [&str; 3] = ["", "/static/favicon.png", "/favicon.png"];

/// Something that differs from before; never a secret.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// A connection to this address.
    Connection(String),
    /// A value of the connection, or of the model with this id.
    Value { model: Option<String>, path: String },
    /// That Open WebUI uses connections at all.
    Enabled,
    /// An entry for the model with this id.
    Model { id: String, private: bool },
}

impl Change {
    pub(super) fn text(&self, language: Language) -> String {
        match self {
            Self::Connection(address) => say!(language, "openwebui-connection", address = address),
            Self::Value { model: None, path } => say!(language, "openwebui-connection-value", value = path),
            Self::Value { model: Some(id), path } => say!(language, "openwebui-model-value", model = id, value = path),
            Self::Enabled => say!(language, "openwebui-enabled"),
            Self::Model { id, private: false } => say!(language, "openwebui-model", model = id),
            Self::Model { id, private: true } => say!(language, "openwebui-model-private", model = id),
        }
    }

    /// Whether it says who may use a model that is there.
    pub(super) fn is_access(&self) -> bool {
        matches!(self, Self::Value { path, .. } if path == ACCESS)
    }
}

/// All connections, with that to Helix among them.
#[derive(Debug)]
pub(super) struct Connections {
    /// The body of an update.
    pub(super) all: Value,
    /// The number of Helix's.
    pub(super) index: usize,
    pub(super) changes: Vec<Change>,
}

impl Connections {
    /// The connections of Open WebUI with the one to `base` as it should be.
    pub(super) fn with(before: &Value, base: &str, key: &str) -> Self {
        let texts = |name: &str| -> Vec<String> {
            let all = before[name].as_array().into_iter().flatten();
            all.map(|one| one.as_str().unwrap_or_default().to_owned()).collect()
        };
        let (mut urls, mut keys) = (texts("OPENAI_API_BASE_URLS"), texts("OPENAI_API_KEYS"));
        let known = urls.iter().position(|url| url.trim_end_matches('/') == base);
        let index = known.unwrap_or_else(|| {
            urls.push(base.to_owned());
            urls.len() - 1
        });
        keys.resize(urls.len(), String::new());
        let key_before = std::mem::replace(&mut keys[index], key.to_owned());
        let by_name = before["OPENAI_API_CONFIGS"].as_object().cloned().unwrap_or_default();
        // Older versions name them by address, which an update would drop.
        let mut configs: Map<String, Value> = (0..urls.len())
            .filter_map(|at| {
                Some((at.to_string(), by_name.get(&at.to_string()).or_else(|| by_name.get(&urls[at]))?.clone()))
            })
            .collect();
        let own = configs.entry(index.to_string()).or_insert_with(|| json!({}));
        let own_before = own.clone();
        own["enable"] = true.into();
        if !own["headers"].is_object() {
            own["headers"] = json!({});
        }
        for (name, template) in HEADERS {
            own["headers"][name] = template.into();
        }
        if own.get("auth_type").is_some_and(|kind| kind != "bearer") {
            own["auth_type"] = "bearer".into();
        }
        let mut changes = match known {
            Some(_) => differing(None, &own_before, own),
            None => vec![Change::Connection(base.to_owned())],
        };
        if known.is_some() && key_before != key {
            changes.push(Change::Value { model: None, path: "key".to_owned() });
        }
        if before["ENABLE_OPENAI_API"] != true {
            changes.push(Change::Enabled);
        }
        let all = json!({
            "ENABLE_OPENAI_API": true, "OPENAI_API_BASE_URLS": urls, "OPENAI_API_KEYS": keys, "OPENAI_API_CONFIGS": configs,
        });
        Self { all, index, changes }
    }

    /// The key that Open WebUI has for this address.
    pub(super) fn key(before: &Value, base: &str) -> Option<String> {
        let urls = before["OPENAI_API_BASE_URLS"].as_array()?;
        let index = urls.iter().position(|url| url.as_str().is_some_and(|url| url.trim_end_matches('/') == base))?;
        before["OPENAI_API_KEYS"].get(index)?.as_str().filter(|key| !key.is_empty()).map(str::to_owned)
    }

    /// The settings of Helix's connection.
    pub(super) fn own(&self) -> &Value {
        &self.all["OPENAI_API_CONFIGS"][self.index.to_string()]
    }

    /// The id of a model in Open WebUI.
    pub(super) fn model_id(&self, id: &str) -> String {
        match self.own()["prefix_id"].as_str().filter(|prefix| !prefix.is_empty()) {
            Some(prefix) => format!("{prefix}.{id}"),
            None => id.to_owned(),
        }
    }
}

/// A model's entry as it should be, and what differs from the one that is there. `model` is what Helix says of it.
pub(super) fn entry(existing: Option<&Value>, id: &str, model: &Value, private: bool) -> (Value, Vec<Change>) {
    let mut entry = match existing {
        Some(existing) => {
            let parts = ["id", "base_model_id", "name", "params", "meta", "is_active", "access_grants"];
            Value::Object(parts.iter().map(|part| ((*part).to_owned(), existing[*part].clone())).collect())
        }
        None => {
            json!({ "id": id, "base_model_id": null, "name": model["name"], "params": {}, "meta": {}, "access_grants": [] })
        }
    };
    entry["access_grants"] = grants(&entry["access_grants"], None);
    let before = entry.clone();
    let picture =
        entry["meta"]["profile_image_url"].as_str().filter(|one| !NO_PICTURE.contains(one)).map(str::to_owned);
    merge(&mut entry["meta"], &model["info"]["meta"]);
    if let Some(picture) = picture {
        entry["meta"]["profile_image_url"] = picture.into();
    }
    // Who may use a model that is there already, its administrator has decided.
    let opens = existing.is_none() && !private;
    if existing.is_none() {
        entry["is_active"] = true.into();
    }
    entry["access_grants"] = grants(&before["access_grants"], (opens || private).then_some(private));
    let changes = match existing {
        Some(_) => differing(Some(id), &before, &entry),
        None => vec![Change::Model { id: id.to_owned(), private }],
    };
    (entry, changes)
}

/// Who may use a model, without the numbers of the grants; with or without all accounts, where that is to be decided.
fn grants(given: &Value, private: Option<bool>) -> Value {
    let everybody = json!({ "principal_type": "user", "principal_id": "*", "permission": "read" });
    let given = given.as_array().into_iter().flatten();
    let mut kept: Vec<Value> = given
        .map(|one| json!({ "principal_type": one["principal_type"], "principal_id": one["principal_id"], "permission": one["permission"] }))
        .filter(|one| private != Some(true) || *one != everybody)
        .collect();
    if private == Some(false) && !kept.contains(&everybody) {
        kept.push(everybody);
    }
    kept.into()
}

/// Writes every value of `wanted` over those that are there, object by object.
fn merge(there: &mut Value, wanted: &Value) {
    match (there, wanted) {
        (there, Value::Object(wanted)) => {
            if !there.is_object() {
                *there = json!({});
            }
            for (name, value) in wanted {
                merge(&mut there[name.as_str()], value);
            }
        }
        (there, wanted) => *there = wanted.clone(),
    }
}

/// The values of the connection, or of a model, that differ.
fn differing(model: Option<&str>, before: &Value, after: &Value) -> Vec<Change> {
    fn paths(path: &str, before: &Value, after: &Value) -> Vec<String> {
        let below = |part: &String| if path.is_empty() { part.clone() } else { format!("{path}: {part}") };
        match (before, after) {
            _ if before == after => Vec::new(),
            (_, Value::Object(after)) if before.is_object() || before.is_null() => {
                after.iter().flat_map(|(part, value)| paths(&below(part), &before[part.as_str()], value)).collect()
            }
            _ => vec![path.to_owned()],
        }
    }
    let change = |path| Change::Value { model: model.map(str::to_owned), path };
    paths("", before, after).into_iter().map(change).collect()
}

#[cfg(test)]
#[path = "wanted_test.rs"]
mod tests;
