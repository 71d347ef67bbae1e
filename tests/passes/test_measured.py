"""All that is measured of every picture, as text that stays as it is until somebody looks at it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.causes.test_pictures import FOLDER, SELECTION_KEYS
from tests.conftest import EXPORTS, ROOT
from tests.export import RealExport
from tests.passes.measured_text import measured_text, totals_text
from tests.pictures import Picture, load_pictures, measure_file

GOLDEN = ROOT / "fixtures" / "golden" / "measured"
TOTALS = ROOT / "fixtures" / "golden" / "measured_exports"
FILES = [*sorted(FOLDER.glob("*.toml")), ROOT / "fixtures" / "rules.toml"]
FILES += [ROOT / "fixtures" / "terms.toml"]
EXTRA_KEYS = (*SELECTION_KEYS, "bug", "us")


def pictures() -> dict[tuple[str, str], Picture]:
    """By file and section."""
    return {
        (file.stem, name): drawing
        for file in FILES
        for name, drawing in load_pictures(file, EXTRA_KEYS).items()
    }


PICTURES = pictures()


def golden_file(stem: str) -> Path:
    return GOLDEN / f"{stem}.txt"


def sections(stem: str) -> dict[str, str]:
    """The text of each picture of a file."""
    file = golden_file(stem)
    if not file.exists():
        return {}
    parts = file.read_text(encoding="utf-8").split("\n\n")
    return dict(part.strip("\n").split("\n", 1) for part in parts if part.strip())


def measured(drawing: Picture) -> str:
    given = {k: drawing.options[k] for k in SELECTION_KEYS if k in drawing.options}
    if given.get("skip") == "auto":
        given["skip"] = None
    return measured_text(drawing.measure(**given))


@pytest.mark.skipif(not os.environ.get("UPDATE_GOLDEN"), reason="writes the texts: `make golden`")
def test_the_texts_are_written() -> None:
    GOLDEN.mkdir(exist_ok=True)
    for stem in {stem for stem, _ in PICTURES}:
        texts = [
            f"[{name}]\n{measured(drawing)}"
            for (own, name), drawing in PICTURES.items()
            if own == stem
        ]
        golden_file(stem).write_text("\n".join(texts), encoding="utf-8")


@pytest.mark.parametrize(("stem", "name"), PICTURES, ids=map("/".join, PICTURES))
def test_all_that_is_measured_of_a_picture_is_as_before(stem: str, name: str) -> None:
    """Look at the difference, then `make golden`."""
    before = sections(stem).get(f"[{name}]", "")

    assert measured(PICTURES[stem, name]).splitlines() == before.splitlines()


def test_there_are_texts_of_no_other_pictures() -> None:
    found = {(file.stem, name) for file in GOLDEN.iterdir() for name in sections(file.stem)}

    assert found == {(stem, f"[{name}]") for stem, name in PICTURES}


@pytest.mark.parametrize("name", sorted(path.name.split(".")[0] for path in EXPORTS.iterdir()))
def test_what_explains_the_idle_time_of_a_recording_is_as_before(
    name: str, real_export: RealExport
) -> None:
    """Look at the difference, then `make golden`."""
    file = TOTALS / f"{name}.txt"
    found = totals_text(measure_file(real_export(name), skip=1))
    if os.environ.get("UPDATE_GOLDEN"):
        TOTALS.mkdir(exist_ok=True)
        file.write_text(found, encoding="utf-8")

    assert found.splitlines() == file.read_text(encoding="utf-8").splitlines()
