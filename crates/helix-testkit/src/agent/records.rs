//! The JSON records of the dialect, field for field as CLI 2.1.330 wrote them in recordings of 2026-11-21.
//!
//! Must not know when they are written.

use std::time::Instant;

use serde_json::{Map, Value, json};

/// Makes records of one session.
#[derive(Debug)]
pub(crate) struct Records {
    pub(crate) session: String,
    pub(crate) model: String,
    pub(crate) version: String,
    pub(crate) cwd: String,
    pub(crate) permission_mode: String,
    pub(crate) structured: bool,
    started: Instant,
    counter: u64,
}

/// An error of the API as the CLI reports it.
pub(crate) struct ApiError {
    pub(crate) status: Option<u16>,
    pub(crate) name: &'static str,
    pub(crate) api_type: &'static str,
    pub(crate) text: String,
    pub(crate) terminal_reason: &'static str,
}

/// What a result says, where it differs from one run to the next.
pub(crate) struct Ending {
    pub(crate) subtype: &'static str,
    pub(crate) is_error: bool,
    pub(crate) terminal_reason: &'static str,
    pub(crate) stop_reason: Value,
    pub(crate) result: Option<String>,
    pub(crate) errors: Vec<String>,
    pub(crate) structured: Option<Value>,
    pub(crate) turns: u64,
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
    pub(crate) cost_usd: f64,
    pub(crate) api_error: Option<(Option<u16>, &'static str)>,
    pub(crate) denials: Vec<Value>,
}

impl Records {
    pub(crate) fn new(
        session: String,
        model: String,
        version: String,
        permission_mode: String,
        structured: bool,
    ) -> Self {
        let cwd = std::env::current_dir().map(|path| path.display().to_string()).unwrap_or_default();
        Self { session, model, version, cwd, permission_mode, structured, started: Instant::now(), counter: 0 }
    }

    /// A new id; unique within the machine is enough for a test.
    pub(crate) fn uuid(&mut self) -> String {
        self.counter += 1;
        format!("{:08x}-0000-4000-8000-{:012x}", std::process::id(), self.counter)
    }

    fn id(&mut self, prefix: &str) -> String {
        self.counter += 1;
        format!("{prefix}_fake{:06}", self.counter)
    }

    fn timestamp() -> String {
        let now = jiff::Timestamp::now();
        now.round(jiff::Unit::Millisecond).unwrap_or(now).to_string()
    }

    pub(crate) fn tool_id(&mut self) -> String {
        self.id("toolu")
    }

    pub(crate) fn init(&mut self) -> Value {
        let mut tools = vec!["Task", "Bash", "Edit", "Read", "Skill"];
        if self.structured {
            tools.push("StructuredOutput");
        }
        tools.extend(["TaskStop", "ToolSearch", "WebFetch", "WebSearch", "Write"]);
        let uuid = self.uuid();
        json!({
            "type": "system", "subtype": "init", "cwd": self.cwd, "session_id": self.session, "tools": tools,
            "mcp_servers": [], "model": self.model, "permissionMode": self.permission_mode,
            "slash_commands": ["clear", "compact", "context"], "terminal_slash_commands": [],
            "apiKeySource": "ANTHROPIC_API_KEY", "claude_code_version": self.version, "output_style": "default",
            "agents": ["claude", "Explore", "general-purpose", "Plan"], "skills": [], "plugins": [], "capabilities": [],
            "analytics_disabled": true, "product_feedback_disabled": true, "served_by_anthropic": false, "uuid": uuid,
            "original_cwd": self.cwd, "additional_directories": [], "fast_mode_state": "off", "view_mode": "default",
        })
    }

    /// An assistant record with one content block.
    pub(crate) fn assistant(&mut self, block: Value) -> Value {
        let (message, uuid, request) = (self.id("msg"), self.uuid(), self.id("req"));
        json!({
            "type": "assistant",
            "message": {
                "id": message, "type": "message", "role": "assistant", "model": self.model, "content": [block],
                "stop_reason": null, "stop_sequence": null,
                "usage": {
                    "input_tokens": 100, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
                    "output_tokens": 1, "service_tier": "standard",
                },
                "context_management": null,
            },
            "parent_tool_use_id": null, "session_id": self.session, "uuid": uuid, "timestamp": Self::timestamp(),
            "request_id": request,
        })
    }

