//! What to do about a failure, from its cause, its tool and the line that names it: steps that name the file, the command or
//! the setting.
//!
//! Must not know what helped before: the memory adds that. A name from a log gets into a command only if no shell could take
//! it for more than a name.

use std::sync::LazyLock;

use regex::Regex;

use super::cause::{self, Cause};
use super::classify::Classified;
use super::location::Ownership;
use super::plain::plain_text;
use super::verdict::{Category, RetryAdvice};

/// Longest name that is put into a step.
const NAME: usize = 120;

const AS_IS: &str = "retry as is";
const LATER: &str = "retry as is, after a while";
const HUMAN: &str = "this needs a human";
const HANGS: &str = "find the step that hangs; only then raise `timeout` of the phase or gate in the plan";

/// The texts of all steps that are of no cause alone; `{}` and `{first}` are what they name.
#[cfg(test)]
pub(super) fn texts() -> impl Iterator<Item = &'static str> {
    STEPS.iter().map(|step| step.text).chain([AS_IS, LATER, HUMAN, HANGS])
}

/// Two to four different steps, most useful first; an empty tool is any.
pub fn actions(tool: &str, classified: &Classified) -> Vec<String> {
    // A guess names a cause, and is no ground to do something about it.
    let is_it = |known: &&&Cause| known.slug == classified.cause && classified.confidence >= 0.5;
    let known = cause::ALL.iter().find(is_it).copied().unwrap_or(&cause::UNEXPLAINED);
    let mut steps = Vec::new();
    let place = classified.locations.iter().find(|location| location.ownership == Ownership::Project);
    // Neither a service nor a limit is in the code.
    let in_code = !matches!(classified.category, Category::NetworkError | Category::ResourceError);
    if let Some(place) = place.filter(|_| in_code) {
        steps.push(format!("open {}:{}", place.path, place.line));
    }
    let concrete = concrete(tool, classified);
    // To add the module by its name is the first of the cause's steps.
    let told = usize::from(concrete.is_some() && known == &cause::MISSING_MODULE);
    steps.extend(concrete);
    let wanted = |step: &&str| classified.retry != RetryAdvice::Human || !step.starts_with("try again");
    steps.extend(known.actions.into_iter().skip(told).filter(wanted).map(str::to_owned));
    let general = match classified.retry {
        RetryAdvice::Now => Some(AS_IS),
        RetryAdvice::AfterDelay => Some(LATER),
        RetryAdvice::AfterChange | RetryAdvice::Never => None,
        RetryAdvice::Human => Some(HUMAN),
    };
    steps.extend(general.map(str::to_owned));
    let mut seen: Vec<String> = Vec::new();
    for step in steps {
        if !seen.iter().any(|earlier| says_the_same(earlier, &step)) {
            seen.push(step);
        }
    }
    seen.truncate(4);
    seen
}

/// Whether a step only repeats an earlier one that names more.
fn says_the_same(earlier: &str, step: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let outside_code = text.split('`').step_by(2).collect::<String>();
        outside_code.split(|character: char| !character.is_alphanumeric()).map(str::to_lowercase).collect()
    };
    let told = words(earlier);
    let new: Vec<String> = words(step).into_iter().filter(|word| !word.is_empty()).collect();
    let repeated =
        new.iter().filter(|word| told.contains(*word) || told.contains(&word.trim_end_matches('s').to_owned()));
    // Three of five words: what names a thing replaces those that only say "the command".
    earlier == step || step.starts_with(earlier) || repeated.count() * 5 >= new.len() * 3
}

/// Tools that share a way to add and look up packages.
const PYTHON: &str = "python python3 pytest unittest pip pip3 poetry uv mypy ruff tox";
const JAVASCRIPT: &str = "node npm npx yarn pnpm tsc jest vitest webpack vite esbuild eslint";
const RUST: &str = "cargo rustc clippy nextest";
const GRADLE: &str = "gradle gradlew";
/// Every tool.
const ANY: &str = "";

/// A step that names the thing itself: for this cause, a name in this form, and these tools. `{}` is the name, `{first}` and
/// `{last}` are its parts, `{parent}` the directory that it is in.
struct Step {
    cause: &'static str,
    form: Form,
    tools: &'static str,
    text: &'static str,
}

