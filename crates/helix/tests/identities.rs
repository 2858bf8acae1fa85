//! Who may do what, from outside: an agent with a shell tries to pass for a person, chat clients and further people use their keys.

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::stage::{LIMIT, LOOK_AGAIN, Stage};
use serde_json::{Value, json};

/// Two phases side by side: one waits for a person before it starts, the agent of the other one does what the script says.
const PLAN: &str = "name: pages
phases:
  - id: page
    type: documentation
    description: Write the page.
    outputs: [page.md]
  - id: asked
    type: documentation
    description: Write more.
    approval: before
    outputs: [more.md]
";

fn script(steps: &str) -> String {
    format!(
        "parts:
  - name: more
    prompt: 'Write more'
    act: {{ steps: [{{ write: {{ path: more.md, content: \"# More\\n\" }} }}] }}
  - name: page
    prompt: 'Write the page'
    act:
      steps:
{steps}        - write: {{ path: page.md, content: \"# Page\\n\" }}
"
    )
}

async fn until<T>(stage: &Stage, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(start.elapsed() < LIMIT, "{}", stage.log());
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// All files below a directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let all = entries.flat_map(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => files(&entry.path()),
        Ok(kind) if kind.is_file() => vec![entry.path()],
        _ => Vec::new(),
    });
    all.collect()
}

/// An address of this machine that is no loopback, where it has one.
fn other_address() -> std::net::IpAddr {
    let probe = std::net::UdpSocket::bind("0.0.0.0:0").unwrap();
    let connected = probe.connect("203.0.113.1:9").and_then(|()| probe.local_addr());
    connected.map_or(std::net::Ipv4Addr::new(127, 0, 0, 2).into(), |address| address.ip())
}

/// Each line is a way to pass for a person; `$H` is `helix` on the host's state directory.
const ATTACKS: &[(&str, &str)] = &[
    ("answer", "$H answer $JOB.asked.q1 --choice approve"),
    ("cancel", "$H jobs cancel $JOB"),
    ("person", "$H people add Eve"),
    ("token", "$H token create --chat eve"),
    ("job", "$H run $REPO/free.yaml --detach"),
    ("bare", "env -i PATH=\"$PATH\" HOME=\"$HOME\" setsid $H answer $JOB.asked.q1 --choice approve"),
    (
        "left",
        "(env -i PATH=\"$PATH\" HOME=\"$HOME\" setsid sh -c \"sleep 0.3; $H answer $JOB.asked.q1 --choice approve \
         >$OUT/left.said 2>&1; echo \\$? >$OUT/left.code\" &) ; sleep 3; cat $OUT/left.said; exit $(cat $OUT/left.code)",
    ),
    (
        "stolen",
        "curl -sS --fail-with-body --noproxy '*' -H \"Authorization: Bearer $(cat $STATE/token)\" -X POST \
         $URL/api/v1/questions/$JOB.asked.q1/answer -d '{\"choice\": \"approve\", \"by\": \"root (terminal)\"}'",
    ),
    (
        "socket",
        "curl -sS --fail-with-body --unix-socket $STATE/terminal/host.sock -X POST http://localhost/api/v1/jobs/$JOB/cancel",
    ),
    ("open", "$H open --print"),
    (
        "login",
        "curl -sS --fail-with-body --noproxy '*' -H \"Authorization: Bearer $(cat $STATE/token)\" -X POST $URL/api/v1/logins -d '{}'",
    ),
    ("code", "curl -sS --fail-with-body --noproxy '*' \"$(cat $OUT/code)\""),
    (
        "cookie",
        "curl -sS --fail-with-body --noproxy '*' -H \"Cookie: $(cat $OUT/cookie)\" -H \"Origin: $URL\" -X POST -d back=job $URL/jobs/$JOB/cancel",
    ),
    (
        "session",
        "curl -sS --fail-with-body --noproxy '*' -H \"Authorization: Bearer $(cat $STATE/token)\" -H 'X-Helix-Session: s1' \
         -H 'Accept: application/json, text/event-stream' -H 'Content-Type: application/json' $URL/mcp -d \
         '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"answer\",\"arguments\":{\"choice\":\"approve\"}}}'",
    ),
];

/// The same while there is no host.
const OWN: &[(&str, &str)] =
    &[("own", "$H jobs cancel $JOB"), ("serve", "env -i PATH=\"$PATH\" HOME=\"$HOME\" $H serve --listen 127.0.0.1:0")];

/// Further ways within walls, where the host is found by the agent's own tools: `$URL` and `$RUN` stand in their configuration.
const WITHIN: &[(&str, &str)] = &[
    (
        "seen",
        "cat $STATE/token $STATE/host.json $STATE/run.key $STATE/keys.json $STATE/helix.db; ls $STATE; test -e $STATE/terminal/host.sock",
    ),
    (
        "own-token",
        "curl -sS --fail-with-body --noproxy '*' -H \"Authorization: Bearer $RUN\" -X POST \
         $URL/api/v1/questions/$JOB.asked.q1/answer -d '{\"choice\": \"approve\"}'",
    ),
    ("no-token", "curl -sS --fail-with-body --noproxy '*' -X POST $URL/api/v1/jobs/$JOB/cancel"),
    (
        "other-user",
        "setpriv --reuid 65534 --clear-groups curl -sS --fail-with-body --noproxy '*' -H \"Authorization: Bearer $KNOWN\" -X POST \
         $URL/api/v1/jobs/$JOB/cancel",
    ),
    // From another address of this machine than the one that it goes to.
    (
        "other-address",
        "curl -sS --fail-with-body --noproxy '*' --interface $ADDRESS -H \"Authorization: Bearer $KNOWN\" -X POST \
         $URL/api/v1/jobs/$JOB/cancel",
    ),
    (
        "chat-token",
        "curl -sS --fail-with-body --noproxy '*' -H \"Authorization: Bearer $(cat $OUT/chat)\" -H 'Content-Type: application/json' \
         $URL/v1/chat/completions -d '{\"model\": \"helix\", \"messages\": [{\"role\": \"user\", \"content\": \"approve\"}]}'",
    ),
    (
        "known-token",
        "curl -sS --fail-with-body --noproxy '*' -H \"Authorization: Bearer $KNOWN\" -X POST $URL/api/v1/jobs/$JOB/cancel",
    ),
];

/// Where there are no walls, whatever an agent with a shell does with what it finds is refused, recorded, and shown to the person who is
/// asked.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_with_a_shell_does_not_pass_for_a_person() {
    let mut stage = Stage::new("{}", "max_parallel = 2\n");
    let config = stage.sandbox.home().join(".config/helix/helix.toml");
    let text = std::fs::read_to_string(&config).unwrap().replace("[sandbox]\n", "[sandbox]\nmode = \"off\"\n");
    std::fs::write(&config, text).unwrap();
    let (out, state) = (stage.shared(), stage.sandbox.state());
    let mut attacks = format!(
        "export OUT={} STATE={} REPO={}\nexport H=\"{} --state-dir $STATE\" JOB=${{HELIX_RUN_ID%%.*}}\n\
         export URL=$(sed -n 's/.*\"url\": \"\\([^\"]*\\)\".*/\\1/p' $STATE/host.json)\n\
         until [ -e $OUT/go ]; do sleep 0.05; done\n",
        out.display(),
        state.display(),
        stage.repo.display(),
        env!("CARGO_BIN_EXE_helix"),
    );
    for (name, attack) in ATTACKS {
        attacks.push_str(&format!("( {attack} ) >$OUT/{name}.out 2>&1; echo $? >$OUT/{name}.exit\n"));
    }
    // Where there is no host, it does not become one.
    attacks.push_str("touch $OUT/tried; until [ -e $OUT/dead ]; do sleep 0.05; done\n");
    for (name, attack) in OWN {
        attacks.push_str(&format!("( {attack} ) >$OUT/{name}.out 2>&1; echo $? >$OUT/{name}.exit\n"));
    }
    // What is the agent's own goes on: the gates of its phase, on its work.
    attacks.push_str("printf '# Page\\n' >page.md; $H gates run >$OUT/gates.out 2>&1; echo $? >$OUT/gates.exit\n");
    attack_as_agent(&mut stage, &attacks);

    let mut host = stage.start();
    // Somebody is logged in with a browser, and asks for another address; an agent gets hold of both.
    let (logged_in, address) = (cookie(&login(&stage).await).await, login(&stage).await);
    std::fs::write(out.join("cookie"), &logged_in).unwrap();
    std::fs::write(out.join("code"), &address).unwrap();
    let plan = stage.plan("pages", PLAN);
    std::fs::write(stage.repo.join("free.yaml"), PLAN.replace("    approval: before\n", "")).unwrap();
    let id = stage.submit(&plan, &stage.repo, "k").await;
    let question = until(&stage, async || {
        let job = stage.job(&id).await;
        job["questions"].as_array()?.first().cloned()
    });
    let question = question.await["id"].as_str().unwrap().to_owned();
    std::fs::write(out.join("go"), "").unwrap();
    until(&stage, async || out.join("tried").exists().then_some(())).await;
    cookie(&address).await;
    host.0.kill().unwrap();
    host.0.wait().unwrap();
    std::fs::write(out.join("dead"), "").unwrap();
    until(&stage, async || out.join("gates.exit").exists().then_some(())).await;
    let _host = stage.start();

    for (name, _) in ATTACKS.iter().chain(OWN) {
        let said = std::fs::read_to_string(out.join(format!("{name}.out"))).unwrap();
        let code = std::fs::read_to_string(out.join(format!("{name}.exit"))).unwrap();
        assert!(code.trim() != "0" && said.contains("HX0815"), "{name}: exit {code}{said}\n{}", stage.log());
    }
    let gates = std::fs::read_to_string(out.join("gates.out")).unwrap();
    assert_eq!(std::fs::read_to_string(out.join("gates.exit")).unwrap().trim(), "0", "{gates}");

    let job = stage.job(&id).await;
    assert_eq!(job["questions"][0]["status"], "open", "{job:#}");
    let asked: Vec<&str> =
        job["attempted"].as_array().unwrap().iter().map(|one| one["asked"].as_str().unwrap()).collect();
    for route in [
        "POST /api/v1/questions/{id}/answer",
        "POST /api/v1/jobs/{id}/cancel",
        "POST /api/v1/keys",
        "POST /api/v1/jobs",
        "POST /api/v1/logins",
        "POST /jobs/{id}/cancel",
        "POST /mcp",
    ] {
        assert!(asked.contains(&route), "{route}: {asked:?}\n{}", stage.log());
    }
    assert_eq!(job["attempted"][0]["run"], format!("{id}.page.1"));
    // The person who is asked sees it, and so does whoever looks at the job.
    for command in [vec!["answer"], vec!["jobs", "show", &id]] {
        let shown = stage.helix(&command).env("LC_ALL", "C").output().unwrap();
        let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
        assert!(shown.contains("refused: ") && shown.contains("/answer"), "{command:?}: {shown}");
    }
    assert_eq!(job["by"].as_str().map(|by| by.ends_with(" (token)")), Some(true), "{job:#}");

    let answered = stage.helix(&["answer", &question, "--choice", "approve"]).output().unwrap();
    assert_eq!(answered.status.code(), Some(0), "{}", String::from_utf8_lossy(&answered.stderr));
    stage.events(&id).await;
    let job = stage.job(&id).await;
    assert_eq!(job["status"], "succeeded", "{job:#}");
    assert!(job["questions"][0]["answer"]["by"].as_str().unwrap().ends_with(" (terminal)"), "{job:#}");
}

/// An address that logs in once.
async fn login(stage: &Stage) -> String {
    stage.reachable().await;
    let made = stage.ask(|http, url| http.post(format!("{url}/api/v1/logins")).json(&json!({}))).await;
    made.json::<Value>().await.unwrap()["url"].as_str().unwrap().to_owned()
}

/// The cookie that such an address gives.
async fn cookie(address: &str) -> String {
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let answer = http.get(address).send().await.unwrap();
    assert_eq!(answer.status(), 200, "{address}");
    answer.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned()
}

/// Has the agent run this in a shell.
fn attack_as_agent(stage: &mut Stage, attacks: &str) {
    let file = stage.shared().join("attacks.sh");
    std::fs::write(&file, attacks).unwrap();
    let order = format!("        - run: 'sh {}'\n", file.display());
    std::fs::write(stage.sandbox.path().join("agent.yaml"), script(&order)).unwrap();
    let state = stage.sandbox.state().display().to_string();
    stage.sandbox.set("HELIX_STATE_DIR", state);
}

/// Within walls an agent finds neither tokens nor the people's socket, and reaches of the host its own tools alone, even if somebody has
/// told it the host's token.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_within_walls_reaches_its_own_tools_and_nothing_else_of_the_host() {
    let mut stage = Stage::new("{}", "max_parallel = 2\n");
    let (out, state) = (stage.shared(), stage.sandbox.state());
    let mut attacks = format!(
        "export OUT={} STATE={} REPO={}\nexport H=\"{} --state-dir $STATE\" JOB=${{HELIX_RUN_ID%%.*}}\n\
         until [ -e $OUT/go ]; do sleep 0.05; done\n\
         SERVERS=$(cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep \"$HELIX_RUN_ID.*mcp.json\" | head -1)\n\
         export URL=$(sed -n 's,.*\"\\(http://[^\"]*\\)/mcp\".*,\\1,p' \"$SERVERS\") RUN=$(grep -o 'hxr-[^\"]*' \"$SERVERS\") \
         KNOWN=$(cat $OUT/known) ADDRESS={}\n",
        out.display(),
        state.display(),
        stage.repo.display(),
        env!("CARGO_BIN_EXE_helix"),
        other_address(),
    );
    for (name, attack) in ATTACKS.iter().chain(WITHIN) {
        attacks.push_str(&format!("( {attack} ) >$OUT/{name}.out 2>&1; echo $? >$OUT/{name}.exit\n"));
    }
    let check = "curl -sS --fail-with-body --noproxy '*' -H \"Authorization: Bearer $RUN\" \
        -H 'Accept: application/json, text/event-stream' -H 'Content-Type: application/json' $URL/mcp -d \
        '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"plan_check\",\"arguments\":{\"path\":\"page.md\"}}}'";
    attacks.push_str(&format!("{check} >$OUT/tools.out 2>&1; echo $? >$OUT/tools.exit\n"));
    attacks.push_str("printf '# Page\\n' >page.md; $H gates run >$OUT/gates.out 2>&1; echo $? >$OUT/gates.exit\n");
    attack_as_agent(&mut stage, &attacks);

    let _host = stage.start();
    let (_, token) = stage.reachable().await;
    std::fs::write(out.join("known"), &token).unwrap();
    std::fs::write(out.join("chat"), key(&stage, &["token", "create", "--chat", "phone"])).unwrap();
    let id = stage.submit(&stage.plan("pages", PLAN), &stage.repo, "k").await;
    until(&stage, async || stage.job(&id).await["questions"].as_array()?.first().cloned()).await;
    std::fs::write(out.join("go"), "").unwrap();
    until(&stage, async || out.join("gates.exit").exists().then_some(())).await;

    let said = |name: &str| std::fs::read_to_string(out.join(format!("{name}.out"))).unwrap();
    let code = |name: &str| std::fs::read_to_string(out.join(format!("{name}.exit"))).unwrap().trim().to_owned();
    for (name, _) in ATTACKS.iter().chain(WITHIN) {
        assert_ne!(code(name), "0", "{name}: {}\n{}", said(name), stage.log());
        assert!(!said(name).contains(&token), "{name}: {}", said(name));
    }
    for name in ["own-token", "known-token", "chat-token", "other-address"] {
        assert!(said(name).contains("is an agent's: this is for people alone"), "{name}: {}", said(name));
    }
    if rustix::process::geteuid().is_root() {
        assert!(said("other-user").contains("is an agent's"), "{}", said("other-user"));
    }
    assert!(said("socket").contains("connect"), "no socket is there: {}", said("socket"));
    // Not one of the five can be opened, whether it is hidden or refused.
    assert_eq!(said("seen").lines().filter(|line| line.starts_with("cat: ")).count(), 5, "{}", said("seen"));
    assert_eq!((code("tools").as_str(), said("tools").contains("/page.md")), ("0", true), "{}", said("tools"));
    assert_eq!(code("gates"), "0", "{}", said("gates"));
    let job = stage.job(&id).await;
    assert_eq!((&job["status"], &job["questions"][0]["status"]), (&"running".into(), &"open".into()), "{job:#}");
    let events = stage.job(&id).await["attempted"].to_string();
    assert!(events.contains("/answer") && events.contains("/cancel"), "{job:#}");
}

/// The token of a run opens the tools of its phase alone, from wherever it is shown, and nothing once the run has ended. The host's
/// own stands nowhere in an agent's reach.
#[tokio::test(flavor = "multi_thread")]
async fn the_token_of_a_run_opens_its_tools_and_dies_with_it() {
    let mut stage = Stage::new("{}", "");
    let (go, environment) = (stage.shared().join("go"), stage.shared().join("env.txt"));
    let steps = format!(
        "        - call: {{ tool: answer, arguments: {{ choice: approve }} }}\n        - run: 'env > env.txt; cp env.txt {}; until [ -e {} ]; do sleep 0.05; done; rm env.txt'\n",
        environment.display(),
        go.display()
    );
    std::fs::write(stage.sandbox.path().join("agent.yaml"), script(&steps)).unwrap();
    stage.sandbox.set("LC_ALL", "C");
    let mut host = stage.start();
    let plan = stage.plan("pages", &PLAN.replace("    approval: before\n", ""));
    let id = stage.submit(&plan, &stage.repo, "k").await;
    until(&stage, async || environment.exists().then_some(())).await;
    let (_, own) = stage.reachable().await;

    let state = stage.sandbox.state();
    for path in files(&state).into_iter().chain([environment]) {
        let holds = std::fs::read(&path).unwrap_or_default().windows(own.len()).any(|part| part == own.as_bytes());
        assert!(!holds || path == state.join("token"), "{} has the host's token", path.display());
    }
    let page = format!("{id}.page.1");
    let servers: Vec<PathBuf> = files(&state)
        .into_iter()
        .filter(|path| path.ends_with("mcp.json") && path.to_string_lossy().contains(&page))
        .collect();
    let [servers] = &servers[..] else { panic!("{servers:?}") };
    let servers: Value = serde_json::from_slice(&std::fs::read(servers).unwrap()).unwrap();
    let headers = servers["mcpServers"]["helix"]["headers"].as_object().unwrap();
    assert_eq!(headers.keys().collect::<Vec<_>>(), ["Authorization"], "who calls is in the token alone");
    let token = headers["Authorization"].as_str().unwrap().strip_prefix("Bearer ").unwrap().to_owned();

    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let get = async |path: &str, token: &str| {
        let (url, _) = stage.reachable().await;
        let answer = http.get(format!("{url}{path}")).bearer_auth(token).send().await.unwrap();
        (answer.status().as_u16(), answer.json::<Value>().await.unwrap_or_default())
    };
    let call = async |name: &str, arguments: Value, token: &str| {
        let (url, _) = stage.reachable().await;
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": name, "arguments": arguments } });
        let request = http.post(format!("{url}/mcp")).header("accept", "application/json, text/event-stream");
        // Headers that once said who calls.
        let request = request.header("x-helix-session", "s1m80cxsf2e74jy7s").header("x-helix-run", "j1.other.1");
        let answer = request.bearer_auth(token).json(&call).send().await.unwrap();
        (answer.status().as_u16(), answer.json::<Value>().await.unwrap_or_default())
    };
    let tool = async |name: &str, token: &str| {
        let arguments = if name == "job_start" { json!({ "project": "." }) } else { json!({ "path": "page.md" }) };
        call(name, arguments, token).await
    };
    for path in ["/api/v1/jobs", "/v1/models", "/metrics", "/api/v1/keys"] {
        let (status, problem) = get(path, &token).await;
        assert_eq!(status, 403, "{path}: {problem:#}");
    }
    let (status, said) = tool("job_start", &token).await;
    assert!(
        status == 200 && said["result"]["isError"] == true && said.to_string().contains("not for the agent"),
        "{said:#}"
    );
    let (status, said) = tool("plan_check", &token).await;
    assert!(status == 200 && said["result"]["content"][0]["text"].as_str().unwrap().contains("/page.md"), "{said:#}");
    // Nor does a tool read for the agent what its walls keep from it, or tell what is there.
    for path in [stage.sandbox.state().join("token"), stage.repo.join("README.md"), "/etc/hostname".into()] {
        let (_, said) = call("plan_check", json!({ "path": path }), &token).await;
        let text = said["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.ends_with("is not in your directory"), "{said:#}");
    }
    // Another run's name under the same signature is nobody's.
    assert_eq!(tool("plan_check", &token.replace(".page.", ".asked.")).await.0, 401);
    // A host that follows knows the token: the agent is still at work.
    host.0.kill().unwrap();
    host.0.wait().unwrap();
    host = stage.start();
    assert_eq!(tool("plan_check", &token).await.0, 200);

    std::fs::write(&go, "").unwrap();
    stage.events(&id).await;
    let (status, problem) = tool("plan_check", &token).await;
    assert!(status == 401 && problem["detail"].as_str().unwrap().contains("has ended"), "{problem:#}");
    let job = stage.job(&id).await;
    let asked: Vec<&str> =
        job["attempted"].as_array().unwrap().iter().map(|one| one["asked"].as_str().unwrap()).collect();
    assert!(asked.contains(&"answer") && asked.contains(&"job_start"), "{asked:?}");
    drop(host);
}

fn key(stage: &Stage, arguments: &[&str]) -> String {
    let made = stage.helix(arguments).output().unwrap();
    assert!(made.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&made.stderr));
    String::from_utf8(made.stdout).unwrap().trim().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn people_approve_under_their_own_names_and_chat_clients_open_the_chat_alone() {
    let stage = Stage::new(&script(""), "\n[consultant]\nenforcement = []\n");
    let _host = stage.start();
    let (url, own) = stage.reachable().await;
    let (ana, ben) = (key(&stage, &["people", "add", "Ana"]), key(&stage, &["people", "add", "Ben"]));
    let (phone, page) =
        (key(&stage, &["token", "create", "--chat", "phone"]), key(&stage, &["token", "create", "--chat", "page"]));
    let listed = stage.helix(&["people", "list"]).output().unwrap();
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(
        listed.contains("Ana") && listed.contains("Ben") && !listed.contains("phone") && !listed.contains(&ana),
        "{listed}"
    );
    for path in files(&stage.sandbox.state()) {
        let bytes = std::fs::read(&path).unwrap_or_default();
        for key in [&ana, &phone] {
            assert!(!bytes.windows(key.len()).any(|part| part == key.as_bytes()), "{} has a key", path.display());
        }
    }
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let get = async |path: &str, token: &str| {
        let answer = http.get(format!("{url}{path}")).bearer_auth(token).send().await.unwrap();
        (answer.status().as_u16(), answer.json::<Value>().await.unwrap_or_default())
    };
    let post = async |path: &str, token: &str, body: Value| {
        let answer = http.post(format!("{url}{path}")).bearer_auth(token).json(&body).send().await.unwrap();
        (answer.status().as_u16(), answer.json::<Value>().await.unwrap_or_default())
    };
    // A chat client talks, and nothing else; keys are made at the terminal alone.
    assert_eq!(get("/v1/models", &phone).await.0, 200);
    let (status, problem) = get("/api/v1/jobs", &phone).await;
    assert_eq!((status, &problem["code"]), (403, &json!("HX0816")), "{problem:#}");
    assert_eq!(post("/mcp", &phone, json!({})).await.0, 403);
    for token in [&own, &ana] {
        assert_eq!(post("/api/v1/keys", token, json!({ "holder": "person", "name": "Eve" })).await.0, 403);
    }
    assert_eq!(get("/api/v1/sessions", &ana).await.0, 403);

    // Its sessions are found by nobody else, however they are asked for.
    let talk = async |token: &str, headers: &[(&str, &str)]| {
        let body = json!({ "model": "helix", "messages": [{ "role": "user", "content": "Write the page" }] });
        let mut request = http.post(format!("{url}/v1/chat/completions")).bearer_auth(token).json(&body);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.json::<Value>().await.unwrap_or_default())
    };
    let (status, first) = talk(&phone, &[("x-chat", "c"), ("x-message", "m1"), ("x-openwebui-user-id", "7")]).await;
    assert_eq!(status, 200, "{first:#}");
    let session = first["helix"]["session"].as_str().unwrap();
    let (_, same) = talk(&phone, &[("x-chat", "c"), ("x-message", "m2"), ("x-openwebui-user-id", "7")]).await;
    assert_eq!(same["helix"]["session"], session);
    for (token, user) in
        [(&page, Some("7")), (&phone, Some("8")), (&phone, None), (&ana, Some("7")), (&ana, Some("phone/7"))]
    {
        let user = user.map(|user| ("x-openwebui-user-id", user));
        let by_id: Vec<_> = [("x-helix-session", session)].into_iter().chain(user).collect();
        assert_eq!(talk(token, &by_id).await.0, 404, "{user:?}");
        for (name, value) in [("x-chat", "c"), ("x-parent", "m1"), ("x-message", "m1")] {
            let by_name: Vec<_> = [(name, value)].into_iter().chain(user).collect();
            let (_, other) = talk(token, &by_name).await;
            assert_ne!(other["helix"]["session"], session, "{name} {user:?}");
        }
    }

    // Two approve, none of them who submitted.
    let plan = stage.plan(
        "two",
        "name: two\nphases:\n  - id: page\n    type: documentation\n    description: Write the page.\n    outputs: [page.md]\n    \
         gates:\n      - { type: files_exist, files: [page.md] }\n      - { type: approval, question: 'Live?', by: other, count: 2 }\n",
    );
    let id = stage.submit(&plan, &stage.repo, "k").await;
    let question = until(&stage, async || stage.job(&id).await["questions"].as_array()?.first().cloned()).await;
    let question = question["id"].as_str().unwrap();
    let path = format!("/api/v1/questions/{question}/answer");
    let approve = || json!({ "choice": "approve", "by": "Ben" });
    let submitter = stage.helix(&["answer", question, "--choice", "approve"]).output().unwrap();
    let said = String::from_utf8_lossy(&submitter.stderr).into_owned();
    assert!(submitter.status.code() == Some(2) && said.contains("has submitted the job"), "{said}");
    let (status, answered) = post(&path, &ana, approve()).await;
    assert_eq!((status, &answered["status"]), (200, &json!("open")), "{answered:#}");
    assert_eq!(answered["approved_by"], json!(["Ana (key)"]), "not who she says");
    let (status, again) = post(&path, &ana, approve()).await;
    assert!(status == 422 && again["detail"].as_str().unwrap().contains("another person"), "{again:#}");
    let shown = stage.helix(&["answer"]).env("LC_ALL", "C").output().unwrap();
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("1 of 2 approved, by Ana (key)"), "{shown}");
    // Who is removed approves nothing any more.
    let eve = key(&stage, &["people", "add", "Eve"]);
    key(&stage, &["people", "remove", "Eve"]);
    assert_eq!(post(&path, &eve, approve()).await.0, 401);
    assert_eq!(post(&path, &ben, approve()).await.0, 200);
    stage.events(&id).await;
    let job = stage.job(&id).await;
    assert_eq!(job["status"], "succeeded", "{job:#}");
    let gates = job["phases"][0]["gates"].as_array().unwrap();
    assert_eq!(gates.last().unwrap()["summary"], "approved by Ana (key) and Ben (key)", "{job:#}");
}
