"""A real JupyterLab in a real browser, to be driven as a learner's hands would."""

import contextlib
import os
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, sync_playwright

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def find_browser() -> str | None:
    """Return the path of an installed Chromium, if there is one."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def free_port() -> int:
    """Return a port that is free."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port: int = s.getsockname()[1]
        return port


@contextlib.contextmanager
def running_lab(command: Sequence[str], folder: Path, home: Path) -> Iterator[str]:
    """Start JupyterLab by a command, with settings of its own; yields its address.

    Args:
        command: What starts it; the options a test needs are added.
        folder: Where to start it.
        home: An empty folder for its settings.
    """
    port = free_port()
    options = [f"--port={port}", "--ServerApp.port_retries=0", "--IdentityProvider.token=", "--expose-app-in-browser"]
    places = ("CONFIG_DIR", "RUNTIME_DIR", "DATA_DIR")
    env = {
        **os.environ,
        **{f"JUPYTER_{place}": str(home / place.lower()) for place in places},
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
    }
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


def _wait_for(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and server.poll() is None:
        with contextlib.suppress(OSError):
            urllib.request.urlopen(address, timeout=5)
            return
        time.sleep(0.3)
    raise RuntimeError(f"JupyterLab did not start; it said:\n{log.read_text()[-2000:]}")


class Notebook:
    """A notebook open in the browser."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def run_all(self) -> None:
        """Run every cell, and wait until the kernel is done.

        Raises:
            RuntimeError: A cell failed.
        """
        if not self._command("notebook:run-all-cells"):
            raise RuntimeError(f"a cell failed: {self.page.locator('.jp-RenderedText').last.inner_text()}")

    def save(self) -> None:
        """Save the file."""
        self._command("docmanager:save")

    def cell_with(self, code: str) -> Locator:
        """Find the first code cell whose source holds some text."""
        return self.page.locator(".jp-CodeCell").filter(has=self.page.locator(".cm-content", has_text=code)).first

    def rewrite(self, cell: Locator, source: str) -> None:
        """Replace what a cell holds, as if it had been typed, and run it."""
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


@contextlib.contextmanager
def open_lab(
    address: str, browser: str, theme: str = "JupyterLab Light", pixels: float = 1
) -> Iterator[tuple[Page, list[str]]]:
    """Open JupyterLab in a headless browser; yields its page, and the list of all requests that left the machine.

    Args:
        address: Where JupyterLab listens.
        browser: The browser's program.
        theme: ``JupyterLab Light`` or ``JupyterLab Dark``.
        pixels: Number of pixels per point, each way.
    """
    with sync_playwright() as playwright:
        # As root, which CI often is, Chromium refuses to start with its sandbox.
        started = playwright.chromium.launch(
            executable_path=browser, args=["--no-sandbox", "--force-color-profile=srgb"]
        )
        page = started.new_page(viewport={"width": 1280, "height": 900}, device_scale_factor=pixels)
        leaving: list[str] = []
        own = (address, address.replace("http", "ws", 1), "data:", "blob:")
        page.on("request", lambda request: None if request.url.startswith(own) else leaving.append(request.url))
        page.goto(f"{address}/lab?reset", wait_until="load")
        page.wait_for_function("window.jupyterapp && window.jupyterapp.restored.then(() => true)")
        page.evaluate("theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})", theme)
        try:
            yield page, leaving
        finally:
            started.close()


def opened_notebook(page: Page) -> Notebook:
    """Return the notebook that is being opened, once its kernel is there and every cell is drawn."""
    page.wait_for_function("window.jupyterapp.shell.currentWidget?.content?.notebookConfig")
    page.evaluate(
        """async () => {
            const notebook = window.jupyterapp.shell.currentWidget;
            await notebook.context.ready;
            await notebook.context.sessionContext.ready;
            const settings = notebook.content.notebookConfig;
            notebook.content.notebookConfig = {...settings, windowingMode: 'none'};
        }"""
    )
    page.wait_for_selector(".jp-CodeCell .cm-content")
    return Notebook(page)


@contextlib.contextmanager
def open_notebook(
    address: str, path: str, browser: str, theme: str = "JupyterLab Light", pixels: float = 1
) -> Iterator[Notebook]:
    """Open a notebook in a headless browser, with every cell drawn.

    Args:
        address: Where JupyterLab listens.
        path: The notebook, seen from its folder.
        browser: The browser's program.
        theme: ``JupyterLab Light`` or ``JupyterLab Dark``.
        pixels: Number of pixels per point, each way.
    """
    with open_lab(address, browser, theme, pixels) as (page, _):
        page.evaluate(
            "path => window.jupyterapp.commands.execute('docmanager:open', {path, factory: 'Notebook'})", path
        )
        yield opened_notebook(page)
