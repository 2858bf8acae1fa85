//! One attack on its ground: what the person and the attacker do, and whether it can be seen afterwards that it succeeded.
//!
//! Must not know the attacks' subjects: their own scripts prove their success from outside.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context;

use super::book::{Attack, Setting};
use super::ground::{Ground, Place, Who, run_for};
use super::report::Row;

/// Longest time for a proof.
const PROOF: Duration = Duration::from_secs(60);
/// What a script prints when it has come to its decisive step, or was refused before.
const MARKS: [&[u8]; 2] = [b"HXA-reached", b"HXA-refused"];
/// What a control prints that shows that the attack itself does not work.
const BROKEN: &str = "HXA-broken: ";
/// How much of a file, in bytes, is searched for marks; and below which depth no directory is.
const SEARCHED: (u64, usize) = (64 << 20, 12);

/// Secrets that lie in the person's home: name, file, and the text around the secret.
const SECRETS: [(&str, &str, &str); 6] = [
    ("SSH", ".ssh/id_ed25519", "-----BEGIN OPENSSH PRIVATE KEY-----\n@\n-----END OPENSSH PRIVATE KEY-----\n"),
    ("AWS", ".aws/credentials", "[default]\naws_access_key_id = AKIAEXAMPLEEXAMPLE00\naws_secret_access_key = @\n"),
    ("NETRC", ".netrc", "machine example.invalid login person password @\n"),
    ("GH", ".config/gh/hosts.yml", "github.com:\n  oauth_token: @\n  user: person\n"),
    ("HISTORY", ".bash_history", "export TOKEN=@\n"),
    ("OTHER", "work/other/secret.txt", "@\n"),
];

/// What an attack came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    Held,
    /// It succeeded.
    Through,
    /// It says nothing about Helix, and why.
    Untried(String),
}

/// One attack that is to be tried.
#[derive(Debug)]
pub(super) struct Trial<'a> {
    pub(super) ground: &'a Ground,
    pub(super) attack: &'a Attack,
    /// Unique in this run of the runner; decides the users.
    pub(super) number: usize,
}

/// What can be seen afterwards.
#[derive(Debug, Default)]
struct Traces {
    /// The proof of success holds.
    succeeded: bool,
    /// The script came to its decisive step, or was refused before.
    reached: bool,
    /// What the control found wrong with the attack itself.
    broken: Option<String>,
    /// The last line that the person saw.
    last: String,
}

impl Traces {
    fn verdict(self) -> Verdict {
        match self {
            Self { succeeded: true, .. } => Verdict::Through,
            Self { broken: Some(why), .. } => Verdict::Untried(why),
            Self { reached: true, .. } => Verdict::Held,
            Self { last, .. } => {
                Verdict::Untried(format!("the script did not come to its decisive step; last: {last}"))
            }
        }
    }
}

