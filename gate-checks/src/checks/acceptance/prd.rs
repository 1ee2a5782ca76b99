//! prd.json: stories, each with `passes`, and whatever else in it has `passes`.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::nested;
use super::plan::{Item, LineCounter, Plan, PlanError, Verify};

/// A document: the stories under one of their usual names.
#[derive(Deserialize)]
struct Document<'a> {
    #[serde(borrow)]
    stories: Option<Vec<&'a RawValue>>,
    #[serde(borrow, rename = "userStories")]
    user_stories: Option<Vec<&'a RawValue>>,
    #[serde(borrow, rename = "user_stories")]
    snake_stories: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    features: Option<Vec<&'a RawValue>>,
}

/// A story. A key that stands there twice is an error.
#[derive(Deserialize)]
struct Story {
    id: Option<Value>,
    title: Option<String>,
    name: Option<String>,
    description: Option<String>,
    passes: Option<bool>,
    verify: Option<Verify>,
}

/// Reads a document, or an array of stories. A story without `passes` is open; if all are without,
/// this is another format.
pub(super) fn read(text: &str, file: &str) -> Result<Plan, PlanError> {
    let broken = |expected, first_line: usize, error: &serde_json::Error| PlanError::Broken {
        file: file.to_owned(),
        line: first_line + error.line().saturating_sub(1),
        expected,
        cause: message(error),
    };
    // A raw value is a part of the text, and its address tells its offset.
    let offset = |raw: &RawValue| raw.get().as_ptr().addr() - text.as_ptr().addr();
    let stories = stories(text).map_err(|error| broken("JSON with stories", 1, &error))?;
    let (mut items, mut lines) = (Vec::new(), LineCounter::new(text));
    let (mut has_passes, mut has_ids) = (false, false);
    for raw in &stories {
        let line = lines.line_at(offset(raw));
        let story: Story = serde_json::from_str(raw.get())
            .map_err(|error| broken("a story with `passes`", line, &error))?;
        has_passes |= story.passes.is_some();
        has_ids |= story.id.is_some();
        items.push(Item {
            line,
            done: story.passes == Some(true),
            text: story.text(),
            verify: story.verify,
            ..Item::default()
        });
    }
    let all_stories =
        nested::stories(text).map_err(|error| broken("JSON with stories", 1, &error))?;
    let Some(all_stories) = all_stories else {
        return Err(PlanError::Broken {
            file: file.to_owned(),
            line: 1,
            expected: "JSON with stories",
            cause: "it is nested too deep".to_owned(),
        });
    };
    for nested in all_stories {
        let is_listed = stories.iter().any(|story| std::ptr::eq(story.get(), nested.raw.get()));
        if is_listed {
            continue;
        }
        has_passes = true;
        items.push(Item {
            line: lines.line_at(offset(nested.raw)),
            done: nested.done,
            text: nested.text,
            within: nested.within,
            ..Item::default()
        });
    }
    items.sort_by_key(|item| item.line);
    if !has_passes {
        let expected = "story with `passes`";
        return Err(PlanError::Empty { file: file.to_owned(), expected });
    }
    Ok(Plan { format: "prd", items, has_ids })
}

fn stories(text: &str) -> serde_json::Result<Vec<&RawValue>> {
    if text.trim_start().starts_with('[') {
        return serde_json::from_str(text);
    }
    let document: Document<'_> = serde_json::from_str(text)?;
    let lists =
        [document.stories, document.user_stories, document.snake_stories, document.features];
    Ok(lists.into_iter().flatten().flatten().collect())
}

impl Story {
    /// The id, then the title.
    fn text(&self) -> String {
        let id = match &self.id {
            Some(Value::String(id)) => id.clone(),
            Some(Value::Number(id)) => id.to_string(),
            _ => String::new(),
        };
        let title = self.title.as_ref().or(self.name.as_ref()).or(self.description.as_ref());
        let first_line = title.and_then(|title| title.lines().next()).unwrap_or_default();
        format!("{id} {first_line}").trim().to_owned()
    }
}

/// The message without its place, which is reported apart.
fn message(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(message, _)| message.to_owned())
}
