//! Methods in Python that are meant to be overridden, so that they may raise NotImplementedError.

use super::lexer::{Part, View};
use crate::decide::expression::Expression;

/// A class, and the methods in which it does something.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Class {
    name: String,
    bases: Vec<String>,
    methods: Vec<String>,
}

/// A method, by its class.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Method {
    class: String,
    name: String,
}

/// A line in a method or class that is abstract by its own words, or in a function that works on other
/// platforms.
pub(super) fn is_abstract(view: &View<'_>, line: usize) -> bool {
    static ABSTRACT: Expression = Expression::new(
        r"^\s*class\s+(?:\w*(?-i:Base|Abstract|Mixin|Interface|Protocol)\w*|\w+\(.*\b(?-i:ABC|ABCMeta|Protocol)\b)",
    );
    static PLATFORM: Expression = Expression::new(
        r"^\s*(?:if|elif|match)\b.*\b(?:sys\.platform|os\.name|platform\.(?:system|machine)\()",
    );
    let Some(function) = head_above(view, line, "def") else { return false };
    let marks = (0..function).rev().map(|at| view.part(at, Part::Code));
    let mut marks = marks.take_while(|text| text.trim_start().starts_with('@'));
    let class = head_above(view, function, "class");
    marks.any(|mark| mark.contains("abstract"))
        || class.is_some_and(|class| ABSTRACT.is_match(&view.part(class, Part::Code)))
        || (function..line).any(|at| PLATFORM.is_match(&view.part(at, Part::Code)))
}

/// The method that a line belongs to.
pub(super) fn method_at(view: &View<'_>, line: usize) -> Option<Method> {
    let function = head_above(view, line, "def")?;
    let class = head_above(view, function, "class")?;
    let [class, name] = [(class, "class"), (function, "def")]
        .map(|(at, word)| name_after(&view.part(at, Part::Code), word));
    Some(Method { class: class?, name: name? })
}

/// A class that derives from the method's class has a method of its own in its place.
pub(super) fn is_overridden(method: &Method, classes: &[Class]) -> bool {
    let mut family = vec![method.class.as_str()];
    let mut at = 0;
    while let Some(base) = family.get(at).copied() {
        let derived = classes.iter().filter(|class| class.bases.iter().any(|name| name == base));
        for class in derived {
            if class.methods.contains(&method.name) {
                return true;
            }
            if !family.contains(&class.name.as_str()) {
                family.push(&class.name);
            }
        }
        at += 1;
    }
    false
}

/// The classes of a file.
pub(super) fn classes(view: &View<'_>) -> Vec<Class> {
    let mut classes: Vec<Class> = Vec::new();
    for line in 0..view.len() {
        let code = view.part(line, Part::Code);
        if let Some(name) = name_after(&code, "class") {
            let bases = code.split_once('(').map_or("", |(_, rest)| rest);
            let bases = bases.split([',', ')']).filter_map(|base| {
                let path = base.split('[').next().unwrap_or(base).trim();
                path.rsplit('.').next().map(str::to_owned)
            });
            classes.push(Class { name, bases: bases.collect(), methods: Vec::new() });
        } else if let Some(name) = name_after(&code, "def")
            && does_something(view, line)
            && let Some(own) = head_above(view, line, "class")
            && let Some(own) = name_after(&view.part(own, Part::Code), "class")
            && let Some(class) = classes.iter_mut().rfind(|class| class.name == own)
        {
            class.methods.push(name);
        }
    }
    classes
}

/// The nearest line that begins a class or a function around this one, or is one itself; for a
/// function, it has to be the class's own.
fn head_above(view: &View<'_>, line: usize, word: &str) -> Option<usize> {
    let mut inner = usize::MAX;
    for at in (0..=line).rev() {
        let code = view.part(at, Part::Code);
        if code.trim().is_empty() || width(&code) >= inner {
            continue;
        }
        inner = width(&code);
        if name_after(&code, word).is_some() {
            return Some(at);
        }
        if word == "class" && at < line && name_after(&code, "def").is_some() {
            return None;
        }
    }
    None
}

/// The name of a class or function whose definition a line begins.
fn name_after(code: &str, word: &str) -> Option<String> {
    let line = code.trim_start();
    let line = line.strip_prefix("async ").unwrap_or(line).trim_start();
    let rest = line.strip_prefix(word)?.strip_prefix([' ', '\t'])?.trim_start();
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    Some(rest[..end].to_owned())
}

