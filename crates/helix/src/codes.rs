//! The codes of this crate's errors; each has a page in `docs/errors/`. Must not know when they are given.

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal;)+) => {
        $($(#[$doc])* pub(crate) const $name: &str = $code;)+
        /// Every code of this area, in order.
        #[cfg(test)]
        pub(crate) const ALL: &[&str] = &[$($code),+];
    };
}

codes! {
    /// The command line is wrong.
    USAGE = "HX0900";
    /// The configuration file is not readable TOML.
    CONFIG_SYNTAX = "HX0901";
    /// A key that does not exist.
    CONFIG_UNKNOWN_KEY = "HX0902";
    /// A value of the wrong type or form.
    CONFIG_VALUE = "HX0903";
    /// The configuration file cannot be read.
    CONFIG_UNREADABLE = "HX0904";
    /// The configuration names an agent that it does not have.
    CONFIG_NO_SUCH_AGENT = "HX0905";
    /// There is no place for the state directory.
    NO_STATE_PLACE = "HX0906";
    /// A path or a variable is not UTF-8.
    NOT_UTF8 = "HX0907";
    /// The address is open to others and no token was chosen for it.
    OPEN_ADDRESS = "HX0910";
    /// Another program listens on the address.
    PORT_TAKEN = "HX0911";
    /// The address cannot be listened on.
    CANNOT_LISTEN = "HX0912";
    /// The host does not answer.
    HOST_SILENT = "HX0913";
    /// The host's answer cannot be understood.
    HOST_UNINTELLIGIBLE = "HX0914";
    /// The token cannot be read, written or is not accepted.
    TOKEN = "HX0915";
    /// The host refused what was asked.
    HOST_REFUSED = "HX0916";
    /// A host in the background did not come up.
    BACKGROUND_HOST = "HX0917";
    /// The engine could not be opened.
    ENGINE = "HX0918";
    /// There is no such job, phase or run.
    NOT_FOUND = "HX0920";
    /// A file that was named cannot be read.
    INPUT_UNREADABLE = "HX0921";
    /// A file cannot be written.
    OUTPUT_UNWRITABLE = "HX0922";
    /// The job is over.
    JOB_OVER = "HX0923";
    /// It cannot be done as the job stands.
    CANNOT_BE_DONE = "HX0924";
    /// The plan does not pass the check.
    PLAN_ERRORS = "HX0930";
    /// The ADR does not pass the check.
    ADR_ERRORS = "HX0931";
    /// Something is there already and is not overwritten.
    ALREADY_THERE = "HX0932";
    /// The demo did not get through.
    DEMO = "HX0940";
    /// Standard output or error cannot be written.
    OUTPUT_STREAM = "HX0950";
    /// The runtime cannot be started.
    RUNTIME = "HX0951";
    /// Helix broke: a defect of its own.
    BROKEN = "HX0999";
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_code_has_a_page() {
        let pages = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/errors");
        for code in super::ALL {
            let page = std::path::Path::new(pages).join(format!("{code}.md"));
            let text = std::fs::read_to_string(&page).unwrap_or_else(|error| panic!("{}: {error}", page.display()));
            assert!(text.starts_with(&format!("# {code}")), "{} must begin with its code", page.display());
        }
    }
}
