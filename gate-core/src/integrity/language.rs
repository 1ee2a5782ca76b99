//! The languages of files, by their names, and the ways in which they write comments and strings.

/// A language, as far as comments, strings and tests tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// Rust.
    Rust,
    /// Python.
    Python,
    /// JavaScript and TypeScript.
    Js,
    /// Go.
    Go,
    /// Java.
    Java,
    /// Kotlin.
    Kotlin,
    /// C#.
    CSharp,
    /// Ruby.
    Ruby,
    /// PHP.
    Php,
    /// Shells, and bats.
    Shell,
    /// C and C++.
    C,
    /// Makefiles and justfiles.
    Make,
    /// YAML.
    Yaml,
}

/// A language as files and the pack call it.
struct LanguageRow {
    language: Language,
    /// The name that the pack uses.
    name: &'static str,
    /// The endings of its files, without the dot.
    endings: &'static [&'static str],
}

const fn row(
    language: Language,
    name: &'static str,
    endings: &'static [&'static str],
) -> LanguageRow {
    LanguageRow { language, name, endings }
}

const TABLE: [LanguageRow; 13] = [
    row(Language::Rust, "rust", &["rs"]),
    row(Language::Python, "python", &["py", "pyi", "pyw"]),
    row(
        Language::Js,
        "js",
        &["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "vue", "svelte"],
    ),
    row(Language::Go, "go", &["go"]),
    row(Language::Java, "java", &["java"]),
    row(Language::Kotlin, "kotlin", &["kt", "kts", "groovy", "gradle"]),
    row(Language::CSharp, "csharp", &["cs"]),
    row(Language::Ruby, "ruby", &["rb", "rake"]),
    row(Language::Php, "php", &["php"]),
    row(Language::Shell, "shell", &["sh", "bash", "zsh", "bats"]),
    row(Language::C, "c", &["c", "h", "cc", "cpp", "cxx", "hpp", "hh"]),
    row(Language::Make, "make", &["mk", "just"]),
    row(Language::Yaml, "yaml", &["yml", "yaml"]),
];

impl Language {
    /// The language of a file of this name; `None` if gate does not know it.
    pub fn from_path(path: &str) -> Option<Self> {
        let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
        if matches!(name, "Makefile" | "makefile" | "GNUmakefile" | "justfile" | "Justfile") {
            return Some(Self::Make);
        }
        let (_, ending) = name.rsplit_once('.')?;
        TABLE.iter().find(|row| row.endings.contains(&ending)).map(|row| row.language)
    }

    /// The name that the pack uses.
    pub fn name(self) -> &'static str {
        TABLE.iter().find(|row| row.language == self).map_or("", |row| row.name)
    }

    /// The marks of a comment that ends with its line.
    pub(super) fn line_comments(self) -> &'static [&'static str] {
        match self {
            Self::Python | Self::Ruby | Self::Shell | Self::Make | Self::Yaml => &["#"],
            Self::Php => &["//", "#"],
            _ => &["//"],
        }
    }

    /// `/*` begins a comment here.
    pub(super) fn has_block_comments(self) -> bool {
        !matches!(self, Self::Python | Self::Ruby | Self::Shell | Self::Make | Self::Yaml)
    }

    /// A comment in `/*` and `*/` may hold another.
    pub(super) fn has_nested_comments(self) -> bool {
        matches!(self, Self::Rust | Self::Kotlin)
    }

    /// Three quotes in a row begin a string of many lines.
    pub(super) fn has_triple_quotes(self) -> bool {
        matches!(self, Self::Python | Self::Java | Self::Kotlin | Self::CSharp)
    }

    /// A string in these quotes goes on over lines.
    pub(super) fn has_multiline_strings(self, quote: u8) -> bool {
        match self {
            Self::Rust => quote == b'"',
            Self::Ruby | Self::Php | Self::Shell => true,
            Self::Js | Self::Go => quote == b'`',
            _ => false,
        }
    }

    /// A `'` holds one character alone, and may be something else.
    pub(super) fn has_characters(self) -> bool {
        matches!(self, Self::Rust | Self::Go | Self::Java | Self::Kotlin | Self::CSharp | Self::C)
    }

    /// A comment's mark counts only at the beginning of a word.
    pub(super) fn wants_word_start(self) -> bool {
        matches!(self, Self::Shell | Self::Make | Self::Yaml)
    }

    /// Indentation makes blocks.
    pub(super) fn has_indented_blocks(self) -> bool {
        matches!(self, Self::Python | Self::Yaml)
    }
}
