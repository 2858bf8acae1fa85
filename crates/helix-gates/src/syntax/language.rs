//! Which language a file is in, by its name, extension or first line, and which parser reads it.
//!
//! Must not know files or commits.

use serde::{Deserialize, Serialize};

use super::{SyntaxError, data, script};

/// A language with an embedded parser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Language {
    Python,
    JavaScript,
    TypeScript,
    Rust,
    Go,
    Java,
    C,
    CHeader,
    Cpp,
    Bash,
    Html,
    Css,
    Json,
    JsonWithComments,
    Json5,
    JsonLines,
    Yaml,
    Toml,
    Markdown,
}

/// How a language is read.
pub(crate) enum Parser {
    /// By a parser of the language itself.
    Exact(fn(&str) -> Vec<SyntaxError>),
    /// As that, which also asks the name of the file.
    ByPath(fn(&str, &str) -> Vec<SyntaxError>),
    /// By grammars that may stumble over what the language's own compiler accepts; one that reads it is enough.
    Grammars(Vec<tree_sitter::Language>),
}

/// JSON files that their tools read with comments and trailing commas.
const COMMENTED: [&str; 8] = [
    ".eslintrc",
    ".eslintrc.json",
    ".babelrc",
    ".swcrc",
    ".jshintrc",
    "devcontainer.json",
    "api-extractor.json",
    "deno.json",
];

impl Language {
    /// By file name; `None` when the name does not tell.
    pub(crate) fn of_path(path: &str) -> Option<Self> {
        let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
        let lower = name.to_ascii_lowercase();
        let editor = matches!(directory.rsplit('/').next(), Some(".vscode" | ".devcontainer"));
        let config = (lower.starts_with("tsconfig") || lower.starts_with("jsconfig")) && lower.ends_with(".json");
        if COMMENTED.contains(&lower.as_str()) || config || (editor && lower.ends_with(".json")) {
            return Some(Self::JsonWithComments);
        }
        if matches!(lower.as_str(), ".bashrc" | ".bash_profile" | ".profile") {
            return Some(Self::Bash);
        }
        if matches!(lower.as_str(), "cargo.lock" | "poetry.lock" | "uv.lock" | "pipfile") {
            return Some(Self::Toml);
        }
        let (_, extension) = lower.rsplit_once('.')?;
        Some(match extension {
            "py" | "pyi" => Self::Python,
            "js" | "mjs" | "cjs" | "jsx" => Self::JavaScript,
            "ts" | "mts" | "cts" | "tsx" => Self::TypeScript,
            "rs" => Self::Rust,
            "go" => Self::Go,
            "java" => Self::Java,
            "c" => Self::C,
            "h" => Self::CHeader,
            "cc" | "cpp" | "cxx" | "hpp" | "hh" | "hxx" => Self::Cpp,
            "sh" | "bash" => Self::Bash,
            "html" | "htm" => Self::Html,
            "css" => Self::Css,
            "json" | "webmanifest" | "geojson" | "ipynb" => Self::Json,
            "jsonc" | "code-workspace" => Self::JsonWithComments,
            "json5" => Self::Json5,
            "jsonl" | "ndjson" => Self::JsonLines,
            "yaml" | "yml" => Self::Yaml,
            "toml" => Self::Toml,
            "md" | "markdown" => Self::Markdown,
            _ => return None,
        })
    }

    /// True when the name has an extension, so that the first line need not be looked at.
    pub(crate) fn has_extension(path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        name.trim_start_matches('.').contains('.')
    }

    /// By the interpreter that the first line names.
    pub(crate) fn of_shebang(bytes: &[u8]) -> Option<Self> {
        let line = bytes.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
        let line = std::str::from_utf8(line).ok()?;
        let mut words = line.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
        let first = words.next()?;
        let program =
            if first == "env" { words.find(|word| !word.starts_with('-') && !word.contains('='))? } else { first };
        let program = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        match program {
            "python" | "pypy" => Some(Self::Python),
            "node" | "bun" => Some(Self::JavaScript),
            "deno" | "ts-node" | "tsx" => Some(Self::TypeScript),
            "sh" | "bash" | "dash" | "ash" => Some(Self::Bash),
            _ => None,
        }
    }

    /// What it is called, the rule of its findings, and how it is read.
    pub(crate) fn details(self) -> (&'static str, &'static str, Parser) {
        match self {
            Self::Python => ("Python", "syntax.python", Parser::Exact(script::python)),
            Self::JavaScript => ("JavaScript", "syntax.javascript", Parser::ByPath(script::ecmascript)),
            Self::TypeScript => ("TypeScript", "syntax.typescript", Parser::ByPath(script::ecmascript)),
            Self::Rust => ("Rust", "syntax.rust", Parser::Exact(script::rust)),
            Self::Go => ("Go", "syntax.go", Parser::Grammars(vec![tree_sitter_go::LANGUAGE.into()])),
            Self::Java => ("Java", "syntax.java", Parser::Grammars(vec![tree_sitter_java::LANGUAGE.into()])),
            Self::C => ("C", "syntax.c", Parser::Grammars(vec![tree_sitter_c::LANGUAGE.into()])),
            // A header may be meant for either; it is right if one of them can read it.
            Self::CHeader => {
                let grammars = vec![tree_sitter_c::LANGUAGE.into(), tree_sitter_cpp::LANGUAGE.into()];
                ("C", "syntax.c", Parser::Grammars(grammars))
            }
            Self::Cpp => ("C++", "syntax.cpp", Parser::Grammars(vec![tree_sitter_cpp::LANGUAGE.into()])),
            Self::Bash => ("Bash", "syntax.bash", Parser::Grammars(vec![tree_sitter_bash::LANGUAGE.into()])),
            Self::Html => ("HTML", "syntax.html", Parser::Grammars(vec![tree_sitter_html::LANGUAGE.into()])),
            Self::Css => ("CSS", "syntax.css", Parser::Grammars(vec![tree_sitter_css::LANGUAGE.into()])),
            Self::Json => ("JSON", "syntax.json", Parser::Exact(data::json)),
            Self::JsonWithComments => ("JSON with comments", "syntax.json", Parser::Exact(data::json_with_comments)),
            Self::Json5 => ("JSON5", "syntax.json", Parser::Exact(data::json5)),
            Self::JsonLines => ("JSON lines", "syntax.json", Parser::Exact(data::json_lines)),
            Self::Yaml => ("YAML", "syntax.yaml", Parser::Exact(data::yaml)),
            Self::Toml => ("TOML", "syntax.toml", Parser::Exact(data::toml)),
            Self::Markdown => ("front matter", "syntax.markdown", Parser::Exact(data::markdown)),
        }
    }
}
