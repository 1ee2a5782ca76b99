//! A workspace is what it is told to be, whatever was done to it before.

use gate_platform::{MetadataExt, PermissionsExt, symlink};

use super::*;
use crate::baseline::StoredFile;
use crate::cancellation::{CancelReason, Cancellation, Grace};
use crate::worktree::tests::fixture::Fixture;
use crate::worktree::{Kind, WorkTree};

pub(super) struct Bench {
    pub(super) fixture: Fixture,
    tree: WorkTree,
}

impl Bench {
    pub(super) fn new() -> Self {
        let fixture = Fixture::repository().keeping_state();
        for (file, text) in [("src/a.txt", "a\n"), ("src/run.sh", "#!/bin/sh\n"), ("b.txt", "b\n")]
        {
            fixture.write(file, text);
        }
        let run = fixture.path("src/run.sh");
        fs::set_permissions(run, fs::Permissions::from_mode(0o755)).unwrap();
        symlink("b.txt", fixture.path("link")).unwrap();
        fixture.commit();
        let tree = WorkTree::open(&fixture.site).unwrap();
        Self { fixture, tree }
    }

    fn open(&self, cancel: &Cancellation) -> Option<Workspace> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(Workspace::open(&self.fixture.site, self.tree.root(), cancel)).unwrap()
    }

    pub(super) fn workspace(&self) -> Workspace {
        self.open(&Cancellation::default()).unwrap()
    }

    fn sync(&self, workspace: &Workspace) {
        let snapshot = self.tree.snapshot().unwrap();
        let layout = workspace.layout(&snapshot).unwrap();
        workspace.sync(&layout, &snapshot, &self.fixture.site).unwrap();
    }
}

fn text(workspace: &Workspace, file: &str) -> String {
    fs::read_to_string(workspace.root().join(file)).unwrap_or_default()
}

#[test]
fn only_what_changed_is_written() {
    let bench = Bench::new();
    let workspace = bench.workspace();
    bench.sync(&workspace);
    let stat = |file: &str| {
        let about = workspace.root().join(file).symlink_metadata().unwrap();
        (about.ino(), about.mtime(), about.mtime_nsec(), about.mode() & 0o777)
    };
    let before = ["src/a.txt", "src/run.sh", "link", "b.txt"].map(stat);
    assert_eq!((before[0].3, before[1].3), (0o644, 0o755));
    bench.fixture.write("b.txt", "other\n");
    bench.sync(&workspace);
    let after = ["src/a.txt", "src/run.sh", "link", "b.txt"].map(stat);
    assert_eq!(before[..3], after[..3]);
    assert_ne!(before[3], after[3]);
    assert_eq!(text(&workspace, "link"), "other\n");
}

#[test]
fn whatever_a_run_did_is_undone_but_in_folders_of_builds() {
    let bench = Bench::new();
    let workspace = bench.workspace();
    bench.sync(&workspace);
    let at = |file: &str| workspace.root().join(file);
    // Another file in its place, of the same size; a second name of a file elsewhere.
    fs::write(at("src/a.txt"), "x\n").unwrap();
    let victim = bench.fixture.beside("victim");
    fs::write(&victim, "b\n").unwrap();
    fs::remove_file(at("b.txt")).unwrap();
    fs::hard_link(&victim, at("b.txt")).unwrap();
    fs::remove_file(at("src/run.sh")).unwrap();
    let bytecode = workspace.compiled_python().join("usr/os.pyc");
    let others = ["new/x.txt", "src/__pycache__/a.pyc", "target/debug/x"].map(at);
    for file in others.iter().chain([&bytecode]) {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "").unwrap();
    }
    fs::set_permissions(at("new"), fs::Permissions::from_mode(0o000)).unwrap();
    bench.sync(&workspace);
    assert_eq!(
        (text(&workspace, "src/a.txt"), text(&workspace, "b.txt")),
        ("a\n".into(), "b\n".into())
    );
    assert!(at("src/run.sh").is_file() && at("target/debug/x").is_file());
    assert!(!at("new").exists() && !at("src/__pycache__").exists() && !bytecode.exists());
    assert_eq!(fs::metadata(&victim).unwrap().nlink(), 1);
    // A link in the place of a folder leads nowhere.
    fs::remove_dir_all(at("src")).unwrap();
    symlink(victim.parent().unwrap(), at("src")).unwrap();
    bench.sync(&workspace);
    assert!(at("src").symlink_metadata().unwrap().is_dir());
    assert!(!victim.with_file_name("a.txt").exists());
}

