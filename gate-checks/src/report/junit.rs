//! JUnit XML, of any producer.
//!
//! Cases are summed; the counts in the attributes of suites and of the root are never believed. But
//! a suite that announces more tests than it holds is incomplete, and one that announces more
//! failures is an error. A failure counts wherever it stands. No document type, no entities of its
//! own, bounded depth.

use gate_core::decide::test_failure::TestFailure;
use gate_core::text::brief;
use quick_xml::XmlVersion;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader as Xml;

use super::{Status, Tally, file};

/// Deepest nesting of elements.
const MAX_DEPTH: usize = 64;

/// Most bytes of a failure's text; the text of one event may exceed them.
const MAX_TEXT_BYTES: usize = 64 << 10;

/// Attribute values of a case that was not executed.
const SKIPPED_WORDS: &[&str] = &["notrun", "disabled", "skipped", "ignored", "suppressed"];

/// Attribute values of a case that failed.
const FAILED_WORDS: &[&str] =
    &["fail", "failed", "failure", "error", "errored", "broken", "aborted"];

/// One `<testcase>`.
#[derive(Debug, Default)]
pub(super) struct Case {
    pub(super) name: String,
    pub(super) class: String,
    pub(super) file: String,
    /// The suite that it stands in.
    pub(super) suite: String,
    /// The line where the test begins, if the producer says so.
    pub(super) line: Option<u64>,
    /// The first message of a failure or an error.
    pub(super) message: String,
    /// The text of the first failure or error.
    pub(super) text: String,
    /// An attribute marks it as failed.
    is_marked_failed: bool,
    /// Failures and errors in it.
    failures: u64,
    rerun: bool,
    skipped: bool,
    flaky: bool,
}

impl Case {
    /// Status of the case. A failure outweighs everything else.
    pub(super) fn status(&self) -> Status {
        match self {
            Self { is_marked_failed: true, .. } | Self { failures: 1.., .. } => Status::Failed,
            Self { rerun: true, flaky: false, .. } => Status::Failed,
            Self { skipped: true, .. } => Status::Skipped,
            _ => Status::Passed,
        }
    }

    /// The failure under this name: the text, below the message if the text lacks it.
    pub(super) fn failure(&self, id: Option<&str>) -> TestFailure {
        let first = self.message.lines().next().unwrap_or_default();
        let message = match self.text.contains(first) {
            true => self.text.clone(),
            false => format!("{}\n{}", self.message, self.text),
        };
        let file = (!self.file.is_empty()).then(|| self.file.clone());
        TestFailure { test: id.map(str::to_owned), message, file, line: self.line }
    }

    /// True if it failed before it passed.
    pub(super) fn is_flaky(&self) -> bool {
        self.flaky && self.status() == Status::Passed
    }
}

/// Differences between the producers of reports.
pub(super) struct Dialect {
    /// Adds a case to the report.
    pub(super) add_case: fn(&Case, &mut Tally),
    /// A suite's `tests` counts its cases.
    pub(super) announces: bool,
}

/// JUnit XML of an unknown producer.
pub(super) const ANY: Dialect = Dialect { add_case, announces: true };

/// An open element.
enum Open {
    Suite(Suite),
    Case(Box<Case>),
    /// The first failure of a case: its text is being read.
    Failure(String),
    Other,
}

/// A suite, or the root around suites, which has no name.
#[derive(Default)]
struct Suite {
    name: String,
    announced: Count,
    counted: Count,
}

