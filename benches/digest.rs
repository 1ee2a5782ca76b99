//! What it costs to digest a work tree, beside reading it and `git status`.
//!
//! The repository is made here, from a fixed seed: as many files as
//! `GATE_BENCH_FILES` says, 50,000 without it, of 0.5 to 11.5 KB, all
//! committed. `benches/README.md` says what these figures are worth.
#![allow(missing_docs, clippy::expect_used, reason = "a benchmark")]

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use gate_checks::CheckSite;
use gate_checks::worktree::WorkTree;
use tempfile::TempDir;

/// How many files stand in a folder, and how many folders in one.
const IN_A_FOLDER: usize = 50;

/// A small generator of pseudo-random numbers (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn bytes(&mut self) -> Vec<u8> {
        let words = 64 + self.next() % 1_376;
        (0..words).flat_map(|_| self.next().to_le_bytes()).collect()
    }
}

fn files() -> usize {
    let wanted = std::env::var("GATE_BENCH_FILES").ok();
    wanted.and_then(|count| count.parse().ok()).unwrap_or(50_000)
}

/// Makes the repository, and waits until its files are old enough for their
/// times to be believed.
fn repository(folder: &Path) {
    let mut random = Random(42);
    for number in 0..files() {
        let (folder_number, file) = (number / IN_A_FOLDER, number % IN_A_FOLDER);
        let (outer, inner) = (folder_number / IN_A_FOLDER, folder_number % IN_A_FOLDER);
        let home = folder.join(format!("package_{outer:02}/module_{inner:02}/src"));
        fs::create_dir_all(&home).expect("a folder");
        fs::write(home.join(format!("file_{file:02}.rs")), random.bytes()).expect("a file");
    }
    fs::write(folder.join(".gitignore"), "target/\n*.log\n/node_modules\n").expect("a file");
    git(folder, &["init", "-q"]);
    git(folder, &["add", "-A"]);
    git(folder, &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "all"]);
    // What the kernel still has to write would be written while it is timed.
    let _ = Command::new("sync").status();
    std::thread::sleep(Duration::from_millis(2_500));
}

fn git(folder: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    let status = command.current_dir(folder).args(args).stdout(Stdio::null()).status();
    assert!(status.expect("git").success(), "git {args:?}");
}

/// Reads every file whole, one after another; the bytes.
fn read(folder: PathBuf) -> u64 {
    let (mut folders, mut bytes) = (vec![folder], 0);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            if entry.file_name() == ".git" {
                continue;
            }
            if entry.file_type().expect("its type").is_dir() {
                folders.push(entry.path());
            } else {
                bytes += fs::read(entry.path()).expect("a file").len() as u64;
            }
        }
    }
    bytes
}

fn digest(site: &CheckSite) -> String {
    let tree = WorkTree::open(site).expect("a work tree");
    tree.snapshot().expect("a snapshot").digest
}

fn compare(criterion: &mut Criterion) {
    let (tree, state) = (TempDir::new().expect("a folder"), TempDir::new().expect("a folder"));
    repository(tree.path());
    let mut site = CheckSite::new(tree.path());
    site.environment = std::env::vars().collect();

    let mut group = criterion.benchmark_group("digest");
    group.sample_size(10).throughput(Throughput::Bytes(read(tree.path().into())));
    group.bench_function("read all files", |bencher| {
        bencher.iter(|| read(black_box(tree.path().into())));
    });
    group.bench_function("first digest", |bencher| bencher.iter(|| digest(black_box(&site))));
    group.finish();

    site.state = Some(state.path().into());
    digest(&site);
    let mut group = criterion.benchmark_group("digest-again");
    group.sample_size(20).throughput(Throughput::Elements(files() as u64));
    group.bench_function("git status", |bencher| bencher.iter(|| git(tree.path(), &["status"])));
    group.bench_function("second digest", |bencher| bencher.iter(|| digest(black_box(&site))));
    group.finish();
}

criterion_group!(benches, compare);
criterion_main!(benches);
