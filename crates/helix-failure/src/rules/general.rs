//! What messages of tools that no rule knows have in common: a net of low weight, so that its claims count as guesses.
//!
//! Must not know any tool. Every weight here stays below the weight of a sure claim (24), above the mere fallback (12).

use crate::cause::*;
use crate::rule::{Rule, rule};

pub(super) static RULES: &[Rule] = &[
    rule(
        "general.name",
        &MISSING_SYMBOL,
        22,
        r"(?i)\b(?:undefined|undeclared|unresolved|unbound|unknown|unrecognized|no such|nonexistent|missing|no) (?:\w+ )?(?:function|value|constructor|binary|browser|method|variable|symbol|identifier|name|class|type|field|member|property|attribute|constant|macro|trait|interface|reference|label|key|role|rule|target|task|recipe|job|step|stage|service|resource|plugin|module|package|library|dependency|import|extension|provider|component|template|table|column|relation|collection|index|context|procedure|predicate|macro|user|group|region|runtime|feature|entity|filter|command|executable|program|binary|tool|image|tag|tool ?chain)\b|\b(?:function|method|variable|symbol|identifier|name|class|type|field|member|property|attribute|constant|macro|interface|label|role|rule|target|task|recipe|job|stage|service|resource|plugin|module|package|library|dependency|extension|provider|component|template|table|column|collection|program|executable|binary|command|tool|image|formula|gem|crate|artifact|project|profile|workspace|environment|secret|generator|preset|loader|driver|handler|action|workflow|context|procedure|predicate|word|macro)s? .{0,80}\b(?:(?:was |is |were |are |be |been )?(?:not found|undefined|undeclared|unbound|not defined|not declared|not known|unknown|not installed|not registered|not available|missing)|(?:does not|doesn't|do not|don't) exist|could not be (?:found|resolved|located)|cannot be (?:found|resolved|located))|(?:not|isn't) in scope|[`'\x22‘][\w.:-]+[`'\x22’] (?:is |was )?(?:not (?:defined|found|declared|known|recognized|installed)|undefined|unknown)|UndefVar|invalid (?:user|group)\b|has no (?:IMPLICIT type|member|method|attribute|property|field|function|function named)\b",
        (
            &[
                "error: undefined variable `x`",
                "Error: Template 'a.html' could not be found",
                "the provider \"x\" does not exist",
                "unknown type: Moneyz",
            ],
            &["everything was found"],
        ),
    ),
    rule(
        "general.name.locate",
        &MISSING_SYMBOL,
        20,
        r"(?i)(?:could not|couldn't|cannot|can't|unable to|failed to) (?:find|locate|resolve|import|load) (?:a |an |the |any )?(?:\w+ )?(?:function|method|symbol|class|type|name|module|package|library|plugin|command|executable|program|binary|compiler|interpreter|target|task|gem|crate|provider|template|service|image|dependency|artifact|component|definition|import|extension|driver|formula)\b",
        (&["error: could not find module `Data.Mapp`", "Failed to load plugin x"], &["could not find peace"]),
    ),
    rule(
        "general.syntax",
        &COMPILE_SYNTAX,
        23,
        r"(?i)\b(?:syntax|parse|parser|parsing|lexical|grammar) (?:error|exception|failure)s?\b|\bparse(?:r)? failed\b|\b(?:failed|unable|could not|cannot) (?:to )?(?:be )?parsed?\b|unexpected (?:key|attribute|element|tag|directive|block|token|character|symbol|identifier|keyword|end of (?:file|input|line)|eof|indent|newline|closing|string|number)|unterminated |unclosed |unbalanced |unmatched |mismatched (?:bracket|brace|paren|input|tag)|malformed |missing (?:closing |opening |close-|open-)?(?:bracket|brace|paren|parenthesis|semicolon|comma|quote|delimiter|colon|keyword)|expected (?:one of )?[\x22'`‘“][^\w\s]{1,3}[\x22'`’”]|(?:no viable alternative|expecting (?:property name|value|[',:\x22 ]{1,4}delimiter)|extraneous input) |not well-formed|errors? parsing |[\x22'`‘“][^\w\s]{1,3}[\x22'`’”] expected\b|(?:instruction|identifier|expression|statement|semicolon|operand|declaration|delimiter) expected\b|expected (?:near|end of|identifier|expression|statement|declaration|keyword|token|field number|newline|indented|an? (?:identifier|expression|statement|declaration|indented))|must be terminated by|invalid (?:syntax|yaml|json|xml|toml|indentation|escape|token|character)",
        (
            &[
                "a.zig:3:4: error: expected ';' after statement: unexpected token",
                "prog.hs:4:1: error: parse error on input ‘where’",
                "Malformed input at line 3",
            ],
            &["no errors in syntax"],
        ),
    ),
    rule(
        "general.parser",
        &COMPILE_SYNTAX,
        72,
        r"(?i)^(?:\[?error\]?:? ?|\S+:\d+:\d+: (?:error: )?)?(?:parse error[:.]? |syntax error[:.]? )?expected (?:one of )?[\x22'`‘“][^\w\s]{1,3}[\x22'`’”].{0,80}\bfound\b",
        (
            &["error: Expected \")\" but found \"{\"", "a.ts:3:4: error: expected ';', found '}'"],
            &["expected 3 but found 4"],
        ),
    ),
    rule(
        "general.expected_type",
        &COMPILE_TYPE,
        64,
        r"(?i)\bexpected (?:an? )?(?:expression of )?type [\x22'`‘“\w]",
        (&["a.zig:3:4: error: expected type 'u32', found 'bool'"], &["expected typed words"]),
    ),
    rule(
        "general.type",
        &COMPILE_TYPE,
        22,
        r"(?i)(?:expression|value|argument|this) has type .{1,80}|was expected of type|\btype (?:mismatch|error|check(?:ing)? (?:failed|error))|\b(?:incompatible|mismatched|conflicting|wrong|invalid|unexpected) (?:\w+ )?types?\b|couldn't match|(?:couldn't|could not|does not|doesn't|cannot|can't) (?:unify|convert|coerce|assign|cast|infer|apply|add|index|iterate)\b|(?:is|are) not (?:assignable|compatible|convertible|comparable|callable with|subscriptable|iterable|an instance of)|(?:too (?:few|many)|wrong number of|missing \d+ required|incorrect number of|unexpected keyword) (?:\w+ )?(?:argument|parameter)s?|no implicit conversion|wrong (?:kind|type) of value|null ?(?:pointer|reference)|null dereference|on (?:null|nil|none|undefined)\b|expected type|of type \S+ (?:but|cannot|where)|expected (?:an? )?(?:int|integer|string|str|bool|boolean|number|array|object|list|map|float|double|char|bytes)\b",
        (
            &[
                "error: Couldn't match expected type ‘Int’ with actual type ‘[Char]’",
                "a.zig:3:4: error: expected type 'u32', found 'bool'",
                "TypeError-like: value is not iterable",
            ],
            &["typed 3 words"],
        ),
    ),
    rule(
        "general.assert",
        &TEST_ASSERTION,
        21,
        r"(?i)\bassert(?:ion)?s?\b.{0,60}\bfail|\bfail(?:ed|ure)?\b.{0,40}\bassert|\bexpect(?:ed|ation)?\b.{1,80}\b(?:but |and |, ?|; ?)?(?:got|was|received|actual|found|were|returned)\b|^(?:actual|got|received)\s*[:=]|\b\d+ (?:of \d+ )?(?:tests?|specs?|scenarios?|examples?|checks?|assertions?) (?:have )?failed|(?:tests?|specs?|scenario) failed\b|did not match (?:the )?expect|does not match (?:the )?expected|mismatch(?:ed)? (?:in|at|between) ",
        (
            &["Expectation failed: expected 3, got 4", "3 tests failed", "output does not match the expected file"],
            &["as expected"],
        ),
    ),
    rule(
        "general.lint",
        &LINT,
        19,
        r"(?i)\b(?:lint|style|format|formatting|convention|security|licen[cs]e) (?:error|violation|issue|check|requirement)s?\b|\bunused (?:local|variable|import|parameter|function|constant|argument|dependency|binding|label|private)\b|never used\b|\d+ (?:\w+ ){0,3}(?:vulnerabilit(?:y|ies)|offenses?|violations?)\b|trailing (?:whitespace|spaces|newline)|(?:not|isn't|needs?) (?:properly )?format(?:ted|ting)|would be reformatted|\b(?:violation|offense|vulnerabilit(?:y|ies)|warnings? treated as errors?|finding)s? (?:found|detected)|\d+ (?:offense|violation|problem|issue|vulnerabilit(?:y|ie))s?\b",
        (
            &["12 files inspected, 3 offenses detected", "3 vulnerabilities found", "a.nix is not formatted"],
            &["0 of it"],
        ),
    ),
    rule(
        "general.timeout",
        &DEADLINE,
        21,
        r"(?i)\btimed[- ]?out\b|^time[- ]?out$|\b(?:connection|request|read|write|operation|gateway|lock|idle|wait|response|session|job|step|test) time[- ]?out(?:$| ?[!,;])|\btime[- ]?out(?: while| \(| error| occurred| on | in | of )|\btimeout:? (?:error|exception)\b|\btimeout (?:exceeded|expired|reached|elapsed|waiting|while|after|of)\b|deadline (?:exceeded|expired|reached)|took (?:too long|longer than)|exceeded .{0,40}(?:time limit|timeout|seconds|minutes)|gave up (?:waiting|after)|not (?:become )?(?:ready|healthy) (?:in|within|after) |délai (?:d'attente )?dépassé|zeitlimit|超时",
        (
            &["operation timed out", "gave up waiting for the emulator after 120 s", "context: deadline exceeded"],
            &["time is out there", "key not found: :timeout"],
        ),
    ),
    rule(
        "general.memory",
        &ALLOC_FAILED,
        22,
        r"(?i)out[- ]of[- ]memory|not enough memory|insufficient memory|memory (?:exhausted|limit (?:exceeded|reached)|allocation (?:failed|error))|exceeded .{0,20}memory limit|\bOOM\b|speicher (?:reicht nicht|erschöpft)|mémoire (?:insuffisante|épuisée)|内存(?:不足|溢出)",
        (&["fatal: out of memory", "Container exceeded its memory limit"], &["memory: 3 GB"]),
    ),
    rule(
        "general.network",
        &CONN_REFUSED,
        21,
        r"(?i)(?:cannot|can't|could not|couldn't|failed to) open [\w-]+(?:\.[\w-]+)+:\d+|(?:could not|couldn't|cannot|can't|unable to|failed to) (?:connect|reach|establish|contact|open (?:a )?connection|dial|communicate)|connection (?:error|failed|failure|problem|lost|dropped|aborted)|network (?:error|failure|issue|problem|is down)|socket (?:error|closed|exception)|\bno (?:internet|network) (?:connection|access)|unreachable|server (?:is )?(?:unavailable|not responding|down)|service unavailable|bad gateway|internal server error|proxy (?:error|connection)|fetch(?:ing)? failed",
        (
            &["Error: unable to reach the registry", "network error while downloading x", "503 service unavailable"],
            &["connected"],
        ),
    ),
    rule(
        "general.access",
        &PERMISSION_DENIED,
        20,
        r"(?i)requires? (?:\w+ )?access to |(?:permission|access)s? (?:was |is |has been )?(?:denied|refused|forbidden)|not permitted|insufficient (?:permission|privilege|right|access)s?|not (?:allowed|authori[sz]ed) to (?:read|write|open|create|delete|access)|(?:cannot|can't|could not|unable to|failed to) (?:write|create|delete|remove|rename|chmod|chown|mkdir) (?:to )?[\x22'`/\\]",
        (&["error: access was denied to C:\\x", "unable to create '/opt/x'"], &["permissions ok"]),
    ),
    rule(
        "general.file",
        &FILE_MISSING,
        21,
        r"(?i)\b(?:file|directory|folder|path|input|manifest|source)s? .{0,120}(?:not found|does not exist|doesn't exist|is missing|not exist|could not be (?:found|opened|read)|cannot be (?:found|opened|read))|(?:cannot|can't|could not|couldn't|unable to|failed to) (?:open|read|find|locate|stat|access|load) (?:the )?(?:\w+ )?(?:file|directory|folder|path|input|source|manifest)\b|(?:cannot|can't|could not|couldn't|unable to|failed to) open [\x22'`]|no (?:\w+ )?(?:file|directory|manifest) (?:found|named|at|in)\b|\S\.\w{1,5}[\x22'`’”]?:? (?:not found|could not be found|nicht gefunden|introuvable)|(?:: not found|could not be found|nicht gefunden|introuvable)\.?$",
        (
            &["Input file data.csv does not exist", "failed to open file x", "No manifest found in /x"],
            &["file written"],
        ),
    ),
    rule(
        "general.auth",
        &AUTH_INVALID,
        22,
        r"(?i)\b(?:wrong|incorrect|bad) (?:password|passphrase|pin|decrypt)\b|\b(?:unauthori[sz]ed|unauthenticated|authentication (?:error|failed|failure|required)|authori[sz]ation (?:error|failed|failure)|login (?:failed|required)|invalid (?:\w+ )?(?:credential|token|password|api key|secret|signature|licen[cs]e)s?|(?:token|credential|session|licen[cs]e|certificate) .{0,20}(?:expired|revoked)|forbidden|access token .{0,40}(?:invalid|missing)|not (?:logged|signed) in|need to (?:log|sign) in)\b",
        (&["Error: login required", "The licence has expired", "unauthorized"], &["authorized"]),
    ),
    rule(
        "general.limit",
        &RATE_LIMITED,
        21,
        r"(?i)too many (?:requests|attempts)|\brate.?limit|throttl(?:ed|ing)|(?:quota|limit|capacity) (?:has been |was |is )?(?:exceeded|reached|exhausted)|try again (?:later|in \d)",
        (&["throttled: try again later", "API limit reached"], &["limit: 3"]),
    ),
    rule(
        "general.locked",
        &LOCK_HELD,
        21,
        r"(?i)\b(?:is|was|already|currently) (?:locked|in use|running|being used)\b|(?:could not|cannot|unable to|failed to) (?:acquire|obtain|get|take) .{0,30}lock|lock(?:file)? .{0,60}(?:exists|is held)|another \w+ (?:holds|owns|is holding|has locked|has the lock)|(?:held|locked|owned) by (?:another|pid|process|user)|another instance",
        (
            &[
                "the database is currently in use",
                "could not acquire the deploy lock",
                "deploy: another deployment holds /run/deploy.lock",
            ],
            &["unlocked"],
        ),
    ),
    rule(
        "general.conflict",
        &DEP_CONFLICT,
        19,
        r"(?i)(?:version|dependency|dependencies|requirement)s? .{0,60}(?:conflict|incompatible|unsatisfiable|cannot be (?:satisfied|resolved))|(?:conflict\w*|incompatib\w+) .{0,40}(?:version|dependenc|requirement|package)|cyclic dependenc|dependency cycle",
        (&["dependency versions are incompatible: a, b", "conflicting dependencies detected"], &["versions agree"]),
    ),
    rule(
        "general.usage",
        &BAD_USAGE,
        18,
        r"(?i)(?:invalid|unsupported|unknown|illegal|unrecognized|bad|incorrect) (?:value|option|argument|parameter|flag|setting|configuration|choice|input|format|operation)|is not (?:a )?(?:supported|valid|allowed|recognized)\b|must be (?:one of|between|greater|less|at least|set|specified|provided|a )|is required\b|cannot be (?:empty|null|used|combined)",
        (&["--shard must be between 1 and 4", "Unsupported format: bmp"], &["valid"]),
    ),
    rule(
        "general.raised",
        &RUNTIME_EXCEPTION,
        16,
        r"^(?:Error|error): .*$",
        (&["Error: step 4 of 9 said no"], &["Errors: 0"]),
    ),
    rule(
        "general.words",
        &UNEXPLAINED,
        8,
        r"(?i)\b(?:failed|failure|failing|error|cannot|could not|couldn't|unable to|fatal|abort(?:ed|ing)|crash(?:ed)?|abort:|out of date|invalid|denied|fehlgeschlagen|échec|échoué|impossible|失败|无法)\b",
        (&["Uploading: aborted", "the step failed"], &["all is well"]),
    ),
];