macro_rules! steps {
    ($($cause:literal $form:ident $tools:expr => $text:literal;)+) => {
        const STEPS: &[Step] = &[$(Step { cause: $cause, form: Form::$form, tools: $tools, text: $text }),+];
    };
}

// Of several that apply, the first is given.
steps! {
    "missing_module" Relative ANY => "create `{}`, or fix the path where it is imported";
    "missing_module" Module PYTHON => "add the package that provides `{first}` to pyproject.toml or requirements.txt, and install it";
    "missing_module" Module JAVASCRIPT => "add `{}` to package.json: `npm install {}`";
    "missing_module" Module RUST => "add the crate to Cargo.toml: `cargo add {first}`, or fix the path";
    "missing_module" Module "go" => "add the module to go.mod: `go get {}`";
    "missing_module" Module ANY => "add the package that provides `{}` to the project's dependencies, and install it";
    "missing_package" Quoted PYTHON => "list the versions that exist: `pip index versions {first}`";
    "missing_package" Quoted JAVASCRIPT => "list the versions that exist: `npm view {} versions`";
    "missing_package" Quoted RUST => "list the versions that exist: `cargo info {}`";
    "missing_package" Quoted "go" => "list the versions that exist: `go list -m -versions {}`";
    "missing_package" Quoted ANY => "check the name and version of `{}` against its registry";
    "missing_symbol" Quoted ANY => "find where `{}` is defined: `git grep -n -w {last}`";
    "missing_command" Command ANY => "install `{}`, or put it on PATH; see `command -v {}`";
    "missing_script" Quoted "make" => "add the target `{}` to the Makefile, or call one that exists";
    "missing_script" Quoted GRADLE => "define the task `{}`, or call one that exists (`gradle tasks`)";
    "missing_script" Quoted JAVASCRIPT => "add the script `{}` to package.json, or call one that exists (`npm run`)";
    "missing_script" Quoted RUST => "add the target `{}` to Cargo.toml, or call one that exists (`cargo run --bin`)";
    "missing_script" Quoted ANY => "define `{}`, or call one that exists";
    "missing_table" Quoted ANY => "run the migration that creates `{}` on this database";
    "missing_image" Quoted ANY => "check that the image `{}` exists: `docker manifest inspect {}`";
    "file_missing" Path ANY => "list the directory: `ls -l {parent}`";
    "permission_denied" Path ANY => "check the permissions: `ls -ld {}`";
    "read_only_fs" Path ANY => "check the permissions: `ls -ld {}`";
    "port_in_use" Port ANY => "find the process on {}: `ss -ltnp 'sport = :{}'`";
    "service_down" Address ANY => "start the service at `{}`, and wait until it listens";
    "conn_refused" Address ANY => "start the service at `{}`, and wait until it listens";
    "dns" Host ANY => "resolve the name by hand: `getent hosts {}`";
    "tls" Host ANY => "look at the certificate: `openssl s_client -connect {}:443 -servername {}`";
    "lock_held" Path ANY => "find its holder: `fuser -v {}`";
}

/// The step that names the thing itself, if the line names it in a form that is safe to repeat.
fn concrete(tool: &str, classified: &Classified) -> Option<String> {
    if classified.cause == "deadline" && classified.evidence.decided_by == "fact:deadline passed" {
        return Some(HANGS.to_owned());
    }
    let line = plain_text(&classified.cause_line.as_ref()?.text);
    let applies = |step: &&Step| {
        step.cause == classified.cause && (step.tools == ANY || step.tools.split(' ').any(|one| one == tool))
    };
    let mut of_cause = STEPS.iter().filter(applies);
    of_cause.find_map(|step| Some(fill(step.text, &LINE_FORMS.name(step.form, &line)?)))
}

/// A step's text with the name in it.
fn fill(text: &str, name: &str) -> String {
    let first = name.split(['.', ':', '=', '<', '>', '~', '!']).next().unwrap_or(name);
    text.replace("{first}", first)
        .replace("{last}", last_part(name))
        .replace("{parent}", parent(name))
        .replace("{}", name)
}

fn last_part(name: &str) -> &str {
    name.rsplit(['.', ':', '\\', '/']).find(|part| !part.is_empty()).unwrap_or(name)
}

fn parent(path: &str) -> &str {
    match path.rfind(['/', '\\']) {
        Some(0) => "/",
        Some(at) => path.get(..at).unwrap_or(path),
        None => ".",
    }
}