#[test]
fn files_are_laid_over_and_left_out() {
    let bench = Bench::new();
    let workspace = bench.workspace();
    let snapshot = bench.tree.snapshot().unwrap();
    let mut layout = workspace.layout(&snapshot).unwrap();
    layout.lay(Path::new("src/a.txt"), &StoredFile { bytes: b"old\n".to_vec(), kind: Kind::Plain });
    layout.leave_out(Path::new("b.txt"));
    workspace.sync(&layout, &snapshot, &bench.fixture.site).unwrap();
    assert_eq!(text(&workspace, "src/a.txt"), "old\n");
    assert!(!workspace.root().join("b.txt").exists());
    bench.sync(&workspace);
    assert_eq!(
        (text(&workspace, "src/a.txt"), text(&workspace, "b.txt")),
        ("a\n".into(), "b\n".into())
    );
}

#[test]
fn it_is_a_repository_with_all_that_is_in_it() {
    let bench = Bench::new();
    let workspace = bench.workspace();
    let told = |args: &[&str]| {
        let mut git = std::process::Command::new("git");
        let told = git.args(args).current_dir(workspace.root()).output().unwrap();
        String::from_utf8(told.stdout).unwrap()
    };
    bench.sync(&workspace);
    assert_eq!(told(&["ls-files"]), "a\nb.txt\nlink\nsrc/a.txt\nsrc/b\nsrc/run.sh\n");
    bench.fixture.write("c.txt", "c\n");
    fs::remove_file(bench.fixture.path("b.txt")).unwrap();
    // What a run has made of it is not believed.
    for broken in ["[core]\n\tbare = true\n", "["] {
        fs::write(workspace.root().join(".git/config"), broken).unwrap();
        bench.sync(&workspace);
        assert_eq!(told(&["ls-files"]), "a\nc.txt\nlink\nsrc/a.txt\nsrc/b\nsrc/run.sh\n");
        assert_eq!(told(&["status", "--porcelain"]), "");
    }
}

#[test]
fn one_at_a_time_has_it() {
    let bench = Bench::new();
    let workspace = bench.workspace();
    let cancel = Cancellation::default();
    cancel.cancel(CancelReason::Unwanted, Grace::Usual);
    assert!(bench.open(&cancel).is_none());
    drop(workspace);
    // A process that another test forks just now has the lock until it execs: so this waits.
    assert!(bench.open(&Cancellation::default()).is_some());
}

#[test]
fn what_nobody_comes_back_to_is_emptied() {
    let (gone, unused, here) = (Bench::new(), Bench::new(), Bench::new());
    let state = here.fixture.site.state.clone();
    let opened = |bench: &Bench| {
        let site = CheckSite { state: state.clone(), ..bench.fixture.site.clone() };
        let (root, cancel) = (bench.tree.root(), Cancellation::default());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let workspace = runtime.block_on(Workspace::open(&site, root, &cancel)).unwrap().unwrap();
        bench.sync(&workspace);
        workspace
    };
    let stands = |root: &Path| root.join("b.txt").exists();
    let (of_gone, of_unused) = (opened(&gone), opened(&unused));
    let (gone_root, unused_root) = (of_gone.root().to_owned(), of_unused.root().to_owned());
    drop(gone);
    drop(opened(&here));
    assert!(stands(&gone_root), "somebody has it");
    drop((of_gone, of_unused));
    // A process that another test forks just now has the lock until it execs.
    for _ in 0..100 {
        drop(opened(&here));
        if !stands(&gone_root) {
            break;
        }
    }
    assert!(!stands(&gone_root) && stands(&unused_root));
    let lock = unused_root.ancestors().nth(3).unwrap().join(LOCK);
    let long_ago = std::time::SystemTime::now() - Duration::from_secs(31 * 24 * 60 * 60);
    File::options().append(true).open(lock).unwrap().set_modified(long_ago).unwrap();
    let here = opened(&here);
    assert!(!stands(&unused_root) && stands(here.root()));
    let again = opened(&unused);
    assert!(stands(again.root()), "it is made anew");
}

