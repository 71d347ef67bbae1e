"""What the pipeline sees of this folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from overlapcheck.errors import OverlapcheckError, ReportDamaged
from overlapcheck.recorder import Content

if TYPE_CHECKING:
    from overlapcheck.shared_part import Kept, Part
    from overlapcheck.trace import Trace


class NsysSource:
    """Reports of nsys: SQLite, parquetdir and arrowdir exports, and what it must export first."""

    name = "nsys"

    def recognises(self, path: Path, /) -> bool:
        """See `Source`."""
        from overlapcheck.sources.nsys.columnar import is_table_folder
        from overlapcheck.sources.nsys.identify import identify

        if path.is_dir():
            return is_table_folder(path)
        try:
            identify(path)
        except ReportDamaged:
            return True
        except OverlapcheckError:
            return False
        return True

    def needs_export(self, path: Path, /) -> bool:
        """See `NeedsExport`."""
        from overlapcheck.sources.nsys.identify import InputKind, identify

        return identify(path) not in (InputKind.SQLITE, InputKind.TABLES)

    def read(self, path: Path, window_ns: tuple[int, int] | None, /) -> Trace:
        """See `Source`."""
        from overlapcheck.sources.nsys.read import read_trace

        return read_trace(path, window_ns)

    def shared(self, path: Path, part: Part, /) -> tuple[bytes, Kept]:
        """See `Shares`."""
        from overlapcheck.sources.nsys.sharing.write import shared_export

        return shared_export(path, part)

    def record_again(self, lacking: Content, /) -> str | None:
        """See `Source`."""
        from overlapcheck.sources.nsys.recording import NSYS

        return NSYS.commands.get(lacking)
