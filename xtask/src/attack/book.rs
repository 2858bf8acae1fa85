//! The attacks as they stand in `attacks/`: one file for each class, with a table of attacks.
//!
//! Must not know how an attack is tried.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::Deserialize;

use super::trial::Verdict;

/// Where the script of an attack runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Setting {
    /// As the agent of a phase.
    Agent,
    /// As the command of a gate; the agent is honest.
    Gate,
    /// As the agent of a phase that wants a wrong result to pass its gates.
    Cheat,
    /// As the agent that answers in a chat.
    Consultant,
    /// Nowhere by itself: `play` does what a person does with a repository or at a terminal.
    Person,
    /// As another user of the machine, while a host serves.
    Neighbour,
}

/// One attack.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Attack {
    /// Unique among all attacks; also the name of its directory.
    pub(super) name: String,
    /// What it does, in one sentence.
    pub(super) does: String,
    #[serde(rename = "in")]
    pub(super) setting: Setting,
    #[serde(skip)]
    pub(super) class: String,
    /// The repository that it happens in: a file in `attacks/worlds`.
    #[serde(default = "plain")]
    pub(super) world: String,
    /// Variables of `play`, such as the plan's agent or the claims of a phase.
    #[serde(default)]
    pub(super) set: BTreeMap<String, String>,
    /// Further files of the repository, by path.
    #[serde(default)]
    pub(super) files: BTreeMap<String, String>,
    /// What the attacker runs (sh).
    #[serde(default)]
    pub(super) script: String,
    /// What the person does (bash), where it is not what the setting says.
    #[serde(default)]
    pub(super) play: String,
    /// Exit status 0 if the attack succeeded (bash, run as the person afterwards); a cheat's is that of its world.
    #[serde(default)]
    pub(super) proof: String,
    /// Programs without which it cannot be tried.
    #[serde(default)]
    pub(super) needs: Vec<String>,
    /// Tried by `--reduced`.
    #[serde(default)]
    pub(super) reduced: bool,
    /// Strains the machine: tried last, with nothing beside it.
    #[serde(default)]
    pub(super) alone: bool,
    /// Longest time for `play`, in seconds.
    #[serde(default = "minute")]
    pub(super) seconds: u64,
}

/// All attacks, by the names of the files of their classes.
#[derive(Debug)]
pub(super) struct Book {
    pub(super) directory: PathBuf,
    pub(super) attacks: Vec<Attack>,
}

/// One file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Chapter {
    class: String,
    attacks: Vec<Attack>,
}

/// What must be true of a world before a cheat in it proves anything: right work passes, and wrong work without a cheat does not.
#[derive(Debug)]
pub(super) struct Control {
    pub(super) world: String,
    pub(super) attack: Attack,
    honest: bool,
}

fn plain() -> String {
    "plain".to_owned()
}

fn minute() -> u64 {
    60
}

impl Attack {
    pub(super) fn is_cheat(&self) -> bool {
        self.setting == Setting::Cheat
    }

    /// Whether its class or its name contains these words.
    pub(super) fn matches(&self, part: &str) -> bool {
        self.name.contains(part) || self.class.contains(part)
    }

    /// What is wrong with the entry.
    fn fault(&self, worlds: &Path) -> Option<&'static str> {
        let by_itself = matches!(self.setting, Setting::Person);
        let simple = |name: &str| name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        if !simple(&self.name) || self.name.is_empty() {
            Some("a name has small letters, digits and hyphens alone")
        } else if !worlds.join(format!("{}.sh", self.world)).is_file() {
            Some("its world has no file in attacks/worlds")
        } else if by_itself == self.play.is_empty() && by_itself {
            Some("what a person does stands in `play`")
        } else if self.script.is_empty() && !by_itself {
            Some("`script` is missing")
        } else if self.proof.is_empty() != self.is_cheat() {
            Some("each attack has a `proof`, except a cheat, whose world has it")
        } else if !self.does.ends_with('.') {
            Some("`does` is a sentence")
        } else {
            None
        }
    }
}

impl Book {
    /// Reads all classes.
    pub(super) fn load(directory: &Path) -> anyhow::Result<Self> {
        let listed = std::fs::read_dir(directory).with_context(|| format!("cannot list {}", directory.display()))?;
        let mut files: Vec<PathBuf> = listed.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
        files.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
        files.sort();
        let (mut attacks, mut names) = (Vec::new(), BTreeSet::new());
        for file in files {
            let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
            for attack in read(&text).with_context(|| format!("cannot read {}", file.display()))? {
                if let Some(fault) = attack.fault(&directory.join("worlds")) {
                    bail!("{}: {}: {fault}", file.display(), attack.name);
                }
                if !names.insert(attack.name.clone()) {
                    bail!("{}: {} is the name of two attacks", file.display(), attack.name);
                }
                attacks.push(attack);
            }
        }
        Ok(Self { directory: directory.to_owned(), attacks })
    }

