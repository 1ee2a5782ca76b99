//! prd.json: stories, each with `passes`, and whatever else in it has `passes`.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::nested;
use super::plan::{Item, Lines, Plan, PlanError, Verify};

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

/// Reads a document, or an array of stories. A story that does not say whether it passes is open;
/// if none does, this is another format.
pub(super) fn read(text: &str, file: &str) -> Result<Plan, PlanError> {
    let broken = |expected, at: usize, error: &serde_json::Error| PlanError::Broken {
        file: file.to_owned(),
        line: at + error.line().saturating_sub(1),
        expected,
        why: message(error),
    };
    let stories = stories(text).map_err(|error| broken("JSON with stories", 1, &error))?;
    let (mut items, mut lines) = (Vec::new(), Lines::new(text));
    let (mut judged, mut by_ids) = (false, false);
    for raw in &stories {
        let line = lines.at(raw.get().as_ptr().addr() - text.as_ptr().addr());
        let story: Story = serde_json::from_str(raw.get())
            .map_err(|error| broken("a story with `passes`", line, &error))?;
        judged |= story.passes.is_some();
        by_ids |= story.id.is_some();
        items.push(Item {
            line,
            done: story.passes == Some(true),
            text: story.text(),
            verify: story.verify,
            ..Item::default()
        });
    }
    let inner = nested::judged(text).map_err(|error| broken("JSON with stories", 1, &error))?;
    let Some(inner) = inner else {
        return Err(PlanError::Broken {
            file: file.to_owned(),
            line: 1,
            expected: "JSON with stories",
            why: "it is nested too deep".to_owned(),
        });
    };
    for inner in inner {
        // The stories are known already.
        if stories.iter().any(|story| std::ptr::eq(story.get(), inner.raw.get())) {
            continue;
        }
        judged = true;
        items.push(Item {
            line: lines.at(inner.raw.get().as_ptr().addr() - text.as_ptr().addr()),
            done: inner.done,
            text: inner.text,
            within: inner.within,
            ..Item::default()
        });
    }
    items.sort_by_key(|item| item.line);
    if !judged {
        let expected = "story with `passes`";
        return Err(PlanError::Empty { file: file.to_owned(), expected });
    }
    Ok(Plan { format: "prd", items, by_ids })
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
    /// The id, then what it is about.
    fn text(&self) -> String {
        let id = match &self.id {
            Some(Value::String(id)) => id.clone(),
            Some(Value::Number(id)) => id.to_string(),
            _ => String::new(),
        };
        let title = self.title.as_ref().or(self.name.as_ref()).or(self.description.as_ref());
        let title = title.and_then(|title| title.lines().next()).unwrap_or_default();
        format!("{id} {title}").trim().to_owned()
    }
}

/// The message without its place, which is reported apart.
fn message(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(message, _)| message.to_owned())
}
