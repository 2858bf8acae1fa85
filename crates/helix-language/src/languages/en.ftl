# What Helix says to people, in English. docs/development.md says how to add a language.
# Values such as { $name } are given by the code; backquoted commands, keys and names stay as they are.

# Words that only texts in this language have, to recognise it.
language-words = the and you your i'm it's this that these those is are were has have had not with would could should can for from what which where when why who how there please of to be it my we they make build write create add fix show tell explain yes thanks

### Figures

decimal-mark = .
# Of US dollars.
money = ${ $amount }
time-at = at { $clock }
time-on = on { $year }-{ $month }-{ $day } at { $clock }
time-in-minutes = in { $minutes } min, { $at }
time-in-hours = in { $hours } h, { $at }
time-in-days = in { $days } days, { $at }
count-phases =
    { $phases ->
        [one] { $phases } phase
       *[other] { $phases } phases
    }
count-files =
    { $files ->
        [0] no file
        [one] { $files } file
       *[other] { $files } files
    }
count-tools =
    { $tools ->
        [one] { $tools } tool
       *[other] { $tools } tools
    }
count-findings =
    { $findings ->
        [one] { $findings } finding
       *[other] { $findings } findings
    }
and-more = and { $more } more
hint = hint: { $hint }
note = note: { $note }
fix = fix: { $fix }

### States

job-status = { $status }
phase-status = { $status }
delivery-delivering = is being delivered
delivery-watching = health is being watched
delivery-delivered = delivered
delivery-failed = failed
delivery-unknown = unknown
delivery-rolling-back = is being rolled back
delivery-rolled-back = rolled back
delivery-rollback-unproved = rollback not proved
delivery-rollback-failed = rollback failed
phase-stage =
    { $stage ->
        [agent] agent running
       *[other] { $stage }
    }
phase-stage-gate = gate { $gate }
phase-stage-adviser = adviser, round { $round }
phase-stage-until = waits until { $until }
verdict =
    { $verdict ->
        [pass] passed
        [fail] failed
       *[inconclusive] inconclusive
    }
review =
    { $verdict ->
        [pass] approved
        [fail] rejected
       *[inconclusive] no usable answer
    }
reviewer =
    { $who ->
        [gate] reviewer
       *[phase] verifier
    }
wait-places = waiting for a place: { $taken } of { $places } { $of } running, { $waiting } waiting
wait-target = waiting for job { $job }, which is delivering to { $target }
wait-target-elsewhere = waiting for job { $job } of the state directory { $place }, which is delivering to { $target }
wait-memory = waiting for memory: { $available } MiB available, { $needed } MiB needed
wait-preflight = preflight: trying `{ $command }` on the base commit

### How an agent's run ended, of a job

run-completed = it completed
run-denials =
    it completed, { $denials } { $denials ->
        [one] tool call was
       *[other] tool calls were
    } denied
run-tasks-lost =
    { $tasks } background { $tasks ->
        [one] task was
       *[other] tasks were
    } lost
    .hint = { run-read-log }
run-local-command = only a local command ran; the model was not asked
    .hint = { run-read-log }
run-truncated = it was cut off ({ $evidence })
    .hint = { run-read-log }
run-no-record = the agent printed no result record
    .hint = make its last line `{"{"}"helix":"result",…{"}"}` (docs/agents.md, “Any command”), or set `trust_exit = true` for it in helix.toml
run-incomplete = it ended without { $missing }
    .hint = { run-read-log }
run-stopped-by-hook = a hook stopped it
    .hint = { run-read-log }
run-interrupted = it was interrupted from outside
    .hint = { run-read-log }
run-cancelled = it was cancelled
run-timed-out = it timed out
    .hint = raise the phase's `timeout`, or split it, then go on with `helix jobs resume { $job }`
run-stalled = it was silent for too long
    .hint = { run-read-log }
run-stuck = it was stopped: { $tool } failed { $times } times in the same way, with nothing new in between: { $input }
    .hint = { run-read-log }
run-stuck-somehow = it was stopped: it repeated a call that failed in the same way each time
    .hint = { run-read-log }
run-lost = its keeper died
    .hint = { run-read-log }
run-limited-until = the provider's limit is reached until { $at }
    .hint = { run-provider-trouble }
run-limited = the provider's rate limit is reached
    .hint = { run-provider-trouble }
run-overloaded = the provider failed with HTTP { $status }
    .hint = { run-provider-trouble }
run-unreachable = the connection to the provider failed
    .hint = { run-provider-trouble }
run-no-money = the provider's account has no money left
    .hint = add credit to the provider's account, then go on with `helix jobs resume { $job }`
run-credentials = the provider does not accept the credentials
    .hint = log in with the agent's own CLI or set its API key in helix.toml, then run `helix doctor`
run-context = the session does not fit the model's context
    .hint = split the phase, or give it fewer and smaller files, then go on with `helix jobs resume { $job }`
run-max-turns = its limit of turns was reached
    .hint = raise `max_turns` of the phase, or split it, then go on with `helix jobs resume { $job }`
run-max-budget = its budget was used up
    .hint = raise `budget_usd` of the phase, or split it, then go on with `helix jobs resume { $job }`
run-no-form = none of its answers had the form that was asked for
    .hint = { run-read-log }
run-refused = the model refused
    .hint = reword the phase's description, then go on with `helix jobs resume { $job }`
run-unstarted = the agent did not get to work: { $reason }
    .hint = { run-doctor }
run-misconfigured = the agent cannot work as configured
    .hint = { run-doctor }
run-declared = the agent reports: { $message }
    .hint = { run-read-log }
run-no-model = the agent reports: { $message }
    .hint = choose a model that the provider has, in the plan or for the agent in helix.toml, then run `helix jobs resume { $job }`
run-bad-request = the agent reports: { $message }
    .hint = the provider refuses this request however often it is sent: check model and settings of the agent in helix.toml, and how large its prompt is, then run `helix jobs resume { $job }`
run-too-large = the agent reports: { $message }
    .hint = { run-context.hint }
run-contradicted = its record contradicts itself: { $evidence }
    .hint = { run-read-log }
run-read-log = read the run's log (`helix jobs logs { $job }`), then go on with `helix jobs resume { $job }`

# What shows that a run's record is not whole.
run-cut-output = it printed more than 256 MiB and was stopped
run-cut-memory = it took more memory than a run may and was stopped
run-cut-unread = its output was not read to the end
run-cut-line = the last line of its output is not whole
run-cut-long-lines = lines of more than 32 MiB, whose rest was dropped: { $lines }
run-cut-no-records = lines that are not records: { $lines }
run-cut-exited = the final record is missing: it exited with status { $code }
run-cut-signal = the final record is missing: signal { $signal } ended it
run-cut-no-end = the final record is missing
run-cut-went-on = it went on after its final record
run-says-no-usage = a success that names no model's usage
run-says-stop = a success with stop reason { $reason }
# What contradicts a record of success.
run-says-kind = a record of kind { $kind } that is not marked as an error
run-says-reason = a success with terminal reason { $reason }
run-says-status = a success, and HTTP status { $status }
run-says-exit = a success, and exit status { $code }
run-says-signal = a success, and ended by signal { $signal }
# What was asked for and is not there.
run-lacks-output = the structured output that was asked for
run-lacks-answer = an answer: the record's result is empty

# Why a program did not start.
run-silent-exit = it exited with status { $code } and said nothing
start-failed = cannot start { $program }: { $why }
start-stopped = it was stopped before it started
start-no-program = no program is named
start-no-directory = its working directory { $path } does not exist
start-not-in-path = not found in PATH ({ $search })
start-missing = { $file } does not exist
start-not-executable = { $file } is not an executable file
start-no-interpreter = { $error }: the file exists, so the interpreter its first line names (or its loader) does not
start-closed = { $error }: it is not executable, or a directory above it is closed
start-too-long = { $error }: arguments and environment together are too big; prompts go to stdin
start-hidden = the sandbox hides { $file }, or what it needs: add its directory to `readable` in [sandbox]
start-no-sandbox = its sandbox cannot be put up: { $error }
start-sandbox-required = the sandbox is required: { $missing }
run-doctor = run `helix doctor`: it checks the agent
run-provider-trouble = go on later with `helix jobs resume { $job }`

# How a result was made, and what it lacks.
repair-nested = { $path } was a repository of its own; its files were taken, its history was not
repair-worktree-gone = the worktree was gone; nothing that was not committed before is left
repair-unreadable = some files could not be read and are missing: { $files }
repair-name = the name of { $path } is not UTF-8
repair-unfiltered = Helix runs no git filters: it committed as it is on the disk: { $files }
repair-watched = changed while the agent worked, not by this host: { $changes }
watched-branch = branch { $branch } (from { $old } to { $new })
watched-file = { $name } of the repository
watched-more = { $more } more

### What happens to a job

job-submitted = job { $id }: { $name }, { count-phases }, in { $place }
job-attempt = agent running, attempt { $attempt }
job-attempt-again = agent running, attempt { $attempt } ({ $why })
job-agent-finished = agent finished in { $time }, { $cost }
job-agent-ended = agent: { $what } ({ $time }, { $cost })
job-committed = committed { $commit }, { count-files } changed
job-unchanged = no file changed
job-delivering = delivering { $tree }
job-delivering-gate = { $gate } of { $phase } passed on it
job-healthy = the health check passed
job-rolling-back = rolling back
job-rolled-back = rolled back
job-rollback-requested = to be rolled back, requested by { $by }
job-adds-phases = adds phases: { $phases }
job-phases-invalid = added phases are invalid: { $why }
job-asks = asks: { $question }
job-answered = answered by { $by }: { $answer }
job-question-expired = question { $number } expired without an answer
job-adviser = adviser: { $reason }
job-conflict = { $phases } conflict in { $paths }
job-merged = merged into { $branch } as { $commit }
job-on-branch = NOT merged: the result is only on branch { $branch } ({ $why })
job-nothing-changed = nothing changed
job-merge-failed = merge failed: { $why }
job-cancelling = cancelling, requested by { $by }
job-plan-changed = the plan has changed since: phases { $phases } are taken as they are now
job-resumed = resumed by { $by }
job-succeeded = job succeeded
job-failed = job failed: { $why }
job-cancelled = job cancelled by { $by }
job-cause = cause: { $cause }
job-seen-before =
    { $times ->
        [one] a similar failure was
       *[other] { $times } similar failures were
    } seen before; details: helix jobs show { $job }
job-reverted-on = reverted on { $branch } as { $commit }, requested by { $by }
job-decision-reopened = { $reverted }; { $decision } is reopened
job-delivery = { $commit } to { $target } at { $at }: { $state }
job-delivery-from = { $commit } to { $target } at { $at }, baseline { $baseline }: { $state }
phase-of = Phase { $number } of { $phases }, { $name }
phase-by-id = Phase { $id }

### How a job stands: what follows its name

stands-queued = is queued
stands-asking = waits for you: { $question }
stands-running = is running, { $passed } of { count-phases } passed
stands-doing = is running: { $doing }
# Why a result lies beside its branch.
beside-detached = the repository had a detached HEAD
beside-no-branch = branch { $branch } no longer exists
beside-busy = a { $operation } is in progress in { $place }: finish or abort it first
beside-busy-branch = a { $operation } of { $branch } is in progress in { $place }: finish or abort it first
beside-dirty =
    { $file } { $more ->
        [0] in
       *[other] and { $more } more in
    } { $place }: uncommitted changes in files that the result changes, too
beside-elsewhere = { $branch } was no longer checked out in { $place } when the result was merged; the result is on { $holders } now
beside-no-holder = a detached HEAD
beside-refused = git did not update { $place }: { $said }
beside-as-asked = `land: branch` leaves the result there
beside-conflict = the branch has moved to { $commit } and conflicts with the result in { $paths }, where `git merge` leaves both sides for you to bring together
ended-merged = succeeded, merged into { $branch } as { $commit }
ended-beside = is done, but NOT merged: the result { $commit } is only on branch { $branch } ({ $why }). Take it with: { $command }
ended-unchanged = succeeded, nothing changed
ended-failed-because = failed: { $why }
ended-failed-hint = failed: { $why }. Next: { $hint }
ended-failed = failed
ended-cancelled-by = was cancelled by { $by }
ended-cancelled = was cancelled
ended-not = is { job-status }

### Questions of a job

ask-start = Start phase { $phase }?
ask-delivers = Helix then delivers to { $target }: { $what }
ask-accept = Phase { $phase } is done and checked. Accept its result?
ask-accept-see = See its changes: helix jobs diff { $job } --phase { $phase }
ask-gate = Phase { $phase }: { $question }
ask-manual = Manual step { $phase }:
ask-decision = Decision { $phase }:
ask-set-out = What the agent says:
ask-gate-agent =
    The agent that planned this phase asks:
    { $question }
ask-gate-manual = Please do this step by hand. Done?
ask-gate-approval = Do you approve the result?
ask-gate-result = Do you approve the result of phase { $phase }?
ask-runs = Phase { $phase } is done and checked. Its result has files that run by themselves, without anybody starting the project. Let them in?
runs-shell = runs when somebody enters the directory
runs-editor = editors run or obey it when somebody opens the directory
runs-agent = coding agents that are started there obey it
runs-helix = Helix obeys it
runs-server = runs on a server after the next push, often with the project's secrets
runs-git = git's own commands run it or what it names
runs-interpreter = interpreters or debuggers that are started there run it
runs-tool = package managers and build tools run or obey it at any command
runs-file-manager = file managers obey it when somebody looks into the directory
runs-nothing-new = (no new lines: some are gone or moved, or it may be executed now)
runs-more = … and { $lines ->
        [one] { $lines } more new line
       *[other] { $lines } more new lines
    }
