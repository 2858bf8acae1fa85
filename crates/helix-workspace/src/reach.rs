//! What a command says it could not reach of the registries that packages come from: nothing of a repository is at fault then.
//!
//! Must not take a test that speaks of some other host for it.

use helix_process::names_registry;

/// Hosts of the registries that package managers ask where nothing else is set.
const REGISTRIES: [&str; 23] = [
    "registry.npmjs.org",
    "registry.yarnpkg.com",
    "npm.jsr.io",
    "pypi.org",
    "files.pythonhosted.org",
    "index.crates.io",
    "static.crates.io",
    "crates.io",
    "proxy.golang.org",
    "sum.golang.org",
    "repo.maven.apache.org",
    "repo1.maven.org",
    "plugins.gradle.org",
    "services.gradle.org",
    "rubygems.org",
    "repo.packagist.org",
    "packagist.org",
    "api.nuget.org",
    "hex.pm",
    "repo.hex.pm",
    "pub.dev",
    "conda.anaconda.org",
    // Next.js fetches them to build.
    "fonts.googleapis.com",
];

/// How tools say, in lower case, that they got no answer from a host.
const UNREACHED: [&str; 21] = [
    "could not resolve",
    "couldn't resolve",
    "couldn\u{2019}t resolve",
    "getaddrinfo",
    "enotfound",
    "eai_again",
    "econnrefused",
    "econnreset",
    "etimedout",
    "name resolution",
    "name or service not known",
    "no such host",
    "unknown host",
    "failed to lookup address",
    "dns error",
    "network is unreachable",
    "failed to establish a new connection",
    "error sending request",
    "attempts to connect to",
    "could not transfer artifact",
    "offline or behind a proxy",
];

/// How tools say, in lower case, that they try once more; and what pip says at the end where it could not ask anybody.
const PASSED_OVER: [&str; 8] = [
    "retrying",
    "will retry",
    "try remaining",
    "tries remaining",
    "retries left",
    "retries remaining",
    "(from versions: none)",
    "no matching distribution found for",
];

/// The registry that a failed command could not reach, as far as it says so in one line; `variables` is its environment. What a tool
/// warns of, or tries again, is no cause unless it is the last that is said: the tool went on, and failed at something else.
pub fn unreached_registry<'v>(output: &str, variables: impl Iterator<Item = (&'v str, &'v str)>) -> Option<String> {
    let named = variables.filter(|(name, _)| names_registry(name));
    let is_between = |letter: char| matches!(letter, ',' | '|') || letter.is_whitespace();
    let own: Vec<Own> = named.flat_map(|(_, value)| value.split(is_between)).filter_map(Own::of).collect();
    let registries = REGISTRIES.map(|host| (host, host));
    let own = own.iter().flat_map(|own| own.written.iter().map(|written| (written.as_str(), own.name.as_str())));
    let hosts: Vec<(&str, &str)> = own.chain(registries).collect();
    let lines: Vec<String> = output.lines().map(str::to_lowercase).collect();
    let end = lines.iter().rposition(|line| !line.trim().is_empty() && !is_passed_over(line));
    lines.iter().enumerate().find_map(|(at, low)| {
        let counts = Some(at) > end || !is_passed_over(low);
        let is_unreached = counts && UNREACHED.iter().any(|words| low.contains(words));
        is_unreached
            .then(|| hosts.iter().find(|(written, _)| names(low, written)).map(|(_, name)| (*name).to_owned()))?
    })
}

/// Whether a line, in lower case, warns of what a tool goes on from: its level is among the first words, behind a name or a time.
fn is_passed_over(line: &str) -> bool {
    let mut first = line.split_whitespace().take(3).map(|word| word.trim_matches(|c: char| !c.is_ascii_alphanumeric()));
    first.any(|word| matches!(word, "warn" | "warning")) || PASSED_OVER.iter().any(|words| line.contains(words))
}

/// A registry that a variable names.
struct Own {
    name: String,
    /// How tools write it.
    written: Vec<String>,
}

impl Own {
    /// The one at an address, which may have a name before it (`own=https://…`). On this machine only its port tells it apart from
    /// everything else.
    fn of(address: &str) -> Option<Self> {
        let address = address.to_lowercase();
        let (before, rest) = address.split_once("://")?;
        let scheme = before.rsplit(|letter: char| !letter.is_ascii_alphanumeric()).next()?;
        let authority = rest.split(['/', '?', '#']).next()?.rsplit('@').next()?;
        let port = authority
            .rsplit_once(':')
            .filter(|(_, port)| !port.is_empty() && port.bytes().all(|one| one.is_ascii_digit()));
        let (host, port) = match port {
            Some((host, port)) if !host.ends_with(':') => (host, port),
            Some(_) | None => (authority.trim_end_matches(':'), if scheme == "http" { "80" } else { "443" }),
        };
        let own = match LOCAL.contains(&host) || host.starts_with("127.") {
            true => {
                let hosts = LOCAL.into_iter().chain([host]);
                Self { name: format!("{host}:{port}"), written: hosts.map(|host| format!("{host}:{port}")).collect() }
            }
            false => Self { name: host.to_owned(), written: vec![host.to_owned()] },
        };
        (!host.is_empty()).then_some(own)
    }
}

/// How this machine is called.
const LOCAL: [&str; 4] = ["localhost", "127.0.0.1", "[::1]", "::1"];

/// Whether a line names a host, and not a longer one that has it in its name.
fn names(line: &str, host: &str) -> bool {
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '.' | '_');
    line.match_indices(host).any(|(at, _)| {
        let after = line[at + host.len()..].trim_start_matches('.');
        !line[..at].ends_with(is_of_name) && !after.starts_with(is_of_name)
    })
}

#[cfg(test)]
#[path = "reach_test.rs"]
mod tests;
