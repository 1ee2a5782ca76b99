//! A control for JUnit 4 and 5, which Maven and Gradle run.

use super::draft::Draft;
use super::place::Place;
use super::place::{name, text};

/// A class beside another test, in its package, of the same JUnit.
pub(super) fn draft(place: &Place<'_>, id: &str) -> Option<Draft> {
    let beside = place.nearest(place.cwd, |file| {
        name(file).ends_with(".java") && text(file).contains("import org.junit.")
    })?;
    let other = text(&beside);
    let annotation = if other.contains("org.junit.jupiter") {
        "org.junit.jupiter.api.Test"
    } else {
        "org.junit.Test"
    };
    let package = other.lines().find(|line| line.trim_start().starts_with("package "));
    let class = format!("{id}_Test");
    let text = format!(
        "{}\n\npublic class {class} {{\n    @{annotation}\n    public void {id}() {{\n        \
         throw new AssertionError(\"gate's control has to fail\");\n    }}\n}}\n",
        package.unwrap_or_default()
    );
    Some(Draft { file: beside.with_file_name(format!("{class}.java")), text })
}