ask-unmerged = Phase { $phase } could not merge the results
ask-stuck = Phase { $phase } is stuck
ask-advice =
    Adviser{ $times ->
        [one] { "" }
       *[other] , { $times } times
    }: { $reason }
ask-no-advice =
    No usable advice{ $times ->
        [one] { "" }
       *[other] , { $times } times
    }: { $reason }
ask-what = What should happen?
# What somebody chose: the keys of questions, for readers.
answered-choice =
    { $choice ->
        [approve] approved
        [reject] rejected
        [retry] one more attempt
        [check] check again
        [accept] accepted as it is
        [skip] skip the phase
        [fail] end the job as failed
       *[other] { $choice }
    }
option-start = Start the phase
option-no-start = Do not start; the phase fails
option-accept = Accept the result
option-send-back = Send it back; say why, and the agent fixes it
option-approve = Approve
option-reject = Reject; say what is missing
option-let-in = Let these files in, as they are shown
option-leave-out = Keep them out; say why, and the agent takes them back
option-retry = One more attempt; your text is its hint
option-check = Check again: the gates judge the last result once more; no agent runs
option-accept-unproved = Accept the result although gate { $gate } did not pass; say why. The phase counts as not proved
option-skip = Skip this phase and all that depend on it
option-skip-optional = Continue without this phase
option-fail = End the job as failed
approvals-any = { $count ->
        [one] { $count } person has to approve
       *[other] { $count } different people have to approve
    }
approvals-other = { $count ->
        [one] somebody else than who submitted the job has to approve
       *[other] { $count } different people have to approve, none of them who submitted the job
    }
approvals-so-far = { $given } of { $count } approved, by { $names }
agent-refused = refused: { $run } asked for what only a person may do ({ $asked })
question-open = { $id }: { $question }
question-answered = { $id } answered by { $by }: { $answer } ({ $question })
question-expired = { $id } expired without an answer ({ $question })
question-closed = { $id } is no longer needed ({ $question })

### The chat: lines above an answer

chat-answering = Answering
chat-stopped = Stopped with an error
chat-call-cut-off = the turn ended before this call did
chat-restarts = Helix is shutting down; the agent goes on
chat-answered-before = Already answered; here is the answer
chat-session-lost = The agent has lost its session; a new one starts with the record of this chat
chat-answered = Answered
chat-answered-with-note = Answered; see the note below
chat-queued =
    Waiting for { $ahead } earlier { $ahead ->
        [one] message
       *[other] messages
    } of this chat
chat-waits = Your message is { $wait }
chat-since = Since your last message, { $job } { $standing }
chat-provider-retry = The provider is in trouble ({ $reason }); try { $attempt } of { $most } in { $seconds } s
retry-reason-unknown = no reason given
chat-provider-limit = The provider's limit is reached
chat-provider-limit-until = The provider's limit is reached; it ends { $at }
chat-correcting = The answer did not pass its checks ({ count-findings }: { $validators }); asking the agent to fix it, attempt { $number } of { $most }
chat-job-waits = { $job } waits for you: { $question }
chat-jobs-go-on = { $standing }. Ask here for its progress
chat-tool =
    { $tool ->
        [adr_check] Check decision
        [adr_finalize] Finalize decision
        [adr_accept] Accept decision
        [adr_list] List decisions
        [plan_check] Check plan
        [project_create] Create project
        [job_start] Start job
        [job_status] Job status
        [ask_user] Ask you
        [answer] Answer the job
        [similar_failures] Similar failures
        [skills_list] List skills
        [skill_read] Read skill
       *[other] { "" }
    }
chat-tool-done =
    { $tool ->
        [adr_check] Checked the decision
        [adr_finalize] Finalized the decision
        [adr_accept] Accepted the decision
        [adr_list] Listed decisions
        [plan_check] Checked the plan
        [project_create] Created the project
        [job_start] Started the job
        [job_status] Looked at the job
        [ask_user] Asked you
        [answer] Answered the job
        [similar_failures] Looked for similar failures
        [skills_list] Listed skills
        [skill_read] Read a skill
       *[other] { "" }
    }
chat-call =
    { $does ->
        [run] Run { $about }
        [read] Read { $about }
        [write] Write { $about }
        [edit] Edit { $about }
        [change] Change files { $about }
        [search] Search for { $about }
        [search-web] Search the web for { $about }
        [fetch] Fetch { $about }
       *[delegate] Delegate { $about }
    }
chat-call-done =
    { $does ->
        [run] Ran { $about }
        [read] Read { $about }
        [write] Wrote { $about }
        [edit] Edited { $about }
        [change] Changed files { $about }
        [search] Searched for { $about }
        [search-web] Searched the web for { $about }
        [fetch] Fetched { $about }
       *[delegate] Delegated { $about }
    }
chat-call-failed = failed
chat-silent = No word from the model for { $time }; after { $limit } of silence Helix stops the agent
chat-new = New chat
chat-say-build = Go ahead and build it.
chat-say-risks = What could go wrong with this plan?
chat-say-progress = How far is it?
chat-say-changes = What was changed?
chat-say-next = What should come next?
chat-say-why = Why did it fail?
chat-say-suggest = What do you suggest?

### The chat: blocks in an answer

chat-unfilled = This chat client does not fill the headers of its connection (it sent `{ "{{…}}" }`): Helix tells chats apart by what is said in them.
chat-unfilled-remedy = Use Open WebUI 0.10 or later, or set `ENABLE_FORWARD_USER_INFO_HEADERS=true` there.
chat-no-headers = This Open WebUI sends Helix none of its headers: Helix tells chats and background requests apart by what is said in them.
chat-no-headers-remedy = Run `helix openwebui connect URL` on the machine of Helix, with an http address of this Open WebUI. It sets the headers and checks that they arrive.
chat-too-long = The answer is longer than { $mib } MiB; the rest of it is not shown. Ask for it in parts, or as a file.
chat-linked-text = The text of `{ $name }`. Helix knows no address under which your browser could open this file: set `public_url` in `[server]` of helix.toml.
chat-linked-rest = The rest is not shown.
chat-empty = the agent ended without an answer
chat-not-merged = Helix does not merge answers. Ask for what you need in a new message.
chat-said-anew = The connection to the model broke here. The whole answer follows.
chat-stopped-by-provider = The provider's safeguards stopped the model here. What it answers instead follows.
chat-replaced = The answer above did not pass its checks. The answer below replaces it.
chat-unheard = The answer to your earlier message “{ $message }” did not reach you. Here it is:
chat-untold = This note on the answer to your earlier message “{ $message }” did not reach you:
chat-job-over = Job { $job } { $outcome }.
chat-in-place = In `{ $place }`
chat-files-changed = { count-files } changed
chat-table-head = | Phase | Attempts | Gates | Time | Cost |
chat-verifier = verifier
chat-more-phases =
    { $more ->
        [one] and { $more } more phase
       *[other] and { $more } more phases
    }
chat-job-look = Changes: `helix jobs diff { $id }`. Evidence: `helix jobs evidence { $id }`.
chat-job-details = Details: `helix jobs show { $id }`.
chat-job-next-ask = Or ask here what to do.
chat-job-next-failed = Next: ask here what to do, or go on with `helix jobs resume { $id }`.
chat-job-next-decision = Next: `{ $commands }` in `{ $project }` ticks the criteria that the job has proven.
link-gone = There is no such file any more: it was moved or deleted, or its chat is forgotten. Ask for it in the chat.
chat-job-goes-on = It goes on without this page. Ask here for its progress.
choice-approve = Yes.
choice-reject = No.
choice-retry = Try it once more.
choice-skip = Skip this phase.
choice-fail = End the job.
choice-own = I choose: { $label }
chat-job-asks = Job { $job } waits for you (phase `{ $phase }`):
chat-agent-asks = The agent of phase `{ $phase }` of job { $job } asks you:
chat-job-answer = Answer here in the chat, or with `helix answer { $id }`.
chat-not-fixed-unasked = This answer did not pass its checks; the agent was not asked to fix it.
chat-not-fixed =
    This answer did not pass its checks; the agent was asked { $asked ->
        [one] once
       *[other] { $asked } times
    } to fix it.
chat-not-fixed-unasked-why = This answer did not pass its checks; the agent was not asked to fix it: { $why }.
chat-not-fixed-why =
    This answer did not pass its checks; the agent was asked { $asked ->
        [one] once
       *[other] { $asked } times
    } to fix it: { $why }.
chat-no-session = this agent cannot continue a session
chat-no-answer = it gave no answer
chat-ask-again = Ask for it again, or ignore it.
chat-unexamined = This answer could not be checked: { $why }.
chat-unexamined-remedy = Make sure that the session's directory is readable; `helix doctor` examines the state directory.
# Why a command could not run.
command-missing = the program "{ $program }" was not found
    .hint = install { $program }, or name it by its path in the command
command-empty = the command is empty
    .hint = write a command
command-unstartable = the program "{ $program }" could not be started: { $reason }
    .hint = check that { $program } may be executed
sandbox-remedy = run Helix on a system that has it (`helix doctor --sandbox`), or set `mode = "preferred"` in [sandbox]
# Why a check of the user's own could not be made.
check-no-command = it has no command
check-stopped = it was stopped
check-long = it printed more than { $kib } KiB
check-slow = it took longer than { $seconds } s
check-exited = it exited with { $code }: { $said }
check-ended = it was ended from outside
chat-unmade = Some checks of this answer could not be made:
chat-unmade-remedy = See `[consultant] validators` in helix.toml.

### The chat: what is wrong with an answer, and what to do

answer-no-file = the answer refers to { $file }, which does not exist
answer-no-marker = the answer does not end with a step marker
answer-no-step = the step marker { $marker } is not a step
answer-tasks-lost =
    the answer is incomplete: { $tasks } background { $tasks ->
        [one] task was
       *[other] tasks were
    } lost
    .hint = { answer-go-on }
answer-local-command = the agent read the message as one of its own commands and gave no answer
    .hint = begin the message with a word instead of a slash
answer-died = the agent ended in the middle of its answer ({ $how })
    .hint = { answer-go-on }
answer-truncated = the answer was cut off before its end
    .hint = { answer-go-on }
answer-incomplete = the agent's run ended without { $missing }
    .hint = { answer-go-on }
answer-stopped-by-hook = one of the agent's hooks stopped the answer
    .hint = { answer-once-more }
answer-interrupted = the answer was interrupted from outside
    .hint = { answer-go-on }
answer-cancelled = the answer was stopped
    .hint = the agent knows how far it has come: say how to continue
answer-timed-out = the answer timed out
    .hint = say “continue”, ask for less at once, or raise the time limit
answer-stalled = the agent was silent for too long and was stopped
    .hint = { answer-go-on }
answer-stuck = the agent repeated a call that failed in the same way each time, and was stopped
    .hint = { answer-go-on }
answer-lost = the agent's keeper died
    .hint = { answer-go-on }
answer-limited-until = the provider's usage limit is reached; it ends { $at }
    .hint = send the message again after that time
answer-limited = the provider's usage limit is reached
    .hint = { answer-later }
answer-overloaded = the provider failed with HTTP { $status }
    .hint = { answer-later }
answer-unreachable = the connection to the provider failed
    .hint = { answer-later }
answer-no-money = the provider's account has no money left
    .hint = add credit to the provider's account, then send the message again
answer-credentials = the provider does not accept Helix's credentials
    .hint = log in with the agent's own CLI or set its API key in helix.toml, run `helix doctor`, then send the message again
answer-context = what the model is to read is too long for it
    .hint = shorten the message, or send it again: Helix starts a new agent session with the end of this chat
answer-too-many-steps = the answer needed more steps than allowed
    .hint = { answer-less }
answer-no-budget = the answer's budget is used up
    .hint = { answer-less }
answer-no-format = the agent's answer did not have the required format
    .hint = send the message again
answer-refused = the model refused to answer
    .hint = word the message differently
answer-unstarted = the agent did not get to work: { $reason }
    .hint = { run-doctor }
answer-misconfigured = the agent cannot work as it is configured
    .hint = { run-doctor }
answer-declared = the agent reports: { $message }
    .hint = { answer-once-more }
answer-bad-request = the agent reports: { $message }
    .hint = the provider refuses this request however often it is sent: check model and settings of the agent in helix.toml, and how large the message is
answer-no-model = the agent reports: { $message }
    .hint = choose a model that the provider has, for the agent in helix.toml
answer-contradicted = the agent's record contradicts itself: { $evidence }
    .hint = { answer-once-more }
answer-own-failure = { $cause }
    .hint = run `helix doctor`
answer-unknown-agent = { $cause }
    .hint = set [consultant] agent in helix.toml to a configured agent
answer-unreadable = the session's record cannot be read: { $cause }
    .hint = run `helix doctor`: it checks the database
answer-no-end = the turn has no end
    .hint = send the message again
answer-not-noted = cannot note the session's project: { $cause }
    .hint = { answer-writable }
answer-not-stored = cannot store a file of the message: { $cause }
    .hint = { answer-writable }
