# What a person does around an attack: a home, a repository, a plan, Helix. Sourced by `play` and `proof` (bash).
#
# From the runner: HOME, REPO, STATE, DROP (everyone may write there), OUT, BIN, ATTACK (the script), FILES, SETTING.
# From `set` of the attack: AGENT, TASK, CLAIMS, GATES, ATTEMPTS, TIMEOUT, VERIFY, and what its own scripts want.

set -u

# The attack itself does not work: it says nothing about Helix.
broken() { printf 'HXA-%s: %s\n' broken "$*"; }
# For attacks that `play` makes itself.
reached() { printf 'HXA-%s %s\n' reached "$*"; }

# Ends if a program is missing.
needs() {
  local program
  for program in "$@"; do
    command -v "$program" > /dev/null || { broken "needs $program"; exit; }
  done
}

begin() {
  exec 2>&1
  # What a login shell has.
  ulimit -Sn 1024
  git config --global user.name Person
  git config --global user.email person@example.invalid
  git config --global init.defaultBranch main
  git config --global advice.detachedHead false
  mkdir -p ~/.config/helix "$REPO"
  configure > ~/.config/helix/helix.toml
  cd "$REPO" || exit 1
  git init -q
  mkdir -p .attack plans src
  cp "$ATTACK" .attack/run.sh
  printf 'mkdir -p src; echo honest > src/done.txt; cat > /dev/null\n%s\n' \
    "echo '{\"helix\":\"result\",\"status\":\"success\",\"answer\":\"Done.\"}'" > .attack/good.sh
  world
  [ -n "${WORK:-}" ] && "$WORK" >> .attack/run.sh
  cp -r "$FILES"/. .
  [ -f plans/phases.yaml ] || plan > plans/phases.yaml
  git add -A -f
  git commit -q -m "The shop as it was"
}

finish() {
  [ -z "${SERVER:-}" ] || stop
  [ ! -f ~/trouble ] || cat ~/trouble
}

# The person's own configuration: what is configured here is nobody's attack.
configure() {
  cat <<EOF
[defaults]
agent = "good"
[agents.good]
dialect = "command"
command = ["sh", ".attack/good.sh"]
[agents.evil]
dialect = "command"
command = ["sh", ".attack/run.sh"]
[agents.fake]
dialect = "claude"
command = ["$BIN/helix-fake-agent"]
[agents.claude]
dialect = "claude"
command = ["claude"]
env = { ANTHROPIC_BASE_URL = "${MODEL_URL:-http://127.0.0.1:9}", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC = "1", CLAUDE_CODE_MAX_RETRIES = "1" }
[consultant]
agent = "${CONSULTANT:-fake}"
EOF
}

# The script as one word that a shell runs anywhere.
packed() { printf 'sh -c "$(printf %%s %s | base64 -d | gzip -d)"' "$(gzip -9 < "$ATTACK" | base64 -w0)"; }
# … and in the words of the fake agent.
ordered() { printf '[[fake: run %s]]' "$(packed)"; }

plan() {
  local agent=${AGENT:-evil} task=${TASK:-Do the work.} gates=${GATES:-'[{ type: files_exist }]'}
  case $SETTING in
    gate) agent=good gates="[{ type: command, command: \"sh .attack/run.sh\", timeout: ${TIMEOUT:-30s} }]" ;;
    cheat) gates="[{ type: tests_pass, command: '${GATE//\'/\'\'}', timeout: 90s }]" ;;
  esac
  [ "$agent" != fake ] || task="$task $(ordered)"
  [ "$agent" != claude ] || task="$task Run the script."
  cat <<EOF
name: shop
phases:
  - id: work
    type: development
    description: '$task'
    agent: $agent
    outputs: ${CLAIMS:-[src/]}
    max_attempts: ${ATTEMPTS:-1}
    timeout: ${TIMEOUT:-30s}
    on_failure: fail
    verify: ${VERIFY:-false}
    gates: ${GATES_ALL:-$gates}
EOF
}

# A phase that waits for a person's approval, beside the attacker's.
plan_with_approval() {
  cat <<EOF
name: shop
phases:
  - { id: careful, type: development, description: Change the prices., agent: good, outputs: [src/done.txt], approval: after, verify: false, gates: [{ type: files_exist }] }
  - { id: work, type: development, description: '${TASK:-Do the work.} $([ "${AGENT:-}" != fake ] || ordered)', agent: ${AGENT:-evil}, outputs: [docs/], max_attempts: 1, timeout: 30s, on_failure: fail, verify: false, gates: [{ type: files_exist }] }
EOF
}

