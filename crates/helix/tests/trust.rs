//! Trust in a project's configuration from outside: what a cloned repository says starts nothing before its user says so.

use crate::user::User;

const PLAN: &str = "name: p\nphases:\n  - { id: a, type: development, description: do it, outputs: [a.txt] }\n";

#[test]
fn a_cloned_repository_starts_no_program_before_its_user_trusts_it() {
    let user = User::new();
    user.rehearse("- {key: '*', repeat: true}\n");
    user.write("plan.yaml", PLAN);
    user.write("agent.sh", "touch \"$(dirname \"$0\")/started\"\n");
    user.write("helix.toml", "[jobs]\nmax_parallel = 1\n");
    user.repository();
    let plain = user.run(&["plan", "check", "plan.yaml"]);
    assert_eq!(plain.code, 0, "limits need no trust: {plain:?}");
    let text = "[defaults]\nagent = \"own\"\n[agents.own]\ndialect = \"command\"\ncommand = [\"sh\", \"./agent.sh\"]\n[server]\nlisten = \"0.0.0.0:1\"\n";
    user.write("helix.toml", text);
    for command in
        [&["doctor"][..], &["plan", "check", "plan.yaml"], &["run", "--dry-run", "plan.yaml"], &["serve"], &["chat"]]
    {
        let found = ["HX0908", "helix.toml:4:1", "`agents.own.command`", "helix.toml:7:1", "helix trust"];
        user.run(command).refused(2, &found);
    }
    assert!(!user.work().join("started").exists());

    let trusted = user.run(&["trust"]);
    assert!(trusted.code == 0 && trusted.stdout.contains("agents.own.command (line 5)"), "{trusted:?}");
    assert!(trusted.stdout.contains("agent.sh"), "what it starts is trusted with it: {trusted:?}");
    assert_eq!(user.run(&["plan", "check", "plan.yaml"]).code, 0);
    assert!(user.run(&["trust", "--list"]).stdout.contains("helix.toml"));
    user.write("agent.sh", "echo another program\n");
    user.run(&["plan", "check", "plan.yaml"]).refused(2, &["HX0908", "has changed since you trusted it"]);
    user.run(&["trust"]);
    assert_eq!(user.run(&["trust", "--revoke"]).code, 0);
    user.run(&["plan", "check", "plan.yaml"]).refused(2, &["HX0908", "you have not trusted it"]);
    user.run(&["trust", "elsewhere/helix.toml"]).refused(2, &["HX0920"]);
}

/// What `init` and `doctor` look at is a repository of others: no Python of it, and no module in the place of pytest.
#[test]
fn looking_around_in_a_cloned_repository_starts_nothing_of_it() {
    for environment in [true, false] {
        let user = User::new();
        user.write("pyproject.toml", "[tool.pytest.ini_options]\n");
        user.write("pytest.py", "open('ran', 'w')\n");
        for name in ["python", "python3"].into_iter().filter(|_| environment) {
            let path = user.write(&format!(".venv/bin/{name}"), "#!/bin/sh\ntouch \"$(dirname \"$0\")/../../ran\"\n");
            std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        }
        user.repository();
        let ran = user.work().join("ran");
        let doctor = user.run(&["doctor"]);
        assert!(doctor.stdout.contains("python3 for Python") && !ran.exists(), "{doctor:?}");
        let init = user.run(&["init"]);
        assert!(init.code == 0 && !ran.exists(), "{init:?}");
        // `init` trusts it: then the doctor asks what jobs would start.
        let doctor = user.run(&["doctor"]);
        assert!(ran.exists(), "{doctor:?}");
    }
}

/// The agent has a shell, the program and the file: what it lacks is a way to the record.
#[test]
fn an_agent_cannot_trust_a_project_for_its_user() {
    let user = User::new();
    let helix = env!("CARGO_BIN_EXE_helix");
    let tries = format!("{helix} trust {}/helix.toml; {helix} trust; true", user.work().display());
    user.rehearse(&format!(
        "- {{key: a, repeat: true, actions: [{{write: {{path: a.txt, text: done}}}}, {{run: {{command: [sh, -c, '{tries}']}}}}, {{say: Done.}}]}}\n"
    ));
    user.write("plan.yaml", &PLAN.replace("[a.txt]", "[a.txt], gates: [{ type: command, command: \"true\" }]"));
    user.repository();
    let config = [
        "--config".to_owned(),
        user.state().with_file_name("home").join(".config/helix/helix.toml").display().to_string(),
    ];
    user.write("helix.toml", "[sandbox]\nmode = \"off\"\n");
    user.git(&["add", "-A"]);
    user.git(&["commit", "-q", "-m", "settings"]);
    let ran = user.run(&[&config[0], &config[1], "run", "plan.yaml"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(user.run(&["--json", "trust", "--list"]).json(), serde_json::json!({ "files": [] }));
}

/// A project's tool servers start with its user's yes to that very file.
#[test]
fn tool_servers_of_a_project_count_as_they_were_when_its_user_trusted_them() {
    let user = User::new();
    user.rehearse("- {key: '*', repeat: true}\n");
    user.write("plan.yaml", PLAN);
    user.write("helix.toml", "[agents.claude]\ninherit = [\"mcp:tracker\"]\n");
    user.write(".mcp.json", "{\"mcpServers\": {\"tracker\": {\"command\": \"./tracker.py\"}}}");
    user.write("tracker.py", "print()\n");
    user.repository();
    user.run(&["plan", "check", "plan.yaml"]).refused(2, &["HX0908", "`agents.claude.inherit`"]);
    let trusted = user.run(&["trust"]);
    assert!(trusted.code == 0 && trusted.stdout.contains(".mcp.json"), "{trusted:?}");
    let shown = user.run(&["run", "--dry-run", "--agent", "claude", "plan.yaml"]);
    assert!(shown.stdout.contains("tool servers: tracker"), "{shown:?}");
    user.write(".mcp.json", "{\"mcpServers\": {\"tracker\": {\"command\": \"./other.py\"}}}");
    user.run(&["plan", "check", "plan.yaml"]).refused(2, &["HX0908", "has changed since you trusted it"]);
    user.write(".mcp.json", "{\"mcpServers\": {\"trakcer\": {\"command\": \"./other.py\"}}}");
    user.run(&["trust"]);
    user.run(&["plan", "check", "plan.yaml"]).refused(2, &["HX0909", "did you mean mcp:trakcer?"]);
}
