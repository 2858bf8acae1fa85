//! The messages at which classification by words alone is known to go wrong, and their like in other tools.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use helix_core::failure::{Classifier, FailureObservation, Log, Termination};

/// Tool, exit status (negative: signal), text, category, cause.
type Row = (&'static str, i32, &'static str, &'static str, &'static str);

const ROWS: &[Row] = &[
    ("cargo", 101, "error[E0382]: borrow of moved value: `v`", "TYPE_ERROR", "borrow_check"),
    ("cargo", 101, "error[E0308]: mismatched types\n  expected `u32`, found `&str`", "TYPE_ERROR", "compile_type"),
    (
        "cargo",
        101,
        "error: failed to select a version for `openssl-sys`.\n    ... required by package `a v1.0.0`",
        "UNKNOWN",
        "dep_conflict",
    ),
    (
        "cargo",
        101,
        "thread 't' panicked at src/lib.rs:3:5:\nassertion `left == right` failed\n  left: 1\n right: 2\nerror: test failed",
        "ASSERTION_FAILURE",
        "test_assertion",
    ),
    (
        "cargo",
        101,
        "error: linker `cc` not found\n  = note: No such file or directory (os error 2)",
        "FUNCTION_ERROR",
        "missing_command",
    ),
    ("pytest", 1, "E       AssertionError: assert 'connection refused' == ''", "ASSERTION_FAILURE", "test_assertion"),
    (
        "python",
        1,
        "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    import yaml\nModuleNotFoundError: No module named 'yaml'",
        "FUNCTION_ERROR",
        "missing_module",
    ),
    ("pytest", 5, "\nno tests ran in 0.01s", "UNKNOWN", "no_tests"),
    (
        "npm",
        1,
        "npm error code ERESOLVE\nnpm error ERESOLVE could not resolve\nnpm error Fix the upstream dependency conflict",
        "UNKNOWN",
        "dep_conflict",
    ),
    (
        "npm",
        243,
        "npm error code EACCES\nnpm error syscall mkdir\nnpm error Error: EACCES: permission denied, mkdir '/usr/lib/node_modules'",
        "FILE_ACCESS",
        "permission_denied",
    ),
    (
        "tsc",
        2,
        "src/a.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'.",
        "TYPE_ERROR",
        "compile_type",
    ),
    ("tsc", 2, "src/a.ts(3,7): error TS1005: ';' expected.", "SYNTAX_ERROR", "compile_syntax"),
    (
        "node",
        1,
        "TypeError: Cannot read properties of undefined (reading 'id')\n    at f (/a/b.js:1:2)",
        "TYPE_ERROR",
        "null_deref",
    ),
    (
        "git",
        1,
        "CONFLICT (add/add): Merge conflict in b.rs\nAutomatic merge failed; fix conflicts and then commit the result.",
        "UNKNOWN",
        "vcs_conflict",
    ),
    (
        "git",
        128,
        "remote: HTTP Basic: Access denied\nfatal: Authentication failed for 'https://git.example/a/b.git/'",
        "RESOURCE_ERROR",
        "auth_invalid_key",
    ),
    (
        "git",
        128,
        "fatal: unable to access 'https://git.example/': Could not resolve host: git.example",
        "NETWORK_ERROR",
        "dns",
    ),
    (
        "git",
        1,
        "To git.example:a/b.git\n ! [rejected]        main -> main (non-fast-forward)\nerror: failed to push some refs to 'git.example:a/b.git'",
        "UNKNOWN",
        "vcs_stale_ref",
    ),
    (
        "docker",
        1,
        "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
        "NETWORK_ERROR",
        "service_down",
    ),
    (
        "claude-cli",
        1,
        "API Error: 529 {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}",
        "RESOURCE_ERROR",
        "overloaded",
    ),
    (
        "claude-cli",
        1,
        "API Error: 429 {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"slow\"}}",
        "RESOURCE_ERROR",
        "rate_limited",
    ),
    (
        "claude-cli",
        1,
        "API Error: 400 {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is too long: 3 tokens > 2 maximum\"}}",
        "RESOURCE_ERROR",
        "context_too_long",
    ),
    (
        "claude-cli",
        1,
        "API Error: 400 {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"Your credit balance is too low\"}}",
        "RESOURCE_ERROR",
        "credit_exhausted",
    ),
    ("claude-cli", 1, "Invalid API key · Fix external API key", "RESOURCE_ERROR", "auth_invalid_key"),
    (
        "node",
        -6,
        "FATAL ERROR: Ineffective mark-compacts near heap limit Allocation failed - JavaScript heap out of memory",
        "MEMORY_ERROR",
        "heap_oom",
    ),
    ("cp", 1, "cp: error writing 'x': No space left on device", "RESOURCE_ERROR", "disk_full"),
    (
        "node",
        1,
        "TypeError: fetch failed\n    at f (/a/b.js:1:2) {\n  [cause]: Error: getaddrinfo ENOTFOUND api.example\n",
        "NETWORK_ERROR",
        "dns",
    ),
    (
        "python",
        1,
        "Traceback (most recent call last):\n  File \"a.py\", line 2, in f\n    x\nKeyError: 'connection refused'",
        "UNKNOWN",
        "runtime_exception",
    ),
    (
        "cargo",
        101,
        "error: failed to read `/x/Cargo.toml`\n\nCaused by:\n  No such file or directory (os error 2)",
        "FILE_ACCESS",
        "file_missing",
    ),
    ("node", 1, "Error: boom\n    at f (/a/b.js:1:2)\nstack trace above", "UNKNOWN", "runtime_exception"),
    // Other languages.
    ("bash", 1, "cat: konfig.yml: Datei oder Verzeichnis nicht gefunden", "FILE_ACCESS", "file_missing"),
    (
        "bash",
        1,
        "mkdir: Das Verzeichnis „/srv/x“ kann nicht angelegt werden: Keine Berechtigung",
        "FILE_ACCESS",
        "permission_denied",
    ),
    ("bash", 127, "bash: ligne 3: foo : commande introuvable", "FUNCTION_ERROR", "missing_command"),
    (
        "curl",
        7,
        "curl: (7) Failed to connect to localhost port 8080: Connexion refusée",
        "NETWORK_ERROR",
        "service_down",
    ),
    ("bash", 1, "cp: 写入 'x' 出错: 设备上没有空间", "RESOURCE_ERROR", "disk_full"),
    (
        "gcc",
        1,
        "a.c:3:5: Fehler: »foo« nicht deklariert (erstmalige Verwendung in dieser Funktion)",
        "FUNCTION_ERROR",
        "missing_symbol",
    ),
    (
        "gcc",
        1,
        "a.c:3:5: erreur: ‘foo’ non déclaré (première utilisation dans cette fonction)",
        "FUNCTION_ERROR",
        "missing_symbol",
    ),
    ("psql", 1, "FEHLER:  Syntaxfehler bei »SELEC«\nZEILE 1: SELEC 1;", "SYNTAX_ERROR", "sql_syntax"),
    (
        "psql",
        1,
        "ERREUR:  la relation « commandes » n'existe pas\nLIGNE 1 : select * from commandes",
        "FUNCTION_ERROR",
        "missing_table",
    ),
    (
        "git",
        1,
        "Auf Branch main\nnichts zu committen, Arbeitsverzeichnis unverändert",
        "UNKNOWN",
        "vcs_nothing_to_commit",
    ),
    ("git", 128, "fatal: Kein Git-Repository (oder irgendein Elternverzeichnis): .git", "UNKNOWN", "vcs_state"),
    // Windows, colours, progress, records.
    (
        "cargo",
        101,
        "\u{1b}[1m\u{1b}[31merror[E0433]\u{1b}[0m: failed to resolve\r\n --> src\\main.rs:2:5\r\n",
        "FUNCTION_ERROR",
        "missing_module",
    ),
    (
        "python",
        1,
        "PermissionError: [WinError 5] Access is denied: 'C:\\\\app\\\\x.db'",
        "FILE_ACCESS",
        "permission_denied",
    ),
    (
        "cargo",
        101,
        "{\"reason\":\"compiler-message\",\"message\":{\"level\":\"error\",\"code\":{\"code\":\"E0277\"},\"message\":\"the trait bound is not satisfied\"}}",
        "TYPE_ERROR",
        "compile_type",
    ),
    (
        "go",
        1,
        "{\"Action\":\"output\",\"Test\":\"TestA\",\"Output\":\"    a_test.go:9: total = 3, want 4\\n\"}\n{\"Action\":\"fail\",\"Test\":\"TestA\"}",
        "ASSERTION_FAILURE",
        "test_assertion",
    ),
    (
        "eslint",
        1,
        "/x/a.js\n  1:7  error  'connection' is assigned a value but never used  no-unused-vars\n\n✖ 1 problem (1 error, 0 warnings)",
        "ASSERTION_FAILURE",
        "lint",
    ),
    ("ruff", 1, "a.py:1:8: F401 [*] `os` imported but unused\nFound 1 error.", "ASSERTION_FAILURE", "lint"),
    (
        "jest",
        1,
        "FAIL ./a.test.js\n  ● total › adds\n\n    expect(received).toBe(expected) // Object.is equality\n\n    Expected: 3\n    Received: 2\n\n      at Object.<anonymous> (a.test.js:3:4)",
        "ASSERTION_FAILURE",
        "test_assertion",
    ),
    (
        "vitest",
        1,
        " FAIL  a.test.ts > reports ECONNREFUSED\nAssertionError: expected 3 to be 4 // Object.is equality\n ❯ a.test.ts:3:4",
        "ASSERTION_FAILURE",
        "test_assertion",
    ),
    (
        "go",
        1,
        "--- FAIL: TestTimeout (0.00s)\npanic: runtime error: invalid memory address or nil pointer dereference [recovered]",
        "TYPE_ERROR",
        "null_deref",
    ),
    ("go", 1, "panic: test timed out after 1s\nrunning tests:\n\tTestSlow (1s)", "TIMEOUT", "deadline"),
    (
        "go",
        1,
        "a.go:4:2: no required module provides package example.org/x; to add it:\n\tgo get example.org/x",
        "FUNCTION_ERROR",
        "missing_module",
    ),
    ("go", 1, "go: go.mod requires go >= 1.99 (running go 1.22.5; GOTOOLCHAIN=local)", "UNKNOWN", "toolchain_mismatch"),
    (
        "npm",
        1,
        "npm error code E404\nnpm error 404 Not Found - GET https://registry.example/nope - Not found",
        "FUNCTION_ERROR",
        "missing_package",
    ),
    (
        "npm",
        1,
        "npm error code EUSAGE\nnpm error\nnpm error `npm ci` can only install packages when your package.json and package-lock.json are in sync.",
        "UNKNOWN",
        "lockfile_stale",
    ),
    (
        "npm",
        1,
        "npm error code EINTEGRITY\nnpm error sha512-aaa integrity checksum failed when using sha512: wanted x but got y.",
        "UNKNOWN",
        "checksum_mismatch",
    ),
    (
        "npm",
        1,
        "npm error code EJSONPARSE\nnpm error JSON.parse Expected double-quoted property name in JSON at position 20 while parsing near \"{...\"",
        "SYNTAX_ERROR",
        "config_syntax",
    ),
    (
        "npm",
        1,
        "npm error code ENOENT\nnpm error syscall open\nnpm error path /x/package.json\nnpm error enoent Could not read package.json: Error: ENOENT: no such file or directory, open '/x/package.json'",
        "FILE_ACCESS",
        "file_missing",
    ),
    ("npm", 1, "npm error code ECONNRESET\nnpm error network aborted", "NETWORK_ERROR", "conn_reset"),
    (
        "pip",
        1,
        "ERROR: Could not find a version that satisfies the requirement nope==9 (from versions: none)\nERROR: No matching distribution found for nope==9",
        "FUNCTION_ERROR",
        "missing_package",
    ),
    (
        "pip",
        1,
        "ERROR: Package 'x' requires a different Python: 3.9.1 not in '>=3.11'",
        "UNKNOWN",
        "toolchain_mismatch",
    ),
    (
        "docker",
        1,
        "Error response from daemon: manifest for shop/api:9 not found: manifest unknown: manifest unknown",
        "FUNCTION_ERROR",
        "missing_image",
    ),
    (
        "docker",
        1,
        "Error response from daemon: driver failed programming external connectivity: Bind for 0.0.0.0:80 failed: port is already allocated",
        "RESOURCE_ERROR",
        "port_in_use",
    ),
    (
        "docker",
        1,
        "permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock",
        "FILE_ACCESS",
        "permission_denied",
    ),
    (
        "docker",
        1,
        "ERROR: failed to solve: dockerfile parse error on line 3: unknown instruction: RUNN",
        "SYNTAX_ERROR",
        "config_syntax",
    ),
    (
        "docker",
        1,
        "ERROR: failed to solve: failed to compute cache key: failed to calculate checksum of ref x: \"/dist\": not found",
        "FILE_ACCESS",
        "file_missing",
    ),
    (
        "terraform",
        1,
        "Error: Error acquiring the state lock\n\nError message: resource temporarily unavailable",
        "RESOURCE_ERROR",
        "lock_held",
    ),
    (
        "kubectl",
        1,
        "The connection to the server 127.0.0.1:6443 was refused - did you specify the right host or port?",
        "NETWORK_ERROR",
        "service_down",
    ),
    (
        "psql",
        2,
        "psql: error: connection to server at \"127.0.0.1\", port 5432 failed: FATAL:  password authentication failed for user \"x\"",
        "RESOURCE_ERROR",
        "auth_invalid_key",
    ),
    (
        "psql",
        2,
        "psql: error: connection to server at \"127.0.0.1\", port 5432 failed: FATAL:  sorry, too many clients already",
        "RESOURCE_ERROR",
        "conn_slots",
    ),
    ("psql", 1, "ERROR:  permission denied for table accounts", "RESOURCE_ERROR", "service_permission"),
    ("psql", 1, "ERROR:  canceling statement due to statement timeout", "TIMEOUT", "deadline"),
    ("psql", 1, "ERROR:  column \"nme\" does not exist\nLINE 1: select nme", "FUNCTION_ERROR", "missing_table"),
    ("psql", 1, "ERROR:  duplicate key value violates unique constraint \"a_pkey\"", "UNKNOWN", "runtime_exception"),
    (
        "git",
        128,
        "git@git.example: Permission denied (publickey).\nfatal: Could not read from remote repository.",
        "RESOURCE_ERROR",
        "service_permission",
    ),
    (
        "java",
        1,
        "Exception in thread \"main\" java.lang.OutOfMemoryError: Java heap space\n\tat A.main(A.java:3)",
        "MEMORY_ERROR",
        "heap_oom",
    ),
    ("java", 1, "A.java:3: error: cannot find symbol\n    foo();\n    ^", "FUNCTION_ERROR", "missing_symbol"),
    ("ruby", 1, "a.rb:3:in `f': undefined method `x' for nil (NoMethodError)", "TYPE_ERROR", "null_deref"),
    (
        "php",
        255,
        "PHP Fatal error:  Allowed memory size of 134217728 bytes exhausted (tried to allocate 20480 bytes) in a.php on line 3",
        "MEMORY_ERROR",
        "alloc_failed",
    ),
    (
        "php",
        255,
        "PHP Parse error:  syntax error, unexpected token \"}\" in a.php on line 3",
        "SYNTAX_ERROR",
        "compile_syntax",
    ),
    ("bash", 139, "bash: line 1:    22 Segmentation fault      ./app", "UNKNOWN", "runtime_exception"),
    ("bash", 143, "Terminated", "UNKNOWN", "killed_external"),
    ("bash", 130, "", "UNKNOWN", "cancelled"),
    ("bash", 2, "a.sh: line 9: syntax error near unexpected token `fi'", "SYNTAX_ERROR", "compile_syntax"),
    ("make", 2, "make: *** No rule to make target 'dits'.  Stop.", "FUNCTION_ERROR", "missing_script"),
    (
        "curl",
        28,
        "curl: (28) Operation timed out after 2001 milliseconds with 0 bytes received",
        "TIMEOUT",
        "remote_deadline",
    ),
    ("curl", 56, "curl: (56) Recv failure: Connection reset by peer", "NETWORK_ERROR", "conn_reset"),
    (
        "gradle",
        1,
        "e: file:///x/A.kt:3:4 Unresolved reference 'foo'.\nFAILURE: Build failed with an exception.",
        "FUNCTION_ERROR",
        "missing_symbol",
    ),
    ("python", 1, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.", "MEMORY_ERROR", "gpu_oom"),
    (
        "python",
        1,
        "Traceback (most recent call last):\n  File \"a.py\", line 2, in f\n    x\nTypeError: f() missing 1 required positional argument: 'b'",
        "TYPE_ERROR",
        "runtime_type",
    ),
    (
        "python",
        1,
        "Traceback (most recent call last):\n  File \"a.py\", line 2, in f\n    x\nOSError: [Errno 98] Address already in use",
        "RESOURCE_ERROR",
        "port_in_use",
    ),
    (
        "python",
        1,
        "Traceback (most recent call last):\n  File \"a.py\", line 2, in f\n    x\nValueError: timeout must be positive, not found",
        "UNKNOWN",
        "runtime_exception",
    ),
    ("python", 1, "sqlite3.OperationalError: database is locked", "RESOURCE_ERROR", "lock_held"),
    (
        "codex-cli",
        1,
        "■ You've hit your usage limit. Upgrade to Pro or try again in 3 days.",
        "RESOURCE_ERROR",
        "usage_limit",
    ),
    (
        "openai-api",
        1,
        "openai.RateLimitError: Error code: 429 - {'error': {'message': 'You exceeded your current quota', 'code': 'insufficient_quota'}}",
        "RESOURCE_ERROR",
        "credit_exhausted",
    ),
    (
        "openai-api",
        1,
        "openai.NotFoundError: Error code: 404 - {'error': {'message': 'The model `gpt-9` does not exist', 'code': 'model_not_found'}}",
        "FUNCTION_ERROR",
        "model_not_found",
    ),
    ("openai-api", 1, "openai.APITimeoutError: Request timed out.", "TIMEOUT", "remote_deadline"),
    ("openai-api", 1, "openai.APIConnectionError: Connection error.", "NETWORK_ERROR", "conn_refused"),
    ("claude-cli", 1, "error: unknown option '--max-turn'", "UNKNOWN", "bad_usage"),
    (
        "claude-cli",
        1,
        "Error: Session ID 00000000-0000-4000-8000-000000000000 is already in use.",
        "UNKNOWN",
        "session_conflict",
    ),
    (
        "cargo",
        101,
        "error[E0599]: no method named `push_back` found for struct `Vec` in the current scope",
        "FUNCTION_ERROR",
        "missing_symbol",
    ),
    (
        "cargo",
        101,
        "error: failed to parse manifest at `/x/Cargo.toml`\n\nCaused by:\n  TOML parse error at line 3, column 5",
        "SYNTAX_ERROR",
        "config_syntax",
    ),
    (
        "cargo",
        101,
        "error: no matching package named `serdee` found\nlocation searched: registry `crates-io`",
        "FUNCTION_ERROR",
        "missing_package",
    ),
    (
        "cargo",
        101,
        "error: test failed, to rerun pass `--lib`\n\nCaused by:\n  process didn't exit successfully: `x` (signal: 9, SIGKILL: kill)",
        "UNKNOWN",
        "killed_external",
    ),
    (
        "cargo",
        101,
        "thread 'main' has overflowed its stack\nfatal runtime error: stack overflow, aborting",
        "MEMORY_ERROR",
        "stack_overflow",
    ),
    (
        "cargo",
        101,
        "thread 'main' panicked at src/main.rs:3:5:\nindex out of bounds: the len is 3 but the index is 7",
        "UNKNOWN",
        "runtime_exception",
    ),
    (
        "cargo",
        101,
        "thread 'main' panicked at src/main.rs:3:5:\ncalled `Result::unwrap()` on an `Err` value: Os { code: 13, kind: PermissionDenied, message: \"Permission denied\" }",
        "FILE_ACCESS",
        "permission_denied",
    ),
    (
        "cargo",
        101,
        "thread 'main' panicked at src/main.rs:3:5:\ncalled `Option::unwrap()` on a `None` value",
        "TYPE_ERROR",
        "null_deref",
    ),
];

#[test]
fn known_traps_are_told_apart() {
    let classifier = Classifier::new().unwrap();
    let mut wrong = Vec::new();
    for (tool, status, text, category, cause) in ROWS {
        let termination =
            if *status < 0 { Termination::Signaled { signal: -status } } else { Termination::Exited { code: *status } };
        let observation = FailureObservation { tool: (*tool).into(), termination, ..FailureObservation::default() };
        let got = classifier.classify(&observation, &Log::of_texts("", text));
        if (got.category.label(), got.cause) != (*category, *cause) {
            wrong.push(format!(
                "{tool}: {text:?}\n  want {category}/{cause}, got {}/{} by {}",
                got.category, got.cause, got.evidence.decided_by
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {} wrong:\n{}", wrong.len(), ROWS.len(), wrong.join("\n"));
}

/// A kill by the memory controller and the supervisor's deadline are known without a word of text [24, 27].
#[test]
fn facts_decide_where_nothing_is_written() {
    let classifier = Classifier::new().unwrap();
    let killed = FailureObservation {
        tool: "cargo".into(),
        termination: Termination::Signaled { signal: 9 },
        ..FailureObservation::default()
    };
    let by = |observation: &FailureObservation| {
        let got = classifier.classify(observation, &Log::of_texts("", "Compiling a v1.0.0"));
        (got.category.label(), got.cause, got.evidence.decided_by)
    };
    assert_eq!(by(&killed), ("UNKNOWN", "killed_external", "fact:signal=9".to_owned()));
    assert_eq!(
        by(&FailureObservation { oom_kills: 1, ..killed.clone() }),
        ("MEMORY_ERROR", "oom_kill", "fact:oom_kills=1".to_owned())
    );
    assert_eq!(
        by(&FailureObservation { deadline_passed: true, ..killed }),
        ("TIMEOUT", "deadline", "fact:deadline passed".to_owned())
    );
}