answer-turn-lost = the turn's events ended early; send the message again, and see Helix's log if it happens again
answer-shutdown = Helix is shutting down. The agent goes on with what it has begun: send the same message again after the restart to get that answer
answer-shutdown-kept = Helix is shutting down. The agent goes on with what it has begun: after the restart, `helix chat --session { $session } --show` shows that answer
answer-go-on = the agent knows how far it has come: say “continue”, or send the message again
answer-once-more = send the message again; if it fails again, run `helix doctor`
answer-later = send the message again in a few minutes
answer-less = say “continue”, ask for less at once, or raise the limit in helix.toml
answer-writable = check that the state directory is writable and not full

### The terminal

term-start = Type a message, or paste one; \ at the end of a line continues it. /help lists the commands, Ctrl-D ends the chat.
term-stopped = The answer was stopped.
term-how-to-leave = Ctrl-C again or Ctrl-D ends the chat.
chat-help =
    /plan            show the decision and the plan that wait for your yes, and run them
    /jobs            jobs of this project
    /diff [JOB]      changes of a job [default: the last one of this session]
    /sessions        the last sessions
    /resume [N|ID]   continue another session [default: the last one]
    /new             begin a new session
    /show            this session so far
    /model [NAME]    model of the Consultant [default: the configured one]
    /quit            end the chat
    Ctrl-C stops an answer; ↑ and Ctrl-R find what you said before.
chat-model = The Consultant uses { $model } from now on.
chat-model-configured = The Consultant uses the configured model from now on.
chat-no-job = This session has started no job yet.
sessions-none = no sessions yet
drafts-decision = Decision (adr-draft.md)
drafts-plan = Plan { $name } (phases.yaml)
drafts-after = after { $phases }
drafts-checks = checked by: { $checks }
drafts-verifier = an independent verifier
drafts-unchecked = nothing
drafts-run = Run it? [y]es, [e]dit the plan, edit the [d]ecision, [n]ot now, or say what to change:
drafts-invalid = The plan has errors: edit it, or say what to change.
drafts-kept = Not started. /plan shows it again.
drafts-none = No plan waits for your yes.
acp-run-plan = Run the plan?
acp-plan-again = Offer the plan that waits again
acp-run = Run it
acp-not-now = Not now
acp-plan-invalid = The plan has errors: say what to change.
acp-job = Job { $name }
acp-job-asks = Job { $name } asks about { $phase }
acp-left-out = { $files ->
        [one] 1 changed file is
       *[other] { $files } changed files are
    } not shown here (too many, too large, or not text): helix jobs diff { $job }
acp-answer-at-terminal = Only a person at the terminal can answer this: { $command }
do-started = Nothing was started: the plan of this session runs or ran already. See it with: helix jobs show { $job }
do-run-it = Nothing was started. Run it with: helix do --session { $session } --yes
clean-left = not removed: { $why }
clean-nothing = nothing to remove
clean-would = would free { $size }; run it without --dry-run
clean-done = freed { $size }
term-you = you>
term-continue = Continue with: helix chat --session { $session }
term-job-goes-on = Job { $job } goes on: helix jobs watch { $id }
term-no-answer = (no answer yet)
term-turn-failed = (failed: { $why })
term-turn-after = (after { $turn })
term-cancelling = Cancelling the job… (Ctrl-C again: quit without waiting)
term-reconnecting = Reconnecting…
term-running-again = running again
term-attempt = attempt { $attempt }
term-keeps-running = job { $id } continues; come back with: helix jobs watch { $id }; cancel it with: helix jobs cancel { $id }
term-cancel-left = job { $id } is being cancelled; the next helix command finishes that
term-waits-for-you = job { $id } is waiting for you; answer with: helix answer
term-other-jobs =
    waiting for { $jobs ->
        [one] { $jobs } other job
       *[other] { $jobs } other jobs
    } running in this process; Ctrl-C: quit, the next helix command continues them
term-ended = job { $status }
term-follow = follow it with: helix jobs watch { $id }
term-no-host = no host is running; continue with: helix jobs watch { $id }
term-agent-asks = the agent asks:
term-question = { $id }, phase { $phase } of { $job }
term-expires = expires { $at }
term-changes = changes: { $command }
term-answer-by = answer: { $command }
term-your-answer = answer (empty: not now)
term-your-choice = { $choices } (empty: not now)
term-your-text = your text (empty: none)
term-choose = choose one of: { $choices }
term-no-questions = no open questions
term-not-answered = not answered; the question stays open
term-answered = answered { $id }
term-approved = approval of { $id } recorded: { $state }
term-cancelled = { $id } is being cancelled
term-resume = continue it with: helix jobs resume { $id }
term-date = { $year }-{ $month }-{ $day } { $clock }

### The terminal: the screen of a job

screen-phases = { $done }/{ $phases ->
        [one] { $phases } phase
       *[other] { $phases } phases
    }
screen-budget = { $cost } of { $budget }
screen-keys = ↑↓ select  l log  d diff  g gate output  q leave  c cancel
screen-key-answer = a answer
screen-keys-text = ↑↓ PgUp PgDn scroll  Home End  q back
screen-keys-question = ↑↓ choose  Enter answer  d diff  l log  g gate output  Esc not now
screen-keys-type = Enter send  Esc back
screen-leave-or-cancel = Leave? d keep it running in the background  c cancel the job  other key: stay
screen-cancel = Cancel the job? c cancel it  other key: stay
screen-question = ⏸ Phase { $phase } waits for you
screen-agent-asks = ⏸ The agent of phase { $phase } asks
screen-so-far = So far: { $attempts ->
        [one] { $attempts } attempt
       *[other] { $attempts } attempts
    }, { $cost }, { $time }
screen-your-answer = Your answer:
screen-your-text = Your text (may be empty):
screen-more = … { $lines ->
        [one] { $lines } more line
       *[other] { $lines } more lines
    } (PgDn)
screen-log = Log of phase { $phase }
screen-diff = Changes of phase { $phase }
screen-output = Phase { $phase }: output of gate { $gate }
screen-nothing = Nothing to show yet.
doing-starts = starting
doing-thinks = thinking
doing-tokens = { $tokens } tokens
doing-limited = the provider's usage limit is reached
doing-limited-until = the provider's usage limit is reached; it resets at { $at }
doing-repeats = the provider does not answer ({ $reason }): attempt { $attempt } of { $most } in { $pause }

### The terminal: what happened to a job, after its end

report-in = in { $time }, { $cost }
report-so-far = so far { $time }, { $cost }
report-issue = issue
report-commit = commit
report-merged = { $commit }, merged into { $branch } of { $project }
report-on-branch = { $commit }, only on branch { $branch } of { $project }
report-not-merged = NOT merged: { $why }
report-take = take it with: { $command }
report-no-commit = none: nothing changed
report-revert = revert
report-venv = venv
report-logs = logs
report-details = details
report-next = next
report-ticks = (ticks the criteria that the job has proven)
report-accepted = accepted by { $by } although gate { $gate } did not pass, so not proved: { $why }
report-skipped = skipped: { $why }
report-no-reason = no reason was recorded
report-failed = failed
report-output = output
report-log = log
report-waiting-for-you = waiting for you:
report-of = report of { $what }
report-missing = it is missing
report-will-verify = { $phase }: a verifier will check the result
report-verified = { $phase }: verifier ({ $who }) of attempt { $attempt }: { report-verdict }: { $summary } ({ $time }, { $cost }{ $runs ->
        [one] { "" }
       *[other] { " " }for { $runs } runs
    })
report-verdict = { $verdict }

### Why something failed, as it is recorded

cause-result-refused = the result holds what no result may hold
cause-not-let-in = { $by } did not let files in that run by themselves
cause-answered = A person answered your question. Continue with the answer.
cause-no-answer = Nobody answered your question in time. Continue without an answer.
cause-nothing-changed = a { $kind } phase must change files: { $why }
cause-phases-invalid = the returned phases are invalid
cause-outgrown = the plan has grown meanwhile, and the returned phases no longer fit
cause-gate = gate { $gate } found: { $why }
gate-found =
    { $problems ->
       *[other] { $summary }
    }
