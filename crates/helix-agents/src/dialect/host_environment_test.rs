use super::*;
use crate::profile::DialectName;

/// What is passed on by default has the user's home: an agent that has one of its own gets that.
#[test]
fn a_home_of_the_agents_own_is_the_only_one_it_gets() {
    let own = [("HOME", "/home/me"), ("XDG_DATA_HOME", "/home/me/.local/share"), ("GOPATH", "/go")];
    let host: HostEnvironment = own.map(|(name, value)| (name.to_owned(), value.to_owned())).into_iter().collect();
    let mut profile = AgentProfile::new("opencode", DialectName::Acp, vec!["opencode".into()]);
    profile.pass_env = own.map(|(name, _)| name.to_owned()).to_vec();
    let given = |profile: &AgentProfile| -> BTreeMap<String, String> {
        host.for_agent(profile, BTreeMap::new(), BTreeMap::new()).into_iter().collect()
    };
    let users = given(&profile);
    assert_eq!((users["HOME"].as_str(), users["XDG_DATA_HOME"].as_str()), ("/home/me", "/home/me/.local/share"));
    profile.home = Some("/home/user".into());
    let agents = given(&profile);
    assert_eq!((agents["HOME"].as_str(), agents.get("XDG_DATA_HOME")), ("/home/user", None));
    assert_eq!(agents["GOPATH"], "/go");
    profile.env.insert("XDG_DATA_HOME".into(), "/elsewhere".into());
    assert_eq!(given(&profile)["XDG_DATA_HOME"], "/elsewhere");
}
