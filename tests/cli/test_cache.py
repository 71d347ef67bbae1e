"""`overlapcheck cache`: what is kept is said, and removed on demand."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from overlapcheck.capture.cache_folder import cache_folder, user_key
from overlapcheck.capture.export_cache import ExportCache
from overlapcheck.cli import cli
from overlapcheck.errors import OutputUnwritable


def cache(*options: str) -> str:
    done = CliRunner().invoke(cli, ["cache", *options], catch_exceptions=False)
    assert done.exit_code == 0
    return done.output


def test_it_says_what_is_kept_and_clears_it() -> None:
    kept = ExportCache()
    work = kept.work_folder()
    (work / "export.sqlite").write_bytes(bytes(3 << 20))
    assert kept.keep(work / "export.sqlite", "0" * 64, "2025.3.1") is not None

    assert cache() == f"{kept.folder}: 1 export, 3 MB\n"
    assert "1 left that are being read" in cache("--clear")


def test_clearing_an_empty_cache_is_no_error() -> None:
    assert cache("--clear") == f"{cache_folder()}/exports: 0 exports removed\n"


def test_the_key_stays_the_same_and_private() -> None:
    assert user_key() == user_key()
    assert len(user_key()) == 32
    place = cache_folder() / "key"
    assert place.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("planted", ["short", "link", "public"])
def test_a_key_that_others_may_know_or_set_is_refused(planted: str) -> None:
    user_key()
    place = cache_folder() / "key"
    if planted == "short":
        place.write_bytes(b"x")
    elif planted == "link":
        place.rename(place.with_name("elsewhere"))
        place.symlink_to("elsewhere")
    else:
        place.chmod(0o622)

    with pytest.raises(OutputUnwritable, match="key: not used"):
        user_key()