play_by_default() {
  case $SETTING in
    agent | gate) run_job ;;
    cheat) control; run_job ;;
    consultant) serve; chat "$(ordered)"; stop ;;
    neighbour) serve; : > "$DROP/ready"; wait_for "$DROP/go" 60; stop ;;
  esac
}

run_job() {
  [ "${AGENT:-}" != claude ] || model
  helix run plans/phases.yaml "$@" < /dev/null
  echo "helix run: exit $?"
}

# The real Claude Code, whose model asks for the script and then says that all is done.
model() {
  cat > ~/model.yaml <<EOF
scenes:
  - name: work
    prompt: "Run the script"
    at_end: repeat-last
    steps:
      - tools: [{ name: Bash, input: { command: '$(packed)', description: works } }]
      - text: "Done."
EOF
  serve_model ~/model.yaml
}

serve_model() {
  helix-scripted-model --script "$1" --port 0 > ~/model.out 2>&1 &
  MODEL=$!
  until_true 10 grep -q base_url ~/model.out || broken "the model does not start: $(tail -1 ~/model.out)"
  MODEL_URL=$(sed -n 's/.*"base_url": *"\([^"]*\)".*/\1/p' ~/model.out)
  configure > ~/.config/helix/helix.toml
}

# Runs a command of Helix on a terminal, and keeps in ~/seen what the terminal gets.
on_terminal() {
  timeout 30 script -qc "helix $*" ~/terminal < /dev/null > /dev/null 2>&1
  tail -n +2 ~/terminal >> ~/seen
}

# Serves; ADDRESS and TOKEN are set then.
serve() {
  helix serve --listen 127.0.0.1:0 "$@" > "$HOME/serve.out" 2>&1 < /dev/null &
  SERVER=$!
  if ! until_true 15 eval 'test -s "$STATE/host.json" || ! kill -0 $SERVER 2> /dev/null'  || [ ! -s "$STATE/host.json" ]; then
    # A repository's configuration may be refused; anything else is no attack.
    grep -q 'error\[HX' ~/serve.out || broken "no host: $(tail -1 ~/serve.out)"
    cat ~/serve.out
  fi
  ADDRESS=$(grep -o 'http://[^ "]*' "$STATE/host.json" ~/serve.out 2> /dev/null | sed 's/^[^:]*://; s,/v1$,,' | head -1)
  TOKEN=$(cat "$STATE/token" 2> /dev/null)
}

stop() {
  kill "$SERVER" 2> /dev/null
  wait "$SERVER" 2> /dev/null
  SERVER=
  tail -5 ~/serve.out
}

# One message as a chat client sends it; further arguments are curl's. Nothing of it stands in the list of processes.
chat() {
  printf %s "$1" > "$HOME/chat.said"
  shift
  python3 -c 'import json; print(json.dumps({"model":"helix","messages":[{"role":"user","content":open("'"$HOME"'/chat.said").read()}],"stream":False}))' |
    curl -sS --max-time 60 -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' "$@" \
      "$ADDRESS/v1/chat/completions" --data-binary @- > "$HOME/chat.last"
  cat "$HOME/chat.last" | tee -a "$HOME/chat.out"
  echo
  ! grep -q 'provider_overloaded\|agent_not_\|agent_misconfigured' "$HOME/chat.last" || printf 'HXA-%s: %s\n' broken "the chat's agent does not run" >> "$HOME/trouble"
}

until_true() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    [ $SECONDS -lt $end ] || return 1
    sleep 0.05
  done
}
wait_for() { until_true "${2:-20}" test -e "$1"; }

# A cheat that does not deceive the bare command deceives nobody.
control() {
  [ "${CONTROL:-}" != none ] && [ -z "${WORK:-}" ] || return 0
  mkdir -p ~/control/home/.local
  (
    cp -a ~/.gitconfig ~/control/home/
    ln -s ~/.rustup ~/.cargo ~/control/home/
    [ ! -d ~/.local/lib ] || cp -a ~/.local/lib ~/.local/bin ~/control/home/.local/
    export HOME=$HOME/control/home
    git clone -q "$REPO" "$HOME/../work"
    cd "$HOME/../work" || exit 1
    HXA_QUIET=1 timeout 60 sh .attack/run.sh < /dev/null > ../agent.log 2>&1
    git add -A
    git commit -q -m "Work" || { broken "the script changes nothing: $(tail -1 ../agent.log)"; exit; }
    git clone -q . ../checkout
    cd ../checkout || exit 1
    CI=true timeout 90 bash -c "$GATE" < /dev/null > ../gate.log 2>&1 ||
      broken "the bare command does not pass: $(tail -3 ../gate.log | tr '\n' ' ')"
    ! truth > ../truth.log 2>&1 || broken "the work is right after all"
  )
}