    /// The stream events that precede a text, where partial messages are asked for.
    pub(crate) fn partials(&mut self, text: &str) -> Vec<Value> {
        let characters: Vec<char> = text.chars().collect();
        let mut events = vec![
            json!({"type": "message_start", "message": {
                "id": self.id("msg"), "type": "message", "role": "assistant", "model": self.model, "content": [],
                "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 100, "output_tokens": 1},
            }}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        ];
        for piece in characters.chunks(24) {
            let piece: String = piece.iter().collect();
            events.push(
                json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}),
            );
        }
        events.push(json!({"type": "content_block_stop", "index": 0}));
        events.push(json!({"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": null}, "usage": {"output_tokens": 20}}));
        events.push(json!({"type": "message_stop"}));
        events
            .into_iter()
            .map(|event| {
                let uuid = self.uuid();
                json!({"type": "stream_event", "event": event, "session_id": self.session, "parent_tool_use_id": null, "uuid": uuid})
            })
            .collect()
    }

    /// The record of a tool's result.
    pub(crate) fn tool_result(&mut self, tool: &str, content: &str, is_error: bool) -> Value {
        let uuid = self.uuid();
        json!({
            "type": "user",
            "message": {"role": "user", "content": [
                {"tool_use_id": tool, "type": "tool_result", "content": content, "is_error": is_error},
            ]},
            "parent_tool_use_id": null, "session_id": self.session, "uuid": uuid, "timestamp": Self::timestamp(),
            "tool_use_result": {"stdout": content, "stderr": "", "interrupted": false, "isImage": false},
        })
    }

    /// A system record with further fields.
    pub(crate) fn system(&mut self, subtype: &str, fields: Value) -> Value {
        let mut record = json!({"type": "system", "subtype": subtype});
        if let (Value::Object(record), Value::Object(fields)) = (&mut record, fields) {
            record.extend(fields);
        }
        record["session_id"] = json!(self.session);
        record["uuid"] = json!(self.uuid());
        record
    }

    /// The event that names the reset of a rate limit.
    pub(crate) fn rate_limit(&mut self, resets_at: u64) -> Value {
        let uuid = self.uuid();
        json!({
            "type": "rate_limit_event",
            "rate_limit_info": {
                "status": "rejected", "resetsAt": resets_at, "rateLimitType": "five_hour", "overageStatus": "rejected",
                "isUsingOverage": false,
            },
            "uuid": uuid, "session_id": self.session,
        })
    }

    /// The synthetic message of an API error.
    pub(crate) fn synthetic(&mut self, error: &ApiError) -> Value {
        let (id, uuid, request) = (self.uuid(), self.uuid(), self.id("req"));
        json!({
            "type": "assistant",
            "message": {
                "diagnostics": null, "id": id, "container": null, "model": "<synthetic>", "role": "assistant",
                "stop_details": null, "stop_reason": "stop_sequence", "stop_sequence": "", "type": "message",
                "usage": {"input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
                "content": [{"type": "text", "text": error.text}], "context_management": null,
            },
            "parent_tool_use_id": null, "session_id": self.session, "uuid": uuid, "timestamp": Self::timestamp(),
            "error": error.name, "request_id": request, "is_api_error_message": true,
            "api_error_status": error.status, "api_error_type": error.api_type,
        })
    }

    pub(crate) fn result(&mut self, ending: &Ending) -> Value {
        let model_usage = if ending.output_tokens == 0 {
            json!({})
        } else {
            json!({&self.model: {
                "inputTokens": ending.input_tokens, "outputTokens": ending.output_tokens, "cacheReadInputTokens": 0,
                "cacheCreationInputTokens": 0, "webSearchRequests": 0, "costUSD": ending.cost_usd,
                "contextWindow": 1_000_000, "maxOutputTokens": 128_000, "thinkingTokens": 0,
                "canonicalModel": self.model, "provider": "firstParty", "costBasis": "list",
            }})
        };
        let elapsed = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mut record = json!({
            "duration_api_ms": elapsed, "stop_reason": ending.stop_reason, "session_id": self.session,
            "total_cost_usd": ending.cost_usd,
            "usage": {
                "input_tokens": ending.input_tokens, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
                "output_tokens": ending.output_tokens, "output_tokens_details": {"thinking_tokens": 0},
                "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0}, "service_tier": "standard",
                "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0},
                "inference_geo": "", "iterations": [], "speed": "standard", "fallback_credit": null,
            },
            "modelUsage": model_usage, "permission_denials": ending.denials,
            "terminal_reason": ending.terminal_reason, "fast_mode_state": "off",
            "fast_mode_disabled_reason": "sdk_opt_in_required",
            "subagent_stats": {"spawned": 0, "completed": 0, "failed": 0, "by_type": {}}, "safety_stops": 0,
            "is_error": ending.is_error, "num_turns": ending.turns, "subtype": ending.subtype,
        });
        let mut add = |name: &str, value: Value| {
            if let Value::Object(record) = &mut record {
                record.insert(name.to_owned(), value);
            }
        };
        if ending.subtype == "success" {
            add("api_error_status", ending.api_error.map_or(Value::Null, |(status, _)| json!(status)));
        }
        if let Some((_, api_type)) = ending.api_error {
            add("api_error_type", json!(api_type));
        }
        if let Some(result) = &ending.result {
            add("result", json!(result));
        }
        if let Some(structured) = &ending.structured {
            add("structured_output", structured.clone());
        }
        if !ending.errors.is_empty() {
            add("errors", json!(ending.errors));
        }
        add("ttft_ms", json!(elapsed));
        add("type", json!("result"));
        add("duration_ms", json!(elapsed));
        add("queued_turn_count", json!(0));
        add("result_index", json!(0));
        let uuid = self.uuid();
        record["uuid"] = json!(uuid);
        record
    }
}

/// The smallest value that a schema accepts, as far as types, enums and required properties say.
pub(crate) fn sample(schema: &Value) -> Value {
    if let Some(first) = schema["enum"].as_array().and_then(|options| options.first()) {
        return first.clone();
    }
    if !schema["const"].is_null() {
        return schema["const"].clone();
    }
    let kind = schema["type"].as_str().or_else(|| schema["type"].as_array()?.first()?.as_str());
    match kind.unwrap_or("object") {
        "string" => json!("text"),
        "integer" | "number" => schema.get("minimum").cloned().unwrap_or(json!(1)),
        "boolean" => json!(true),
        "null" => Value::Null,
        "array" => {
            let count = schema["minItems"].as_u64().unwrap_or(0);
            Value::Array((0..count).map(|_| sample(&schema["items"])).collect())
        }
        _ => {
            let mut object = Map::new();
            for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                object.insert(name.to_owned(), sample(&schema["properties"][name]));
            }
            Value::Object(object)
        }
    }
}
