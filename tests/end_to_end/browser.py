"""A real JupyterLab in a real browser, operated as a learner would."""

import ast
import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from transformer_course.home.lab import SETTINGS_FOLDER

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
LAB = [sys.executable, "-m", "transformer_course.commands", "lab", "--no-browser"]
"""The command that opens the lessons."""
TIMEOUT_MS = 180_000
"""Time limit for what the browser should show. It usually takes a moment, but longer on a very busy machine."""


def find_browser() -> str | None:
    """Return the path of an installed Chromium, or None."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


BROWSER = find_browser()
needs_browser = pytest.mark.skipif(BROWSER is None, reason="Chromium is not installed, so JupyterLab cannot be opened")


def free_port() -> int:
    """Return a free port."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port: int = s.getsockname()[1]
        return port


@contextlib.contextmanager
def running_lab(command: Sequence[str], folder: Path, home: Path, has_answered: bool = True) -> Iterator[str]:
    """Start JupyterLab with a command and separate settings, and yield its URL.

    Args:
        command: The command; the options that tests need are added.
        folder: The working directory.
        home: An empty folder for its settings.
        has_answered: Whether its question about news was already answered.
    """
    port = free_port()
    options = [f"--port={port}", "--ServerApp.port_retries=0", "--IdentityProvider.token=", "--expose-app-in-browser"]
    places = ("CONFIG_DIR", "RUNTIME_DIR", "DATA_DIR")
    env = {
        **os.environ,
        **{f"JUPYTER_{place}": str(home / place.lower()) for place in places},
        "JUPYTER_CONFIG_PATH": str(SETTINGS_FOLDER),  # the learners' settings, for a plain JupyterLab, too
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
    }
    if has_answered:  # a plain JupyterLab asks on its first start whether it may fetch news
        file = home / "settings" / "@jupyterlab" / "apputils-extension" / "notification.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text('{"fetchNews": "false", "checkForUpdates": false}')
    with (home / "server.log").open("w") as log:
        server = subprocess.Popen([*command, *options], cwd=folder, env=env, stdout=log, stderr=subprocess.STDOUT)
    try:
        address = f"http://127.0.0.1:{port}"
        _wait_for(f"{address}/api", server, home / "server.log")
        yield address
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _wait_for(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and server.poll() is None:
        with contextlib.suppress(OSError):
            urllib.request.urlopen(address, timeout=5)
            return
        time.sleep(0.3)
    raise RuntimeError(f"JupyterLab did not start; the end of its log:\n{log.read_text()[-2000:]}")


class Notebook:
    """A notebook open in the browser.

    Args:
        page: The browser's page.
        requests: The URLs that the page has requested so far; the list keeps growing.
    """

    def __init__(self, page: Page, requests: list[str]) -> None:
        self.page, self.requests = page, requests

    def run_all(self) -> None:
        """Run every cell, and wait until the kernel is done.

        Raises:
            RuntimeError: A cell failed.
        """
        if not self._command("notebook:run-all-cells"):
            raise RuntimeError(f"a cell failed: {self.page.locator('.jp-RenderedText').last.inner_text()}")

    def python(self, expression: str) -> Any:
        """Return the value of a Python expression in the notebook's kernel; the value must be a literal."""
        ask = """async (expression) => {
            const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
            const request = {code: '', user_expressions: {asked: expression}, store_history: false};
            const {asked} = (await kernel.requestExecute(request).done).content.user_expressions;
            return asked.status === 'ok' ? asked.data['text/plain'] : `${asked.ename}: ${asked.evalue}`;
        }"""
        return ast.literal_eval(self.page.evaluate(ask, expression))

    def change_theme(self, theme: str) -> None:
        """Switch to ``JupyterLab Light`` or ``JupyterLab Dark``, and wait until JupyterLab is visible again."""
        press = "theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})"
        for _ in range(2):  # if JupyterLab follows the system's theme, the first switch may only turn that off
            self.page.evaluate(press, theme)
        self.page.wait_for_function("theme => document.body.dataset.jpThemeName === theme", arg=theme, polling=200)
        # nothing can have the focus below the splash screen
        expect(self.page.locator("#jupyterlab-splash")).to_have_count(0)

    def save(self) -> None:
        """Save the file."""
        self._command("docmanager:save")

    def cell_with(self, code: str) -> Locator:
        """Find the first code cell whose source contains a text."""
        return self.page.locator(".jp-CodeCell").filter(has=self.page.locator(".cm-content", has_text=code)).first

    def rewrite(self, cell: Locator, source: str) -> None:
        """Replace a cell's source as if by typing, and run it."""
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.insert_text(source)
        self.run(cell)

    def run(self, cell: Locator) -> None:
        """Run one cell, and wait until the kernel is done."""
        cell.locator(".cm-content").click()
        self._command("notebook:run-cell")

    def _command(self, name: str) -> Any:
        return self.page.evaluate("name => window.jupyterapp.commands.execute(name)", name)


def wait_until_ready(page: Page, path: str, *, activate: bool = False) -> None:
    """Wait until a notebook is in front, has its kernel, and shows its code.

    This polls from Python, because Chromium may drop a promise, and draws no frames in which to poll when it is busy.

    Args:
        page: JupyterLab.
        path: The path of the notebook in JupyterLab's folder.
        activate: Whether to focus the visible tab if none is focused, as a click would: a tab that opens right after a
            change of theme may not get the focus.

    Raises:
        TimeoutError: The notebook was not ready in time. The message contains its state.
    """
    deadline = time.monotonic() + TIMEOUT_MS / 1000
    while not (state := page.evaluate(_STATE, path))["ready"]:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{path} was not ready after {TIMEOUT_MS / 1000:.0f} s: {state}")
        if activate and state["front"] is None and state["inSight"]:
            page.evaluate("id => window.jupyterapp.shell.activateById(id)", state["inSight"][0])
        time.sleep(0.2)


_STATE = """path => {
    const front = window.jupyterapp?.shell.currentWidget;
    const session = front?.context?.sessionContext;
    const code = [...front?.node.querySelectorAll('.jp-CodeCell .cm-content') ?? []];
    const state = {
        front: front?.context?.path ?? front?.id,
        isLoaded: front?.context?.isReady,
        hasKernel: session?.isReady,
        kernel: session?.kernelDisplayStatus,
        cells: front?.content?.widgets?.length,
        codeShown: code.filter(node => node.offsetParent).length,
        dialogs: [...document.querySelectorAll('.jp-Dialog')].map(node => node.innerText),
        inSight: [...window.jupyterapp?.shell.widgets('main') ?? []].filter(one => one.isVisible).map(one => one.id),
        focus: `${document.activeElement?.tagName} ${document.activeElement?.id}`,
        isCovered: Boolean(document.querySelector('#jupyterlab-splash')),
    };
    return {...state, ready: state.front === path && state.isLoaded && state.hasKernel && state.codeShown > 0};
}"""


_LATE_FRAMES = """(() => {
    const ask = window.requestAnimationFrame.bind(window);
    window.requestAnimationFrame = run => ask(() => setTimeout(() => run(performance.now()), 100));
})()"""
"""Delays every frame, as on a busy machine, so that a test that forgets to wait fails."""


@contextlib.contextmanager
def running_browser(program: str) -> Iterator[Browser]:
    """Start a headless browser, and close it at the end."""
    with sync_playwright() as playwright:
        # As root, as often in CI, Chromium does not start with its sandbox.
        browser = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--force-color-profile=srgb"]
        )
        try:
            yield browser
        finally:
            browser.close()


