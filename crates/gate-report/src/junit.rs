//! JUnit XML, of any producer.
//!
//! Cases are summed; the counts in the attributes of suites and of the root are never believed. But
//! a suite that announces more tests than it holds is incomplete, and one that announces more
//! failures is an error. A failure counts wherever it stands.
//!
//! A document may have no document type and no entities of its own, and its depth is bounded: the
//! command wrote it, and gate does not trust the command.

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
    /// It failed, and was run again: it has passed only if it is marked as flaky.
    was_rerun: bool,
    is_skipped: bool,
    is_marked_flaky: bool,
}

impl Case {
    /// Status of the case. A failure outweighs everything else.
    pub(super) fn status(&self) -> Status {
        match self {
            Self { is_marked_failed: true, .. } | Self { failures: 1.., .. } => Status::Failed,
            Self { was_rerun: true, is_marked_flaky: false, .. } => Status::Failed,
            Self { is_skipped: true, .. } => Status::Skipped,
            _ => Status::Passed,
        }
    }

    /// The failure under this name: the text, below the message if the text lacks it.
    pub(super) fn failure(&self, id: Option<&str>) -> TestFailure {
        let first_line = self.message.lines().next().unwrap_or_default();
        let message = match self.text.contains(first_line) {
            true => self.text.clone(),
            false => format!("{}\n{}", self.message, self.text),
        };
        let file = (!self.file.is_empty()).then(|| self.file.clone());
        TestFailure { test: id.map(str::to_owned), message, file, line: self.line }
    }

    /// It failed before it passed.
    pub(super) fn is_flaky(&self) -> bool {
        self.is_marked_flaky && self.status() == Status::Passed
    }
}

/// Differences between the producers of reports.
pub(super) struct Dialect {
    /// Adds a case to the report.
    pub(super) add_case: fn(&Case, &mut Tally),
    /// The attribute `tests` of a suite counts the cases in it.
    pub(super) counts_cases: bool,
}

/// JUnit XML of an unknown producer.
pub(super) const ANY_DIALECT: Dialect = Dialect { add_case, counts_cases: true };

/// An open element.
enum OpenElement {
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
    let mut document = Document { dialect, tally, open_elements: Vec::new(), roots: 0 };
    // Producers on Windows write a byte order mark.
    if let Err(defect) = document.read(text.trim_start_matches('\u{feff}')) {
        document.tally.add_problem(format!("the XML report is broken: {defect}"));
        document.abandon();
    }
}

struct Document<'a> {
    dialect: &'a Dialect,
    tally: &'a mut Tally,
    /// The outermost first.
    open_elements: Vec<OpenElement>,
    roots: usize,
}

