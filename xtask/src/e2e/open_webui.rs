//! An Open WebUI that is connected to Helix by the very lines that `docs/open-webui.md` gives. Must not know what is done with it.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use helix_testkit::sandbox::Sandbox;
use serde_json::json;

use super::helix::end;
use crate::workspace;

/// What stands before the names of models that are talked with in the responses form.
const RESPONSES: &str = "responses";
/// What stands before the names of models of a connection with address and key only.
const BARE: &str = "bare";
/// How long it may take to come up; 13 to 27 seconds on a machine with two busy cores.
const STARTING: Duration = Duration::from_secs(180);

/// The address in the documentation.
const DOCUMENTED: &str = "http://127.0.0.1:8787";

/// Nothing is asked of the world: no models to download, no news, no measurements.
const ALONE: [(&str, &str); 10] = [
    ("USE_SLIM_DOCKER", "true"),
    ("WEBUI_SECRET_KEY", "test"),
    ("OFFLINE_MODE", "true"),
    ("ENABLE_VERSION_UPDATE_CHECK", "false"),
    ("ENABLE_OLLAMA_API", "false"),
    ("ANONYMIZED_TELEMETRY", "false"),
    ("DO_NOT_TRACK", "true"),
    ("SCARF_NO_ANALYTICS", "true"),
    ("NO_PROXY", "127.0.0.1"),
    // There is no model here that could search in a file: it is given whole.
    ("BYPASS_EMBEDDING_AND_RETRIEVAL", "true"),
];

/// An Open WebUI that is up.
pub(super) struct Served {
    server: Child,
    /// Where its page is.
    pub(super) url: String,
}

impl Served {
    /// Starts it with data of its own; its log goes to `open-webui.log` in `results`.
    pub(super) fn start(
        installation: &Path,
        helix: &str,
        token: &str,
        sandbox: &Sandbox,
        results: &Path,
    ) -> anyhow::Result<Self> {
        let log = results.join("open-webui.log");
        let data = sandbox.path().join("open-webui");
        std::fs::create_dir_all(&data).with_context(|| format!("cannot create {}", data.display()))?;
        // It cannot be told to choose a port itself.
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let mut command = sandbox.command(installation.join("bin/open-webui"));
        command.args(["serve", "--host", "127.0.0.1", "--port", &port.to_string()]).current_dir(&data);
        command.env("DATA_DIR", &data).envs(ALONE).envs(connections(helix, token)?);
        let output = File::create(&log).with_context(|| format!("cannot create {}", log.display()))?;
        command.stdout(output.try_clone()?).stderr(output);
        let server = command.spawn().context("cannot start Open WebUI")?;
        let mut served = Self { server, url: format!("http://127.0.0.1:{port}") };
        served.wait(port, &log)?;
        Ok(served)
    }

    /// Waits until it says that it is well.
    fn wait(&mut self, port: u16, log: &Path) -> anyhow::Result<()> {
        let deadline = Instant::now() + STARTING;
        while !is_well(port) {
            if let Some(status) = self.server.try_wait()? {
                bail!("Open WebUI ended ({status}) before it was up; see {}", log.display());
            }
            if Instant::now() > deadline {
                bail!("Open WebUI was not up after {} s; see {}", STARTING.as_secs(), log.display());
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        Ok(())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        end(&mut self.server);
    }
}

/// Whether `/health` answers with success; any failure means that it is not up yet.
fn is_well(port: u16) -> bool {
    let ask = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        stream.write_all(b"GET /health HTTP/1.0\r\nHost: localhost\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    ask().is_ok_and(|answer| answer.split_whitespace().nth(1) == Some("200"))
}

/// The connection's variables, as documented, with this address and key in place of those.
fn connection(helix: &str, token: &str) -> anyhow::Result<Vec<(String, String)>> {
    let path = workspace::root().join("docs/open-webui.md");
    let page = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let variables: Vec<(String, String)> = documented(&page)
        .into_iter()
        .map(|(name, value)| (name, value.replace(DOCUMENTED, helix).replace("<token>", token)))
        .collect();
    let names: Vec<&str> = variables.iter().map(|(name, _)| name.as_str()).collect();
    if names != ["OPENAI_API_BASE_URLS", "OPENAI_API_KEYS", "OPENAI_API_CONFIGS"] {
        bail!("{} does not give the three variables of a connection, but {names:?}", path.display());
    }
    Ok(variables)
}

/// The documented connection, the same once more in the responses form, and one without headers, under names of their own.
fn connections(helix: &str, token: &str) -> anyhow::Result<Vec<(String, String)>> {
    let documented = connection(helix, token)?;
    let mut all = Vec::new();
    for (name, value) in documented {
        let value = match name.as_str() {
            "OPENAI_API_CONFIGS" => {
                let mut settings: serde_json::Value = serde_json::from_str(&value)?;
                let mut second = settings.get("0").cloned().context("the documented connection has no number 0")?;
                second["api_type"] = "responses".into();
                second["prefix_id"] = RESPONSES.into();
                settings["1"] = second;
                settings["2"] = json!({ "enable": true, "prefix_id": BARE });
                settings.to_string()
            }
            _ => format!("{value};{value};{value}"),
        };
        all.push((name, value));
    }
    Ok(all)
}

/// The first block of shell in the page that has variables of a connection.
fn documented(page: &str) -> Vec<(String, String)> {
    let blocks = page.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    let block = blocks.filter(|block| block.contains("OPENAI_API_")).take(1);
    block
        .flat_map(str::lines)
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.trim_matches('\'').to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_gives_a_whole_connection() {
        let variables = connection("http://127.0.0.1:1", "key").unwrap();
        assert_eq!(variables[0].1, "http://127.0.0.1:1/v1");
        assert_eq!(variables[1].1, "key");
        let settings: serde_json::Value = serde_json::from_str(&variables[2].1).unwrap();
        let headers = settings["0"]["headers"].as_object().unwrap();
        for (name, template) in
            [("X-Task", "{{TASK}}"), ("X-Chat", "{{CHAT_ID}}"), ("X-Parent", "{{USER_MESSAGE_PARENT_ID}}")]
        {
            assert_eq!(headers[name], template);
        }
    }
}
