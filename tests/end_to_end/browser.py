"""Helpers that operate JupyterLab in a real browser."""

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
"""The command that opens the lessons in JupyterLab."""
TIMEOUT_MS = 180_000
"""Time limit for expected changes in the browser. It is long, because a busy machine is slow."""


def find_browser() -> str | None:
    """Return the path of an installed Chromium, or None if there is none."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


BROWSER = find_browser()
needs_browser = pytest.mark.skipif(BROWSER is None, reason="Chromium is not installed, so JupyterLab cannot be opened")


def free_port() -> int:
    """Return a free TCP port."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port: int = s.getsockname()[1]
        return port


@contextlib.contextmanager
def running_lab(command: Sequence[str], folder: Path, home: Path, has_answered: bool = True) -> Iterator[str]:
    """Start JupyterLab with a command and separate settings, and yield its URL.

    Args:
        command: The command, to which this function adds the options that tests need.
        folder: The working directory of the command.
        home: An empty folder for JupyterLab's settings.
        has_answered: Whether to answer JupyterLab's question about news in advance.
    """
    port = free_port()
    options = [f"--port={port}", "--ServerApp.port_retries=0", "--IdentityProvider.token=", "--expose-app-in-browser"]
    names = ("CONFIG_DIR", "RUNTIME_DIR", "DATA_DIR")
    env = {
        **os.environ,
        **{f"JUPYTER_{name}": str(home / name.lower()) for name in names},
        "JUPYTER_CONFIG_PATH": str(SETTINGS_FOLDER),  # plain JupyterLab must also use the learners' settings
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
    }
    if has_answered:  # without this setting, JupyterLab asks on its first start whether to fetch news
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
        requests: The URLs that the page has requested so far; new requests are appended.
    """

    def __init__(self, page: Page, requests: list[str]) -> None:
        self.page, self.requests = page, requests

    def run_all(self) -> None:
        """Run all cells, and wait until the kernel is done.

        Raises:
            RuntimeError: A cell failed.
        """
        if not self._command("notebook:run-all-cells"):
            raise RuntimeError(f"a cell failed: {self.page.locator('.jp-RenderedText').last.inner_text()}")

    def python(self, expression: str) -> Any:
        """Return the value of a Python expression in the notebook's kernel; the value must be a literal."""
        evaluate = """async (expression) => {
            const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
            const request = {code: '', user_expressions: {reply: expression}, store_history: false};
            const {reply} = (await kernel.requestExecute(request).done).content.user_expressions;
            return reply.status === 'ok' ? reply.data['text/plain'] : `${reply.ename}: ${reply.evalue}`;
        }"""
        return ast.literal_eval(self.page.evaluate(evaluate, expression))

    def change_theme(self, theme: str) -> None:
        """Switch to ``JupyterLab Light`` or ``JupyterLab Dark``, and wait until JupyterLab is visible again."""
        switch = "theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})"
        for _ in range(2):  # if JupyterLab follows the system's theme, the first click may only turn this setting off
            self.page.evaluate(switch, theme)
        self.page.wait_for_function("theme => document.body.dataset.jpThemeName === theme", arg=theme, polling=200)
        # While the splash screen covers the page, no element can be focused.
        expect(self.page.locator("#jupyterlab-splash")).to_have_count(0)

    def save(self) -> None:
        """Save the notebook."""
        self._command("docmanager:save")

    def cell_with(self, code: str) -> Locator:
        """Return the first code cell whose source contains ``text``."""
        return self.page.locator(".jp-CodeCell").filter(has=self.page.locator(".cm-content", has_text=code)).first

    def rewrite(self, cell: Locator, source: str) -> None:
        """Replace the source of a cell by typing, and run the cell."""
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.insert_text(source)
        self.run(cell)

    def run(self, cell: Locator) -> None:
        """Run a cell, and wait until the kernel is done."""
        cell.locator(".cm-content").click()
        self._command("notebook:run-cell")

    def _command(self, name: str) -> Any:
        return self.page.evaluate("name => window.jupyterapp.commands.execute(name)", name)


def wait_until_ready(page: Page, path: str, *, activate: bool = False) -> None:
    """Wait until a notebook is the current tab, its kernel is ready, and its code is visible.

    This function polls from Python. In a busy Chromium, a poll may wait forever for a promise or a frame.

    Args:
        page: The browser's page with JupyterLab.
        path: The path of the notebook in JupyterLab's folder.
        activate: Whether to focus the visible tab, as a click would, if no tab has the focus. A tab that opens right
            after the theme changes may not get the focus.

    Raises:
        TimeoutError: The notebook was not ready in time; the message contains its state.
    """
    deadline = time.monotonic() + TIMEOUT_MS / 1000
    while not (state := page.evaluate(_STATE, path))["ready"]:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{path} was not ready after {TIMEOUT_MS / 1000:.0f} s: {state}")
        if activate and state["front"] is None and state["visible"]:
            page.evaluate("id => window.jupyterapp.shell.activateById(id)", state["visible"][0])
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
        visible: [...window.jupyterapp?.shell.widgets('main') ?? []].filter(tab => tab.isVisible).map(tab => tab.id),
        focus: `${document.activeElement?.tagName} ${document.activeElement?.id}`,
        isCovered: Boolean(document.querySelector('#jupyterlab-splash')),
    };
    return {...state, ready: state.front === path && state.isLoaded && state.hasKernel && state.codeShown > 0};
}"""


_LATE_FRAMES = """(() => {
    const requestFrame = window.requestAnimationFrame.bind(window);
    window.requestAnimationFrame = run => requestFrame(() => setTimeout(() => run(performance.now()), 100));
})()"""
"""A script that delays every frame, as a busy machine would. Tests that do not wait fail."""


@contextlib.contextmanager
def running_browser(program: str) -> Iterator[Browser]:
    """Start a headless browser, and close it at the end."""
    with sync_playwright() as playwright:
        # Chromium's sandbox does not work as root, which is common in CI.
        browser = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--force-color-profile=srgb"]
        )
        try:
            yield browser
        finally:
            browser.close()


def new_page(browser: Browser, **options: Any) -> Page:
    """Open a page with delayed frames and a long timeout. The options are arguments of Playwright's ``new_context``."""
    context = browser.new_context(**options)
    context.add_init_script(_LATE_FRAMES)
    context.set_default_timeout(TIMEOUT_MS)
    return context.new_page()


@contextlib.contextmanager
def open_browser(browser: str, theme: str = "JupyterLab Light", pixels: float = 1) -> Iterator[Notebook]:
    """Open a headless browser for notebooks.

    Args:
        browser: The path of the browser.
        theme: ``JupyterLab Light`` or ``JupyterLab Dark``. This sets the system's color scheme.
        pixels: Device pixel ratio.
    """
    with running_browser(browser) as started:
        page = new_page(
            started,
            viewport={"width": 1280, "height": 900},
            device_scale_factor=pixels,
            # The course's settings make JupyterLab follow the system's color scheme.
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
    """Open a notebook in a headless browser, and wait until its code is visible.

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