/// Numbers of tests, and of failures and errors.
#[derive(Clone, Copy, Default)]
struct Count {
    tests: u64,
    failures: u64,
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
                Event::Text(text) => self.text(&text.xml10_content()),
                Event::CData(text) => self.text(&text.xml10_content()),
                Event::GeneralRef(name) => {
                    let character = name.resolve_char_ref().ok().flatten().map(String::from);
                    let known = resolve_xml_entity(&name.xml10_content()).map(str::to_owned);
                    self.text(&character.or(known).unwrap_or_default());
                }
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
        if self.open.len() >= MAX_DEPTH {
            return Err(format!("more than {MAX_DEPTH} elements are nested"));
        }
        let attributes = attributes(element)?;
        let name = element.local_name().into_inner().to_ascii_lowercase();
        let opened = match (name.as_str(), self.open.is_empty()) {
            ("testsuites", _) => {
                Open::Suite(Suite { name: String::new(), ..self.announced(&attributes) })
            }
            ("testsuite", _) => Open::Suite(self.announced(&attributes)),
            (other, true) => return Err(format!("its root is <{other}>")),
            ("testcase", _) => Open::Case(Box::new(self.case(&attributes))),
            (inner, _) => {
                let is_first =
                    matches!(self.open.last(), Some(Open::Case(case)) if case.failures == 0);
                self.part(inner, &attributes);
                match is_first && matches!(inner, "failure" | "error") {
                    true => Open::Failure(String::new()),
                    false => Open::Other,
                }
            }
        };
        self.roots += usize::from(self.open.is_empty());
        self.open.push(opened);
        Ok(())
    }

    /// A suite with what it announces. A count that cannot be read leaves the report in doubt.
    fn announced(&mut self, attributes: &Attributes) -> Suite {
        let [tests, failures, errors] = ["tests", "failures", "errors"].map(|name| {
            let count = get(attributes, name).trim();
            match count.parse() {
                Ok(number) => number,
                Err(_) if count.is_empty() => 0,
                Err(_) => {
                    let count = brief(count, 40);
                    self.tally.problem(format!("`{name}` of a suite is no count: `{count}`"));
                    0
                }
            }
        });
        let announced = Count { tests, failures: failures.saturating_add(errors) };
        Suite { name: get(attributes, "name").to_owned(), announced, counted: Count::default() }
    }

    /// An element with a result of the case around it, or of the suite.
    fn part(&mut self, element: &str, attributes: &Attributes) {
        let is_failure = matches!(element, "failure" | "error");
        let inside = matches!(self.open.last(), Some(Open::Case(_)));
        for open in self.open.iter_mut().rev() {
            match open {
                Open::Case(case) if inside || is_failure => return part(case, element, attributes),
                Open::Suite(suite) if is_failure => {
                    suite.counted.failures += 1;
                    return self.tally.error(outside(attributes));
                }
                Open::Other | Open::Failure(_) if is_failure => {}
                _ => return,
            }
        }
    }

    fn text(&mut self, text: &str) {
        if let Some(Open::Failure(known)) = self.open.last_mut()
            && known.len() < MAX_TEXT_BYTES
        {
            known.push_str(text);
        }
    }

    fn end(&mut self) {
        match self.open.pop() {
            Some(Open::Failure(text)) => {
                if let Some(Open::Case(case)) = self.open.last_mut() {
                    case.text = text;
                }
            }
            Some(Open::Case(case)) => self.case_ended(&case),
            Some(Open::Suite(suite)) => self.suite_ended(&suite),
            _ => {}
        }
    }

    /// The suite that is being read.
    fn suite(&mut self) -> Option<&mut Suite> {
        self.open.iter_mut().rev().find_map(|open| match open {
            Open::Suite(suite) => Some(suite),
            _ => None,
        })
    }

    fn case(&self, attributes: &Attributes) -> Case {
        let mut suites = self.open.iter().rev().filter_map(|open| match open {
            Open::Suite(suite) => Some(suite.name.as_str()),
            _ => None,
        });
        let results = [get(attributes, "status"), get(attributes, "result")];
        let results = results.map(|result| result.trim().to_ascii_lowercase());
        Case {
            name: get(attributes, "name").to_owned(),
            class: get(attributes, "classname").to_owned(),
            file: get(attributes, "file").to_owned(),
            line: get(attributes, "line").trim().parse().ok(),
            suite: suites.next().unwrap_or_default().to_owned(),
            skipped: results.iter().any(|result| SKIPPED_WORDS.contains(&result.as_str())),
            is_marked_failed: results.iter().any(|result| FAILED_WORDS.contains(&result.as_str())),
            ..Case::default()
        }
    }

    fn case_ended(&mut self, case: &Case) {
        let failures = case.failures.max(u64::from(case.status() == Status::Failed));
        if let Some(suite) = self.suite() {
            suite.counted.tests += 1;
            suite.counted.failures += failures;
        }
        (self.dialect.add_case)(case, self.tally);
    }

    fn suite_ended(&mut self, suite: &Suite) {
        let (announced, counted) = (suite.announced, suite.counted);
        if let Some(outer) = self.suite() {
            outer.counted.tests += counted.tests;
            outer.counted.failures += counted.failures;
        }
        let name = match suite.name.as_str() {
            "" => "the report".to_owned(),
            name => format!("the suite `{name}`"),
        };
        if self.dialect.announces && announced.tests > counted.tests {
            let (announced, counted) = (announced.tests, counted.tests);
            self.tally.problem(format!("{name} announces {announced} tests and holds {counted}"));
        }
        if announced.failures > counted.failures {
            let (announced, counted) = (announced.failures, counted.failures);
            self.tally.error(format!("{name} announces {announced} failures and holds {counted}"));
        }
    }

    /// Closes everything that was open when the document broke: a case that failed so far
    /// has failed.
    fn abandon(&mut self) {
        while let Some(open) = self.open.pop() {
            match open {
                Open::Case(case) if case.status() == Status::Failed => {
                    (self.dialect.add_case)(&case, self.tally);
                }
                _ => {}
            }
        }
    }
}