/// What is looked for in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Quoted,
    Module,
    /// A module by its path.
    Relative,
    Command,
    Path,
    Port,
    Host,
    Address,
}

struct LineForms {
    forms: Vec<(Form, Regex)>,
    safe: Option<Regex>,
}

static LINE_FORMS: LazyLock<LineForms> = LazyLock::new(|| {
    let quoted = r"(?:`|'|\x22|‘|“|„|»|«\s?)([^`'\x22’”“»«\s]{1,200})(?:`|'|\x22|’|”|“|»|«|\s?»)";
    let forms = [
        (
            Form::Module,
            r"(?:No module named|Cannot find (?:module|package)|unresolved import|can't find crate for|cannot load such file --|Can't resolve|Could not resolve|provides package|resolve import) [`'\x22]?([\w@./:+-]+?)[`'\x22;]?(?:[;,\s]|$)",
        ),
        (Form::Module, quoted),
        (Form::Relative, r"[`'\x22](\.{0,2}/[^`'\x22\s]{1,200})[`'\x22]"),
        (Form::Command, r"(?:command not found|no such command|unable to find command): ([\w.+@/-]+)"),
        (
            Form::Command,
            r"([\w.+@/-]+): (?:command not found|not found$|Kommando nicht gefunden|commande introuvable|未找到命令)",
        ),
        (Form::Command, r"spawn ([\w.+@/-]+) ENOENT"),
        (Form::Command, r"^\s*(?:make|xargs|env): ([\w.+@/-]+): "),
        (Form::Command, r"([\w.+@/-]+) ?: (?:commande introuvable|orden no encontrada|comando non trovato)"),
        (Form::Command, quoted),
        (Form::Path, r"[`'\x22»«“]((?:[A-Za-z]:)?[^`'\x22»«”\s]*[/\\.][^`'\x22»«”\s]*)[`'\x22»«”]"),
        (
            Form::Path,
            r"(?:^|[\s:(=])((?:/|\./|\.\./)[\w@.+/~-]+|[\w@.+-]+(?:/[\w@.+-]+)+|[\w@+-]+\.[A-Za-z]\w{0,5})(?:[\s:;,)]|$)",
        ),
        (Form::Port, r"(?:[\d\].*]|localhost|:::?|[Pp]ort ):?(\d{2,5})\b"),
        (Form::Host, r"(?:https?://|[Hh]ost(?:name)?:? [`'\x22]?|ENOTFOUND |EAI_AGAIN )([\w-]+(?:\.[\w-]+)+)"),
        (Form::Address, r"((?:\d{1,3}(?:\.\d{1,3}){3}|localhost|[\w-]+(?:\.[\w-]+)+):\d{2,5})\b"),
        (Form::Quoted, quoted),
        (Form::Quoted, r"(?:undefined|no such (?:table|column|image)|not found|unknown \w+): ([\w.@/:-]+)"),
    ];
    LineForms {
        forms: forms.iter().filter_map(|(form, pattern)| Some((*form, Regex::new(pattern).ok()?))).collect(),
        // No character means anything to a shell here, and no name is an option.
        safe: Regex::new(r"^[A-Za-z0-9_@./+][A-Za-z0-9_@./:+~=<>\\-]*$").ok(),
    }
});

impl LineForms {
    fn name(&self, form: Form, line: &str) -> Option<String> {
        let safe = self.safe.as_ref()?;
        let mut of_form = self.forms.iter().filter(|(of, _)| *of == form);
        let name = of_form.find_map(|(_, pattern)| {
            let mut found = pattern.captures_iter(line).filter_map(|found| found.get(1));
            let first = found.next()?;
            // What a line begins with, up to a colon, is who says it, where it names something else as well.
            let speaks = form == Form::Path && first.start() == 0 && line[first.end()..].starts_with(':');
            Some(found.next().filter(|_| speaks).unwrap_or(first))
        });
        let name = name?.as_str().trim_end_matches(['.', ':', ',']);
        let usable = name.len() <= NAME && safe.is_match(name) && !name.contains(['<', '>', '\\']);
        usable.then(|| name.to_owned())
    }
}

#[cfg(test)]
#[path = "advice_test.rs"]
mod tests;
