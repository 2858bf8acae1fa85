//! The codes of this crate's errors; each has a page in `docs/errors/`, which `cargo xtask tidy` checks. Must not know when they are given.

/// The command line is wrong.
pub(crate) const USAGE: &str = "HX0900";
/// The configuration file is not readable TOML.
pub(crate) const CONFIG_SYNTAX: &str = "HX0901";
/// A key that does not exist.
pub(crate) const CONFIG_UNKNOWN_KEY: &str = "HX0902";
/// A value of the wrong type or form.
pub(crate) const CONFIG_VALUE: &str = "HX0903";
/// The configuration file cannot be read.
pub(crate) const CONFIG_UNREADABLE: &str = "HX0904";
/// The configuration names an agent that it does not have.
pub(crate) const CONFIG_NO_SUCH_AGENT: &str = "HX0905";
/// There is no place for the state directory.
pub(crate) const NO_STATE_PLACE: &str = "HX0906";
/// A path or a variable is not UTF-8.
pub(crate) const NOT_UTF8: &str = "HX0907";
/// A project's configuration says more than a project may, and the user does not trust it.
pub(crate) const CONFIG_NOT_TRUSTED: &str = "HX0908";
/// What an agent is to inherit of the user's own settings is not there, or cannot be understood.
pub(crate) const CONFIG_INHERIT: &str = "HX0909";
/// The address is open to others and no token was chosen for it.
pub(crate) const OPEN_ADDRESS: &str = "HX0910";
/// Another program listens on the address.
pub(crate) const PORT_TAKEN: &str = "HX0911";
/// The address cannot be listened on.
pub(crate) const CANNOT_LISTEN: &str = "HX0912";
/// The host does not answer.
pub(crate) const HOST_SILENT: &str = "HX0913";
/// The host's answer cannot be understood.
pub(crate) const HOST_UNINTELLIGIBLE: &str = "HX0914";
/// The token cannot be read, written or is not accepted.
pub(crate) const TOKEN: &str = "HX0915";
/// The host refused what was asked.
pub(crate) const HOST_REFUSED: &str = "HX0916";
/// An agent asked for what only a person may.
pub(crate) const AGENT: &str = "HX0815";
/// A file is no bundle of evidence.
pub(crate) const BUNDLE_FORM: &str = "HX0830";
/// A bundle's signature is not valid.
pub(crate) const BUNDLE_SIGNATURE: &str = "HX0831";
/// A bundle is signed with a key that nobody has named.
pub(crate) const BUNDLE_UNKNOWN_KEY: &str = "HX0832";
/// A bundle says what does not follow from the events in it.
pub(crate) const BUNDLE_CONTENTS: &str = "HX0833";
/// A repository is not what a bundle is about.
pub(crate) const BUNDLE_REPOSITORY: &str = "HX0834";
/// A gate of a bundle does not pass again, or cannot be run.
pub(crate) const BUNDLE_RERUN: &str = "HX0835";
/// A key for evidence cannot be read or made.
pub(crate) const BUNDLE_KEY: &str = "HX0836";
/// A host in the background did not come up.
pub(crate) const BACKGROUND_HOST: &str = "HX0917";
/// The running host has not read this command's configuration.
pub(crate) const OTHER_CONFIGURATION: &str = "HX0919";
/// The engine could not be opened.
pub(crate) const ENGINE: &str = "HX0918";
/// There is no such job, phase or run.
pub(crate) const NOT_FOUND: &str = "HX0920";
/// A file that was named cannot be read.
pub(crate) const INPUT_UNREADABLE: &str = "HX0921";
/// A file cannot be written.
pub(crate) const OUTPUT_UNWRITABLE: &str = "HX0922";
/// It cannot be done as the job stands.
pub(crate) const CANNOT_BE_DONE: &str = "HX0924";
/// The rest is a person's to do.
pub(crate) use helix_engine::codes::LEFT_TO_PERSON;
/// The plan does not pass the check.
pub(crate) const PLAN_ERRORS: &str = "HX0930";
/// The ADR does not pass the check.
pub(crate) const ADR_ERRORS: &str = "HX0931";
/// Something is there already and is not overwritten.
pub(crate) const ALREADY_THERE: &str = "HX0932";
/// The demo did not get through.
pub(crate) const DEMO: &str = "HX0940";
/// The job names no issue to post to.
pub(crate) const NO_ISSUE: &str = "HX0941";
/// The host of the project's code cannot be reached: no remote, no tool, no log-in.
pub(crate) const NO_CODE_HOST: &str = "HX0942";
/// The host of the project's code refused a comment.
pub(crate) const COMMENT_REFUSED: &str = "HX0943";
/// Open WebUI is not there, or refuses what was asked.
pub(crate) const OPEN_WEBUI: &str = "HX0944";
/// Open WebUI's requests do not reach Helix as they should.
pub(crate) const NOT_REACHED: &str = "HX0945";
/// The user's editor cannot be run.
pub(crate) const EDITOR: &str = "HX0946";
/// Standard output or error cannot be written.
pub(crate) const OUTPUT_STREAM: &str = "HX0950";
/// The runtime cannot be started.
pub(crate) const RUNTIME: &str = "HX0951";
/// Helix broke: a defect of its own.
pub(crate) const BROKEN: &str = "HX0999";