type Attributes = Vec<(String, String)>;

fn attributes(element: &BytesStart<'_>) -> Result<Attributes, String> {
    let mut attributes = Vec::new();
    for attribute in element.attributes() {
        let attribute = attribute.map_err(|error| error.to_string())?;
        let value = attribute.normalized_value(XmlVersion::Implicit1_0);
        let value = value.map_err(|error| error.to_string())?;
        let name = attribute.key.local_name().into_inner().to_owned();
        attributes.push((name, value.into_owned()));
    }
    Ok(attributes)
}

fn get<'a>(attributes: &'a Attributes, name: &str) -> &'a str {
    attributes.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map_or("", |(_, value)| value)
}

/// Takes an element inside of a case.
fn part(case: &mut Case, element: &str, attributes: &Attributes) {
    match element {
        "failure" | "error" => {
            case.failures += 1;
            if case.message.is_empty() {
                case.message = get(attributes, "message").to_owned();
            }
        }
        "skipped" => case.skipped = true,
        "rerunfailure" | "rerunerror" => case.rerun = true,
        "flakyfailure" | "flakyerror" => case.flaky = true,
        _ => {}
    }
}

/// An error that belongs to a suite.
fn outside(attributes: &Attributes) -> String {
    let texts = [get(attributes, "message"), get(attributes, "type")];
    let text = texts.into_iter().find(|text| !text.is_empty()).unwrap_or("an error of a suite");
    text.lines().next().unwrap_or_default().to_owned()
}

/// Adds a case of an unknown producer.
fn add_case(case: &Case, tally: &mut Tally) {
    let place = [&case.class, &case.suite, &case.file].into_iter().find(|name| !name.is_empty());
    let place = place.map_or("", String::as_str);
    match (case.name.is_empty(), case.status()) {
        (true, Status::Failed) => {
            tally.error(format!("{place}: {}", case.message));
            tally.failure(case.failure(None));
        }
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
            if status == Status::Failed {
                tally.failure(case.failure(Some(&id)));
            }
            if case.is_flaky() {
                tally.flaky(&id);
            }
        }
    }
}
