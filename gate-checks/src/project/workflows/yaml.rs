//! YAML as far as files of CI use it.

use saphyr_parser::{Event, Parser, StrInput};

/// The deepest nesting that is read.
const MAX_DEPTH: usize = 64;

/// A value. An alias is an empty text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    Text(String),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

impl Node {
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        match self {
            Self::Map(entries) => {
                entries.iter().find(|(own, _)| own == key).map(|(_, value)| value)
            }
            _ => None,
        }
    }
}

/// Reads the first document; an empty one is an empty text.
///
/// # Errors
///
/// The line and the fault, in words.
pub(super) fn read(text: &str) -> Result<Node, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut events = Events(Parser::new_from_str(text));
    loop {
        match events.next()? {
            Event::StreamStart | Event::DocumentStart(_) | Event::Nothing => {}
            event => return events.node(event, 0),
        }
    }
}

struct Events<'t>(Parser<'t, StrInput<'t>>);

impl<'t> Events<'t> {
    fn next(&mut self) -> Result<Event<'t>, String> {
        self.0.next().map_or(Ok(Event::StreamEnd), |next| {
            next.map(|(event, _)| event)
                .map_err(|error| format!("line {}: {}", error.marker().line(), error.info()))
        })
    }

    fn node(&mut self, event: Event<'t>, depth: usize) -> Result<Node, String> {
        if depth > MAX_DEPTH {
            return Err("it is nested too deep".to_owned());
        }
        match event {
            Event::Scalar(text, ..) => Ok(Node::Text(text.into_owned())),
            Event::SequenceStart(..) => {
                let mut items = Vec::new();
                loop {
                    match self.next()? {
                        Event::SequenceEnd => return Ok(Node::List(items)),
                        event => items.push(self.node(event, depth + 1)?),
                    }
                }
            }
            Event::MappingStart(..) => {
                let mut entries = Vec::new();
                loop {
                    let key = match self.next()? {
                        Event::MappingEnd => return Ok(Node::Map(entries)),
                        event => self.node(event, depth + 1)?,
                    };
                    let event = self.next()?;
                    let value = self.node(event, depth + 1)?;
                    entries.push((key.text().unwrap_or_default().to_owned(), value));
                }
            }
            _ => Ok(Node::Text(String::new())),
        }
    }
}
