use helix_core::ids::AgentSessionId;

use super::*;
use crate::profile::{DialectName, McpServer, SessionRef};

fn ask() -> AgentAsk {
    let session = SessionRef::New(AgentSessionId::new("s").unwrap());
    AgentAsk::new("do it", session, "/checkout", "/state/agent-files/r")
}

fn invocation(env: &[(&str, &str)]) -> Invocation {
    let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Invocation { program: "claude".into(), args: vec![], env, cwd: "/checkout".into(), stdin: vec![] }
}

/// Who only reads changes nothing but its own settings and temporary files.
#[test]
fn who_may_not_write_gets_no_worktree_to_write_to() {
    let profile = AgentProfile::new("a", DialectName::Claude, vec!["claude".into()]);
    let config = tempfile::tempdir().unwrap();
    let config = config.path().display().to_string();
    let found = walls(&profile, &ask(), &invocation(&[("CLAUDE_CONFIG_DIR", &config)]));
    assert_eq!(found.writable, [PathBuf::from(config), "/state/agent-files/r/agent-claude/tmp".into()]);
    assert!(found.readable.contains(&"/checkout".into()));
    let mut ask = ask();
    ask.tools.shell = true;
    assert!(walls(&profile, &ask, &invocation(&[])).writable.contains(&"/checkout".into()));
}

#[test]
fn a_closed_network_leaves_an_agent_its_provider_and_its_tools() {
    let profile = AgentProfile::new("a", DialectName::Claude, vec!["claude".into()]);
    let mut ask = ask();
    ask.walls.network = Network::Closed;
    let headers = Default::default();
    ask.mcp = vec![McpServer {
        name: "helix".into(),
        at: McpPlace::Http { url: "http://127.0.0.1:8787/mcp".into(), headers },
    }];
    let found = walls(&profile, &ask, &invocation(&[("ANTHROPIC_BASE_URL", "http://127.0.0.1:4000")]));
    assert_eq!(found.network, Network::Ports(vec![8787]));
    let gateway = found.gateway.unwrap();
    assert_eq!(
        (gateway.keys.len(), gateway.ports),
        (0, vec![4000, 443]),
        "its keeper opens them where it is no gateway"
    );
    assert_eq!([port("http://a/x:1"), port("https://a"), port("a:99"), port("http://u:p@[::1]:8/x")], [80, 443, 99, 8]);
}

#[test]
fn the_gateway_takes_keys_and_the_address_that_goes_with_them() {
    let claude = AgentProfile::new("a", DialectName::Claude, vec!["claude".into()]);
    let keys = |invocation: &Invocation| walls(&claude, &ask(), invocation).gateway.unwrap().keys;
    let set = [("ANTHROPIC_API_KEY", "k"), ("ANTHROPIC_AUTH_TOKEN", ""), ("OTHER", "x")];
    assert_eq!(keys(&invocation(&set)), ["ANTHROPIC_API_KEY"]);
    assert!(
        keys(&invocation(&[set[0], ("CLAUDE_CODE_USE_BEDROCK", "1")])).is_empty(),
        "requests are signed by the agent"
    );
    let codex = AgentProfile::new("a", DialectName::Codex, vec!["codex".into()]);
    let of = |args: &[&str], env: &[(&str, &str)]| {
        let args = args.iter().map(|word| (*word).to_owned()).collect();
        walls(&codex, &ask(), &Invocation { args, ..invocation(env) }).gateway.unwrap()
    };
    let own = "model_providers.azure={base_url=\"https://a.example/v1\",env_key=\"AZURE_KEY\"}";
    let found = of(&["-c", own], &[("AZURE_KEY", "k"), ("OPENAI_API_KEY", "k")]);
    assert_eq!(found.keys, ["AZURE_KEY", "OPENAI_API_KEY"]);
    assert_eq!(found.address, ProviderAddress::Argument(1));
    assert!(of(&[], &[("OPENAI_API_KEY", "k")]).keys.is_empty(), "nobody knows where it goes");
    assert!(of(&[own, own], &[("AZURE_KEY", "k")]).keys.is_empty(), "one gateway leads to one address");
    let command = AgentProfile::new("a", DialectName::Command, vec!["x".into()]);
    assert_eq!(walls(&command, &ask(), &invocation(&[])).gateway, None);
}