impl Trial<'_> {
    /// Tries it; trouble of the runner's own is a reason why it could not be tried.
    pub(super) fn run(&self) -> Row {
        let begun = Instant::now();
        let verdict = self.verdict().unwrap_or_else(|error| Verdict::Untried(format!("{error:#}")));
        Row::new(self.attack, verdict, begun.elapsed().as_secs_f64())
    }

    fn verdict(&self) -> anyhow::Result<Verdict> {
        let Attack { setting, world, name, .. } = self.attack;
        if *setting == Setting::Neighbour && !self.ground.privileged() {
            return Ok(Verdict::Untried("needs another user, and so root".to_owned()));
        }
        let world = self.ground.lib().join(format!("worlds/{world}.sh"));
        let text = std::fs::read_to_string(&world).with_context(|| format!("cannot read {}", world.display()))?;
        let tools = text.lines().find_map(|line| line.strip_prefix("# tools: ")).unwrap_or_default();
        let tools: Vec<&str> =
            tools.split_whitespace().chain(self.attack.needs.iter().filter_map(|need| own_tool(need))).collect();
        let place = self.ground.place(name, self.number, &tools)?;
        let traces = self.play(&place, &world);
        place.clear(self.ground)?;
        Ok(traces?.verdict())
    }

    /// Plays the attack and looks at what it left.
    fn play(&self, place: &Place, world: &Path) -> anyhow::Result<Traces> {
        let secrets = self.lay_out(place)?;
        let (lib, out) = (self.ground.lib().join("lib"), place.out());
        let source = |files: &[&Path]| files.iter().map(|file| format!(". {}\n", file.display())).collect::<String>();
        let play = if self.attack.play.is_empty() { "play_by_default" } else { &self.attack.play };
        let needs = self.attack.needs.join(" ");
        let play = format!("{}needs {needs}\nbegin\n{play}\nfinish\n", source(&[&lib.join("play.sh"), world]));
        let proof = if self.attack.proof.is_empty() { "cheated" } else { &self.attack.proof };
        let proof = format!(
            "{}cd \"$REPO\" || exit 9\n{proof}\n",
            source(&[&lib.join("play.sh"), &lib.join("proof.sh"), world])
        );

        let mut person = self.bash(place, "play.sh", &play, Who::Person)?;
        person.env("ANTHROPIC_API_KEY", &secrets[secrets.len() - 1].1);
        let longest = Duration::from_secs(self.attack.seconds);
        let seen = out.join("play.out");
        let ended = if self.attack.setting == Setting::Neighbour {
            let script = self.script(place);
            let mut neighbour = self.bash(place, "neighbour.sh", &script, Who::Neighbour)?;
            std::thread::scope(|scope| {
                let beside = scope.spawn(|| {
                    let begun = Instant::now();
                    while !place.drop().join("ready").exists() && begun.elapsed() < longest {
                        std::thread::sleep(Duration::from_millis(20));
                    }
                    let ended = run_for(&mut neighbour, &out.join("neighbour.out"), longest);
                    std::fs::write(place.drop().join("go"), "")?;
                    ended
                });
                let ended = run_for(&mut person, &seen, longest);
                beside.join().map_err(|_| anyhow::anyhow!("the neighbour's thread ended early"))??;
                ended
            })
        } else {
            run_for(&mut person, &seen, longest)
        }?;
        if ended.is_none() {
            // For the proof of attacks after which nothing answers any more.
            std::fs::write(out.join("late"), "")?;
        }

        let mut proof = self.bash(place, "proof.sh", &proof, Who::Person)?;
        proof.envs(secrets.iter().map(|(name, secret)| (format!("C_{name}"), secret)));
        let proved = run_for(&mut proof, &out.join("proof.out"), PROOF)?;
        let text = String::from_utf8_lossy(&std::fs::read(&seen)?).into_owned();
        place.end_processes()?;
        Ok(Traces {
            succeeded: proved.is_some_and(|status| status.success()),
            reached: [place.home().join(".local/state"), place.home().join("work"), place.drop(), out]
                .iter()
                .any(|directory| is_marked(directory)),
            broken: text.lines().find_map(|line| line.strip_prefix(BROKEN)).map(str::to_owned),
            last: text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("nothing").chars().take(160).collect(),
        })
    }

    /// The attacker's script with the functions for all scripts.
    fn script(&self, place: &Place) -> String {
        let home = place.home();
        let known = [
            ("VICTIM", home.clone()),
            ("STATE", home.join(".local/state/helix")),
            ("REPO", home.join("work/shop")),
            ("DROP", place.drop()),
        ];
        let known = known.map(|(name, path)| format!("export {name}={}\n", quoted(&path.display().to_string())));
        let set = format!("{}{}", known.concat(), self.variables());
        let attacker = include_str!("../../../attacks/lib/attacker.py");
        let toolbox = format!("HX_PY=$(cat <<'HX_PY_END'\n{attacker}\nHX_PY_END\n)\nexport HX_PY\n");
        let end = if self.attack.is_cheat() { "reached\n" } else { "" };
        format!("{set}{toolbox}{}\n{}\n{end}", include_str!("../../../attacks/lib/attacker.sh"), self.attack.script)
    }

    /// `set` of the attack, as a shell reads it.
    fn variables(&self) -> String {
        self.attack.set.iter().map(|(name, value)| format!("{name}={}\n", quoted(value))).collect()
    }

    /// Writes a file of commands beside the home, and the command that runs it.
    fn bash(&self, place: &Place, name: &str, text: &str, who: Who) -> anyhow::Result<std::process::Command> {
        let set = self.variables();
        let file = place.directory.join(name);
        std::fs::write(&file, format!("{set}{text}")).with_context(|| format!("cannot write {}", file.display()))?;
        let mut command = place.bash(&file, who, &self.ground.programs());
        let home = place.home();
        command.env("DROP", place.drop()).env("OUT", place.out()).env("VICTIM", &home);
        if who == Who::Person {
            let settings = format!("{:?}", self.attack.setting).to_lowercase();
            command.env("BIN", self.ground.programs()).env("REPO", home.join("work/shop"));
            command.env("ATTACK", place.directory.join("attack.sh")).env("FILES", place.directory.join("files"));
            command.env("STATE", home.join(".local/state/helix")).env("SETTING", settings);
        }
        Ok(command)
    }

    /// Lays out the secrets of the home, the attack's script and its further files. The last secret is the provider's key.
    fn lay_out(&self, place: &Place) -> anyhow::Result<Vec<(String, String)>> {
        let write = |path: PathBuf, text: &str| {
            path.parent()
                .map_or(Ok(()), std::fs::create_dir_all)
                .and_then(|()| std::fs::write(&path, text))
                .with_context(|| format!("cannot write {}", path.display()))
        };
        let mut secrets = Vec::new();
        for (name, file, around) in SECRETS {
            let secret = secret(name)?;
            write(place.home().join(file), &around.replace('@', &secret))?;
            secrets.push((name.to_owned(), secret));
        }
        secrets.push(("KEY".to_owned(), format!("sk-ant-api03-{}", secret("KEY")?)));
        write(place.directory.join("attack.sh"), &self.script(place))?;
        std::fs::create_dir_all(place.directory.join("files"))?;
        for (path, text) in &self.attack.files {
            write(place.directory.join("files").join(path), text)?;
        }
        place.hand_over()?;
        Ok(secrets)
    }
}

