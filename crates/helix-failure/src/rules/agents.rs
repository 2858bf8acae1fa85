//! What coding agents and model APIs say; agent results arrive here as `agent-result subtype=… status=…: text`.
//!
//! Must not know how the results are read from JSON.

use crate::cause::*;
use crate::verdict::Blame::{Platform, Provider};
use crate::verdict::RetryAdvice::{AfterDelay, Human};

/// Tools that talk to a model.
pub(crate) const AGENTS: &[&str] = &[
    "claude-cli",
    "claude",
    "codex-cli",
    "codex",
    "gemini-cli",
    "gemini",
    "anthropic-api",
    "openai-api",
    "aider",
    "opencode",
];

rules! {
    "agent.turns" MAX_TURNS 98 r"^agent-result subtype=error_max_turns|(?i)reached max(?:imum)? (?:number of )?turns";
    "agent.budget" BUDGET 98 r"^agent-result subtype=error_max_budget_usd|(?i)(?:exceeded|reached) (?:the )?(?:usd |dollar |cost |token |max budget )budget" .tools(AGENTS);
    "agent.schema" API_INVALID 90 r"^agent-result subtype=error_max_structured_output_retries";
    "agent.refusal" REFUSAL 97 r"^agent-result .*\bstop=refusal|(?i)violates? (?:our|the) usage polic|unable to respond to this request, which appears";
    "agent.denied" TOOL_DENIED 92 r"^agent-result .*\bdenials=[1-9]|^(?:error: )?(?:patch rejected|.*rejected: )(?:writing outside|by user approval)|^sandbox(?:ing)? (?:denied|error)";
    "agent.during" NO_RESULT 55 r"^agent-result subtype=error_during_execution" .blame(Provider);
    "agent.no_message" NO_RESULT 80 r"^(?:Error: |ERROR: |Warning: )?(?i)(?:no (?:last )?agent message|only prompt commands are supported|no response (?:received )?from (?:the )?(?:model|api)|empty response|no assistant messages?|stream ended without)|(?i)^(?:error: )?(?:claude|codex|gemini|the agent|agent)\b.{0,30}(?:process )?(?:exited|terminated|ended)(?: with (?:exit )?code| unexpectedly)";
    "agent.session" SESSION 92 r"(?i)session id \S+ is already in use|^(?:error: )?no conversation found with session id|no (?:rollout|recorded session|conversation|saved session) (?:was )?found (?:for|with|to)|tool_use.{0,60}without.{0,30}tool_result|tool_use_id|tool_result. block";
    "api.context" CONTEXT_TOO_LONG 97 r"(?i)prompt is too long|(?:token (?:count|limit)|tokens)[^'\x22]{0,40}exceed|exceed(?:ed|s).{0,40}token|max_prompt_tokens|context[_ ](?:length|window)[_ ]?(?:exceeded|limit|of the model)?|maximum context length|input length and .max_tokens. exceed|exceeds? the (?:model.s )?(?:context|maximum number of tokens)|input token count .{0,40}exceeds|request(?:_| )too(?:_| )large|conversation is too long|ran out of room in the model";
    "api.credit" CREDIT 99 r"(?i)credit balance is too low|insufficient[_ ](?:quota|credits?|funds|balance)|exceeded your current quota|quota exceeded\. check your plan|check your plan and billing|billing[_ ](?:error|hard[_ ]limit)|payment required|billing_not_active";
    "api.usage" USAGE_LIMIT 97 r"(?i)(?:you.ve hit|reached) your (?:(?:current|account|plan|usage|session|weekly|daily|monthly|spend|spending|opus|sonnet|5-hour) ){0,3}limit|usage[_ ]limit[_ ]?(?:reached|exceeded)?|(?:5-hour|weekly|opus weekly|session) limit reached|out of extra usage|specified API usage limits|spending limit";
    "api.expired" AUTH_EXPIRED 97 r"(?i)(?:oauth )?(?:session|token|access token|credentials?|sso session)(?: \w+)? (?:has |have |is |was )?(?:expired|revoked)|\bToken(?:Expired|RefreshFailed)\b|ExpiredToken|refresh token (?:has|was|is)|(?:sign|log) ?in again|re-?authenticate";
    "api.missing" AUTH_MISSING 95 r"(?i)not logged in|please run /login\b.*$|please run `?(?:claude|codex|gh|gcloud|az|aws|docker|npm|firebase) (?:auth )?login|missing (?:bearer|api[- ]key|credentials|authentication)|(?:api[-_ ]?key|ANTHROPIC_API_KEY|OPENAI_API_KEY|GEMINI_API_KEY|credentials?)\b.{0,40}(?:must be set|not set|is required|not provided|not found|missing|is unset)|could not resolve authentication method|no (?:api key|credentials|auth(?:entication)? (?:credentials|method))|you didn.t provide an api key|(?-i:ENEEDAUTH)|unable to locate credentials|could not find default credentials|need auth ";
    "api.key" AUTH_INVALID 96 r"(?i)invalid (?:x-)?api[- ]key|incorrect api key|api[_ ]key[_ ]invalid|api key not valid|invalid (?:bearer|auth(?:entication|orization)?|access) (?:token|credentials?)|authentication_error|AuthenticationError|invalid_api_key|InvalidClientTokenId|SignatureDoesNotMatch|bad credentials";
    "api.forbidden" AUTH_FORBIDDEN 95 r#"(?i)permission_error|PermissionDeniedError: Error code: 403|organization has (?:been )?disabled|account (?:has been |is )?(?:disabled|suspended)|does not have (?:access|permission) to|API Error: 403|\b403 Forbidden\b|not allowed for this organization|unsupported_country"#;
    "api.model" MODEL_NOT_FOUND 97 r"(?i)issue with the selected model|model:? .{0,60}(?:does not exist|not found|is not supported|not available)|model_not_found|not_found_error.{0,80}model|NotFoundError: Error code: 404.{0,200}model|unknown model";
    "api.overloaded" OVERLOADED 96 r"(?i)overloaded_error|OverloadedError|\b529\b.{0,40}overloaded|server_is_overloaded|selected model is at capacity|model is (?:currently )?overloaded|^agent-result .*status=529|repeated 529|slow_down";
    "api.rate" RATE_LIMITED 98 r"(?i)rate[_ ]limit(?:[_ ](?:error|exceeded|is exceeded|reached))|RateLimitError|rate limit is exceeded|^agent-result .*status=429|exceeded retry limit, last status: 429|API Error: 429|RESOURCE_EXHAUSTED|would exceed (?:your|the) (?:account|organization).{0,20}rate limit|tokens per min|per-minute (?:rate )?limit|request rejected \(429\)" .tools(AGENTS);
    "api.server" HTTP_5XX 93 r"(?i)\bAPI Error:? (?:\()?5(?:0\d|2[0-8])|\bapi_error\b|InternalServerError: Error code: 5\d\d|^agent-result .*status=5(?:0\d|2[0-8])|exceeded retry limit, last status: 5\d\d|unexpected status 5\d\d|an error occurred while processing your request: internal|server had an error|currently experiencing high demand" .blame(Provider);
    "api.timeout" REMOTE_DEADLINE 92 r"(?i)\bAPI(?:Connection)?TimeoutError|^agent-result .*request timed out|API Error.{0,40}(?:timed? ?out|timeout)|request timed out\.?$|stream idle timeout|idle timeout waiting for|ReadTimeout(?:Error)?: |timeout waiting for (?:the )?(?:model|response|sse)" .tools(AGENTS) .blame(Provider);
    "api.connection" CONN_REFUSED 91 r"(?i)APIConnectionError: |API Error: (?:Connection error|Unable to connect)|Unable to connect to API|^agent-result .*(?:ConnectionRefused|(?-i:ECONNREFUSED)|unable to connect)|error sending request for url|FailedToOpenSocket" .blame(Provider);
    "api.dns" DNS 93 r"^agent-result .*(?-i:ENOTFOUND|EAI_AGAIN|getaddrinfo)|(?i:API Error|unable to connect|connection error).{0,80}(?:ENOTFOUND|EAI_AGAIN|getaddrinfo)";
    "api.broken" CONN_RESET 92 r"(?i)stream disconnected before completion|^agent-result .*(?:ECONNRESET|socket (?:hang up|connection was closed)|terminated|connection (?:was )?closed|premature close)|API Error.{0,30}(?:terminated|(?-i:ECONNRESET)|socket|connection (?:was )?(?:closed|lost|reset))|RemoteProtocolError|incomplete chunked read|error decoding response body|stream closed before" .blame(Provider);
    "api.invalid" API_INVALID 80 r"(?i)invalid_request_error|BadRequestError: |UnprocessableEntityError|^agent-result .*status=4(?:00|22)|API Error: 4(?:00|22)|unexpected status 4(?:00|22)";
    "agent.mcp" CONFIG_SYNTAX 90 r"(?i)(?:config|settings|schema|--[a-z-]+|\.json)\b.{0,40}is not (?:a )?valid json|(?:does not adhere to|invalid) (?:mcp|mcpServers) .{0,20}schema|error (?:parsing|loading) config(?:uration|\.toml)|failed to parse (?:settings|config)|invalid schema: " .blame(Platform);
    "agent.config_missing" FILE_MISSING 90 r"(?i)(?:mcp config|settings|system prompt|prompt|schema|config(?:uration)?) file (?:does not exist|not found)|failed to read (?:output schema|prompt|settings|config)\b.{0,120}no such file" .tools(AGENTS) .blame(Platform);
    "agent.usage" BAD_USAGE 88 r"^(?i)(?:error: )?(?:--[\w-]+ must be |unknown option|option '.*' argument .* is invalid|input must be provided|when using --print, --output-format|unexpected argument|cannot use both|--\S+ (?:requires|can only be used|cannot be used)|invalid value '.*' for)" .blame(Platform) .tools(AGENTS);
    "service.rate" RATE_LIMITED 90 r"(?i)RateLimitError|rate_limit_(?:error|exceeded)|sent too many requests|\b429\b.{0,40}too many requests|too many requests|\b429\b.{0,20}(?:status|error|rate)|(?:status|error|returned|code)[^\n]{0,20}\b429\b|\bE429\b.{1,}|rate limit exceeded|toomanyrequests|pull rate limit|secondary rate limit|Throttling(?:Exception)?:" .retry(AfterDelay);
    "service.auth" AUTH_INVALID 88 r"(?i)\b401\b.{0,30}unauthori[sz]ed|(?:status|error|returned|code)[^\n]{0,20}\b401\b|unable to authenticate, (?:your|need)|authentication (?:token|failed|required)|unauthorized: |incorrect username or password|could not read (?:username|password) for|(?:echec|échec) d.authentification|authentifizierung(?:s)? ?(?:fehlgeschlagen|fehler)|身份验证失败|认证失败|鉴权失败|invalid username or|username/password authentication failed|HTTP basic: access denied|no basic auth credentials" .retry(Human);
    "service.forbidden" AUTH_FORBIDDEN 86 r"(?i)\b403\b.{0,30}forbidden|(?:status|error|returned|code)[^\n]{0,20}\b403\b|denied: requested access to the resource|pull access denied|access to the resource is denied|you do not have permission to (?:publish|push|access)|write access to repository not granted|permission to \S+ denied to|AccessDenied(?:Exception)?\b|is not authorized to perform|not have access to the requested|insufficient (?:scope|permission)|PERMISSION_DENIED|forbidden: User|error from server \(forbidden\)" .retry(Human);
    "service.payment" CREDIT 88 r"(?i)(?:status|error|returned|code)[^\n]{0,20}\b402\b|\b402 payment";
    "service.5xx" HTTP_5XX 84 r"(?i)(?:status(?: code)?|returned error|error|http/[\d.]+|http|returned|code|responded with|server response|too many)[:= \[(]{1,3}5(?:0\d|2\d)\b|\b50\d (?:internal server error|bad gateway|service (?:temporarily )?unavailable|gateway time-?out|server error)|too many 5\d\d error responses|\bnpm (?:ERR!|error) (?:code E)?50\d\b|HTTPError: 5\d\d";
    "ssh.key" SERVICE_GRANT 90 r"(?i)permission denied \((?:publickey|password|keyboard-interactive|gssapi)[^)]*\)|too many authentication failures|no supported authentication methods";
    "ssh.hostkey" AUTH_INVALID 88 r"(?i)host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED" .blame(crate::verdict::Blame::Environment);
}
