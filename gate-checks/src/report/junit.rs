//! JUnit XML, of any producer.
//!
//! Cases are summed; what the attributes of suites and of the root say is
//! never believed, but a suite that announces more than it holds is
//! incomplete. No document type, no entities of its own, bounded depth.

use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader as Xml;

use super::{Status, Tally, file};

/// How deep elements may be nested.
const DEEPEST: usize = 64;

/// One `<testcase>`.
#[derive(Debug, Default)]
pub(super) struct Case {
    pub(super) name: String,
    pub(super) class: String,
    pub(super) file: String,
    /// The suite that it stands in.
    pub(super) suite: String,
    /// The first message of a failure or an error.
    pub(super) message: String,
    failed: bool,
    rerun: bool,
    skipped: bool,
    flaky: bool,
}

impl Case {
    /// What came of it. A failure outweighs whatever else is said.
    pub(super) fn status(&self) -> Status {
        match self {
            Self { failed: true, .. } => Status::Failed,
            Self { rerun: true, flaky: false, .. } => Status::Failed,
            Self { skipped: true, .. } => Status::Skipped,
            _ => Status::Passed,
        }
    }

    /// Whether it failed before it passed.
    pub(super) fn is_flaky(&self) -> bool {
        self.flaky && self.status() == Status::Passed
    }
}

/// How a producer's reports are understood.
pub(super) struct Dialect {
    /// Takes a case over.
    pub(super) tell: fn(&Case, &mut Tally),
    /// Whether a suite's `tests` counts its cases.
    pub(super) announces: bool,
}

/// JUnit XML of an unknown producer.
pub(super) const ANY: Dialect = Dialect { tell, announces: true };

/// An open element.
enum Open {
    Root,
    Suite { name: String, announced: u64, held: u64 },
    Case(Box<Case>),
    Other,
}

/// Reads one document.
pub(super) fn parse(text: &str, dialect: &Dialect, tally: &mut Tally) {
    let mut document = Document { dialect, tally, open: Vec::new(), roots: 0 };
    if let Err(what) = document.read(text.trim_start_matches('\u{feff}')) {
        document.tally.problem(format!("the XML report is broken: {what}"));
        document.abandon();
    }
}

struct Document<'a> {
    dialect: &'a Dialect,
    tally: &'a mut Tally,
    open: Vec<Open>,
    roots: usize,
}

impl Document<'_> {
    fn read(&mut self, text: &str) -> Result<(), String> {
        let mut xml = Xml::from_str(text);
        loop {
            match xml.read_event().map_err(|error| error.to_string())? {
                Event::Start(element) => self.start(&element)?,
                Event::Empty(element) => {
                    self.start(&element)?;
                    self.end();
                }
                Event::End(_) => self.end(),
                Event::DocType(_) => return Err("it has a document type".to_owned()),
                Event::Eof => break,
                _ => {}
            }
        }
        match (self.open.len(), self.roots) {
            (0, 1) => Ok(()),
            (0, 0) => Err("it is empty".to_owned()),
            (0, _) => Err("it has several roots".to_owned()),
            _ => Err("it is cut off".to_owned()),
        }
    }

    fn start(&mut self, element: &BytesStart<'_>) -> Result<(), String> {
        if self.open.len() >= DEEPEST {
            return Err(format!("more than {DEEPEST} elements are nested"));
        }
        let attributes = attributes(element)?;
        let name = element.local_name().into_inner().to_owned();
        let opened = match (name.as_str(), self.open.last_mut()) {
            ("testsuites", None) => Open::Root,
            ("testsuite", None | Some(Open::Root | Open::Suite { .. })) => suite(&attributes),
            (other, None) => return Err(format!("its root is <{other}>")),
            ("testcase", Some(Open::Root | Open::Suite { .. })) => {
                Open::Case(Box::new(self.case(&attributes)))
            }
            (inner, Some(Open::Case(case))) => {
                part(case, inner, &attributes);
                Open::Other
            }
            ("error" | "failure", Some(Open::Root | Open::Suite { .. })) => {
                self.tally.error(outside(&attributes));
                Open::Other
            }
            _ => Open::Other,
        };
        self.roots += usize::from(self.open.is_empty());
        self.open.push(opened);
        Ok(())
    }

    fn end(&mut self) {
        match self.open.pop() {
            Some(Open::Case(case)) => self.case_ended(&case),
            Some(Open::Suite { name, announced, held }) => self.suite_ended(&name, announced, held),
            _ => {}
        }
    }

    fn case(&self, attributes: &Attributes) -> Case {
        let mut suites = self.open.iter().rev().filter_map(|open| match open {
            Open::Suite { name, .. } => Some(name.as_str()),
            _ => None,
        });
        let idle = ["notrun", "disabled", "skipped", "ignored", "suppressed"];
        let said = [get(attributes, "status"), get(attributes, "result")];
        Case {
            name: get(attributes, "name").to_owned(),
            class: get(attributes, "classname").to_owned(),
            file: get(attributes, "file").to_owned(),
            suite: suites.next().unwrap_or_default().to_owned(),
            skipped: said.iter().any(|said| idle.contains(&said.to_ascii_lowercase().as_str())),
            ..Case::default()
        }
    }

    fn case_ended(&mut self, case: &Case) {
        if let Some(Open::Suite { held, .. }) = self.open.last_mut() {
            *held += 1;
        }
        (self.dialect.tell)(case, self.tally);
    }

    fn suite_ended(&mut self, name: &str, announced: u64, held: u64) {
        if let Some(Open::Suite { held: outer, .. }) = self.open.last_mut() {
            *outer += held;
        }
        if self.dialect.announces && announced > held {
            let what = format!("the suite `{name}` announces {announced} tests and holds {held}");
            self.tally.problem(what);
        }
    }

    /// What stood open when the document broke: a case that failed so far
    /// has failed.
    fn abandon(&mut self) {
        while let Some(open) = self.open.pop() {
            match open {
                Open::Case(case) if case.failed => (self.dialect.tell)(&case, self.tally),
                _ => {}
            }
        }
    }
}

