//! What set-ups get of the environment.

use super::*;

fn given(variables: &[(&str, &str)], trusted: bool) -> ToolEnvironment {
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    ToolEnvironment::default().with("npm_config_registry", "http://set").with_installers(variables, trusted)
}

fn names(environment: &ToolEnvironment) -> Vec<&str> {
    environment.iter().map(|(name, _)| name).collect()
}

#[test]
fn installers_get_addresses_and_certificates_but_no_tokens_and_no_places() {
    let none = [
        "COMPOSER_AUTH",
        "BUNDLE_RUBYGEMS__PKG__GITHUB__COM",
        "BUNDLE_PATH",
        "POETRY_HTTP_BASIC_OWN_PASSWORD",
        "POETRY_PYPI_TOKEN_PYPI",
        "CARGO_REGISTRY_TOKEN",
        "CARGO_REGISTRIES_OWN_TOKEN",
        "UV_PUBLISH_TOKEN",
        "UV_PROJECT_ENVIRONMENT",
        "PIP_TARGET",
        "NPM_TOKEN",
        "NODE_AUTH_TOKEN",
        "NPM_CONFIG__AUTH",
        "YARN_NPM_AUTH_TOKEN",
    ];
    let none = none.map(|name| (name, "value"));
    assert_eq!(names(&given(&none, true)), ["npm_config_registry"]);
    let some =
        [("UV_DEFAULT_INDEX", "https://mirror"), ("CURL_CA_BUNDLE", "/etc/ca.pem"), ("npm_config_registry", "other")];
    let environment = given(&some, false);
    assert_eq!(names(&environment), ["CURL_CA_BUNDLE", "UV_DEFAULT_INDEX", "npm_config_registry"]);
    assert_eq!(environment.get("npm_config_registry"), Some("http://set"));
    assert!(INSTALLERS.iter().all(|name| !name.contains('*') && !name.contains("TOKEN") && !is_toolchain(name)));
    let registries = [
        ("BUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG/", "https://mirror"),
        ("CARGO_REGISTRIES_OWN_INDEX", "sparse+https://mirror"),
        ("npm_config_@own:registry", "https://mirror"),
    ];
    let all = registries.iter().map(|(name, _)| *name).chain(["npm_config_registry"]).collect::<Vec<_>>();
    assert_eq!(names(&given(&registries, false)), all);
}

#[test]
fn addresses_with_a_login_are_for_those_who_are_trusted_and_the_login_is_known() {
    let some = [
        ("PIP_EXTRA_INDEX_URL", "https://pypi.org/simple https://me:secret@mirror/simple"),
        ("UV_INDEX", "own=https://d41d8cd98f00b204@mirror/simple"),
        ("UV_FIND_LINKS", "https://mirror/a@b"),
        ("ALL_PROXY", "https://one/,https://us:with,comma@two|https://three"),
    ];
    let logins = |environment: &ToolEnvironment| environment.logins().map(|one| one.value).collect::<Vec<_>>();
    let environment = given(&some, true);
    assert_eq!(logins(&environment), ["with,comma", "secret", "d41d8cd98f00b204"]);
    let environment = given(&some, false);
    assert_eq!(names(&environment), ["UV_FIND_LINKS", "npm_config_registry"]);
    assert!(logins(&environment).is_empty());
}
