"""What a report may say of a command line and of nsys's messages: no secret, no user, no host.

Rather too much is cut than too little: a word that is missing from a report costs nothing.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from itertools import pairwise

from overlapcheck.clean import clean

CUT = "***"
_MOST_CHARACTERS = 8000
_LONGEST_WORD = 2000
_MOST_OF_A_NAME = 1000
"""So that a sentence with a name in it is not cut once more."""

_SECRET = (
    r"pass(?:word|wd|phrase|code)?|pwd|pw|secrets?|tokens?|credentials?|creds?|auth(?:orization)?"
)
_SECRET += r"|bearer|cookies?|keys?|pat|jwt|signature|sig|pin|otp|login"
# Written as one word: --authtoken, --apikey, but not --monkey.
_SECRET += r"|\w*(?:passw(?:or)?d|passphrase|secret|token)s?"
_SECRET += (
    r"|(?:api|access|auth|secret|private|ssh|license|encryption|signing|account|session)keys?"
)
_PLACE = (
    r"hosts?|hostname|addr(?:ess(?:es)?)?|endpoints?|nodes?|nodelist|server|url|uri|user|username"
)
_PLACE += r"|ip|email|mail|account|owner|proxy"
# The parts of a name such as --hf-token, WANDB_API_KEY, trainer.apiKey.
_PARTS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z0-9]+(?![a-z])")
_TELLING = re.compile(rf"(?:{_SECRET}|{_PLACE})")
_COUNTED = re.compile(r"tokens?|keys?|nodes?|hosts?|pin|sig|pat")
_NUMBER = re.compile(r"[+-]?\d{1,7}(?:\.\d+)?[kKmMgG]?")
_FLAG = re.compile(r"--?[A-Za-z][\w.-]*")
# By custom a password or a user: -p hunter2, -phunter2, curl -u me:hunter2, but not python -u x.py.
_SHORT_FLAG = re.compile(r"-[pPuU]")
_SHORT_VALUE = re.compile(r"(-p)(?=\w*\d)(?=\w*[A-Za-z])[^\s=]{4,}")
_SCRIPT = re.compile(r"-.*|[^:]*[./][^:]*")
_ASSIGNED = re.compile(
    r"""(?P<name>[A-Za-z_][\w.-]*)(?P<sign>["']?\s*(?::=|[=:])\s*["']?)(?P<value>(?<=")[^"]+|(?<=')[^']+|[^\s"',;&}]+)"""
)
_ENVIRONMENT = re.compile(r"[A-Z][A-Z0-9_]*")
_LAST_WORD = re.compile(r"[A-Za-z_][\w.-]*$")
_URL = re.compile(r"\b(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<place>[^\s/?#\"']*)(?P<path>[^\s?#\"']*)"
                  r"(?P<query>[?#][^\s\"']*)?")  # fmt: skip
# Their first part names a bucket or a file, not a machine.
_STORES = frozenset({"s3", "gs", "gcs", "hf", "file", "az", "abfs", "memory"})
_FILE_NAME = re.compile(r"[A-Za-z][\w-]*(?:\.[A-Za-z]\w{0,7}){1,2}|[A-Za-z]{1,12}")
_AT_HOST = re.compile(r"(?<![\w.@/-])[\w.+-]+(?::[^\s@/]+)?@[\w-]+(?:\.[\w-]+)*(?::\d+)?")
# Forms that services give their tokens, and long runs of letters and digits mixed.
_KNOWN = re.compile(
    r"\b(?:hf_|gh[pousr]_|github_pat_|glpat-|sk-|xox[abprs]-|AKIA|ASIA|nvapi-|pypi-|ya29\.|AIza|eyJ)"
    r"[\w.~+/=-]{12,}|\b(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{32,}\b"
)
_BEARER = re.compile(r"\b(Bearer|Basic|Token)\s+[\w.~+/=-]{8,}", re.IGNORECASE)
_HOME = re.compile(
    r"(?:/[^\s/'\":=,]+)*/(?:home\d*|homes|[Uu]sers)/[^\s/'\":=,;]+"
    r"|(?<![\w/.-])/root(?![\w.-])|\b[A-Za-z]:\\Users\\[^\s\\'\"]+"
)
_USERS_HOME = re.compile(r"(?<![\w~:])~[A-Za-z_][\w.-]*(?=/|\s|$)")
_ABSOLUTE_PATH = re.compile(r"(?<![\w/.~*])/(?:[^\s/'\"]+/)+([^\s/'\"]*)")
_NETWORK_FOLDERS = re.compile(r"(?<![\w\\])\\\\(?:[^\s\\'\"]+\\)+")
_PATH_IN_HOME = re.compile(r"(?<![\w/.])~/(?:[^\s/'\"]+/)*([^\s/'\"]+)")
# What may follow the name of a host; a file name has one dot.
_DOMAIN = r"(?:(?:\.[A-Za-z][A-Za-z0-9-]*){2,})?"
_COMMON = frozenset({"root", "localhost", "user", "host", "python", "python3"})


def command_text(words: Iterable[str], names: Iterable[str] = ()) -> str:
    """A command line as it may be shown: its words, the values of telling options cut.

    Args:
        words: program and arguments.
        names: of users and hosts, cut wherever they stand.
    """
    return _without_names(" ".join(_shown(list(words))).strip(), names)


def message_text(text: str, names: Iterable[str] = ()) -> str:
    """A message of another program, without the secrets, folders and names in it."""
    return _without_names(_without_folders(_inside(text[:_LONGEST_WORD])), names)


def thread_text(text: str, names: Iterable[str] = ()) -> str:
    """The name of a process or thread, which may hold all of its command line.

    Args:
        text: as the program set it.
        names: of users and hosts, cut wherever they stand.
    """
    return command_text(text.split(), names)


def without_homes(text: str) -> str:
    """A text whose home folders say no more whose they are: ~ for /home/NAME, /Users/NAME."""
    return _USERS_HOME.sub("~", _HOME.sub("~", text))


def names_no_one(text: str) -> str:
    """A name from a trace as a report holds it: clean, bounded, and without home folders."""
    return without_homes(clean(text, _MOST_OF_A_NAME))


def _shown(words: list[str]) -> Iterator[str]:
    flag, room = "", _MOST_CHARACTERS
    for word in words:
        room -= len(word[:_LONGEST_WORD]) + 1
        if room < 0:
            yield "…"
            return
        is_flag = _FLAG.fullmatch(word) is not None
        word = _SHORT_VALUE.sub(rf"\1{CUT}", word[:_LONGEST_WORD])
        yield CUT if not is_flag and _hides(flag, word) else _shown_word(word)
        flag = word if is_flag else ""


def _shown_word(word: str) -> str:
    text = _inside(word)
    if text.startswith(("{", "[")) or not any(char.isspace() for char in text):
        return _without_folders(text)
    # A command within a word: bash -c "python train.py --token x".
    try:
        inner = shlex.split(text)
    except ValueError:
        inner = text.split()
    return _without_folders(text) if len(inner) < 2 else " ".join(_shown(inner))


def _inside(text: str) -> str:
    """Cut what is telling within a text."""
    text = _URL.sub(_url, text)
    text = _BEARER.sub(rf"\1 {CUT}", text)
    text = _ASSIGNED.sub(_assigned, text)
    text = _AT_HOST.sub(CUT, text)
    return _KNOWN.sub(CUT, text)


def _url(found: re.Match[str]) -> str:
    scheme, place = found["scheme"], found["place"]
    if scheme.lower() not in _STORES or "@" in place:
        place = CUT if place else ""
    path = found["path"] if place != CUT else _last_part(found["path"])
    query = f"{found['query'][0]}{CUT}" if found["query"] else ""
    return f"{scheme}://{place}{path}{query}"


def _last_part(path: str) -> str:
    """What a path ends with where that is a file: the rest may be a token, as of web hooks."""
    name = path.rpartition("/")[2]
    return f"/{name}" if _FILE_NAME.fullmatch(name) else f"/{CUT}" if path.strip("/") else path


def _assigned(found: re.Match[str]) -> str:
    name, value = found["name"], found["value"]
    if value.startswith(("//", CUT)):
        return found[0]
    is_variable = found["sign"] == "=" and _ENVIRONMENT.fullmatch(name)
    if is_variable or _hides(name, value):
        return f"{name}{found['sign']}{CUT}"
    # Variables handed on: --env=HF_TOKEN=...
    words = value.split("=")
    for number, (before, after) in enumerate(pairwise(words), 1):
        inner = _LAST_WORD.search(before)
        if inner and (_ENVIRONMENT.fullmatch(inner[0]) or _hides(inner[0], after)):
            return f"{name}{found['sign']}{'='.join(words[:number])}={CUT}"
    return found[0]


def _hides(name: str, value: str) -> bool:
    """Whether what a flag or variable of this name is set to must not be shown."""
    if _SHORT_FLAG.fullmatch(name):
        return not (_NUMBER.fullmatch(value) or (name == "-u" and _SCRIPT.fullmatch(value)))
    parts = [part.lower() for part in _PARTS.findall(name)]
    telling = [part for part in parts if _TELLING.fullmatch(part)]
    # The values of --nodes 2 and --max-tokens 4096 are neither names nor secrets.
    counts = all(map(_COUNTED.fullmatch, telling)) and _NUMBER.fullmatch(value)
    return bool(telling) and not counts


def _without_folders(text: str) -> str:
    """Absolute paths cut to their last part: folders hold user and host names."""
    text = _NETWORK_FOLDERS.sub("", without_homes(text))
    return _ABSOLUTE_PATH.sub(r"\1", _PATH_IN_HOME.sub(r"\1", text))


def _without_names(text: str, names: Iterable[str]) -> str:
    for name in names:
        if len(name) > 2 and name.lower() not in _COMMON:
            cut = rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9]){_DOMAIN}"
            text = re.sub(cut, CUT, text)
    return text
