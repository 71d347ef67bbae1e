"""Finished results on disk, so that an interrupted or repeated run redoes only what is missing.

One JSON file per report, named by everything that its result depends on: the report's content,
this version of the tool, the policy and the selection. A changed report has another name.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from overlapcheck._version import __version__
from overlapcheck.errors import OutputUnwritable
from overlapcheck.fleet import ReportResult
from overlapcheck.ranks.saved import from_plain, to_plain
from overlapcheck.selection import Selection
from overlapcheck.verdict import Policy

FOLDER = ".overlapcheck-ranks"
FORMAT = 3
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Store:
    """Results of earlier runs in a folder."""

    folder: Path
    choices: str
    """Policy and selection as text."""

    @classmethod
    def beside(cls, directory: Path, policy: Policy, selection: Selection) -> Store:
        """The store of a directory.

        Raises:
            OutputUnwritable: it cannot be made.
        """
        folder = directory / FOLDER
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise OutputUnwritable(
                f"{folder}: cannot keep partial results ({error.strerror})",
                "give -o a place that is writable, or leave --resume out",
            ) from error
        # How many ranks may fail changes no rank's result.
        alone = replace(policy, max_failing_ranks=0.0)
        return cls(folder, _stable([to_plain(alone), to_plain(selection)]))

    def find(self, report: Path) -> ReportResult | None:
        """The result of exactly this content, or None."""
        place = self._place(report)
        if place is None:
            return None
        try:
            return from_plain(ReportResult, json.loads(place.read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
            # Not there, half of one, or altered: it is made again.
            return None

    def keep(self, report: Path, result: ReportResult) -> None:
        """Save a result, whole or not at all; a full disk costs the resuming, not the run."""
        place = self._place(report)
        if place is None:
            return
        text = json.dumps(to_plain(result), separators=(",", ":"))
        try:
            descriptor, name = tempfile.mkstemp(dir=self.folder, prefix=".part-")
            try:
                with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                    stream.write(text)
                Path(name).replace(place)
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
        except OSError:
            return

    def _place(self, report: Path) -> Path | None:
        try:
            identity = _identity(report)
        except OSError:
            return None
        key = _stable([FORMAT, __version__, identity, self.choices, report.name])
        digest = hashlib.blake2b(key.encode("utf-8", "surrogateescape"), digest_size=12)
        return self.folder / f"{digest.hexdigest()}.json"


def _identity(report: Path) -> list[object]:
    """Size, time of change, and a digest of the first and last blocks; of all files in a folder."""
    if report.is_dir():
        files = sorted(file for file in report.iterdir() if file.is_file())
        return [[file.name, *_identity(file)] for file in files]
    status = report.stat()
    digest = hashlib.blake2b(digest_size=16)
    with report.open("rb") as content:
        digest.update(content.read(_BLOCK))
        content.seek(max(0, status.st_size - _BLOCK))
        digest.update(content.read(_BLOCK))
    return [status.st_size, status.st_mtime_ns, digest.hexdigest()]


def _stable(value: object) -> str:
    return json.dumps(value, sort_keys=True)
