"""Finished results on disk, so that an interrupted or repeated run redoes only what is missing.

One JSON file per report, named by everything that its result depends on: the report's whole
content, this version of the tool, the policy, the selection and control recordings. Each is sealed
with a key that only this user has: one that is altered, or came along with a folder of reports, is
made again.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
import stat
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from overlapcheck._version import __version__
from overlapcheck.errors import OutputUnwritable
from overlapcheck.report_result import ReportResult
from overlapcheck.saved import decoded_result, encoded_result, stable
from overlapcheck.selection import Selection
from overlapcheck.verdict import Policy

FOLDER = ".overlapcheck-ranks"
FORMAT = 8
MOST_BYTES = 16 << 20
"""Of a result; its bounds keep it far below."""
_SEAL = "sha256"


@dataclass(frozen=True)
class Store:
    """Results of earlier runs in a folder."""

    folder: Path
    choices: str
    """Policy and selection as text."""
    key: bytes
    """Known to this user alone."""

    @classmethod
    def beside(
        cls,
        directory: Path,
        policy: Policy,
        selection: Selection,
        key: bytes,
        controls: tuple[str, ...] = (),
    ) -> Store:
        """The store of a directory.

        Args:
            directory: where it lies.
            policy: that results depend on.
            selection: the same.
            key: known to this user alone.
            controls: digests of the control recordings that results depend on.

        Raises:
            OutputUnwritable: it cannot be made.
        """
        folder = directory / FOLDER
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            if folder.is_symlink():
                raise NotADirectoryError(0, "a link")
        except OSError as error:
            raise OutputUnwritable(
                f"{folder}: cannot keep partial results ({error.strerror})",
                "give -o a place that is writable, or leave --resume out",
            ) from error
        # How many ranks there are and may fail changes no rank's result.
        alone = replace(policy, max_failing_ranks=0.0, expect_ranks=None)
        return cls(folder, _text_of(stable(alone, selection, controls)), key)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to find."""
        with contextlib.suppress(OSError):
            return not any(self.folder.glob("*.json"))
        return True

    def find(self, report: Path, digest: str) -> ReportResult | None:
        """The result of exactly this content, or None.

        Args:
            report: of which only the name counts.
            digest: of its content.
        """
        place = self._place(report, digest)
        try:
            seal, _, text = _read(place).partition(b"\n")
            if hmac.compare_digest(seal, self._seal(place, text)):
                return decoded_result(text)
        except (OSError, ValueError):
            pass
        # Not there, half of one, altered or not ours: it is made again.
        return None

    def keep(self, report: Path, digest: str, result: ReportResult) -> None:
        """Save a result, whole or not at all; a full disk costs the resuming, not the run."""
        place = self._place(report, digest)
        text = encoded_result(result)
        try:
            descriptor, name = tempfile.mkstemp(dir=self.folder, prefix=".part-")
            try:
                with os.fdopen(descriptor, "wb") as stream:
                    stream.write(self._seal(place, text) + b"\n" + text)
                Path(name).replace(place)
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
        except OSError:
            return

    def _place(self, report: Path, digest: str) -> Path:
        key = _text_of([FORMAT, __version__, digest, self.choices, report.name])
        name = hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()
        return self.folder / f"{name}.json"

    def _seal(self, place: Path, text: bytes) -> bytes:
        """Of a result in its place: under another name it is not believed."""
        sealed = place.name.encode("ascii") + b"\n" + text
        return hmac.new(self.key, sealed, _SEAL).hexdigest().encode("ascii")


def _read(place: Path) -> bytes:
    descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as stream:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > MOST_BYTES:
            return b""
        return stream.read(MOST_BYTES)


def _text_of(value: object) -> str:
    return json.dumps(value, sort_keys=True)