    /// Two controls for each world in which one of these cheats.
    pub(super) fn controls(&self, attacks: &[&Attack]) -> Vec<Control> {
        let cheats: BTreeMap<&str, &Attack> =
            attacks.iter().filter(|attack| attack.is_cheat()).map(|attack| (attack.world.as_str(), *attack)).collect();
        let both = |(world, attack): (&str, &Attack)| [true, false].map(|honest| control(world, attack, honest));
        cheats.into_iter().flat_map(both).collect()
    }
}

fn read(text: &str) -> anyhow::Result<Vec<Attack>> {
    let chapter: Chapter = serde_saphyr::from_str(text)?;
    let named = chapter.attacks.into_iter().map(|attack| Attack { class: chapter.class.clone(), ..attack });
    Ok(named.collect())
}

fn control(world: &str, like: &Attack, honest: bool) -> Control {
    let work = if honest { "honest" } else { "lazy" };
    let attack = Attack {
        name: format!("control-{world}-{work}"),
        does: format!("Does the work of the world {world}, {work}."),
        class: "controls".to_owned(),
        set: BTreeMap::from([("WORK".to_owned(), work.to_owned())]),
        files: BTreeMap::new(),
        script: String::new(),
        play: String::new(),
        proof: "merged".to_owned(),
        ..like.clone()
    };
    Control { world: world.to_owned(), attack, honest }
}

impl Control {
    /// Why the world proves nothing, if it does not. "Through" is a job that succeeded.
    pub(super) fn failure(&self, verdict: &Verdict) -> Option<String> {
        match (self.honest, verdict) {
            (true, Verdict::Through) | (false, Verdict::Held) => None,
            (true, Verdict::Held) => Some(format!("right work does not pass in the world {}", self.world)),
            (false, Verdict::Through) => Some(format!("wrong work passes without a cheat in the world {}", self.world)),
            (_, Verdict::Untried(why)) => Some(format!("the world {} is broken: {why}", self.world)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    const ENTRY: &str =
        "class: c\nattacks:\n- { name: a-1, does: It is tried., in: agent, script: 'true', proof: 'true' }\n";

    fn fault(change: impl Fn(&mut Attack)) -> Option<&'static str> {
        let mut attack = read(ENTRY).expect("the entry").remove(0);
        change(&mut attack);
        attack.fault(&workspace::root().join("attacks/worlds"))
    }

    #[test]
    fn an_entry_says_enough_to_be_tried() {
        assert_eq!(fault(|_| ()), None);
        assert!(fault(|attack| attack.name = "A b".into()).is_some());
        assert!(fault(|attack| attack.world = "nowhere".into()).is_some());
        assert!(fault(|attack| attack.script.clear()).is_some());
        assert!(fault(|attack| attack.proof.clear()).is_some());
        assert!(fault(|attack| attack.setting = Setting::Cheat).is_some());
        assert!(fault(|attack| attack.setting = Setting::Person).is_some());
        assert!(read(&ENTRY.replace("script", "skript")).is_err());
    }

    #[test]
    fn the_book_covers_what_is_promised() {
        let book = Book::load(&workspace::root().join("attacks")).expect("the book");
        let cheats = book.attacks.iter().filter(|attack| attack.is_cheat()).count();
        let reduced = book.attacks.iter().filter(|attack| attack.reduced).count();
        let classes: BTreeSet<_> = book.attacks.iter().map(|attack| &attack.class).collect();
        assert!(book.attacks.len() >= 150, "{} attacks", book.attacks.len());
        assert!(cheats >= 60, "{cheats} cheats");
        assert!((35..=50).contains(&reduced), "{reduced} in the reduced set");
        assert!(classes.len() >= 10, "{classes:?}");
        let by_class = |class: &&String| book.attacks.iter().any(|attack| attack.reduced && &attack.class == *class);
        assert!(classes.iter().all(by_class), "each class is in the reduced set");
    }

    #[test]
    fn a_world_proves_something_only_if_right_work_passes_and_wrong_work_does_not() {
        let like = read(ENTRY).expect("the entry").remove(0);
        let [honest, lazy] = [true, false].map(|honest| control("plain", &like, honest));
        assert_eq!(honest.failure(&Verdict::Through), None);
        assert_eq!(lazy.failure(&Verdict::Held), None);
        assert!(honest.failure(&Verdict::Held).is_some());
        assert!(lazy.failure(&Verdict::Through).is_some());
        assert!(lazy.failure(&Verdict::Untried("no shell".into())).is_some());
    }
}
