//! A control for JUnit 4 and 5, which Maven and Gradle run.

use super::draft::{Draft, Namer};
use super::kind::Kind;
use super::place::Place;
use super::place::{name as name_of, text};

/// A class beside another test, in its package, of the same JUnit.
pub(super) fn draft(place: &Place<'_>, name: Namer<'_>) -> Option<Draft> {
    let beside = place.nearest(place.cwd, |file| {
        name_of(file).ends_with(".java") && text(file).contains("import org.junit.")
    })?;
    let other = text(&beside);
    let annotation = if other.contains("org.junit.jupiter") {
        "org.junit.jupiter.api.Test"
    } else {
        "org.junit.Test"
    };
    let package = other.lines().find(|line| line.trim_start().starts_with("package "));
    let raise = name(Kind::Raise);
    let class = format!("{}Test", raise.camel());
    let text = format!(
        "{}\n\npublic class {class} {{\n    @{annotation}\n    public void {}() {{\n        \
         throw new AssertionError(\"{}\");\n    }}\n}}\n",
        package.unwrap_or_default(),
        raise.snake(),
        raise.got()
    );
    Some(Draft::new(beside.with_file_name(format!("{class}.java")), text, [raise]))
}