/// A tool that the runner itself puts into the home; all others are the system's.
fn own_tool(name: &str) -> Option<&str> {
    ["claude", "cargo", "pytest"].contains(&name).then_some(name)
}

/// A text that stands nowhere else.
fn secret(name: &str) -> anyhow::Result<String> {
    let mut bytes = [0; 16];
    std::fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes)).context("no random bytes")?;
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("Hxc{}{digits}", name.to_lowercase()))
}

/// A word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// As much of a file as is searched.
fn beginning(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    std::fs::File::open(path)?.take(SEARCHED.0).read_to_end(&mut text)?;
    Ok(text)
}

/// Whether a file below the directory has a mark. Links are not followed.
fn is_marked(directory: &Path) -> bool {
    let mut waiting = vec![(directory.to_owned(), 0)];
    while let Some((directory, depth)) = waiting.pop() {
        let Ok(entries) = std::fs::read_dir(&directory) else { continue };
        for entry in entries.flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && depth < SEARCHED.1 {
                waiting.push((entry.path(), depth + 1));
            } else if kind.is_file()
                && beginning(&entry.path()).is_ok_and(|text| MARKS.iter().any(|mark| has(&text, mark)))
            {
                return true;
            }
        }
    }
    false
}

fn has(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_script_that_came_to_its_decisive_step_is_held() {
        let verdict = |succeeded, reached, broken: Option<&str>| {
            Traces { succeeded, reached, broken: broken.map(str::to_owned), last: "x".into() }.verdict()
        };
        assert_eq!(verdict(true, false, None), Verdict::Through);
        assert_eq!(verdict(true, true, Some("b")), Verdict::Through);
        assert_eq!(verdict(false, true, None), Verdict::Held);
        assert_eq!(verdict(false, true, Some("b")), Verdict::Untried("b".into()));
        assert!(matches!(verdict(false, false, None), Verdict::Untried(_)));
    }

    #[test]
    fn marks_are_found_in_files_of_any_directory() {
        let directory = tempfile::tempdir().expect("a directory");
        let deep = directory.path().join("a/b");
        std::fs::create_dir_all(&deep).expect("directories");
        std::fs::write(deep.join("log"), "HXA-%s").expect("a file");
        assert!(!is_marked(directory.path()));
        std::fs::write(deep.join("log"), b"\xff HXA-refused no token\n").expect("a file");
        assert!(is_marked(directory.path()));
    }

    #[test]
    fn a_word_stays_one() {
        assert_eq!(quoted("it's $HOME"), r"'it'\''s $HOME'");
    }
}
