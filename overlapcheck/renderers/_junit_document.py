"""JUnit XML around suites of cases: counted, cleaned, indented."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as Xml

from overlapcheck.renderers._plain_text import plain


@dataclass(frozen=True)
class Case:
    """One test as a CI server shows it."""

    name: str
    class_name: str
    """Groups the cases; the same from run to run, so that a server can keep their history."""
    text: str
    """What came out, in a line."""
    element: str = ""
    """failure, error or skipped; "" for a case that passed."""
    type: str = ""
    body: str = ""


@dataclass(frozen=True)
class Suite:
    """Cases that belong together."""

    name: str
    properties: Mapping[str, str]
    """Those that are empty are left out."""
    cases: Sequence[Case]


def junit_text(name: str, suites: Sequence[Suite]) -> str:
    """The whole file."""
    cases = [case for suite in suites for case in suite.cases]
    root = Xml.Element("testsuites", {"name": name, **_counts(cases)})
    for suite in suites:
        _suite(root, suite)
    Xml.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Xml.tostring(root, "unicode") + "\n"


def lines_of(facts: Iterable[tuple[str, str]]) -> str:
    """Labelled facts as the body of a case, a line each; a fact without text is left out.

    ("", "") is an empty line.
    """
    lines = [f"{label:<9} {plain(text)}".rstrip() for label, text in facts if text or label == ""]
    return "\n" + "\n".join(lines) + "\n"


def _counts(cases: Sequence[Case]) -> dict[str, str]:
    elements = [case.element for case in cases]
    return {
        "tests": str(len(cases)),
        "failures": str(elements.count("failure")),
        "errors": str(elements.count("error")),
    }


def _suite(root: Xml.Element, suite: Suite) -> None:
    skipped = sum(case.element == "skipped" for case in suite.cases)
    counts = _counts(suite.cases) | ({"skipped": str(skipped)} if skipped else {})
    node = Xml.SubElement(root, "testsuite", {"name": suite.name, **counts})
    properties = Xml.SubElement(node, "properties")
    for key, value in suite.properties.items():
        if value:
            Xml.SubElement(properties, "property", {"name": key, "value": plain(value)})
    for case in suite.cases:
        _case(node, case)


def _case(suite: Xml.Element, case: Case) -> None:
    attributes = {"name": plain(case.name), "classname": case.class_name}
    node = Xml.SubElement(suite, "testcase", attributes)
    if not case.element:
        Xml.SubElement(node, "system-out").text = case.text
        return
    about = {"type": case.type} if case.type else {}
    Xml.SubElement(node, case.element, about | {"message": case.text}).text = case.body or None
