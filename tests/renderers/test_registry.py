from __future__ import annotations

import pytest

from overlapcheck.errors import PolicyInvalid
from overlapcheck.renderers import renderer_for_file, renderers


def test_every_file_of_the_folder_is_a_format() -> None:
    assert {"terminal", "json"} <= set(renderers())
    assert all(name == renderer.name for name, renderer in renderers().items())


def test_no_two_formats_share_a_suffix() -> None:
    suffixes = [renderer.suffix for renderer in renderers().values()]

    assert len(set(suffixes)) == len(suffixes)
    assert all(suffix.startswith(".") and suffix == suffix.lower() for suffix in suffixes)


@pytest.mark.parametrize("name", ["result.json", "RESULT.JSON", "a.b.json"])
def test_the_suffix_of_a_file_chooses_the_format(name: str) -> None:
    assert renderer_for_file(name).name == "json"


@pytest.mark.parametrize("name", ["result.docx", "result", "json"])
def test_an_unknown_suffix_is_refused_and_the_known_are_named(name: str) -> None:
    with pytest.raises(PolicyInvalid, match=rf"-o {name}: no format has this suffix; .*\.json"):
        renderer_for_file(name)
