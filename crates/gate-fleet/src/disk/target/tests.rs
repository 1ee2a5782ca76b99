//! The bus that is meant, by its path and by the folder.

use std::fs;

use super::*;

#[track_caller]
fn check_owners(file: &str, project: &str, task: &str) {
    assert_eq!(owners(Path::new(file)), (project.to_owned(), task.to_owned()), "{file}");
}

#[test]
fn a_path_names_its_project_and_task() {
    check_owners(&format!("/r/shop/pay/{}", layout::TASK_BUS), "shop", "pay");
    check_owners(&format!("/r/shop/{}", layout::PROJECT_BUS), "shop", "");
    check_owners(&format!("/r/shop/{}", layout::PLAIN_BUS), "", "");
    check_owners(layout::TASK_BUS, "", "");
}

#[test]
fn the_nearest_bus_is_beside_the_folder_or_above_it() {
    let root = tempfile::tempdir().unwrap();
    let inner = root.path().join("a/b");
    fs::create_dir_all(&inner).unwrap();
    let bus = root.path().join(layout::PLAIN_BUS);
    fs::write(&bus, "").unwrap();
    assert_eq!(nearest(&inner), Some(bus));
    let nearer = root.path().join("a").join(layout::PROJECT_BUS);
    fs::write(&nearer, "").unwrap();
    assert_eq!(nearest(&inner), Some(nearer));
    // A folder of that name is no bus.
    fs::create_dir(inner.join(layout::PLAIN_BUS)).unwrap();
    assert_eq!(nearest(&inner), Some(root.path().join("a").join(layout::PROJECT_BUS)));
}

#[test]
fn a_run_folder_belongs_to_its_tasks_bus() {
    let root = tempfile::tempdir().unwrap();
    let run = root.path().join(layout::RUNS).join("r1");
    fs::create_dir_all(&run).unwrap();
    assert_eq!(task_bus(&run), None);
    fs::write(run.join(layout::RUN_INFO), "").unwrap();
    // The bus need not be there yet.
    assert_eq!(nearest(&run), Some(root.path().join(layout::TASK_BUS)));
}
