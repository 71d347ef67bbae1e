"""What the tests of the formats share: a browser, and a report of a long trace."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from selenium import webdriver

from overlapcheck.pipeline import analyze
from overlapcheck.renderers import renderers
from tests.export import RealExport
from tests.renderers.browser import Page, browser_paths, start_browser
from tests.renderers.scaled import Scaled, scaled_export


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    paths = browser_paths()
    if paths is None:
        pytest.skip("needs chromium and chromedriver (apt-get install chromium chromium-driver)")
    chrome = start_browser(*paths, tmp_path_factory.mktemp("chromium"))
    yield chrome
    chrome.quit()


@pytest.fixture
def page(driver: webdriver.Chrome, tmp_path: Path) -> Page:
    return Page(driver, tmp_path / "report.html")


@pytest.fixture(scope="session")
def scaled(real_export: RealExport, tmp_path_factory: pytest.TempPathFactory) -> Scaled:
    """Many kernels in every format; the trace, a large file, is gone again."""
    target = tmp_path_factory.mktemp("scaled") / "scaled.sqlite"
    try:
        report = analyze(scaled_export(real_export("pt_pageable"), target))
    finally:
        target.unlink(missing_ok=True)
    texts = {name: renderer.render(report) for name, renderer in renderers().items()}
    return Scaled(replace(report, measurements=None), texts)