def new_page(browser: Browser, **options: Any) -> Page:
    """Open a page with delayed frames and a long timeout; the options are those of a Playwright context."""
    context = browser.new_context(**options)
    context.add_init_script(_LATE_FRAMES)
    context.set_default_timeout(TIMEOUT_MS)
    return context.new_page()


@contextlib.contextmanager
def open_browser(browser: str, theme: str = "JupyterLab Light", pixels: float = 1) -> Iterator[Notebook]:
    """Open a headless browser in which to open notebooks.

    Args:
        browser: The path of the browser.
        theme: ``JupyterLab Light`` or ``JupyterLab Dark``: the system's color scheme.
        pixels: Device pixel ratio.
    """
    with running_browser(browser) as started:
        page = new_page(
            started,
            viewport={"width": 1280, "height": 900},
            device_scale_factor=pixels,
            # our JupyterLab follows the system's color scheme
            color_scheme="dark" if theme == "JupyterLab Dark" else "light",
        )
        expect.set_options(timeout=TIMEOUT_MS)
        requests: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        page.on("websocket", lambda socket: requests.append(socket.url))
        yield Notebook(page, requests)


@contextlib.contextmanager
def open_notebook(
    address: str, path: str, browser: str, theme: str = "JupyterLab Light", pixels: float = 1
) -> Iterator[Notebook]:
    """Open a notebook in a headless browser, with every cell drawn.

    Args:
        address: The URL of JupyterLab.
        path: The path of the notebook in JupyterLab's folder.
        browser: The path of the browser.
        theme: ``JupyterLab Light`` or ``JupyterLab Dark``.
        pixels: Device pixel ratio.
    """
    with open_browser(browser, theme, pixels) as notebook:
        page = notebook.page
        page.goto(f"{address}/lab?reset", wait_until="load")
        page.wait_for_function("window.jupyterapp && window.jupyterapp.restored.then(() => true)", polling=200)
        notebook.change_theme(theme)
        page.evaluate(
            "path => void window.jupyterapp.commands.execute('docmanager:open', {path, factory: 'Notebook'})", path
        )
        wait_until_ready(page, path, activate=True)
        yield notebook