impl Document<'_> {
    fn read(&mut self, text: &str) -> Result<(), String> {
        let mut xml = Xml::from_str(text);
        loop {
            match xml.read_event().map_err(|error| error.to_string())? {
                Event::Start(element) => self.open_element(&element)?,
                Event::Empty(element) => {
                    self.open_element(&element)?;
                    self.close_element();
                }
                Event::End(_) => self.close_element(),
                Event::Text(text) => self.add_text(&text.xml10_content()),
                Event::CData(text) => self.add_text(&text.xml10_content()),
                Event::GeneralRef(name) => {
                    let character = name.resolve_char_ref().ok().flatten().map(String::from);
                    let entity = resolve_xml_entity(&name.xml10_content()).map(str::to_owned);
                    self.add_text(&character.or(entity).unwrap_or_default());
                }
                Event::DocType(_) => return Err("it has a document type".to_owned()),
                Event::Eof => break,
                _ => {}
            }
        }
        match (self.open_elements.len(), self.roots) {
            (0, 1) => Ok(()),
            (0, 0) => Err("it is empty".to_owned()),
            (0, _) => Err("it has several roots".to_owned()),
            _ => Err("it is cut off".to_owned()),
        }
    }

    fn open_element(&mut self, element: &BytesStart<'_>) -> Result<(), String> {
        if self.open_elements.len() >= MAX_DEPTH {
            return Err(format!("more than {MAX_DEPTH} elements are nested"));
        }
        let attributes = attributes(element)?;
        let name = element.local_name().into_inner().to_ascii_lowercase();
        let opened = match (name.as_str(), self.open_elements.is_empty()) {
            // The root sums up its suites, and its name is the name of no suite.
            ("testsuites", _) => OpenElement::Suite(Suite {
                name: String::new(),
                ..self.announced_suite(&attributes)
            }),
            ("testsuite", _) => OpenElement::Suite(self.announced_suite(&attributes)),
            (root, true) => return Err(format!("its root is <{root}>")),
            ("testcase", _) => OpenElement::Case(Box::new(self.begin_case(&attributes))),
            (name, _) => {
                let is_first_in_case = match self.open_elements.last() {
                    Some(OpenElement::Case(case)) => case.failures == 0,
                    _ => false,
                };
                self.take_result(name, &attributes);
                match is_first_in_case && is_failure(name) {
                    true => OpenElement::Failure(String::new()),
                    false => OpenElement::Other,
                }
            }
        };
        self.roots += usize::from(self.open_elements.is_empty());
        self.open_elements.push(opened);
        Ok(())
    }

    /// A suite with what it announces. A count that cannot be read leaves the report in doubt.
    fn announced_suite(&mut self, attributes: &Attributes) -> Suite {
        let [tests, failures, errors] = ["tests", "failures", "errors"].map(|name| {
            let count = get(attributes, name).trim();
            match count.parse() {
                Ok(number) => number,
                Err(_) if count.is_empty() => 0,
                Err(_) => {
                    let count = brief(count, 40);
                    self.tally.add_problem(format!("`{name}` of a suite is no count: `{count}`"));
                    0
                }
            }
        });
        let announced = Count { tests, failures: failures.saturating_add(errors) };
        Suite { name: get(attributes, "name").to_owned(), announced, counted: Count::default() }
    }

    /// Takes an element with a result of the case around it, or of the suite. A failure counts
    /// however deep it stands; other results have to stand in the case itself.
    fn take_result(&mut self, name: &str, attributes: &Attributes) {
        let is_directly_in_case = matches!(self.open_elements.last(), Some(OpenElement::Case(_)));
        for element in self.open_elements.iter_mut().rev() {
            match element {
                OpenElement::Case(case) if is_directly_in_case || is_failure(name) => {
                    return add_result(case, name, attributes);
                }
                OpenElement::Suite(suite) if is_failure(name) => {
                    suite.counted.failures += 1;
                    return self.tally.add_error(suite_error(attributes));
                }
                OpenElement::Other | OpenElement::Failure(_) if is_failure(name) => {}
                _ => return,
            }
        }
    }

    fn add_text(&mut self, text: &str) {
        if let Some(OpenElement::Failure(failure_text)) = self.open_elements.last_mut()
            && failure_text.len() < MAX_TEXT_BYTES
        {
            failure_text.push_str(text);
        }
    }

    fn close_element(&mut self) {
        match self.open_elements.pop() {
            Some(OpenElement::Failure(text)) => {
                if let Some(OpenElement::Case(case)) = self.open_elements.last_mut() {
                    case.text = text;
                }
            }
            Some(OpenElement::Case(case)) => self.case_ended(&case),
            Some(OpenElement::Suite(suite)) => self.suite_ended(&suite),
            _ => {}
        }
    }

    fn innermost_suite(&mut self) -> Option<&mut Suite> {
        self.open_elements.iter_mut().rev().find_map(|element| match element {
            OpenElement::Suite(suite) => Some(suite),
            _ => None,
        })
    }

    fn begin_case(&self, attributes: &Attributes) -> Case {
        let mut suites = self.open_elements.iter().rev().filter_map(|element| match element {
            OpenElement::Suite(suite) => Some(suite.name.as_str()),
            _ => None,
        });
        let results = [get(attributes, "status"), get(attributes, "result")]
            .map(|result| result.trim().to_ascii_lowercase());
        Case {
            name: get(attributes, "name").to_owned(),
            class: get(attributes, "classname").to_owned(),
            file: get(attributes, "file").to_owned(),
            line: get(attributes, "line").trim().parse().ok(),
            suite: suites.next().unwrap_or_default().to_owned(),
            is_skipped: results.iter().any(|result| SKIPPED_WORDS.contains(&result.as_str())),
            is_marked_failed: results.iter().any(|result| FAILED_WORDS.contains(&result.as_str())),
            ..Case::default()
        }
    }

    fn case_ended(&mut self, case: &Case) {
        let failures = case.failures.max(u64::from(case.status() == Status::Failed));
        if let Some(suite) = self.innermost_suite() {
            suite.counted.tests += 1;
            suite.counted.failures += failures;
        }
        (self.dialect.add_case)(case, self.tally);
    }

    fn suite_ended(&mut self, suite: &Suite) {
        let (announced, counted) = (suite.announced, suite.counted);
        if let Some(outer_suite) = self.innermost_suite() {
            outer_suite.counted.tests += counted.tests;
            outer_suite.counted.failures += counted.failures;
        }
        let name = match suite.name.as_str() {
            "" => "the report".to_owned(),
            name => format!("the suite `{name}`"),
        };
        if self.dialect.counts_cases && announced.tests > counted.tests {
            let (announced, counted) = (announced.tests, counted.tests);
            self.tally
                .add_problem(format!("{name} announces {announced} tests and holds {counted}"));
        }
        if announced.failures > counted.failures {
            let (announced, counted) = (announced.failures, counted.failures);
            self.tally
                .add_error(format!("{name} announces {announced} failures and holds {counted}"));
        }
    }

    /// Closes everything that was open when the document broke: a case that failed so far
    /// has failed.
    fn abandon(&mut self) {
        while let Some(element) = self.open_elements.pop() {
            if let OpenElement::Case(case) = element
                && case.status() == Status::Failed
            {
                (self.dialect.add_case)(&case, self.tally);
            }
        }
    }
}

