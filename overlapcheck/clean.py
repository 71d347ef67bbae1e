"""Text from a trace, a path or another program, made fit for a terminal, a log and a CI job.

Names are whatever a program gave them. On their way out they must not move a cursor, hide, reorder
or break a line, nor be read as a command by whatever reads the log, nor fill a disk.
"""

from __future__ import annotations

import re
import unicodedata

MOST = 2000
"""Characters of one text; names of template kernels can be pages long."""

_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b.")
_BREAKS = frozenset({"Cc", "Zl", "Zp"})
_UNSEEN = frozenset({"Cf", "Cn"})
# Of other categories, and drawn as nothing: joiners, fillers, variation selectors.
_INVISIBLE = re.compile(
    r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
# "##[group]" of GitHub, "##vso[...]" of Azure, "##teamcity[...]": read wherever they stand.
_COMMAND = re.compile(r"##(?=\w*\[)")
# "::error::" of GitHub is read where only blanks stand before it.
_LEADING_COMMAND = re.compile(r"^(\s*)(:+)(?=:)")
_FORMULA = tuple("=+-@\t\r\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}"
                 "\N{FULLWIDTH HYPHEN-MINUS}\N{FULLWIDTH COMMERCIAL AT}")  # fmt: skip


def clean(text: str, most: int = MOST) -> str:
    """The text in one line, without anything that steers whoever shows it.

    Args:
        text: from anywhere.
        most: characters that it may have; of a longer one the middle is cut, and its length said.
            What has been cleaned stays as it is when cleaned again.
    """
    text = shortened(text, most)
    if not (text.isascii() and text.isprintable()):
        text = "".join(map(_seen, _INVISIBLE.sub("", _ESCAPES.sub("", text))))
    return _COMMAND.sub("# ", text)


def shortened(text: str, most: int = MOST) -> str:
    """The text, or of one longer than `most` its begin, its length and its end."""
    if len(text) <= most:
        return text
    said = f"…({len(text)} characters)…"
    kept = max(most - len(said), 2)
    return f"{text[: kept - kept // 2]}{said}{text[-(kept // 2) :]}"


def inert(line: str) -> str:
    """A finished line of a log that no runner takes for a command; its width stays the same."""
    line = _COMMAND.sub("# ", line)
    return _LEADING_COMMAND.sub(lambda found: found[1] + " " * len(found[2]), line)


def spreadsheet_cell(text: str) -> str:
    """A text that a spreadsheet shows and does not compute."""
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA) else text


def _seen(char: str) -> str:
    category = unicodedata.category(char)
    if category in _BREAKS:
        return " "
    if category in _UNSEEN:
        return ""
    # Half a surrogate pair: a byte of a file name that is no UTF-8.
    return "\N{REPLACEMENT CHARACTER}" if category == "Cs" else char
