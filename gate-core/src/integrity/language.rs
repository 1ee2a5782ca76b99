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

/// The languages, their names in the pack, and the endings of their files.
const TABLE: [(Language, &str, &[&str]); 13] = [
    (Language::Rust, "rust", &["rs"]),
    (Language::Python, "python", &["py", "pyi", "pyw"]),
    (Language::Js, "js", &["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "vue", "svelte"]),
    (Language::Go, "go", &["go"]),
    (Language::Java, "java", &["java"]),
    (Language::Kotlin, "kotlin", &["kt", "kts", "groovy", "gradle"]),
    (Language::CSharp, "csharp", &["cs"]),
    (Language::Ruby, "ruby", &["rb", "rake"]),
    (Language::Php, "php", &["php"]),
    (Language::Shell, "shell", &["sh", "bash", "zsh", "bats"]),
    (Language::C, "c", &["c", "h", "cc", "cpp", "cxx", "hpp", "hh"]),
    (Language::Make, "make", &["mk", "just"]),
    (Language::Yaml, "yaml", &["yml", "yaml"]),
];

impl Language {
    /// The language of a file of this name; none if gate knows none.
    pub fn from_path(path: &str) -> Option<Self> {
        let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
        if matches!(name, "Makefile" | "makefile" | "GNUmakefile" | "justfile" | "Justfile") {
            return Some(Self::Make);
        }
        let (_, ending) = name.rsplit_once('.')?;
        let row = TABLE.iter().find(|(_, _, endings)| endings.contains(&ending));
        row.map(|(language, ..)| *language)
    }

    /// The name that the pack uses.
    pub fn name(self) -> &'static str {
        TABLE.iter().find(|(language, ..)| *language == self).map_or("", |(_, name, _)| name)
    }

    /// The marks of a comment that ends with its line.
    pub(super) fn line_comments(self) -> &'static [&'static str] {
        match self {
            Self::Python | Self::Ruby | Self::Shell | Self::Make | Self::Yaml => &["#"],
            Self::Php => &["//", "#"],
            _ => &["//"],
        }
    }

    /// `/*` begins a comment.
    pub(super) fn has_blocks(self) -> bool {
        !matches!(self, Self::Python | Self::Ruby | Self::Shell | Self::Make | Self::Yaml)
    }

    /// Comments nest.
    pub(super) fn nests(self) -> bool {
        matches!(self, Self::Rust | Self::Kotlin)
    }

    /// Three quotes in a row begin a string of many lines.
    pub(super) fn triples(self) -> bool {
        matches!(self, Self::Python | Self::Java | Self::Kotlin | Self::CSharp)
    }

    /// A string in these quotes goes on over lines.
    pub(super) fn goes_on(self, quote: u8) -> bool {
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
    pub(super) fn words(self) -> bool {
        matches!(self, Self::Shell | Self::Make | Self::Yaml)
    }

    /// Indentation makes blocks.
    pub(super) fn indents(self) -> bool {
        matches!(self, Self::Python | Self::Yaml)
    }
}
