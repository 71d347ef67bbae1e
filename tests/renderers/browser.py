"""A page in headless Chromium: what it drew, asked for and complained about."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.actions.wheel_input import ScrollOrigin
from selenium.webdriver.common.by import By

from overlapcheck.renderers.html import RENDERER
from overlapcheck.report import Report

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
)


def browser_paths() -> tuple[str, str] | None:
    """Chromium and its driver; None where one of them is not here."""
    browser = shutil.which("chromium") or shutil.which("google-chrome") or "/usr/bin/chromium"
    driver = shutil.which("chromedriver") or "/usr/bin/chromedriver"
    return (browser, driver) if Path(browser).exists() and Path(driver).exists() else None


def start_browser(browser: str, driver: str, profile: Path) -> webdriver.Chrome:
    """A browser that keeps a log of its console and its network."""
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in FLAGS:
        options.add_argument(flag)
    options.add_argument(f"--user-data-dir={profile}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))


def _log(driver: webdriver.Chrome, kind: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = driver.get_log(kind)  # type: ignore[no-untyped-call]
    return entries


class Page:
    """A report in the browser."""

    def __init__(self, driver: webdriver.Chrome, path: Path) -> None:
        self.driver = driver
        self.path = path

    def open(self, report: Report, width: int = 1280, theme: str = "light") -> None:
        self.open_text(RENDERER.render(report), width, theme)

    def open_text(self, text: str, width: int = 1280, theme: str = "light") -> None:
        self.path.write_text(text, encoding="utf-8")
        command = self.driver.execute_cdp_cmd
        command("Emulation.setEmulatedMedia", {"features": [_preference(theme)]})
        size = {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
        command("Emulation.setDeviceMetricsOverride", size)
        _log(self.driver, "browser")
        _log(self.driver, "performance")
        self.driver.get(self.path.as_uri())

    def run(self, script: str, *given: object) -> Any:
        return self.driver.execute_script(f"const t = overlapcheck.timelines[0]; {script}", *given)

    @property
    def view(self) -> list[float]:
        """The part of the window in view, once all that was asked for is drawn."""
        self.settle()
        view: list[float] = self.run("return t.view()")
        return view

    def settle(self) -> None:
        """Wait for the next drawn frame."""
        self.driver.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done))"
        )

    def console(self) -> list[str]:
        return [entry["message"] for entry in _log(self.driver, "browser")]

    def requests(self) -> list[str]:
        """Addresses that were asked for, but for the page itself."""
        messages = (json.loads(e["message"]) for e in _log(self.driver, "performance"))
        sent = (m["message"] for m in messages)
        urls = [
            m["params"]["request"]["url"]
            for m in sent
            if m["method"] == "Network.requestWillBeSent"
        ]
        return [url for url in urls if url != self.path.as_uri() and not url.startswith("data:")]

    def ink(self) -> int:
        """Colours in the drawing: an empty canvas has one."""
        colors: int = self.run(
            "const p = t.plot, c = p.getContext('2d');"
            "const d = c.getImageData(0, 0, p.width, p.height).data;"
            "return new Set(new Uint32Array(d.buffer)).size"
        )
        return colors

    def click(self, css: str) -> None:
        self.run("document.querySelector(arguments[0]).click()", css)
        self.settle()

    def wheel(self, x: int, y: int) -> None:
        """Turns the wheel over the middle of the plot."""
        plot = self.driver.find_element(By.CSS_SELECTOR, ".plot")
        origin = ScrollOrigin.from_element(plot)
        ActionChains(self.driver).scroll_from_origin(origin, x, y).perform()
        self.settle()

    def ctrl_wheel(self, y: int) -> None:
        """The same with ctrl, which is also what a pinch on a touch pad sends."""
        x0, y0 = self.run(
            "const box = t.plot.getBoundingClientRect();"
            "return [box.left + box.width / 2, box.top + box.height / 2]"
        )
        turned = {"type": "mouseWheel", "x": x0, "y": y0, "deltaX": 0, "deltaY": y, "modifiers": 2}
        self.driver.execute_cdp_cmd("Input.dispatchMouseEvent", turned)
        self.settle()

    def hover(self, row: int, at_ns: float) -> dict[str, Any]:
        """What the event of a row at a time is said to be, with the pointer over it."""
        self.settle()
        x, y = self.run(
            "const box = t.plot.getBoundingClientRect(), [y, h] = t.rows[arguments[0]];"
            "return [box.left + t.x(arguments[1]), box.top + y + h / 2]",
            row,
            at_ns,
        )
        self.driver.execute_cdp_cmd(
            "Input.dispatchMouseEvent", {"type": "mouseMoved", "x": x, "y": y, "buttons": 0}
        )
        self.settle()
        said: dict[str, Any] = self.run("return t.hover && describe(t, t.hover)")
        return said


def _preference(theme: str) -> dict[str, str]:
    return {"name": "prefers-color-scheme", "value": theme}
