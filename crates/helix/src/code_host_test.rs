use super::*;

#[test]
fn a_remotes_address_names_host_and_project_and_nothing_else() {
    let at = |address: &str| project_at(address).map(|(host, project)| format!("{host} {project}"));
    for (address, expected) in [
        ("https://github.com/octo/shop.git", "github.com octo/shop"),
        ("https://user:secret@GitHub.com/octo/shop/", "github.com octo/shop"),
        ("git@github.com:octo/shop.git", "github.com octo/shop"),
        ("ssh://git@ssh.github.com:443/octo/shop.git", "github.com octo/shop"),
        ("ssh://git@git.corp.example:2222/a/b/c.git", "git.corp.example a/b/c"),
        ("https://git.corp.example:8443/a/b.git", "git.corp.example:8443 a/b"),
    ] {
        assert_eq!(at(address).as_deref(), Some(expected), "{address}");
    }
    for none in
        ["/srv/git/shop.git", "../shop", "file:///srv/git/shop.git", "https://github.com/shop", "git@-x:octo/shop", ""]
    {
        assert_eq!(at(none), None, "{none}");
    }
}
