//! The folder in which all programs run, with what they read.

use std::env;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::hostile::Hostile;
use crate::patterns;
use crate::transcript::{self, Kind};

/// A project's settings, such as `gate init` writes them.
const ORDINARY: &str = "\
[exit_gate]
indicator_threshold = 2

[checks.tests]
command = [\"cargo\", \"test\"]
timeout = \"10m\"

[breaker]
cooldown = \"30m\"
";

/// The shell's way: every pattern by itself over the whole output, then the
/// signal's lines, then the sum.
const SHELL: &str = r#"
count_hits() {
  local said=$1 hits=0 phrase
  while IFS= read -r phrase; do
    if printf '%s\n' "$said" | grep -qiE -e "$phrase"; then hits=$((hits + 1)); fi
  done < six.txt
  printf '%s\n' "$hits"
}
wants_exit() {
  local said=$1 status reason
  status=$(printf '%s\n' "$said" | grep -oE 'EXIT_STATUS: *[A-Z]+' | tail -n 1)
  reason=$(printf '%s\n' "$said" | grep -oE 'EXIT_REASON: .*' | tail -n 1)
  [ "${status##* }" = COMPLETE ] && [ -n "$reason" ]
}
said=$(cat "$1")
[ "$(count_hits "$said")" -ge 2 ] && wants_exit "$said"
"#;

/// Settings of a project in which a stop costs what the hook itself costs.
const HOOKED: &str = "\
[breaker]
no_progress = 0
permission_denied = 0
no_exit = 0
[budget]
iterations = 0
";

/// The folders and files of a run.
pub(crate) struct Field {
    root: PathBuf,
}

impl Field {
    /// Makes the folders, each with its settings.
    pub(crate) fn new(root: &Path) -> Self {
        let field = Self { root: root.to_owned() };
        let sixty = patterns::sixty();
        for (folder, settings) in [
            ("bare", None),
            ("ordinary", Some(ORDINARY.to_owned())),
            ("hooked", Some(HOOKED.to_owned())),
            ("six", Some(patterns::settings(&patterns::SIX))),
            ("sixty", Some(patterns::settings(&sixty))),
        ] {
            fs::create_dir_all(root.join(folder)).unwrap();
            if let Some(settings) = settings {
                fs::write(root.join(folder).join("gate.toml"), settings).unwrap();
            }
        }
        let bare = field.folder("bare");
        fs::write(bare.join("six.txt"), patterns::SIX.join("\n") + "\n").unwrap();
        fs::write(bare.join("sixty.txt"), sixty.join("\n") + "\n").unwrap();
        fs::write(bare.join("gate.sh"), SHELL).unwrap();
        field
    }

    /// One of the folders: `bare`, `ordinary`, `hooked`, `six`, `sixty`.
    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// The path of a transcript, which is written where it is not there yet. `GATE_BENCH_DATA`
    /// names a folder with others: `claude_100M`, `text_10K`.
    pub(crate) fn transcript(&self, kind: Kind, bytes: u64) -> String {
        if let Some(folder) = env::var_os("GATE_BENCH_DATA") {
            let size = match bytes {
                1_000_000_000 => "1G".to_owned(),
                1_000_000.. => format!("{}M", bytes / 1_000_000),
                _ => format!("{}K", bytes / 1_000),
            };
            let file = Path::new(&folder).join(format!("{}_{size}", kind.name()));
            assert!(file.is_file(), "{} is missing", file.display());
            return file.to_str().unwrap().to_owned();
        }
        self.file(&format!("{}-{bytes}", kind.name()), |to| transcript::write(kind, bytes, to))
    }

    /// An event of a stop in a session with this transcript.
    pub(crate) fn event(&self, transcript: &str) -> PathBuf {
        let name = Path::new(transcript).file_name().unwrap().to_str().unwrap();
        let event = format!(
            r#"{{"session_id":"{name}","transcript_path":"{transcript}","cwd":"{}","prompt_id":"p","permission_mode":"default","hook_event_name":"Stop","stop_hook_active":false,"last_assistant_message":"EXIT_STATUS: CONTINUE\nEXIT_REASON: more is to be done","background_tasks":[]}}"#,
            self.folder("hooked").display()
        );
        let file = self.root.join(format!("event-{name}.json"));
        fs::write(&file, event).unwrap();
        file
    }

    /// The path of a hostile input, so many times as long as its single size.
    pub(crate) fn hostile(&self, hostile: Hostile, long: usize) -> String {
        let name = format!("hostile-{long}-{}", hostile.name.replace(' ', "-"));
        self.file(&name, |to| hostile.write(long, to))
    }

    /// The path of a transcript with a time before each line.
    pub(crate) fn stamped(&self, transcript: &str) -> String {
        self.file("stamped", |to| {
            let lines = BufReader::with_capacity(1 << 20, File::open(transcript)?).split(b'\n');
            for (number, line) in lines.enumerate() {
                write!(to, "[2026-11-30T08:00:{:02}Z] ", number % 60)?;
                to.write_all(&line?)?;
                to.write_all(b"\n")?;
            }
            Ok(())
        })
    }

    /// The path of one line of so many bytes: a message of the agent's.
    pub(crate) fn line(&self, bytes: u64) -> String {
        self.file(&format!("line-{bytes}"), |to| {
            to.write_all(br#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":""#)?;
            (0..bytes / 16).try_for_each(|_| to.write_all(b"it goes on, and "))?;
            to.write_all(b"\"}]}}\n")
        })
    }

    /// A folder of so many transcripts of a megabyte.
    pub(crate) fn folder_of(&self, count: usize) -> String {
        let folder = self.root.join("many");
        fs::create_dir_all(&folder).unwrap();
        for at in 0..count {
            let file = self.transcript(Kind::ALL[at % Kind::ALL.len()], 1_000_000);
            fs::copy(file, folder.join(format!("{at}.log"))).unwrap();
        }
        folder.to_str().unwrap().to_owned()
    }

    fn file(
        &self,
        name: &str,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> String {
        let path = self.root.join(name);
        if !path.exists() {
            let mut to = BufWriter::with_capacity(1 << 20, File::create(&path).unwrap());
            write(&mut to).and_then(|()| to.flush()).unwrap();
        }
        path.to_str().unwrap().to_owned()
    }
}