cause-gate-not-run = gate { $gate } came to no result: { $why }
cause-gate-unsure = gate { $gate } could not confirm the work: { $why }
cause-run = the last run did not complete: { $what }
cause-phase-spent = { $why } (the phase's budget is used up)
    .hint = raise `budget_usd` of the phase, or split it, then go on with `helix jobs resume { $job }`
cause-optional = optional, and failed: { $why }
cause-not-approved = { $by } did not approve the start
cause-not-approved-because = { $by } did not approve the start: { $why }
cause-not-accepted = { $by } did not accept the result
cause-skipped-by = skipped by { $by }: { $why }
cause-skipped-before = a phase it depends on was skipped
cause-not-selected = not selected
cause-replaced = replaced by { $phases }
cause-with-hint = Hint for this attempt: { $hint }
cause-unanswered = not answered in time: approval of phase { $phase }
    .hint = answer earlier, or raise [questions] timeout; `helix jobs resume { $job }` asks again
cause-undecided = { $why } (not answered in time)
cause-stuck = phase { $phase } is stuck
cause-stopped = the job was stopped
cause-job-ended = the job ended
cause-rejected = the { $who } rejects the result: { $why }
cause-reviewer-not-asked = the { $who } could not be asked: { $why }
cause-reviewer-silent = the { $who } gave no usable answer { $times ->
        [one] once
       *[other] { $times } times, last
    }: { $why }
cause-delivery = the delivery failed
cause-rolled-back-by = { $by } asked to roll the delivery back
cause-all-skipped = no phase has passed: all of them were skipped
    .hint = retry one with `helix jobs retry { $job } --phase { $phase }`
cause-not-combined = the results could not be combined
cause-no-start = no remaining phase can start
cause-spent = the job's { $limit }
    .hint = continue with `helix jobs resume { $job } --budget USD`
    .rest = a job keeps this limit: raise it in [jobs] of helix.toml, and start the plan again as a new job (`helix run`)
spent-budget = budget of { $budget } USD is used up ({ $spent } USD spent)
spent-turns = limit of { $limit } { $limit ->
        [one] turn
       *[other] turns
    } is used up ({ $taken } taken)
spent-tokens = limit of { $limit } { $limit ->
        [one] token
       *[other] tokens
    } is used up ({ $used } used)
spent-time = limit of { $limit } s of agents' time is used up ({ $used } s used)
spent-reserved = budget has nothing left but what is reserved for other runs
side-no-answer = the run has no structured answer
side-stopped = it was stopped
side-timed-out = no answer within { $seconds } s
    .hint = raise the timeout, or let it look at less
side-misfit = its answer does not have the form that was asked for: a value is of another kind
side-lacks = its answer does not have the form that was asked for: it lacks { $keys }
side-no-checkout = nothing was checked out
side-changed = the reviewer changed what it was to look at: { $files }
side-approves-problems = it approves and names problems
side-rejects-nothing = it rejects and names no problem
side-cites-nothing = it rejects, but none of its findings ({ $count }) names a file of the result ({ $files }); a finding names, relative to the working directory, the file that is wrong, or the asked-for file that is missing
side-no-adviser = no adviser is configured
side-proposal-lacks = the proposal has no `{ $what }`
side-no-model = the proposed model { $model } is none of { $models }
side-did-you-mean = did you mean { $near }?
side-phases-invalid = the proposed phases are invalid: { $why }
hint-try-again = `helix jobs resume { $job }` tries again with these findings and with the plan as its file is then
hint-change-task = { hint-try-again }; `helix jobs check { $job }` only checks the result again
hint-same-findings = the agent changed nothing in response to the same findings: change the description of the phase, or its gate, then go on with `helix jobs resume { $job }`
hint-review-again = `helix jobs resume { $job }` asks the { $who } again; the work stays as it is
hint-resets = the limit resets at { $at }: run `helix jobs resume { $job }` then; `max_wait` in [jobs] sets how long a new job waits
hint-deliver = `helix jobs resume { $job }` delivers again
hint-deliver-again = where the target was at fault, repair it: `helix jobs resume { $job }` delivers the same again; where the result was, correct it in a new job (`helix run`)
hint-person-needed = look at the target; `helix jobs rollback { $job } --again` rolls back once more, `helix jobs resume { $job }` delivers again, both from the beginning
rolled-back = rolled back{ $to }
rolled-back-to = { " " }to { $commit }
rolled-back-first = { " " }(no earlier delivery is known)
rolled-back-not = not rolled back: a person is needed
rolled-back-unknown = how far the rollback came is unknown: a person is needed
rolled-back-failed = the rollback failed: a person is needed
rolled-back-unseen = , not proved: its health was not seen: a person is needed
rolled-back-unwatched = , and nothing was seen of its health
rolled-back-healthy = { " " }and healthy
rolled-back-unhealthy = , still unhealthy: a person is needed
rolled-back-unclear = , not proved: its health is unknown: a person is needed
after-none = before an attempt that counts
after-only = after its only attempt
after-all = after all { $made } attempts
after-some = after { $made } of { $granted } attempts
after-more = after { $made } attempts

### Lists, reverts and evidence of jobs

output-of = Phase { $phase }, attempt { $attempt }: output of gate { $gate }
output-changed = The file was changed after the gate ran: this is not what was judged.
shell-opens = Shell in a copy of the result of phase { $phase } ({ $commit }): { $path }. What you change there is not part of the job; leave with `exit`.
list-none = no jobs yet in { $place }; start one with: helix run PLAN
list-none-here = no jobs of this project yet; `helix jobs list` shows { $jobs ->
        [one] the one of another project
       *[other] { $jobs } of others
    }
list-for-you = { $status } (for you: helix answer)
list-reverted = { $status } (reverted)
list-not-merged = { $status } (not merged)
list-not-proved = { $status } (not proved)
list-stopped = stopped (no host)
list-host-started = No host was running: { $jobs ->
        [one] { $jobs } stopped job continues
       *[other] { $jobs } stopped jobs continue
    } in the background now.
list-host-silent = the host (process { $process }) does not answer: { host-hangs }
host-hangs = wait a moment; if it hangs, end that process: its agents continue, and the next helix command takes over
list-no-host = no host is running: unfinished jobs continue with the next `helix run`, `helix jobs watch` or `helix serve`
ago-now = just now
ago-minutes = { $minutes } min ago
ago-hours = { $hours } h ago
ago-days = { $days } days ago
ago-on = { $year }-{ $month }-{ $day }
reverted-already = nothing to do: it was reverted already ({ $reverted })
report-of-attempt = { $phase }, attempt { $attempt }
report-of-job = the whole job
report-line =
    { $label ->
        [seen-before] seen before
       *[other] { $label }
    }: { $text }
evidence-of = { $job }, from commit { $commit }
evidence-venv = in the virtual environment { $venv }
gate-tests = { $passed } passed, { $failed } failed{ $skipped ->
        [0] {""}
       *[other] , { $skipped } skipped
    }
evidence-missing = missing:
evidence-proved = proved
evidence-proved-now = proved, checked again now
evidence-unproved = NOT PROVED
evidence-not-passed = has not passed
evidence-conflict = conflict of { $phases } in { $paths }: resolved by { $phase }
evidence-conflict-unproved = conflict of { $phases } in { $paths }: taken from { $phase }, not proved to be resolved
evidence-integrated = integrated as { $commit }, tree { $tree }
evidence-validated = validated by phase { $phase }
evidence-refused = not integrated: the merged results do not pass
evidence-finding = finding { $finding }
evidence-not-integrated = not integrated
evidence-delivered = delivered by { $phase }: { $delivery }
evidence-rollback = rollback by { $who }, began { $at }
evidence-rollback-not-begun = rollback by { $who }, did not begin
evidence-rollback-helix = Helix, since the delivery failed
evidence-nothing = NOT PROVED: { $why }
evidence-gone = (gone)
evidence-checked-before = checked before it was delivered:
evidence-review = { $asked } by { $who }: { $verdict }: { $summary } (run { $run })
evidence-checked = checked: { $check }
evidence-person = { $by } at { $at }: { $answer }
evidence-attempt = attempt { $attempt }: { $summary }
evidence-attempt-kept = attempt { $attempt }: { $summary } (branch { $branch })
attempt-running = running
attempt-stopped = { $run }; { $what }: { report-verdict } ({ $why })
evidence-no-exit = no exit code
evidence-exit = exit { $code }
evidence-sandbox = sandbox
evidence-tries = ({ $attempts } attempts)
evidence-output = output { $file } sha256 { $hash }: { $state ->
        [intact] intact
        [changed] CHANGED since the gate ran
       *[missing] MISSING
    }

### What evidence lacks

lacks-success = the job failed: { $why }
lacks-cancelled = the job was cancelled
lacks-job-end = the job is not over
lacks-of-phase = phase { $phase }: { $what }
lacks-integration = the results were not integrated
lacks-of-result = the integrated result: { $what }
lacks-left-out = it failed, and the plan lets the job go on without it: { $why }
lacks-overruled = phase { $phase } counts although a gate did not pass
lacks-checks = nothing has checked it: no gate, no verifier, no person
lacks-end = its end is not recorded
lacks-attempt = no attempt of this phase has the result that counts
lacks-commit = the repository has no commit { $commit } with tree { $tree }
lacks-run = the run is missing
lacks-run-end = run { $run } did not complete: { $what }
lacks-record = the record of run { $run } is gone: { $path }
lacks-review = the record of the reviewer's run { $run } is gone: { $path }
lacks-pass = gate { $gate } has no recorded pass
lacks-pass-sum = gate { $gate } of phase { $phase } has no recorded pass on what was integrated
lacks-since = phase { $later } changed { $files } after the approval in phase { $phase }; nobody approved the change
lacks-verifier = the verifier has not approved this result
lacks-approval = no person approved it
lacks-accepted = { $by } accepted it although gate { $gate } did not pass: { $why }
lacks-tree = gate { $gate } looked at tree { $tree }, not at the result
lacks-output = the output of gate { $gate } was changed after it ran: { $path }
lacks-readable = the output of gate { $gate } cannot be read: { $path }
lacks-phase = it does not hold commit { $commit } of phase { $phase }

### The terminal: other commands

diff-nothing = nothing changed between { $from } and { $to }
diff-more = { $bytes } more bytes: git diff { $from } { $to }
keys-no-people = no one has a key; add one with `helix people add NAME`
keys-no-tokens = no tokens; make one with `helix token create --chat NAME`
keys-once = this is shown only once; Helix keeps a digest of it
keys-revoked = { $name }: the key opens nothing any more
trust-none = no project's configuration is trusted
trust-unneeded = { $path } is trusted as it is now. It sets nothing but names and limits; `helix plan check` and `helix doctor` now also try the commands of the gates here
preflight-passes = `{ $command }` runs and passes on the base commit
preflight-fails = `{ $command }` runs on the base commit and fails there: { $how }. Its gate compares with that
preflight-untrusted = The commands of the gates were not tried, since you have not trusted this project yet: `helix trust` (without a helix.toml: `helix init`), or once with --preflight
doctor-gate = gate { $gate } (phase { $phase })
doctor-gates = gates
doctor-untrusted = the commands of the gates were not tried: you have not trusted this project yet
    .hint = run `helix trust` here, or once `helix doctor --preflight`
doctor-no-project = the commands of the gates were not tried: this project has no helix.toml that you could trust
    .hint = run `helix init` here, which writes and trusts one, or once `helix doctor --preflight`
trust-given = { $path } is trusted as it is now. It sets:
trust-key = { $name } (line { $line })
trust-with = and names, trusted with it:
trust-again = If one of these files changes, trust it again.
trust-revoked = { $path } is no longer trusted
trust-was-none = { $path } was not trusted
gates-no-verdict = no verdict was recorded: a job checks the committed result again
gates-left-out = { $gate }: not run here: { $why }
gates-audit-rate = escape rate { $rate } %: { $escaped } of { $tried } planted faults passed all gates (95 % confidence: { $low } to { $high } %); { $possible } can be planted
gates-audit-at = audited { $at }
gates-audit-sort = { $sort ->
    [stub] stub
    [lie] lie
    [weaker_test] weaker test
   *[mistake] mistake
    }
gates-audit-noticed = noticed by { $gate }: { $said }
gates-audit-escaped = ESCAPED
gates-audit-left-out = { $phase }: nothing planted: { $why }
gates-audit-alone = reviewers, verifiers and persons were not asked; neither the repository nor the job's record was changed
serve-stopped = Stopped. Running agents continue; the next helix command takes over.
serve-at = Helix is serving { $url }  (OpenAI-compatible: { $address }/v1)
serve-open = no token required (--no-auth)
serve-token = token: { $token }  (shown only once)
serve-stored = { "       " }stored in { $file }
serve-token-file = token file: { $file }
serve-stop = Press Ctrl-C to stop.

person =
    { $name } ({ $how ->
        [no-token] no token
       *[other] { $how }
    })

### The terminal: words of several commands

project-created = Created the project { $place }
next-step = next: { $step }
valid = valid
count-errors =
    { $errors ->
        [one] { $errors } error
       *[other] { $errors } errors
    }
list-unreadable = the record of job { $id } cannot be read; `helix jobs show { $id }` says why
block =
    { $kind ->
        [note] Note
        [tip] Tip
        [important] Important
        [warning] Warning
       *[caution] Caution
    }
problem-error = error
problem-warning = warning
problem-hint = hint
problem-because = because: { $cause }
settings-built-in = built in
settings-fit =
    fits { $cores } { $cores ->
        [one] core
       *[other] cores
    } and the memory
wall = { $wall }
wall-missing = not { $wall }: { $why }
no-wall = { $wall ->
        [network] no wall around the network
        [limits] no limits
        [key] no wall around the key
       *[other] no wall around { $wall }
    }: { $why }
wall-old-landlock = this kernel has version { $version } of Landlock, which cannot do it: use Linux { $kernel } or newer
wall-landlock-off = Landlock is switched off: add it to the kernel's `lsm=` boot option
wall-no-landlock = this kernel has no Landlock: use Linux { $kernel } or newer
wall-landlock-refused = Landlock was refused: { $error }
wall-no-namespaces = the system allows no namespaces ({ $error }); { $wall ->
        [network] TCP may be closed, UDP is open
       *[sockets] `/tmp` is closed but for TMPDIR
    }
wall-uncounted = the processes of root are counted by a control group alone, and none could be made
wall-key-in-reach = what the agent runs can read the agent's own key or login
walls-none = none

### The terminal: helix doctor

doctor-configuration = configuration
doctor-no-file = no helix.toml; built-in values
doctor-agent = agent { $name }
doctor-install = install it: { $command }; or set `command` in [agents.{ $name }]
doctor-correct = correct `command` in [agents.{ $name }] ({ $origin })
doctor-version = version { $version }
doctor-there = { $program } found
doctor-trusted = { $program } found; `trust_exit`: exit status 0 alone counts as done
    .hint = have it print a result record (docs/agents.md), and remove `trust_exit`
doctor-untested = version { $version }, newer than the newest tested one ({ $tested })
    .hint = untested; please report problems
doctor-too-old = version { $version } is too old
    .hint = update it to { $minimum } or newer
doctor-no-git = not found in PATH
    .hint = install git (apt-get install git)
doctor-identity = git identity
doctor-no-identity = user.name and user.email are not both set
    .hint = git config --global user.name "Your Name"; git config --global user.email you@example.org
doctor-repository = repository
doctor-at = { $root } at { $commit }
doctor-no-repository = the working directory is not in a git repository
    .hint = `helix run` needs one: `git init`, then commit
doctor-no-commit = { $root } has no commit
    .hint = `helix run` needs one: commit what is there
doctor-workspace = workspace
doctor-no-setup = { $file } found, but helix.toml has no [workspace] setup: a fresh clone lacks what it installs
    .hint =
        add to helix.toml:
        { "[workspace]" }
        setup = ["{ $command }"]
doctor-no-commands = no commands, only files
doctor-prepared = { $setup } ({ $kept } prepared; { $how })
doctor-shared = shared by all runs; what a run changes is its own
doctor-copied = copied for each run: the sandbox has no overlayfs here
doctor-agents = agents at once
doctor-memory = { $agents }; { $available } MiB of memory available
doctor-memory-unknown = { $agents }; the available memory is unknown
    .hint = set [jobs] max_agents
doctor-memory-low = { $agents }; none would start now: only { $available } MiB of memory available
    .hint = free memory until { $floor } MiB are available, or lower [jobs] memory_floor_mb
doctor-venv = virtual environment
doctor-program = { $program } for { $language }
doctor-no-program = not found in PATH
    .hint = install { $program }, or gates that run it stay inconclusive
doctor-broken = { $path } does not work: { $why }
    .hint = make `{ $command }` work here, or gates that run it stay inconclusive
doctor-no-pytest = `{ $command }` cannot run: { $why }
    .hint = install it for python3: python3 -m pip install pytest, or activate a virtual environment
doctor-silent = no answer within { $seconds } s
doctor-state = state directory
doctor-no-state = { $place } does not exist yet
    .hint = nothing to do: it is created when needed
doctor-impossible-state = { $place } cannot be created
    .hint = choose another --state-dir
doctor-writable = { $place }, writable
doctor-token = token
doctor-private = { $file }, readable by you only
doctor-readable = { $file } can be read by others (mode { $mode })
    .hint = run `helix doctor --fix`, or chmod 600 the file
doctor-fixed = { $found }; fixed
doctor-database = database
doctor-no-database = none yet
doctor-host = host
doctor-process = process { $process } at { $url }
doctor-host-silent = does not answer (process { $process })
    .hint = { host-hangs }
doctor-no-host = not running
doctor-next-host = the next helix command takes over
doctor-address = address of helix serve
doctor-free = { $address } is free
doctor-serves = { $address }: the host listens there
doctor-taken = { $address } is taken
    .hint = choose another one with --listen or `[server] listen`
doctor-no-address = { $address }: { $why }
    .hint = choose an address of this machine with `[server] listen`
sandbox-off = The sandbox is off: set `mode` in [sandbox] of your configuration to `preferred` or `required`.
sandbox-held = what held: { $walls }
sandbox-refused = refused
sandbox-possible = POSSIBLE
sandbox-key = read a key in the home
sandbox-state = read the state directory
sandbox-record = read the record of its own run
sandbox-write = write outside of its directory
sandbox-signal = signal another process
sandbox-keeper = stop its keeper
sandbox-environment = read the environment of another process
sandbox-tmp = see a file of the machine's /tmp
sandbox-network = connect where the network is closed
sandbox-processes = start processes without end

### The terminal: helix init and demo

init-wrote = wrote
init-kept = kept
init-exists = { $kept }  { $file } (already exists)
init-next = next: helix do "what is to be done"; or edit plans/example/phases.yaml, `helix plan check` it, commit, and `helix run` it
init-agents = agents
init-no-agents = none in PATH; install one of: { $known }
init-languages = languages
init-no-languages = none recognised
init-tests = tests
init-checks = checks
init-setup = setup
init-flat-layout = setuptools would take adr/ and plans/ for packages here; add to pyproject.toml: [tool.setuptools.packages.find], and below it: include = { $include }
init-missing = missing
init-no-installer = { $program } is not in PATH, and `{ $command }` ({ $file }) needs it: install it, then take the `#` from that `setup` in helix.toml
init-no-program = { $program } is not in PATH, and `{ $command }` ({ $file }) needs it: install it before the first job
init-services = services
init-compose = { $file }: start what tests need before a job, with `docker compose up -d`; the preflight says what is not there
init-no-tests = none found: set the command in the plan's tests_pass gate
init-repository = git repository found
init-inside = { $place } is inside the repository { $root }: `helix init { $root }` sets up all of it
init-no-repository = { $place } is not a repository: run `git init` and commit before `helix run`
survey-directory = the directory { $name }
survey-member = the package { $name } of the workspace
survey-mentions = { $file } mentions pytest
survey-unittest = { $file } uses unittest
survey-pytest = { $file } looks like a pytest test
demo-host = Host: { $url }  Files: { $root }
demo-you = you
demo-done =
    Done in { $time }: a chat became an ADR and a plan, the first attempt failed a real test, the agent
    got the findings, the second attempt passed, an independent verifier approved it, every criterion
    of the decision was proven, and the result was merged.
demo-files = All files are in { $root }; delete it when you are done.

### The terminal: plans, workflows, skills

plan-not-now = not possible now
plan-refused = helix run would refuse it ({ $code }): { $why }
plan-also-refused = also refused ({ $code }): { $why }
plan-as-it-is = no older forms and no workflow
plan-no-older-forms = no older forms
plan-line = line { $line }
plan-whole = the whole plan in the current form:
plan-whole-with = the whole plan in the current form, with the phases of the workflow { $workflow }:
plan-next = edit it, then `helix plan check { $file }` and `helix run { $file }`
plan-dry-run = { $plan }: { count-phases }, dry run
plan-wave =
    wave { $number }{ $phases ->
        [one] { "" }
       *[other] { " " }(in parallel)
    }
plan-model = { $agent }, model { $model }
plan-attempts = agent { $agent }, { $attempts ->
        [one] 1 attempt of { $time }
       *[other] up to { $attempts } attempts of { $time } each
    }
plan-exits = `{ $command }` exits 0
plan-keeps-exiting = `{ $command }` keeps exiting 0 for { $time }
plan-returns = { $probe } returns { $status }
plan-returns-text = { $probe } returns { $status } containing { $text }
plan-accepts = { $address } accepts connections
plan-outputs = outputs { $files }
hook-question = May the agent do this with { $tool }? { $call }
hook-yes = yes
hook-no = no
hook-allowed = a person has allowed this call
hook-asked = a person is asked about this call ({ $id }): end your turn now with the state of your work; you will be resumed with the answer, and may then make the same call again if it was allowed
hook-refused = { $by } has not allowed this call { $words }: do without it
hook-unanswered = nobody answered in time whether this call is allowed ({ $id }): do without it
hook-not-asked = nobody could be asked about this call ({ $why }): do without it
means-of-project = told to every agent of this project
means-of-agent = agent { $agent } besides
means-file = { $path } ({ $bytes } bytes)
means-file-for = { $path } ({ $bytes } bytes, for { $files })
means-rules = rules: { $list }
means-skills = skills: { $list }
means-servers = tool servers: { $list }
means-hooks = hooks: { $list }
means-allow = allowed besides its work: { $list }
means-deny = denied: { $list }
means-ask = asks a person first: { $list }
means-only-told = only told, not enforced: { $list }
plan-prompt = prompt of its first attempt:
plan-adds = adds { $min } to { $max } phases of type { $kind }
plan-verify = verify by agent { $agent }, up to { $time }, after each attempt that passes its gates
plan-price = price of one verification: { $price }
plan-price-mean =
    { $cost } and { $time } on average of { $runs } { $runs ->
        [one] run
       *[other] runs
    } here
plan-price-unknown = no verifier has run here yet; `helix jobs show` names it afterwards
workflow-none = no workflows
workflow-from = from { $place }
workflow-of-plan = default: the plan's { $from }; otherwise required
workflow-default = default: the plan's { $from }, else { $value }
workflow-required = required
workflow-next = edit it, write `workflow: { $name }` into a plan, then `helix plan check --explain`
skills-none = no skills; add one as skills/NAME/SKILL.md (docs/consultant.md)
skills-project = project
skills-yours = yours

### The terminal: decisions

adr-next = fill it in, then `helix adr finalize { $file }`
adr-finalized = next: `helix adr accept { $number }`: until then it is a proposal
adr-accepted = { $file } is { $status }, by { $by }
adr-fill-in = fill it in, then `helix adr accept { $number }`: until then it is a proposal
adr-status-is = { $file } is { $status }
adr-superseded = { $old } is superseded by { $new }
adr-linked =
    { $link ->
        [supersedes] { $file } supersedes { $other }
        [depends-on] { $file } depends on { $other }
       *[other] { $file } is related to { $other }
    }
adr-not-found = no ADR has all of these words: { $words }
adr-other-form = { $decisions ->
        [one] { $decisions } decision is
       *[other] { $decisions } decisions are
    } in the form of { $form }: what only Helix's own form has (component, classification, scope, acceptance criteria) is not checked
adr-summary = { $decisions ->
        [one] { $decisions } decision
       *[other] { $decisions } decisions
    }, { $errors ->
        [one] { $errors } error
       *[other] { $errors } errors
    }, { $warnings ->
        [one] { $warnings } warning
       *[other] { $warnings } warnings
    }
adr-site = { $decisions ->
        [one] { $decisions } decision
       *[other] { $decisions } decisions
    } written; open the page in a browser, or publish the directory
site-decisions = Decisions
site-graph = Graph
site-search = Search the decisions
site-nothing = No decision has all of these words.
site-date = date
site-supersedes = supersedes
site-depends-on = depends on
site-related-to = related to
site-superseded-by = superseded by
site-needed-by = needed by
adr-none = no ADRs in { $place }; create one with `helix adr new TITLE`
adr-no-status = unknown
adr-met = { $met } of { $criteria }
adr-repaired =
    { $places ->
        [one] { $places } repair
       *[other] { $places } repairs
    }
adr-proved = { $file } is { $status }: { $met } of { $criteria } { $criteria ->
        [one] criterion
       *[other] criteria
    } verified by job { $job } (commit { $commit })
adr-unproved = not verified: { $criterion }
adr-commit = next: commit the decision and its index
coverage-sum = { $covered } of { $concepts } concepts are covered by { $target }
coverage-hint = add the missing concepts under headings of their names, or say in the text why they are omitted
coverage-missing = MISSING
coverage-covered = covered
drift-label = drift
drift-changed = changed in { $commit } ({ $subject })
drift-uncommitted = changed, not committed
drift-undecided = no decision
drift-each = since each decision's last change
drift-since = since { $since }
drift-sum =
    { $claimed } claimed { $claimed ->
        [one] file
       *[other] files
    } changed, { $undecided } { $undecided ->
        [one] change
       *[other] changes
    } without a decision
drift-hint = update the decision and commit it, or write a new one that supersedes it
drift-shallow = the clone is shallow: changes before its beginning are not known; `git fetch --unshallow` helps
drift-no-decisions = no decisions in { $directory }/
renumber-is = renamed { $old } to { $new }
renumber-updated = updated { $file }
renumber-look = look at { $place }: check which decision { $adr } means there
renumber-none = no duplicate numbers
import-shown = nothing was written; add --write to write the files
import-same = number unchanged
import-taken = { $old } is in use; new number { $new }
import-number = new number { $new }

### The terminal: failures

explain-none = no failure found in this log
    .hint = if the command failed, say how it ended: --exit N
explain-stdin = standard input
explain-decided = Decided by
explain-table = rule table { $table }
explain-line = line { $line }: { $text }
explain-by = by { $rule }
failures-none = no matching failures
failures-more = more: helix failures list --after { $next }
heading =
    { $of ->
        [source] suggestions from
        [last-message] last message
        [began-with] began with
        [no-effect] no effect
       *[other] { $of }
    }
failures-word =
    { $word ->
        [went-away] went away
        [gave-up] gave up
        [seen-again] seen again
        [held-back] held back
        [no-effect] no effect
        [past-fix] past fix
       *[other] { $word }
    }
failures-seen =
    { $times ->
        [one] once, { $last }
       *[other] { $times } times, from { $first } to { $last }
    }
failures-where = Where
failures-suggestions = Suggestions
failures-turn = session { $session }, turn { $turn }
failures-gone = Gone in { $place }, after a change of { $files }
failures-gone-with = Gone in { $place }, commit { $commit }, after a change of { $files }
failures-forgot = forgot { $id }
failures-forgot-fixes = forgot the fixes of { $id }
failures-exported =
    { $records ->
        [one] { $records } record
       *[other] { $records } records
    } written
failures-imported =
    { $added ->
        [one] { $added } new record
       *[other] { $added } new records
    }, { $known } already known
stats-none = no data yet: no failure has been recorded
stats-sum =
    { $failures ->
        [one] { $failures } failure
       *[other] { $failures } failures
    }, seen { $times ->
        [one] { $times } time
       *[other] { $times } times
    }
stats-ends = { $fixed } fixed, { $gone } went away, { $given_up } gave up, { $open } open
stats-effect = Effect of the memory
stats-gone = { $gone } of { $of } gone in the next attempt
stats-helps = it helps
stats-harms = it harms
stats-undecided = not decided yet
stats-difference = difference { $difference } percentage points ({ $low } to { $high }, with 95 % certainty)
stats-untried = untried
stats-rate = { $rate } % ({ $low } to { $high })

### The terminal: logs, comments, evidence

logs-none = no agent has run yet
logs-default-model = its default model
logs-started = started: { $model } { $version }
logs-limited = rate limited by the provider
logs-retry = API retry { $attempt } of { $most }: { $reason }
logs-taken-back = the connection to the model broke; the text so far is said anew
logs-stopped-by-provider = the provider's safeguards stopped the model; it answers anew
logs-error = ended with an error
logs-ended = ended
comment-shown = this would be posted to { $url }; nothing was posted
comment-posted = posted { $url }
comment-updated = updated { $url }
evidence-written = wrote { $file }, signed by { $key }
evidence-label = { $label }
evidence-result = { $commit }, tree { $tree }
left-out-reviewer = an independent reviewer looks at the result
left-out-verifier = an independent verifier looks at the result, once its gates have passed
left-out-person = a person is asked about the result
left-out-outside = it acts outside of the repository
verify-runs = runs these gates, within walls:
verify-signed = signed by { $key } at { $time }
verify-same = the same in { $place }
verify-lacking = lacking: { $what }
verify-no-gate = no gate of this job can be run again
verify-proved = verified, and proved
verify-unproved = genuine evidence, but the job is NOT PROVED by it

### The terminal: Open WebUI

openwebui-set = set
openwebui-unchanged = nothing to change
openwebui-kept = the token is kept in { $file }
openwebui-connected = { $page } is connected: all headers arrive
openwebui-all = all accounts of this Open WebUI can use Helix now; --private keeps it to administrators
openwebui-no-helix = { $page } answers; Helix is not running for it
openwebui-answers = { $page } answers; with { $variable } set, the connection is checked, too
openwebui-password = password of Open WebUI
openwebui-token = token of an administrator of Open WebUI
openwebui-connection = connection { $address }
openwebui-connection-value = connection: { $value }
openwebui-model-value = model { $model }: { $value }
openwebui-model = model { $model }, for all accounts
openwebui-model-private = model { $model }, for administrators
openwebui-enabled = OpenAI connections: enabled

### Pages

web-agent-ended = The agent’s run ended, { $cost }
web-agent-run = Agent’s run:
web-agents = Agents
web-all-attempts = All attempts
web-answer = Answer
web-anywhere = any directory
web-api-retry = The provider failed ({ $reason }); retry { $attempt } of { $max }
web-attempt = attempt { $number }
web-attempt-that-counts = Attempt that counts
web-bar = { $passed } of { count-phases } passed
web-begin = Start your first job
web-begin-chat = Describe what you want; the Consultant writes the decision and the plan
web-begin-demo = See a whole job in a minute, without an account
web-begin-how = Nothing has run here yet. In a terminal, in your project:
web-begin-plan = Run a plan that you have
web-binary = Binary file
web-board = Board
web-bundle = Download the evidence
web-cancel = Cancel…
web-cancel-now = Cancel the job
web-cancel-sure = Its agents stop; what has passed is kept, and you can resume it.
web-changed-files = Files changed
web-checked-again = checked again just now
web-checks-open = { $gates } more to run
web-close = Close
web-code-spent = This address has been used, or is older than ten minutes.
web-commit = Commit
web-confined = confined: { $walls }
web-connection-lost = Connection to Helix lost. This page catches up when it is back.
web-cost = Cost
web-criteria = { $met } of { $criteria } { $criteria ->
        [one] criterion
       *[other] criteria
    } met
web-decision = Decision
web-decisions = Decisions
web-doctor = Checks of this machine, with remedies:
web-events = Events
web-file-gone = deleted
web-file-new = new
web-files = { count-files } changed
web-gates = Gates
web-gates-that-passed = Gates
web-go-on = Continue
web-how-to-log-in = To get in, run this command on the machine where Helix runs, and open the address that it prints:
web-how-to-log-in-elsewhere = With a key of your own, ask for an address over the API: POST /api/v1/logins.
web-integrated = Merged as
web-items-left-out =
    { $items ->
        [one] 1 earlier item is not shown; see all:
       *[other] { $items } earlier items are not shown; see all:
    }
web-jobs-of-decision = Jobs that implement it
web-journal = Journal
web-key-back = go back
web-key-help = show these keys
web-key-move = next, previous
web-key-open = open
web-key-search = search
web-key-answer = answer the first question
web-keys = Keys
web-kind-agent = Question
web-kind-approval = Approval
web-kind-conflict = Conflict
web-kind-escalation = Decision needed
web-lane =
    { $lane ->
        [needs] Needs you
        [running] Running
        [proven] Proven
       *[otherwise] Ended otherwise
    }
web-lane-empty =
    { $lane ->
        [needs] Nothing needs you.
        [running] Nothing is running.
        [proven] Nothing is proven yet.
       *[otherwise] None.
    }
web-large-file = { $lines } lines, not shown with the others.
web-limited = The provider’s limit is reached
web-limited-until = The provider’s limit is reached until { $until }
web-log-in = Log in
web-log-in-again = To log in again:
web-log-out = Log out
web-logged-in = You are logged in
web-logged-out = You are logged out
web-no-activity = The agent has not done anything yet.
web-no-attempt = This phase has not started yet.
web-no-changes = Nothing was changed.
web-no-changes-yet = There is no result yet.
web-no-checks = No check has run on this attempt yet.
web-no-decisions = Your projects have no decisions yet. The Consultant writes the first one with you:
web-no-jobs-of-decision = None yet.
web-no-lines = No line changed: the file is empty, or only its mode changed.
web-no-prompt = There is no prompt of this attempt.
web-no-questions = Nothing waits for an answer.
web-no-such-decision = There is no such decision
web-not-proved = not proven as a whole
web-on-tree = on tree
web-output-changed = output changed since
web-output-intact = output unchanged
web-output-missing = output is gone
web-pages = Pages
web-persons = Answers
web-phases = Phases
web-places = { $taken } of { $places } in use, { $waiting } waiting
web-places-title = Places
web-process = Process
web-questions = Questions
web-refused = Not allowed
web-resume = Resume
web-retry = Retry…
web-retry-now = Run the phase again
web-retry-sure = It runs again, and so do all phases that depend on it.
web-review = Review
web-roots = Projects in
web-search = Search jobs
web-see-changes = See what changed
web-sessions = Chats
web-show-file = Show
web-since = Started
web-skip = Skip to content
web-submitted = Submitted
web-system = System
web-tab-activity = Activity
web-tab-changes = Changes
web-tab-checks = Checks
web-tab-evidence = Evidence
web-tab-prompt = Prompt
web-terminal = In the terminal
web-thinking = Thinking
web-this-host = This host
web-time = Time
web-timeline = Timeline
web-to-board = To the board
web-tree = Tree
web-trouble = That did not work
web-verify-bundle = Anyone can check the bundle with
web-whole-job = The whole job
web-your-words = Your words
serve-pages = pages: { $url }  (logs you in once, within 10 minutes; again: helix open)
open-at = { $url }  (logs you in once, within 10 minutes)
open-no-browser = No browser could be started: open the address yourself.

### What gates find

gate-more-findings =
    { $more ->
        [one] 1 more finding is not shown
       *[other] { $more } more findings are not shown
    }
gate-cancelled = the check was cancelled
gate-broken = the check itself broke: { $why }
gate-delivers-nothing = the gate { $gate } delivers nothing
gate-unchecked = the gate { $gate } is not checked by Helix
    .hint = this is a bug in Helix: please report it
gate-parser-panicked = a parser panicked on one of the files
gate-no-thread = no thread for it: { $error }
gate-no-answer = its thread ended without an answer
gate-source-unread = { $path } was not read: { $error }
gate-source-no-process = no process reads { $path }: { $error }
gate-source-too-long = with it, the sources of this check take too long
gate-source-unchecked = { $path } cannot be checked: { $why }
    .hint = split it into smaller files that are nested less
gate-print-less = have the tests print less
gate-tests-output = the output of the tests
gate-old-report = the old report { $report } cannot be removed: { $error }
gate-output-unreadable = its output cannot be read: { $error }
gate-end-exit = exit { $code }
gate-end-signal = signal { $signal }
gate-end-time = timed out
gate-end-output = printed too much
gate-end-memory = took too much memory
gate-end-cancelled = cancelled
gate-command-unreadable = the command { $command } cannot be run: { $why }
gate-program-unfound = { $program } did not find a program it needs (exit 127): { $said }
    .hint = install the program on the PATH of gates (see `helix doctor`). Where git ignores it, as in node_modules, a clean checkout lacks it: add `setup = ["npm ci"]` to [workspace] in helix.toml
gate-module-unfound = { $program }: { $said }
    .hint = install the module where gates find it (`helix doctor`): in the virtual environment, or for the python that PATH finds
gate-program-not-executable = { $program } or a program it calls may not be executed (exit 126): { $said }
    .hint = make the script executable, commit its mode, and start a new job (`helix run`): this one keeps the commit that it began with
gate-command-too-long = { $program } took longer than { $seconds } s and was stopped
    .hint = give the gate a longer `timeout`, or make what it runs faster
gate-command-output = { $program } printed more than { $size } MiB and was stopped
    .hint = have the command print less
gate-command-memory = { $program } took more memory than a run may and was stopped
    .hint = have it take less, such as with fewer processes at a time, or raise `max_memory_mb` in [sandbox] of your own configuration
gate-command-killed = { $program } was killed from outside (signal { $signal })
    .hint = look for a lack of memory (`dmesg`), or lower the number of parallel phases, and try again
gate-setup-failed = `{ $command }`, which sets the workspace up, fails with the dependencies that the result names
    .hint = change the files that name dependencies, their lock file included, so that the command works in a fresh clone
gate-command-ended = `{ $command }`: { $how }
gate-command-failed = `{ $command }` failed ({ $how })
    .hint = fix what the output names, and run the command yourself until it exits 0
gate-command-not-phases = `{ $command }` failed before the job too, for the same reason ({ $how }): this is not the phase's doing
    .hint = fix it before the job, let a phase fix it, or let the command look only at what the job changes
gate-command-new-lines = `{ $command }` failed before the job too; the lines that are new are shown
gate-command-as-before = `{ $command }` failed before the job too, for the same reason
gate-command-cannot = `{ $command }` cannot run: { $why }
gate-files-hidden = files of the job are hidden from the check
gate-check-changed = the check itself was changed
gate-leftovers =
    { $processes ->
        [one] 1 process that the command had left running was killed
       *[other] { $processes } processes that the command had left running were killed
    }
gate-sandbox = where the sandbox denied it: add the path to `writable` or `readable` in [sandbox] of your own helix.toml (docs/sandbox.md)
gate-decides =
    { $path } decides how `{ $command }` checks and was { $how ->
        [added] added
        [deleted] deleted
       *[changed] changed
    }, but no output of the phase claims it
    .hint =
        { $how ->
            [added] remove { $path }, or move what is needed into files that the phase claims
            [deleted] put { $path } back and make the check pass as it was; if it is to go, a pattern among the outputs covers it and what comes in its place
           *[changed] undo every change to { $path } and make the check pass as it was; if the change is needed, the plan must claim it
        }
gate-decides-claimed =
    { $path } decides how `{ $command }` checks and was { $how ->
        [added] added
        [deleted] deleted
       *[changed] changed
    } by the job, which the plan lets it
gate-decides-free =
    { $path } decides how `{ $command }` checks and was { $how ->
        [added] added
        [deleted] deleted
       *[changed] changed
    } by the job, which no claim rules out
gate-hides = { $by } hides { $path }, which the job changed, from tools that look for files
    .hint = take this pattern back; if these files are to be left out, the plan names this file in `outputs` by its whole path
gate-elsewhere-wanted = { $program } wants to read { $path }: this is your work tree, not the result that the gate checks
gate-elsewhere-read = { $program } may have read { $path }: this is your work tree, not the result that the gate checks
gate-elsewhere-python = an editable install leads there: install the result itself in the gate's command (`sh -c 'pip install -q --no-deps . && pytest'`), or the package without `-e`
gate-elsewhere-node = `npm link`, NODE_PATH or a linked package leads there: name the package by its relative path (`file:`, workspaces) and install it in the checkout (`setup = ["npm ci"]` under [workspace] in helix.toml)
gate-elsewhere-path = a dependency is named by its absolute path (`path` or `[patch]` of Cargo, `replace` or `use` of Go): name it by its path relative to the file
gate-elsewhere-other = look for an absolute path in the configuration of the tool, in a link, or in a variable; name it relative to the repository. Data that gates need from outside of it: `readable` under [sandbox] in your own helix.toml
gate-registry-unreached = `{ $command }` cannot reach { $host }
    .hint = look at the network, a proxy (HTTPS_PROXY) or a mirror (PIP_INDEX_URL, NPM_CONFIG_REGISTRY, …) of the shell that started Helix, and at `network` under [sandbox]; what is installed in [workspace] setup needs no network later
gate-submodule-absent = `{ $command }` names `{ $path }`, a submodule that is not in your repository
    .hint = fetch it with `git submodule update --init --recursive`; if it has a `.git` directory of its own, with `git submodule absorbgitdirs`
gate-lfs-absent = `{ $command }` names `{ $path }`, a file of Git LFS of which only the pointer is here
    .hint = fetch it with `git lfs pull`; of one commit, Helix takes at most 20,000 such files with 16 GiB
gate-service-composed = `{ $command }` needs { $name } at port { $port } of this machine, where nobody listens
    .hint = start it with `docker compose up -d { $service }`, or give each run its own under [workspace.services] in helix.toml
gate-service-down = `{ $command }` needs { $name } at port { $port } of this machine, where nobody listens
    .hint = start it, or give each run its own under [workspace.services] in helix.toml
gate-lacks = add to [workspace] in helix.toml: { $keys }
gate-lacks-installer = install { $program }, which installs what { $file } names, and add to [workspace] in helix.toml: { $keys }
gate-lacks-both = add to [workspace] in helix.toml: { $setup } and { $copy }
gate-lacks-venv = write the command without `{ $path }/bin/`: gates find the programs of the virtual environment in PATH
gate-lacks-directory = let `setup` under [workspace] in helix.toml make `{ $path }/`, or add `copy = ["{ $path }"]` there
gate-unprepared =
    `{ $command }` cannot run in a clean checkout: { $shown } { $names ->
        [one] is
       *[other] are
    } ignored by git, and with { $names ->
        [one] it
       *[other] them
    } it runs
gate-unprepared-tests =
    { $tests ->
        [one] 1 test
       *[other] { $tests } tests
    } of `{ $command }` { $tests ->
        [one] fails
       *[other] fail
    } in a clean checkout only because { $shown } { $names ->
        [one] is
       *[other] are
    } ignored by git and missing there: { $failed }
gate-counted = { $passed } passed, { $failed } failed ({ $how })
gate-adr-none = no ADR to check: the plan names none and the phase changed none
    .hint = name the ADR in the plan (`adr:`) or in the gate's `files`
gate-adr =
    { $decisions ->
        [one] 1 decision
       *[other] { $decisions } decisions
    }, { $errors ->
        [one] 1 error
       *[other] { $errors } errors
    }
gate-conflicts-nothing = there is no file to look at
    .hint = name the files that were in conflict
gate-conflict-marker = a conflict marker is left: { $marker }
    .hint = bring both sides together, and remove the marker lines
gate-conflicts-none =
    no conflict marker in { $files ->
        [one] 1 file
       *[other] { $files } files
    }
gate-conflicts-left =
    { $markers ->
        [one] 1 conflict marker is
       *[other] { $markers } conflict markers are
    } left
gate-delivery-unset = the variable { $name }, which `pass_env` of the gate names, is not set for the host
    .hint = start the host (`helix serve`, `helix run`) with { $name } set
gate-delivery-program = the program { $program } was not found
    .hint = install { $program } where Helix finds it: `helix doctor` shows the PATH
gate-delivered =
    { $commands ->
        [one] 1 command
       *[other] { $commands } commands
    } and { $probes ->
        [one] 1 probe
       *[other] { $probes } probes
    }
gate-healthy = healthy
gate-rolled-back =
    rolled back by { $commands ->
        [one] 1 command
       *[other] { $commands } commands
    }
gate-unhealthy = unhealthy: { $step }: { $seen }
    .hint = look at what the command says, and at the target
gate-delivery-failed = { $step } failed ({ $seen })
    .hint = fix what the output names; effects of the command so far remain
gate-delivery-unknown = { $why }: its effects are unknown
gate-probe-failed =
    { $probe }: { $seen }{ $attempts ->
        [one] { "" }
       *[other] , after { $attempts } attempts
    }
    .hint = fix the cause, or give the gate more `retries` if it needs longer
gate-status = status { $status }
gate-status-other = status { $status }, not { $wanted }
gate-status-without = status { $status }, without { $missing }
gate-status-none = no answer ({ $how })
gate-connected = connected
gate-connected-not = no answer within { $seconds } s
gate-docs-code = { $place }: `{ $path }` is not in the repository
gate-docs-anchor = { $target } has no heading #{ $anchor }
    .hint = link to an existing heading
gate-docs-gone = { $target } leads to { $path }, which is not in the result
    .hint = create the file, or remove the reference
gate-did-you-mean = did you mean { $near }?
gate-docs-none = the phase changed no Markdown file
    .hint = remove `docs_refs_valid` from phases that write no documentation
gate-docs =
    { $documents ->
        [one] 1 document
       *[other] { $documents } documents
    }, { $links ->
        [one] 1 local link
       *[other] { $links } local links
    }, { $broken } broken
gate-files-nothing = there is no file to look for: the gate names none and the phase claims no outputs
    .hint = list files in the gate or in the phase's `outputs`
gate-files-dangling = { $path } is a link to { $target }, which is not in the result
    .hint = replace it with the file, or link to a file of the repository
gate-files-empty = { $path } is empty
    .hint = write its content, or remove it from the gate if it is not needed
gate-files-missing = { $path } is not in the result
    .hint = create it in the repository, at exactly this path, and do not add it to .gitignore
gate-files-near = create it; did you mean { $near }?
gate-files-there =
    { $files ->
        [one] 1 file exists
       *[other] { $files } files exist
    }
gate-files-not-there =
    { $files ->
        [one] 1 file is
       *[other] { $files } files are
    } missing or empty
gate-outputs-none = the phase claims no outputs
    .hint = list what the phase is to create or change in its `outputs`
gate-outputs-unchanged = { $path } is claimed as an output but the phase did not change it
    .hint = change this file as the plan asks; other files and files in .gitignore do not count
gate-outputs-deleted = { $path } is claimed as an output but the phase deleted it
    .hint = put it back with its new content
gate-outputs-besides =
    { $path } was { $how ->
        [added] added
        [deleted] deleted
       *[changed] changed
    } outside the claims
gate-outputs-outside =
    { $path } was { $how ->
        [added] added
        [deleted] deleted
       *[changed] changed
    }, but the phase does not claim it
    .hint = undo this change; if it is needed, the plan must claim it
gate-outputs =
    { $outputs ->
        [one] 1 output
       *[other] { $outputs } outputs
    } declared, { $others ->
        [0] no other files changed
        [one] 1 other file changed besides
       *[other] { $others } other files changed besides
    }
gate-outputs-problems =
    { $problems ->
        [one] 1 problem
       *[other] { $problems } problems
    }: { $summary }
gate-syntax-long = { $path } is longer than { $size } MiB and was not parsed
gate-syntax-encoding = the file is not valid UTF-8
    .hint = save it as UTF-8
gate-syntax-template = { $path } is a template and was not parsed as YAML
gate-syntax-as-before = { $path } cannot be parsed by the embedded grammar, as before the job
gate-syntax-valid = make the file valid { $language }
gate-syntax-unknown = not of a known language: { $files }
gate-syntax-good =
    { $files ->
        [one] 1 file parses
       *[other] { $files } files parse
    }
gate-syntax-bad =
    { $errors ->
        [one] 1 syntax error
       *[other] { $errors } syntax errors
    } in { $files ->
        [one] 1 file
       *[other] { $files } files
    }
gate-syntax-none-among = no file that the phase changed could be parsed among { $files }
    .hint = check the gate's `files`; they are matched against the files that the phase changed
gate-syntax-none-known =
    { $files ->
        [one] the changed file is not
       *[other] none of the { $files } changed files is
    } of a language that can be parsed
    .hint = give this phase other `gates`: `files_exist`, or a `command` that checks such files
gate-syntax-deleted =
    { $files ->
        [one] 1 file
       *[other] { $files } files
    } deleted, nothing left to parse
gate-syntax-nothing = the phase changed no file
    .hint = check what the agent did; if that is right, remove `syntax_check`
gate-criterion-bare = the criterion { $criterion } has no evidence
gate-criterion-write = write a test for it, and end the criterion in { $path } with its evidence: `— test: tests/test_x.py::test_y`, `(file: docs/x.md)` or `(command: x --check)`
gate-criterion-own = { $criterion } got its test from the phase itself
gate-criteria-no-adr = the plan names no ADR, so it has no criteria
    .hint = add it to the plan: `adr: adr/012-title.md`
gate-criteria-adr-gone = { $path } is not in the commit that the phase started from
    .hint = commit the ADR before the job, or let an earlier phase write it
gate-hint-criteria = write criteria with checkboxes below `## Acceptance criteria`: `- [ ] …`; in MADR, `### Confirmation` will do
gate-criteria-none = { $path } has no acceptance criteria with a checkbox
    .hint = { gate-hint-criteria }
gate-criteria-none-madr = { $path } says in no section Confirmation how it is confirmed, and has no acceptance criteria
    .hint = { gate-hint-criteria }
gate-criteria-none-nygard = { $path } has no section Acceptance criteria with checkboxes
    .hint = { gate-hint-criteria }
gate-criterion-unmet = the criterion { $criterion } is not met: { $why }
gate-criterion-unchecked = { $place }: { $proof } could not be checked: { $why }
gate-criteria-met =
    { $criteria ->
        [one] 1 criterion of { $path }, verified
       *[other] { $criteria } criteria of { $path }, all verified
    }
gate-criteria-unmet =
    { $criteria ->
        [one] 1 criterion
       *[other] { $criteria } criteria
    } of { $path }, {
    $findings ->
        [one] 1 finding
       *[other] { $findings } findings
    }
gate-criterion-exit = `{ $command }` ended with { $how }, not with exit { $exit }
    .hint = fix what the output names, and run the command yourself
gate-criterion-empty = { $path } is empty
    .hint = write its content
gate-criterion-missing = { $path } is not in the result
    .hint = create it in the repository, at exactly this path
gate-criterion-there =
    { $files ->
        [one] it exists
       *[other] { $files } files exist
    }
gate-hint-test-name = name the test with its file, or write the command that runs it: `— test: `<command>``
gate-criterion-unknown = Helix does not know how to run the test { $test }
    .hint = { gate-hint-test-name }
gate-criterion-no-name = { $test } is not the name of a test
    .hint = { gate-hint-test-name }
gate-hint-fix-test = fix the code until the test passes
gate-criterion-failures = `{ $command }` has failures
    .hint = { gate-hint-fix-test }
gate-criterion-failed = { $tests } failed
    .hint = { gate-hint-fix-test }
gate-criterion-no-test = `{ $command }` ran no test ({ $how })
    .hint = write the test that the criterion names, under exactly this name, and commit it
gate-criterion-command = `{ $command }` failed ({ $how })
    .hint = fix what the output names
gate-criterion-passed = { $tests } passed
gate-criterion-uncounted = `{ $command }` does not print how many tests ran
    .hint = use a runner whose summary Helix reads (docs/gates.md)
gate-criterion-none-ran = `{ $command }` ran no test
    .hint = write the tests that the criterion asks for
gate-criterion-not-shown = `{ $command }` does not show `{ $missing }`
    .hint = fix the code so that the output contains exactly this text
gate-criterion-shown = { $how }, with the expected output
gate-hint-runner = let the runner end by itself, and let nothing else print what looks like its summary
gate-doubt-ended = its output says that { $passed } { $passed ->
        [one] test
       *[other] tests
    } passed, but the runner was ended before it wrote its own report
    .hint = { gate-hint-runner }
gate-doubt-better = its output says { $passed } passed and { $failed } failed, but the runner's own report has { $really_passed } and { $really_failed }
    .hint = { gate-hint-runner }
gate-doubt-summaries = its output has { $runs } summaries, but unittest prints one
    .hint = { gate-hint-runner }
gate-flaky = { $tests } failed, and passed when run again at once on the same files
    .hint = make the test, or what it tests, give the same answer each time
gate-flaky-own = the phase's tests are flaky
gate-flaky-fault = flaky: { $why }
    .hint = make these tests give the same answer each time, or set `flaky: note` in the gate, then `helix jobs resume`
gate-tests-broken = `{ $command }` failed ({ $how }) before it could run tests
    .hint = fix what the output names, then run the command yourself
gate-tests-uncounted = `{ $command }` ended with { $how }, but its output names no number of tests, so nothing proves that any ran
    .hint = use a runner whose summary Helix reads (docs/gates.md), let it write JUnit XML, or use the `command` gate
gate-tests-none = `{ $command }` ran no test ({ $skipped } skipped)
    .hint = check that the tests are where the command looks for them, and that they are committed
gate-before-not-run =
    nothing to compare with: before { $since ->
        [job] the job
       *[phase] the phase
    }, { $why }
gate-before-time =
    nothing to compare with: before { $since ->
        [job] the job
       *[phase] the phase
    }, the command took too long
gate-before-output =
    nothing to compare with: before { $since ->
        [job] the job
       *[phase] the phase
    }, the command printed too much
gate-before-memory =
    nothing to compare with: before { $since ->
        [job] the job
       *[phase] the phase
    }, the command took too much memory
gate-before-none =
    nothing to compare with: there were no tests before { $since ->
        [job] the job
       *[phase] the phase
    }
gate-failed-before = { $test } failed before the job too
gate-tests-unnamed =
    { $tests ->
        [one] 1 failing test could not be told by name, so it counts
       *[other] { $tests } failing tests could not be told by name, so they count
    } as new
gate-tests-exit = `{ $command }` failed ({ $how }) although no new test failed
    .hint = look at the end of the output: a coverage limit, a warning taken as an error, or a crash
gate-tests-old = { $counts } ({ $old } of them before the job too)
gate-tests-still-fail =
    { $tests ->
        [one] 1 test failed before the job and still fails
       *[other] { $tests } tests failed before the job and still fail
    }: { $shown }
    .hint = fix them; those that are not part of the task belong in `known_failures` of this gate in the plan
gate-hint-fix-code = fix the code; change the test only if it contradicts the task
gate-test-failed = { $test } failed
    .hint = { gate-hint-fix-code }
gate-test-broken-earlier = { $test } failed (and did before this phase, but not before the job: an earlier phase broke it)
    .hint = { gate-hint-fix-code }
gate-test-fixed-earlier = { $test } failed (as it did before the job; an earlier phase had fixed it)
    .hint = { gate-hint-fix-code }
gate-tests-fewer =
    { $before ->
        [one] 1 test
       *[other] { $before } tests
    } ran before { $since ->
        [job] the job
       *[phase] the phase
    }, only { $now } { $now ->
        [one] runs
       *[other] run
    } now
    .hint = put the tests back that were removed; a test that is wrong is corrected, not deleted
gate-tests-skipped =
    { $before ->
        [0] no test was skipped
        [one] 1 test was skipped
       *[other] { $before } tests were skipped
    } before { $since ->
        [job] the job
       *[phase] the phase
    }, { $now } { $now ->
        [one] is
       *[other] are
    } now
    .hint = remove the new skip marks and make those tests pass
gate-undecided = tests also pass where they expect other values ({ $tests }): what the code returns counts as equal to other values, too, or the code knows its tests or decides in their place
    .hint = let the code return what is right and nothing else; if these tests cannot be asked so, the plan sets `control: off` in this gate
gate-hint-aware = let the code do the same whatever its tests say
gate-aware = tests fail ({ $tests }) where other tests expect other values, as was not so when the job began: the code looks at its tests
    .hint = { gate-hint-aware }
gate-aware-ended = no test runs where other tests expect other values, as was not so when the job began: the code looks at its tests
    .hint = { gate-hint-aware }
gate-not-deciding = the tests do not decide
gate-former = { $tests } failed when the job began, and their former versions still fail: the tests were changed, not the code
    .hint = make the code pass the tests as they were; if the task is to change them, the plan names their file in `outputs` by its whole path, or sets `weaker_tests: note` in this gate
gate-former-fail = the former versions of { $tests } fail with this code, and the changed ones pass: look at what they ask now
gate-former-changed = the tests were changed, and not what they test
gate-hint-writes-code = give this gate to a phase that writes code
gate-mutation-no-source = the phase changed no source that the command tests, so there is nothing to plant mistakes in
    .hint = { gate-hint-writes-code }
gate-mutation-none = no mistake can be planted in the changed lines of { $files }
    .hint = { gate-hint-writes-code }
gate-mutation-unclean = `{ $command }` does not pass on the result itself ({ $how }, { $passed } tests passed)
    .hint = put `tests_pass` with the same command before this gate
gate-mutation-tried = { $possible } small mistakes are possible in the changed lines; { $tried } tried: { $killed } noticed, { $slow } ran into their time limit, { $survived } not noticed, { $unbuilt } could not be built
gate-hint-longer = give the gate a longer `timeout`, or let its command run only the tests of what changed
gate-mutation-few = time was up after { $viable } of { $possible } planted mistakes, which is too few to say anything
    .hint = { gate-hint-longer }
gate-mutation-slow = each planted mistake ran into its time limit or could not be built, so nothing shows what the tests see
    .hint = { gate-hint-longer }
gate-mutation-unbuilt = none of the planted mistakes could be built and tested, so nothing shows what the tests see
    .hint = build a changed line with a small mistake yourself and look at what the command says; leave the gate out where the compiler rejects them all
gate-mutation = the tests notice { $killed } of { $viable } planted mistakes, at least { $wanted } % are wanted
gate-mutation-survived = no test notices when `{ $before }` becomes `{ $after }`
    .hint = write a test that fails with this mistake and passes without it; if the code does the same with it, it may be left out
gate-unclaimed = the tests pass only with the change to { $path }, which no output of the phase claims
    .hint = undo these changes and make the tests pass by what the phase claims; if they are needed, the plan must claim them
gate-unclaimed-changes = the tests pass only with changes that the phase does not claim
gate-control-none = no function in { $files } could be made to answer nonsense, so nothing shows what the tests see
gate-control-unbuilt = { $files } could not be compiled with nonsense in the functions, so nothing shows what the tests see
    .hint = look at the output of this run (`.control.log`); the plan may set `control: off` in this gate
gate-control-unseen = the tests also pass with nonsense in every function of { $files }: they do not test this work
    .hint = write tests that call these functions and compare what comes of it; if this command is about something else, the plan sets `control: off` in this gate
gate-control-new =
    { $tests ->
        [one] the new test ({ $names }) also passes with nonsense in every function of { $files }: it does not test this work
       *[other] all { $tests } new tests ({ $names }) also pass with nonsense in every function of { $files }: they do not test this work
    }
    .hint = let the new tests call what the phase wrote and compare what comes of it; if they are about something else, the plan sets `control: off` in this gate
gate-control-seen = with nonsense in every function of { $files }, { $passed } of { $tests } tests pass: the tests see this work
gate-hint-new-tests = write tests that fail without the phase's work and pass with it
gate-not-new = all new tests pass with the code as it was before the phase, too: they do not show what it did
    .hint = { gate-hint-new-tests }
gate-not-new-some = { $passing } of { $tests } new tests ({ $names }) pass with the code as it was before the phase, too: they do not show what it did
    .hint = { gate-hint-new-tests }
gate-not-new-tests = the new tests do not test what is new
gate-knows-answers = the code has the tests' answers written in it
gate-knows-answer = the code has the answer to a test's question written in it: { $answer }
    .hint = compute the answer, also to questions that no test asks
gate-sees-tests = the tests pass only where the code sees that it is tested: `{ $code }`
    .hint = let the code do the same whether it is tested or not; if it has to know, the plan sets `control: off` in this gate
gate-does-otherwise = the code does something else where it is not tested
gate-sees-unbuilt = the code asks whether it is tested ({ $places }), and could not be built without that
    .hint = look at the output of this run (`.unaware.log`); the plan may set `control: off` in this gate
gate-unread =
    { $path } { $why ->
        [long] has more than 2 MiB
       *[unparsed] cannot be parsed
    }, so nothing shows whether the tests see what it does
    .hint = write or split it so that Helix can parse it (each file has less than 2 MiB); where that cannot be, the plan sets `control: off` in this gate, or leaves the gate `mutation` out
gate-unread-before =
    not examined: { $path }, which { $why ->
        [long] has more than 2 MiB
       *[unparsed] cannot be parsed
    }
gate-expects-other = the test { $test } expects { $now } now, and expected { $before }
gate-expects-row = the test { $test } no longer asks { $question }, where it expected { $before }
gate-expects-gone = the test { $test } is gone, and no test asks what it asked
gate-expects-fix = make the code give what the test expected; if the task is to change that, the plan names this file in `outputs` by its whole path, or sets `weaker_tests: note` in this gate
gate-expects-fix-named = make the code give what the test expected; if the task is to change that, the plan names this file in `outputs`
gate-weaker-long = the test file has more than 2 MiB, so nothing shows what it asserts
gate-weaker-unparsed = the test file cannot be parsed any more, so nothing shows what it asserts
gate-weaker-skipped = the test { $test } is skipped now
gate-weaker-stopped = the test { $test } does not run any more
gate-weaker-caught = the test { $test } catches its own failures now
gate-weaker-some-caught = the test { $test } catches some of its own failures now
gate-weaker-constant = the test { $test } asserts only what cannot be false now
gate-weaker-some-constant = the test { $test } asserts something that cannot be false in the place of something that could
gate-weaker-nothing = the test { $test } asserts nothing any more
gate-weaker-compares = the test { $test } no longer compares with a value, but asks less
gate-weaker-fewer = the test { $test } has fewer assertions
gate-weaker-new = the test { $test } is new and asserts nothing
gate-weaker-replaced = the test { $test } asserts nothing and stands in the place of a test that did
gate-weaker-rebound = { $name } stands for something else in the tests now, though what it stood for is still there
gate-weaker-fix = make the code pass the test as it was; if the task asks for less, the plan sets `weaker_tests: note` in this gate
gate-weaker-fix-named = make the code pass the test as it was; if the task asks for less, the plan names this file in `outputs`
gate-watched =
    { $summary } after { $checks ->
        [one] 1 check
       *[other] { $checks } checks
    } in { $seconds } s
gate-left-out = phase { $phase } was left out; what it checks does not pass: { $summary }
gate-not-validated = no earlier gate validates what phase { $phase } delivers
    .hint = put a gate before it, such as `tests_pass`, or let the phase depend on one that has gates
gate-not-delivered = nothing was delivered, since gate { $gate } of phase { $phase } does not pass on this tree: { $why }
gate-delivery-interrupted = Helix ended while it delivered tree { $tree }: its effects are unknown ({ $what })
gate-look-or-roll-back = look at what is delivered; `helix jobs rollback { $job }` takes it back, `helix jobs resume { $job }` delivers it again, from the beginning
gate-look-and-resume = look at what is delivered; `helix jobs resume { $job }` delivers it again, from the beginning
gate-obstacle = no agent was started: { $why }
gate-obstacle-of = { $why } (gate { $gate } of phase { $phase })
gate-obstacle-remedy = { $remedy }; or start without this check: `--no-preflight`
gate-checkout-unfilled = the checkout cannot be filled: { $error }
gate-tests-none-passed = `{ $command }` passed no test: those that ran had failed before the job too
    .hint = run tests that can pass, too
gates-fix = How to fix:
gates-evidence = Evidence (tool output, data only):

### What a result may not be, what people say of it, and faults that an audit plants

result-nothing-changed = the phase changed no file
    .hint = make the change that the task asks for; if none is needed, say why: a person can then skip the phase
result-stuck = { $tool } failed { $times } times in the same way, with nothing new in between
    .hint = do not call it again before something has changed: find the cause of this failure first; if it lies outside of your work place, say so and go on with what does not need it
result-not-let-in = { $path } runs by itself, and { $by } did not let it in{ $said }
    .hint = take your change of this file back, unless the person says otherwise
result-control-characters = the name { $name } has control characters
    .hint = give the file another name
result-link = { $name } is a link to { $target }, which is not in the repository
    .hint = link to a file of the repository by a relative path, or write the file itself
result-compiled = { $name } is compiled, and Python runs it in place of its source, whatever that says
    .hint = leave it out: Python compiles what it needs
result-same-name = these are the same name on systems that do not tell them apart: { $names }
    .hint = give one of them another name
result-many-run = the result changes more than { $most } files that run by themselves, such as { $path }
    .hint = leave such files out, or split the work: a person has to read each of them
result-too-much = { $files } files changed, with { $size } MiB or more; a result may change at most { $most } files with { $most_size } MiB, and none of them was taken
    .hint = remove what is generated, or add it to .gitignore
result-git-name = { $name } is a name that git keeps for itself on some systems
    .hint = give it another name
result-submodule = { $name } is a submodule at a commit that your repository does not have, so nothing can check it
    .hint = leave the submodule as it was; a commit that is to be taken has to be fetched into your repository first
result-huge = { $name } has { $size } MiB; a result may hold files of at most { $most } MiB
    .hint = remove it, or add it to .gitignore
result-secret = { $name } holds the value of { $secret }, which must not get into a commit
    .hint = read the value from the environment where it is needed, and keep it out of the repository
result-no-phases = the answer holds no phases in the form that was asked for
    .hint = return the phases as structured output by the schema
result-unasked = { $path } was changed, but this phase claims no outputs: its result is the phases that it adds
    .hint = undo the change, and say in the phases' descriptions what their agents have to know
result-split-delivers = phase `{ $phase }` delivers, so it cannot be replaced
    .hint = propose `retry` with a hint, or `give_up`
result-branch-moves = the target branch keeps moving while the result is checked
    .hint = start the job again when the branch is not changing
result-conflict = phase { $ours } and phase { $theirs } changed the same lines of { $paths }
    .hint = let one of the two phases depend on the other, or give each its own files
result-cannot-start = { $phase } cannot start: { $why }
result-not-answered = not answered in time
    .hint = decide yourself, and write down what you assumed and why; do without what a person has to allow
result-answer = { $by } answers: { $answer }
result-approved = approved by { $by }
result-approved-and = approved by { $others } and { $by }
result-rejected = rejected by { $by }
result-no-reason = rejected without a reason
audit-nonsense = every function answers nonsense ({ $files } { $files ->
        [one] file
       *[other] files
    })
audit-lie =
    prints that { $tests } { $tests ->
        [one] test
       *[other] tests
    } passed and ends the process with status 0
audit-becomes = `{ $before }` becomes `{ $after }`
audit-leaves-out = leaves out `{ $code }`
audit-skips = skips `{ $code }`
audit-gate-fails = the gate { $gate } does not pass on the result as it is: { $why }
audit-nothing = nothing can be planted in what it changed, or it has no gate that Helix runs

### Why work places cannot be prepared, and why a job cannot go on

fault-inputs = inputs are missing from the commit the phase starts from: { $paths }
    .hint = let an earlier phase claim them as outputs, or commit them first
fault-work-gone = what the attempt had left, which could not be committed before, is gone
    .hint = `helix jobs resume { $job }` starts the phase again
fault-agents = the agents of the job cannot be read from { $file }: { $error }
    .hint = `helix jobs resume { $job }` takes those that are configured now, once the file is gone
fault-delivery-file =
    cannot { $action ->
        [read] read
       *[write] write
    } { $path }: { $error }
    .hint = nothing was delivered: correct that, then `helix jobs resume { $job }`
fault-deliveries = what the jobs of the state directory { $state } deliver cannot be read: { $error }
    .hint = make it readable for this host, or, if it delivers nothing any more, remove its line from { $file }; then `helix jobs resume { $job }`
fault-kept-in = { $why }; the agent's work is in { $directory }
    .hint = then run `helix jobs resume { $job }`, which commits it and continues
fault-settings = what { $file } forbids is not known: { $error }
    .hint = correct { $file }, commit it, and start the job again
fault-target-held = job { $other } was changing { $target } when this host had to leave that job alone: how far it came is unknown
    .hint = see `helix jobs show { $other }` and the host's log for why, look at the target, and start Helix again; if it leaves the job alone again, deliver under another `target`
fault-target-unknown = whether job { $other } has changed { $target } is unknown: its record cannot be read
    .hint = `helix jobs show { $other }` says why; restore a backup, or deliver under another `target`
fault-target-abandoned = job { $other } of the state directory { $state } was changing { $target } when its host ended: how far it came is unknown
    .hint = look at the target, and settle that job with a host of its own: `HELIX_STATE_DIR={ $state } helix jobs cancel { $other }`; then `helix jobs resume { $job }` here
workspace-link = `link` of [workspace] names { $link }, which is not in { $directory }
    .hint = correct `link` in helix.toml, or make what it names
workspace-not-copied = { $path } cannot be copied into work places: { $error }
    .hint = make it a plain file of the work tree, or take it out of `copy` and .worktreeinclude
workspace-copy-files = { $files } files
workspace-copy-size = more than { $size } MiB
workspace-copy-much = `copy` of [workspace] and .worktreeinclude name { $what }; that is too much to copy
    .hint = name fewer files, use `link`, or let `setup` make them
workspace-left = the set-up of the workspace left { $paths } paths that git ignores; { $most } can be kept
    .hint = name the directories that are worth keeping in `cache` of [workspace]
workspace-cache-not-ignored = `cache` of [workspace] names { $path }, which is no directory of the repository that git leaves alone
workspace-cache-not-made = `cache` of [workspace] names { $path }, which was not made by the set-up
workspace-cache-fix = correct `cache` in helix.toml, or leave it out: all that git ignores is kept then
workspace-setup-unusable = `{ $command }` in `setup` of [workspace] cannot be run: { $why }
workspace-services = starting its services
workspace-setup-failed = the set-up of the workspace failed: { $what } { $how }{ $said }
    .hint = make it work in a fresh clone of the repository, or correct [workspace] in helix.toml, then go on with `helix jobs resume { $job }`; the whole output: { $log }
workspace-setup-unreached = the set-up of the workspace failed: { $what } cannot reach { $host }:
    { $said }
    .hint = look at the network, a proxy (HTTPS_PROXY) or a mirror (PIP_INDEX_URL, npm_config_registry, …) of the shell that started Helix, and at `network` under [sandbox], then go on with `helix jobs resume { $job }`
workspace-exited = exited with { $code }
workspace-signalled = was ended by signal { $signal }
workspace-timed-out = took longer than the set-up may ({ $seconds } s)
workspace-much-output = printed too much
workspace-much-memory = took too much memory
workspace-cancelled = was cancelled
workspace-unprepared = the work place cannot be prepared: { $error }
    .hint = check space and permissions of the state directory
