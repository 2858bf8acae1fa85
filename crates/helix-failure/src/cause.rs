//! The finer causes: each with its category, its usual retry and blame, and what to do about it.
//!
//! Must not know how a cause is recognised.

use super::verdict::Blame::{Agent, Environment, Platform, Provider, User};
use super::verdict::Category::{
    AssertionFailure, FileAccess, FunctionError, MemoryError, NetworkError, ResourceError, SyntaxError, Timeout,
    TypeError, Unknown,
};
use super::verdict::RetryAdvice::{AfterChange, AfterDelay, Human, Never, Now};
use super::verdict::{Blame, Category, RetryAdvice};

/// One cause of failure.
#[derive(Debug, PartialEq, Eq)]
pub struct Cause {
    /// Its name on the wire, such as `disk_full`.
    pub slug: &'static str,
    /// The category that it belongs to.
    pub category: Category,
    /// When trying again makes sense, unless the rule that found it knows better.
    pub retry: RetryAdvice,
    /// Whose move it is, unless the rule that found it knows better.
    pub blame: Blame,
    /// What to do, most useful first; `{place}` and `{line}` are filled in by the advice.
    pub actions: [&'static str; 2],
}

macro_rules! causes {
    ($($name:ident $slug:literal $category:ident $retry:ident $blame:ident $first:literal $second:literal;)+) => {
        $(
            #[doc = concat!("`", $slug, "`")]
            pub static $name: Cause = Cause {
                slug: $slug, category: $category, retry: $retry, blame: $blame, actions: [$first, $second],
            };
        )+
        /// Every cause.
        pub static ALL: &[&Cause] = &[$(&$name),+];
    };
}

causes! {
    FILE_MISSING "file_missing" FileAccess AfterChange Agent
        "check the path and the working directory it is resolved against" "create the file, or correct the name where it is used";
    PERMISSION_DENIED "permission_denied" FileAccess Human Environment
        "look at owner and mode of the path (`ls -ld`)" "let the owner grant access, or use a path the account may write";
    SANDBOX_CLOSED "sandbox_closed" FileAccess Human Environment
        "add the directory to `readable` in [sandbox] of helix.toml" "or install the program where every run may read it, such as /usr/local";
    NO_SANDBOX "no_sandbox" ResourceError Human Environment
        "see what this machine can put up: `helix doctor --sandbox`" "or set `mode = \"preferred\"` in [sandbox] of helix.toml";
    READ_ONLY "read_only_fs" FileAccess Human Environment
        "see how the file system is mounted (`findmnt -T PATH`)" "write to a writable directory, or remount";
    TOOL_DENIED "tool_denied" FileAccess AfterChange Platform
        "allow the tool or the path in the plan's tool rules" "or ask the agent for a way that needs neither";
    NOT_A_FILE "not_a_file" FileAccess AfterChange Agent
        "check whether the path names a file or a directory" "correct the path where it is used";
    RESULT_FILE_MISSING "result_file_missing" FileAccess AfterChange Agent
        "write it at exactly this path; if it was written elsewhere, move it" "check that .gitignore does not exclude it";
    BROKEN_REFERENCE "broken_reference" FileAccess AfterChange Agent
        "correct the link or anchor at the cited line" "or create what it leads to";
    MISSING_SYMBOL "missing_symbol" FunctionError AfterChange Agent
        "check the name's definition, spelling and import" "check that the installed version has it";
    MISSING_MODULE "missing_module" FunctionError AfterChange Agent
        "add the module to the project's dependencies and install them" "check the import path's spelling";
    MISSING_COMMAND "missing_command" FunctionError Human Environment
        "install the command, or put it on PATH" "check its spelling where it is called";
    MISSING_LIBRARY "missing_library" FunctionError Human Environment
        "install the library's development package" "check the linker's or compiler's search paths";
    MISSING_PACKAGE "missing_package" FunctionError AfterChange Agent
        "check the package's name and version against the registry" "choose a version that exists";
    MISSING_SCRIPT "missing_script" FunctionError AfterChange Agent
        "list what exists (`npm run`, `make -pn`)" "define the missing script or target, or call an existing one";
    MISSING_IMAGE "missing_image" FunctionError AfterChange Agent
        "check the image's name and tag in its registry" "build and push the image first";
    MISSING_TABLE "missing_table" FunctionError AfterChange Agent
        "run the migrations on this database" "check the name, the schema and the search path";
    MODEL_NOT_FOUND "model_not_found" FunctionError Human User
        "choose a model that the account has" "check the model's exact name";
    COMPILE_SYNTAX "compile_syntax" SyntaxError AfterChange Agent
        "open the cited line and the one before it; look for an unclosed delimiter" "run the parser alone on that file";
    CONFIG_SYNTAX "config_syntax" SyntaxError AfterChange Agent
        "open the cited line of the file" "validate the file alone with its format's checker";
    SQL_SYNTAX "sql_syntax" SyntaxError AfterChange Agent
        "look at the statement near the cited token" "run the statement alone";
    TEST_ASSERTION "test_assertion" AssertionFailure AfterChange Agent
        "run that test alone and compare expected with actual" "decide from the specification whether code or expectation is wrong";
    SNAPSHOT "snapshot_mismatch" AssertionFailure AfterChange Agent
        "read the difference; fix the code if it is not intended" "accept the new snapshot only if it is intended";
    COVERAGE "coverage_low" AssertionFailure AfterChange Agent
        "find uncovered lines in the coverage report" "add tests for them; do not lower the limit";
    LINT "lint" AssertionFailure AfterChange Agent
        "fix the cited finding" "run the formatter or the linter's fix mode, then check again";
    DOCUMENT_INVALID "document_invalid" AssertionFailure AfterChange Agent
        "fix the cited line of the plan or ADR" "check it again: `helix plan check` or `helix adr check`";
    SMOKE_FAILED "smoke_failed" AssertionFailure AfterChange Agent
        "compare what was expected with what was found" "run the check alone against the same build";
    OUTPUT_UNCHANGED "output_unchanged" AssertionFailure AfterChange Agent
        "change each file that the phase claims in `outputs`, and no file outside of them" "correct `outputs` in the plan if the work belongs elsewhere";
    CRITERION_UNPROVED "criterion_unproved" AssertionFailure AfterChange Agent
        "run the evidence that the cited criterion names, and make it pass" "write a test for a criterion without evidence, and name it there (docs/adr.md)";
    REVIEW_REJECTED "review_rejected" AssertionFailure AfterChange Agent
        "fix each of the reviewer's findings at the place that it cites" "compare the result with the phase's description and the criteria";
    REVIEW_UNANSWERED "review_unanswered" Unknown Now Agent
        "ask the reviewer again; the work stays as it is: `helix jobs resume JOB`" "give it another model, or more time: `verify: { timeout: …, model: … }` in the plan, or `model: …` in the gate `review_approved`";
    PERSON_REJECTED "person_rejected" AssertionFailure AfterChange Agent
        "change the work as the person's words ask" "compare the result with the question that was asked";
    TESTS_LEFT_OUT "tests_left_out" AssertionFailure AfterChange Agent
        "put back the tests that were removed, skipped or made to ask less" "correct a test that is wrong instead of leaving it out";
    TESTS_EVADED "tests_evaded" AssertionFailure AfterChange Agent
        "let the code answer what is right, whether or not a test asks" "undo what the findings name and no output claims";
    DELIVERY_UNHEALTHY "delivery_unhealthy" AssertionFailure AfterChange Agent
        "find out why what was delivered does not pass its health check" "fix it before it is delivered again";
    TESTS_BLIND "tests_blind" AssertionFailure AfterChange Agent
        "write tests that fail with each planted mistake that the findings name" "compare what a function answers, at the limits of its conditions";
    GATE_CHANGED "gate_changed" AssertionFailure AfterChange Agent
        "undo the change to the script that the gate runs" "claim that script in the phase's `outputs` if it belongs to the work";
    NOTHING_CHANGED "nothing_changed" AssertionFailure AfterChange Agent
        "make the change that the phase asks for" "skip the phase if nothing is left to do";
    ANSWER_UNFIT "answer_unfit" AssertionFailure AfterChange Agent
        "give the answer again with what the finding asks for" "see the checks of answers: `[consultant] enforcement` in docs/consultant.md";
    COMPILE_TYPE "compile_type" TypeError AfterChange Agent
        "compare the signature with its use at the cited line" "change the caller or the type, not both";
    BORROW_CHECK "borrow_check" TypeError AfterChange Agent
        "see where the value is moved or borrowed, and until when" "shorten the borrow, clone, or pass ownership";
    RUNTIME_TYPE "runtime_type" TypeError AfterChange Agent
        "see which value has the wrong type in the top frame of the project" "check it where it enters";
    NULL_DEREF "null_deref" TypeError AfterChange Agent
        "find out why the value is absent in the top frame of the project" "handle its absence where it arises";
    DEADLINE "deadline" Timeout AfterChange Agent
        "find the step that hangs or is slow" "only then raise the limit";
    REMOTE_DEADLINE "remote_deadline" Timeout AfterDelay Environment
        "check that the service answers (`curl -v`)" "try again later, then with a longer limit";
    WAITING_FOR_INPUT "waiting_for_input" Timeout AfterChange Agent
        "pass the flag that answers the question (`--yes`, `--no-input`)" "close standard input";
    WAITED_FOR_LOCK "lock_timeout" Timeout AfterDelay Environment
        "find who holds the lock (`fuser`, `pg_locks`)" "retry when it has ended";
    OOM_KILL "oom_kill" MemoryError AfterChange Agent
        "check the peak memory" "lower the parallelism or raise the limit";
    HEAP_OOM "heap_oom" MemoryError AfterChange Agent
        "find what keeps memory alive; stream instead of collecting" "raise the heap limit if the need is real";
    ALLOC_FAILED "alloc_failed" MemoryError AfterChange Agent
        "check the requested size in the top frame of the project" "work in smaller pieces";
    GPU_OOM "gpu_oom" MemoryError AfterChange Agent
        "use a smaller batch or model" "free what other processes hold on the device";
    STACK_OVERFLOW "stack_overflow" MemoryError AfterChange Agent
        "find the recursion that does not end" "add a base case, or use a loop";
    DNS "dns" NetworkError AfterDelay Environment
        "resolve the name by hand (`getent hosts NAME`)" "check its spelling and the resolver, then try again";
    CONN_REFUSED "conn_refused" NetworkError AfterDelay Environment
        "check that the service listens at that address and port" "try again later";
    SERVICE_DOWN "service_down" NetworkError AfterChange Environment
        "start the service, or wait for its readiness before using it" "check address and port in the configuration";
    CONN_RESET "conn_reset" NetworkError Now Environment
        "try again" "if it repeats, look at the other side's log and at proxies";
    UNREACHABLE "unreachable" NetworkError AfterDelay Environment
        "check route and firewall (`ip route get ADDRESS`)" "try again later";
    TLS "tls" NetworkError Human Environment
        "look at the certificate (`openssl s_client -connect HOST:443`)" "add the issuing authority to the trust store, or renew";
    TLS_TIMEOUT "tls_handshake_timeout" NetworkError AfterDelay Environment
        "try again" "check proxies and packet size on the way";
    HTTP_5XX "http_5xx" NetworkError AfterDelay Environment
        "try again later" "look at the service's status page or log";
    DISK_FULL "disk_full" ResourceError Human Environment
        "find what fills the disk (`df -h`, `du -xsh *`)" "free space, or move the target elsewhere";
    INODES "inodes_exhausted" ResourceError Human Environment
        "see `df -i`" "remove directories with many small files";
    QUOTA "quota" ResourceError Human Environment
        "see `quota -s`" "free space, or request a larger quota";
    FD_LIMIT "fd_limit" ResourceError AfterChange Agent
        "close what is opened, or open fewer at a time" "raise `ulimit -n` if the need is real";
    PROC_LIMIT "proc_limit" ResourceError AfterChange Agent
        "start fewer processes or threads at a time" "raise `ulimit -u` or the cgroup's pids.max";
    FILE_SIZE "file_size_limit" ResourceError AfterChange Agent
        "write less, or in several files" "raise `ulimit -f`";
    ARGUMENT_LIST "argument_list" ResourceError AfterChange Agent
        "pass the names in groups (`xargs`) or in a file" "check for a large environment variable";
    WATCHES "watch_limit" ResourceError Human Environment
        "raise fs.inotify.max_user_watches" "exclude node_modules and target from watching";
    RATE_LIMITED "rate_limited" ResourceError AfterDelay Environment
        "wait as long as the response says, else some minutes" "send fewer requests at a time, or authenticate";
    OVERLOADED "overloaded" ResourceError AfterDelay Provider
        "wait and try again" "use another model meanwhile";
    CREDIT "credit_exhausted" ResourceError Human User
        "top up the account's credit" "use another account or agent meanwhile";
    USAGE_LIMIT "usage_limit" ResourceError Human User
        "wait until the limit resets, as the message says" "use another account, plan or agent meanwhile";
    CONTEXT_TOO_LONG "context_too_long" ResourceError AfterChange Platform
        "give it fewer or smaller files" "or split the work into smaller steps";
    AUTH_EXPIRED "auth_expired" ResourceError Human User
        "log in again" "check the clock of this machine";
    AUTH_INVALID "auth_invalid_key" ResourceError Human User
        "check which key is in use, and replace it" "check that it belongs to this service";
    AUTH_MISSING "auth_missing" ResourceError Human User
        "log in, or set the credential this tool reads" "pass it through to the agent's environment";
    AUTH_FORBIDDEN "auth_forbidden" ResourceError Human User
        "request the permission for the account" "check that the right account is in use";
    SERVICE_GRANT "service_permission" ResourceError Human User
        "grant the permission to the role or account" "connect as a role that has it";
    MAX_TURNS "agent_max_turns" ResourceError AfterChange Agent
        "split the phase" "or raise `max_turns` of the phase in the plan";
    BUDGET "agent_budget" ResourceError AfterChange Agent
        "split the phase" "or raise `budget_usd` of the phase in the plan";
    JOB_LIMIT "job_limit" ResourceError Human User
        "give what is left a limit that is enough" "or plan what is left as a job of its own";
    LOCK_HELD "lock_held" ResourceError AfterDelay Environment
        "check whether the holder is still running; let it finish" "remove the lock if its process is dead";
    PORT_IN_USE "port_in_use" ResourceError AfterChange Environment
        "see who listens (`ss -ltnp`)" "end it or use another port";
    CONN_SLOTS "conn_slots" ResourceError AfterDelay Environment
        "close idle connections, or use a pool" "raise the server's connection limit";
    VCS_CONFLICT "vcs_conflict" Unknown AfterChange Agent
        "resolve the conflicted files (`git diff --name-only --diff-filter=U`)" "or start again from the current base";
    CONFLICT_MARKER "conflict_marker" Unknown AfterChange Agent
        "bring both sides together and remove the marker lines (`git grep -nE '^(<|>){7} '`)" "run the tests of both sides afterwards";
    VCS_STALE "vcs_stale_ref" Unknown AfterChange Agent
        "fetch and rebase, then push again" "do not force";
    VCS_STATE "vcs_state" Unknown AfterChange Agent
        "see `git status` and name an existing ref or path" "commit, stash or remove conflicting changes";
    VCS_NOTHING "vcs_nothing_to_commit" Unknown AfterChange Agent
        "check that the change was saved inside the repository" "accept an empty change if it is intended";
    NO_TESTS "no_tests" Unknown AfterChange Agent
        "check the file pattern and the working directory" "check that the tests' names follow the runner's convention";
    NOTHING_CHECKED "nothing_checked" Unknown AfterChange Agent
        "see what the gate looks for, and make that in this phase" "give the phase gates that fit its work";
    UNREADABLE "output_unreadable" Unknown AfterChange Agent
        "look at the end of the output that could not be read" "use the gate `command` for a tool whose output Helix does not know";
    DEP_CONFLICT "dep_conflict" Unknown AfterChange Agent
        "read which two requirements exclude each other" "loosen one or upgrade the other";
    LOCKFILE "lockfile_stale" Unknown AfterChange Agent
        "update the lock file and commit it" "check that the manifest change is intended";
    TOOLCHAIN "toolchain_mismatch" Unknown Human Environment
        "install the version that the project asks for" "or pin a dependency that supports this one";
    RUNTIME_EXCEPTION "runtime_exception" Unknown AfterChange Agent
        "look at the top frame of the project" "reproduce it with that input alone";
    BAD_USAGE "bad_usage" Unknown AfterChange Agent
        "compare the arguments with `--help` of this version" "correct the option or value";
    API_INVALID "api_invalid_request" Unknown AfterChange Platform
        "check model and settings of the request against the API's reference" "report it with the request id";
    REFUSAL "refusal" Unknown AfterChange Agent
        "read what the agent declined" "rephrase the task or take out that part";
    NO_RESULT "agent_no_result" Unknown Now Provider
        "try again, resuming the session" "if it repeats, look at the end of the agent's standard error";
    CANCELLED "cancelled" Unknown Never User
        "nothing is broken: it was stopped" "start it again if you want it";
    KILLED "killed_external" Unknown Now Environment
        "check the system's log for what killed it" "try again";
    IMPORT_CYCLE "import_cycle" Unknown AfterChange Agent
        "find the import that closes the cycle" "move the shared part to a third module";
    WORKER_CRASH "worker_crash" Unknown Now Environment
        "try again" "if it repeats, run with one worker to see its output";
    SESSION "session_conflict" Unknown AfterChange Platform
        "start a new session" "see whether another run uses this one";
    CHECKSUM "checksum_mismatch" Unknown AfterChange Environment
        "clear the cache and fetch again" "compare the recorded checksum with the publisher's";
    NO_REASON "exit_without_reason" Unknown AfterChange Agent
        "run the command by hand: it ended without saying why" "make it print what it expected and what it found";
    UNEXPLAINED "unexplained" Unknown AfterChange Agent
        "read the first error of the log, not the last" "bisect the latest change";
}

/// The cause that failures of a category have most often, where nothing finer is known.
pub const fn usual(category: Category) -> &'static Cause {
    match category {
        Category::FileAccess => &FILE_MISSING,
        Category::FunctionError => &MISSING_SYMBOL,
        Category::SyntaxError => &COMPILE_SYNTAX,
        Category::AssertionFailure => &TEST_ASSERTION,
        Category::TypeError => &RUNTIME_TYPE,
        Category::Timeout => &DEADLINE,
        Category::MemoryError => &ALLOC_FAILED,
        Category::NetworkError => &CONN_REFUSED,
        Category::ResourceError => &AUTH_INVALID,
        Category::Unknown => &UNEXPLAINED,
    }
}

#[cfg(test)]
#[path = "cause_test.rs"]
mod tests;