type Attributes = Vec<(String, String)>;

fn attributes(element: &BytesStart<'_>) -> Result<Attributes, String> {
    let mut attributes = Vec::new();
    for attribute in element.attributes() {
        let attribute = attribute.map_err(|error| error.to_string())?;
        let value = attribute
            .normalized_value(XmlVersion::Implicit1_0)
            .map_err(|error| error.to_string())?;
        let name = attribute.key.local_name().into_inner().to_owned();
        attributes.push((name, value.into_owned()));
    }
    Ok(attributes)
}

fn get<'a>(attributes: &'a Attributes, name: &str) -> &'a str {
    attributes.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map_or("", |(_, value)| value)
}

fn is_failure(element: &str) -> bool {
    matches!(element, "failure" | "error")
}

/// Adds the result that an element says to its case.
fn add_result(case: &mut Case, element: &str, attributes: &Attributes) {
    match element {
        "failure" | "error" => {
            case.failures += 1;
            if case.message.is_empty() {
                case.message = get(attributes, "message").to_owned();
            }
        }
        "skipped" => case.is_skipped = true,
        "rerunfailure" | "rerunerror" => case.was_rerun = true,
        "flakyfailure" | "flakyerror" => case.is_marked_flaky = true,
        _ => {}
    }
}

/// An error that belongs to a suite.
fn suite_error(attributes: &Attributes) -> String {
    let texts = [get(attributes, "message"), get(attributes, "type")];
    let text = texts.into_iter().find(|text| !text.is_empty()).unwrap_or("an error of a suite");
    text.lines().next().unwrap_or_default().to_owned()
}

/// Adds a case of an unknown producer.
fn add_case(case: &Case, tally: &mut Tally) {
    let names = [&case.class, &case.suite, &case.file];
    let place = names.into_iter().find(|name| !name.is_empty()).map_or("", String::as_str);
    match (case.name.is_empty(), case.status()) {
        (true, Status::Failed) => {
            tally.add_error(format!("{place}: {}", case.message));
            tally.add_failure(case.failure(None));
        }
        (true, _) => tally.add_problem(format!("a test of `{place}` has no name")),
        // The entry that node makes of a file without tests.
        (false, Status::Passed) if case.class == "test" && file::is_script(&case.name) => {
            tally.add_problem(format!("{} ended without reporting a test", case.name));
        }
        (false, status) => {
            let id = match place {
                "" => case.name.clone(),
                place => format!("{place}::{}", case.name),
            };
            tally.add_test(&id, status);
            if status == Status::Failed {
                tally.add_failure(case.failure(Some(&id)));
            }
            if case.is_flaky() {
                tally.add_flaky(&id);
            }
        }
    }
}