/// A stored copy of about a megabyte, that was used so many hours ago.
fn stored(state: &Path, name: &str, hours: u64) -> PathBuf {
    let tree = state.join("trees").join(name);
    for folder in ["workspace/tree", "deciding-builds/0a"] {
        fs::create_dir_all(tree.join(folder)).unwrap();
        fs::write(tree.join(folder).join("object"), vec![b'x'; 500_000]).unwrap();
    }
    fs::write(tree.join("workspace/of"), "/").unwrap();
    let lock = File::create(tree.join("workspace").join(LOCK)).unwrap();
    let used = std::time::SystemTime::now() - Duration::from_secs(hours * 60 * 60);
    lock.set_modified(used).unwrap();
    tree
}

#[test]
fn copies_above_the_limit_go_the_least_recently_used_first() {
    let state = tempfile::tempdir().unwrap();
    let root = Path::new("/project");
    let own = store::tree_folder(state.path(), root);
    let own = stored(state.path(), own.file_name().unwrap().to_str().unwrap(), 9);
    let [old, held, new] =
        [("a", 8), ("b", 9), ("c", 1)].map(|(name, hours)| stored(state.path(), name, hours));
    let lock = File::options().append(true).open(held.join("workspace/lock")).unwrap();
    lock.lock().unwrap();
    let left = || {
        let all = [&own, &old, &held, &new];
        let has_all = |tree: &&&PathBuf| {
            let (copy, builds) = (tree.join("workspace/tree"), tree.join("deciding-builds/0a"));
            assert_eq!(copy.exists(), builds.exists(), "they go together");
            copy.exists()
        };
        all.iter().filter(has_all).map(|tree| (*tree).clone()).collect::<Vec<_>>()
    };
    limit_copies(state.path(), root, 0);
    limit_copies(state.path(), root, 5_000_000);
    assert_eq!(left().len(), 4);
    let total = recorded_size(state.path());
    assert!((4_000_000..4_500_000).contains(&total), "{total}");
    limit_copies(state.path(), root, total - 1);
    assert_eq!(left(), [&own, &held, &new].map(Clone::clone));
    limit_copies(state.path(), root, 1);
    assert_eq!(left(), [&own, &held].map(Clone::clone), "neither the own one nor one in use");
    drop(lock);
    // A process that another test forks just now has the lock until it execs.
    for _ in 0..500 {
        limit_copies(state.path(), root, 1);
        if left().len() == 1 {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(left(), std::slice::from_ref(&own));
    assert!(held.join("workspace/lock").exists(), "somebody may wait for it");
}

#[test]
fn the_tests_of_the_baseline_are_never_written_into_the_real_tree() {
    let bench = Bench::new();
    bench.fixture.write("tests/pyvenv.cfg", "home = /usr/bin\n");
    for file in ["bin/python", "lib/python3.13/site-packages/pytest.py"] {
        bench.fixture.write(&format!("tests/{file}"), "tool\n");
    }
    let workspace = bench.workspace();
    let snapshot = bench.tree.snapshot().unwrap();
    let mut layout = workspace.layout(&snapshot).unwrap();
    let test = StoredFile { bytes: b"assert 1\n".to_vec(), kind: Kind::Plain };
    layout.lay(Path::new("tests/test_a.py"), &test);
    workspace.sync(&layout, &snapshot, &bench.fixture.site).unwrap();
    assert_eq!(text(&workspace, "tests/test_a.py"), "assert 1\n");
    assert!(!bench.tree.root().join("tests/test_a.py").exists());
}