/// The body of the function that begins here is more than a placeholder.
fn does_something(view: &View<'_>, line: usize) -> bool {
    let head = view.part(line, Part::Code);
    let own = head.rsplit_once(':').map_or("", |(_, rest)| rest).to_owned();
    let body = (line + 1..view.len()).map(|at| view.part(at, Part::Code));
    let body = body.take_while(|code| code.trim().is_empty() || width(code) > width(&head));
    [own].into_iter().chain(body).any(|code| {
        let code = code.trim();
        let is_text = code.chars().all(|c| matches!(c, '"' | '\'' | ' '));
        let is_placeholder = matches!(code, "pass" | "...")
            || ["raise NotImplementedError", "return super()", "super()."]
                .iter()
                .any(|start| code.starts_with(start));
        !is_text && !is_placeholder
    })
}

fn width(code: &str) -> usize {
    code.len() - code.trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::super::language::Language;
    use super::*;

    const RAISE: &str = "raise NotImplementedError";

    #[track_caller]
    fn check(text: &str, is_fine: bool) {
        let view = View::new(text, Some(Language::Python));
        let line = (0..view.len()).find(|line| view.line(*line).contains(RAISE)).unwrap();
        let method = method_at(&view, line);
        let is_overridden = method.is_some_and(|method| is_overridden(&method, &classes(&view)));
        assert_eq!(is_abstract(&view, line) || is_overridden, is_fine, "{text}");
    }

    const SHAPE: &str =
        "class Shape:\n    def area(self):\n        raise NotImplementedError\n\n\n";

    #[test]
    fn a_method_that_another_class_overrides_is_abstract() {
        for more in [
            "class Dot(Shape):\n    def area(self):\n        return 0\n",
            "class Dot(Shape):\n    @cached\n    async def area(self): return 0\n",
            "class Flat(shapes.Shape[int]):\n    pass\n\n\nclass Dot(Flat):\n    def area(self):\n        \"\"\"None.\"\"\"\n        return 0\n",
        ] {
            check(&format!("{SHAPE}{more}"), true);
        }
    }

    #[test]
    fn a_method_that_nobody_overrides_is_a_stub() {
        for more in [
            "",
            "class Dot:\n    def area(self):\n        return 0\n",
            "class Dot(Shape):\n    def width(self):\n        return 0\n",
            "class Dot(Shape):\n    def area(self):\n        \"\"\"None.\"\"\"\n        pass\n",
            "class Dot(Shape):\n    def area(self):\n        return super().area()\n",
            "class Dot(Shape):\n    def width(self):\n        def area():\n            return 0\n",
            "class Dot(Dot):\n    def width(self):\n        return 0\n\n\ndef area(shape):\n    return 0\n",
        ] {
            check(&format!("{SHAPE}{more}"), false);
        }
        let inner = "class Shape:\n    def area(self):\n        def area():\n            raise NotImplementedError\n\n\nclass Dot(Shape):\n    def area(self):\n        return 0\n";
        check(inner, false);
    }

    #[test]
    fn what_says_so_is_abstract() {
        for (head, is_fine) in [
            ("class StoreBase:\n    def f(self):", true),
            ("class Store(ABC):\n    def f(self):", true),
            ("class Store(metaclass=abc.ABCMeta):\n    def f(self):", true),
            ("class Store:\n    @property\n    @abc.abstractmethod\n    def f(self):", true),
            ("class Store:\n    @property\n    def f(self):", false),
            ("class Store:\n    @abstractmethod\n    def e(self): ...\n    def f(self):", false),
            ("class StoreBase:\n    def e(self):\n        return 1\n\n\ndef f():", false),
            ("class Database:\n    def f(self):", false),
        ] {
            check(&format!("{head}\n        raise NotImplementedError\n"), is_fine);
        }
    }

    #[test]
    fn a_function_may_be_missing_on_a_platform() {
        for (condition, is_fine) in [
            ("if sys.platform == 'linux':", true),
            ("if os.name != \"nt\":", true),
            ("if platform.system() == 'Darwin':", true),
            ("if name == 'nt':", false),
            ("name = os.name", false),
        ] {
            let text = format!("def f():\n    {condition}\n        return 1\n    {RAISE}\n");
            check(&text, is_fine);
        }
        check(
            "def e():\n    if os.name == 'nt':\n        return 1\n\n\ndef f():\n    raise NotImplementedError\n",
            false,
        );
    }
}
