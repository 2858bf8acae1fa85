//! Reads an uncaught exception, in whatever form its language or service writes it, as `Class: message`.
//!
//! Must not know what any class means; the rules for exceptions do.

use regex::Regex;

/// The forms in which runtimes report what nobody caught.
#[derive(Debug)]
pub(super) struct Exceptions {
    /// Class first, message after it; the class is the first group that took part.
    leading: Regex,
    /// `place:in 'method': message (Class)`, as Ruby writes it.
    trailing: Regex,
}

impl Exceptions {
    /// Compiles the forms.
    ///
    /// # Errors
    /// Never with the patterns as they stand; a test compiles them.
    pub(super) fn new() -> Result<Self, regex::Error> {
        Ok(Self {
            leading: Regex::new(concat!(
                r"^(?:",
                // The JVM; .NET; the exception of an exception.
                r"Exception in thread \S+ |Unhandled [Ee]xception[.:] (?:System\.AggregateException: .*---> )?|",
                // JavaScript, Deno, PHP.
                r"(?:error: )?Uncaught (?:\(in promise\) )?|PHP Fatal error: +Uncaught |Fatal error: Uncaught |",
                r"Exception during run: |<ref \*\d+> |",
                // Elixir, Erlang; services of clouds.
                r"\*\* \(|An error occurred \(",
                r")([A-Za-z_$][\w$]*(?:(?:\.|::|\\|\$|/)[A-Za-z_$][\w$]*)*)(?:\)|:|$)(?: when calling the \w+ operation(?: \([^)]*\))?:)?[ \t]*(.*)$",
            ))?,
            trailing: Regex::new(r"^(\S+|<internal:[^>]*>):\d+:in [`'][^`']*': (.*) \(((?:[A-Z]\w*::)*[A-Z]\w*)\)$")?,
        })
    }

    /// The line as `Class: message`, if it reports an exception.
    pub(super) fn said(&self, text: &str) -> Option<String> {
        // Cheap to tell from all other lines: none of the forms begins otherwise.
        if let Some(found) = self.leading.captures(text) {
            return Some(format!("{}: {}", &found[1], &found[2]).trim_end_matches(": ").to_owned());
        }
        if !text.ends_with(')') {
            return None;
        }
        let found = self.trailing.captures(text)?;
        Some(format!("{}: {}", &found[3], &found[2]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_s_form_is_read_as_class_and_message() {
        let exceptions = Exceptions::new().unwrap();
        for (line, wanted) in [
            ("Exception in thread \"main\" java.lang.AssertionError: total", Some("java.lang.AssertionError: total")),
            ("Exception in thread \"main\" java.lang.StackOverflowError", Some("java.lang.StackOverflowError")),
            ("a.rb:1:in `+': no conversion (TypeError)", Some("TypeError: no conversion")),
            ("-e:1:in `/': divided by 0 (ZeroDivisionError)", Some("ZeroDivisionError: divided by 0")),
            ("a.rb:3:in 'Cart#pay': gone (Shop::RateGone)", Some("Shop::RateGone: gone")),
            ("** (File.Error) could not read", Some("File.Error: could not read")),
            ("PHP Fatal error:  Uncaught TypeError: f(): no", Some("TypeError: f(): no")),
            ("An error occurred (SlowDown) when calling the GetObject operation: wait", Some("SlowDown: wait")),
            ("<ref *1> AxiosError: timeout of 3ms", Some("AxiosError: timeout of 3ms")),
            ("error: Uncaught (in promise) NotCapable: Requires read", Some("NotCapable: Requires read")),
            ("Unhandled exception. System.IO.IOException: x", Some("System.IO.IOException: x")),
            ("ValueError: x", None),
            ("in (parentheses)", None),
        ] {
            assert_eq!(exceptions.said(line).as_deref(), wanted, "{line}");
        }
    }
}