type Attributes = Vec<(String, String)>;

fn attributes(element: &BytesStart<'_>) -> Result<Attributes, String> {
    let pair = |attribute: Result<quick_xml::events::attributes::Attribute<'_>, _>| {
        let attribute = attribute.map_err(|error| format!("{error}"))?;
        let value = attribute.normalized_value(XmlVersion::Implicit1_0);
        let value = value.map_err(|error| format!("{error}"))?;
        Ok((attribute.key.local_name().into_inner().to_owned(), value.into_owned()))
    };
    element.attributes().map(pair).collect()
}

fn get<'a>(attributes: &'a Attributes, name: &str) -> &'a str {
    attributes.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value)
}

fn suite(attributes: &Attributes) -> Open {
    Open::Suite {
        name: get(attributes, "name").to_owned(),
        announced: get(attributes, "tests").trim().parse().unwrap_or(0),
        held: 0,
    }
}

/// What an element inside of a case says about it.
fn part(case: &mut Case, element: &str, attributes: &Attributes) {
    match element {
        "failure" | "error" => {
            case.failed = true;
            if case.message.is_empty() {
                case.message = get(attributes, "message").to_owned();
            }
        }
        "skipped" => case.skipped = true,
        "rerunFailure" | "rerunError" => case.rerun = true,
        "flakyFailure" | "flakyError" => case.flaky = true,
        _ => {}
    }
}

/// An error that belongs to a suite.
fn outside(attributes: &Attributes) -> String {
    let said = [get(attributes, "message"), get(attributes, "type")];
    let said = said.into_iter().find(|it| !it.is_empty()).unwrap_or("an error of a suite");
    said.lines().next().unwrap_or_default().to_owned()
}

/// Takes over a case of an unknown producer.
fn tell(case: &Case, tally: &mut Tally) {
    let place = [&case.class, &case.suite, &case.file].into_iter().find(|it| !it.is_empty());
    let place = place.map_or("", String::as_str);
    match (case.name.is_empty(), case.status()) {
        (true, Status::Failed) => tally.error(format!("{place}: {}", case.message)),
        (true, _) => tally.problem(format!("a test of `{place}` has no name")),
        (false, Status::Passed) if case.class == "test" && file::is_script(&case.name) => {
            tally.problem(format!("{} ended without reporting a test", case.name));
        }
        (false, status) => {
            let id = match place {
                "" => case.name.clone(),
                place => format!("{place}::{}", case.name),
            };
            tally.test(&id, status);
            if case.is_flaky() {
                tally.flaky(&id);
            }
        }
    }
}
