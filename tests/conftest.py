"""What all tests share: pictures printed on failure, the fixtures folder, real exports."""

from __future__ import annotations

import lzma
import signal
import sys
import uuid
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).parents[1]
if str(ROOT) not in sys.path:  # plain `pytest` does not add the repository, `python -m` does
    sys.path.insert(0, str(ROOT))

from tests import pictures  # noqa: E402
from tests.export import RealExport  # noqa: E402

MOST_SHOWN = 3
"""A test of random pictures draws hundreds; its last ones are the smallest that fail."""
EXPORTS = ROOT / "fixtures" / "exports"

# No test depends on how fast the machine is, and none leaves files behind.
settings.register_profile(
    "overlapcheck",
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("overlapcheck")


@pytest.fixture(autouse=True)
def _forget_pictures() -> None:
    pictures.drawn.clear()


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test finds what another has kept, nor anything of the user's."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / uuid.uuid4().hex))


@pytest.fixture(autouse=True)
def _plain_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test prints depends on no terminal, and on no CI service that the tests run in."""
    for name in ("COLUMNS", "FORCE_COLOR", "NO_COLOR", "GITHUB_ACTIONS", "GITLAB_CI",
                 "BUILDKITE", "CIRCLECI", "TF_BUILD"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show what a failing test had drawn."""
    report = yield
    if call.when == "call" and call.excinfo is not None:
        distinct = list(dict.fromkeys(map(str, pictures.drawn)))
        report.sections += [("picture", drawing) for drawing in distinct[-MOST_SHOWN:]]
    return report


@pytest.fixture(scope="session")
def real_export(tmp_path_factory: pytest.TempPathFactory) -> RealExport:
    """Path of a real export of fixtures/exports by name; unpacked where it is compressed."""
    folder = tmp_path_factory.mktemp("exports")

    def unpacked(name: str) -> Path:
        plain = EXPORTS / f"{name}.sqlite"
        if plain.exists():
            return plain
        target = folder / f"{name}.sqlite"
        if not target.exists():
            target.write_bytes(lzma.decompress((EXPORTS / f"{name}.sqlite.xz").read_bytes()))
        return target

    return unpacked


@pytest.fixture(scope="session")
def with_default_signals() -> Callable[[], None]:
    """For `preexec_fn`: stop signals as in a terminal, though nohup or `&` made us ignore some."""

    def reset() -> None:
        for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            signal.signal(signum, signal.SIG_DFL)

    return reset
