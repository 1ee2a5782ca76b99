//! From YAML to nodes.

use saphyr_parser::{Event, Parser, ScalarStyle, Span, StrInput};

use crate::tree::{Entry, Node, Scalar};

/// The deepest nesting that is read.
const MAX_DEPTH: usize = 32;

/// The longest document that is read, in bytes.
const MAX_BYTES: usize = 256 << 10;

/// The most keys that a mapping has: each is compared with those before it.
const MAX_KEYS: usize = 1000;

/// YAML that cannot be read.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {fault}")]
pub struct YamlError {
    /// The line, from 1.
    pub line: usize,
    /// The fault, in words.
    pub fault: String,
}

/// Reads one document that is a mapping; an empty one is an empty mapping.
///
/// # Errors
///
/// Any other document, a key that is there twice, an alias.
pub(crate) fn mapping(text: &str) -> Result<Vec<Entry>, YamlError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.len() > MAX_BYTES {
        return Err(YamlError { line: 1, fault: "it is longer than 256 KiB".to_owned() });
    }
    let mut reader = Reader { events: Parser::new_from_str(text) };
    let mut document = None;
    loop {
        let (event, span) = reader.next()?;
        match event {
            Event::StreamEnd => break,
            Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd | Event::Nothing => {}
            _ if document.is_some() => return Err(fault_at(span, "a second document")),
            event => document = Some((reader.node(event, span, 0)?, span)),
        }
    }
    match document {
        None => Ok(Vec::new()),
        Some((Node::Map(entries), _)) => Ok(entries),
        Some((node, _)) if node.is_empty() => Ok(Vec::new()),
        Some((_, span)) => Err(fault_at(span, "a mapping of keys to values is expected")),
    }
}

struct Reader<'a> {
    events: Parser<'a, StrInput<'a>>,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span), YamlError> {
        match self.events.next() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => {
                Err(YamlError { line: error.marker().line(), fault: error.info().to_owned() })
            }
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Node, YamlError> {
        if depth > MAX_DEPTH {
            return Err(fault_at(span, "it is nested too deep"));
        }
        match event {
            Event::Scalar(text, style, _, _) => {
                let quoted = style != ScalarStyle::Plain;
                Ok(Node::Scalar(Scalar { text: text.into_owned(), quoted }))
            }
            Event::SequenceStart(..) => self.list(depth),
            Event::MappingStart(..) => self.map(depth),
            Event::Alias(_) => Err(fault_at(span, "an alias, which is not read here")),
            _ => Err(fault_at(span, "a value is expected")),
        }
    }

    fn list(&mut self, depth: usize) -> Result<Node, YamlError> {
        let mut nodes = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(Node::List(nodes)),
                (event, span) => nodes.push(self.node(event, span, depth + 1)?),
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Node, YamlError> {
        let mut entries: Vec<Entry> = Vec::new();
        loop {
            let (event, span) = self.next()?;
            if event == Event::MappingEnd {
                return Ok(Node::Map(entries));
            }
            let Event::Scalar(key, ..) = event else {
                return Err(fault_at(span, "a key is expected"));
            };
            if entries.len() == MAX_KEYS {
                return Err(fault_at(span, "it has more than 1000 keys"));
            }
            if entries.iter().any(|entry| entry.key == key) {
                return Err(fault_at(span, &format!("{key} is there twice")));
            }
            let (event, value_span) = self.next()?;
            let value = self.node(event, value_span, depth + 1)?;
            entries.push(Entry { key: key.into_owned(), line: span.start.line(), value });
        }
    }
}

fn fault_at(span: Span, fault: &str) -> YamlError {
    YamlError { line: span.start.line().max(1), fault: fault.to_owned() }
}
