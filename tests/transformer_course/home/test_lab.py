"""Tests for starting JupyterLab with the working copies and the home page, without importing torch."""

import os
import re
import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell, new_notebook

from transformer_course.home import lab


@pytest.mark.parametrize("user", [0, 1000, None], ids=["root", "user", "Windows"])
def test_opens_working_copy_with_the_home_page(tmp_path, monkeypatch, user):
    from jupyterlab.labapp import LabApp

    (tmp_path / "notebooks").mkdir()
    book = new_notebook(cells=[new_markdown_cell("# Lookup", id="title")])
    nbformat.write(book, tmp_path / "notebooks" / "01_lookup.ipynb")
    observed = []
    monkeypatch.setattr(LabApp, "launch_instance", lambda arguments: observed.append((arguments, dict(os.environ))))
    monkeypatch.setattr(lab, "published_lessons", lambda: tmp_path / "notebooks")
    monkeypatch.setattr(lab, "SKIPPED_MODULES", ())  # removing these modules could break other tests
    monkeypatch.setattr(os, "environ", {**os.environ, "TRANSFORMER_LAB_LESSONS": str(tmp_path / "mine")})
    if user is None:
        monkeypatch.delattr(os, "geteuid", raising=False)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: user, raising=False)
    os.environ |= {"OMP_NUM_THREADS": "8", "TRANSFORMER_LAB_CHECK_SHAPES": "0"}

    lab.open_lab(["--no-browser", "--port", "8890"])

    [(arguments, environment)] = observed
    assert arguments == [
        f"--ServerApp.root_dir={tmp_path / 'mine'}",
        "--ServerApp.jpserver_extensions=transformer_course.home.server=True",
        "--ServerApp.jpserver_extensions=jupyter_lsp=False",
        "--ServerApp.jpserver_extensions=jupyterlab_jupytext=False",
        "--ServerApp.jpserver_extensions=notebook_shim=False",
        f"--LabApp.extra_labextensions_path={lab.EXTENSIONS_FOLDER}",
        "--LabApp.extension_manager=readonly",
        *(["--allow-root"] if user == 0 else []),
        *("--no-browser", "--port", "8890"),
    ]
    assert (environment["OMP_NUM_THREADS"], environment["TRANSFORMER_LAB_CHECK_SHAPES"]) == ("1", "1")
    assert environment["TRANSFORMER_LAB_LIVE"] == "1"
    assert environment["JUPYTER_CONFIG_PATH"].split(os.pathsep)[-1] == str(lab.SETTINGS_FOLDER)
    assert environment["TRANSFORMER_LAB_PARTS"] == str(tmp_path / "mine" / "parts")
    assert (tmp_path / "mine" / "01_lookup.ipynb").exists()


def test_running_labs_returns_servers_for_same_folder(tmp_path, monkeypatch):
    here = {"root_dir": str(tmp_path), "url": "http://localhost:8888/", "token": "abc"}
    servers = [here, here | {"root_dir": str(tmp_path / "other")}, {}]
    monkeypatch.setattr("jupyter_server.serverapp.list_running_servers", lambda: iter(servers))
    assert lab.running_labs(tmp_path) == ["http://localhost:8888/lab?token=abc"]


def test_startup_and_home_page_do_not_import_torch():
    code = f"import sys, {lab.__name__}, {lab.SERVER_EXTENSION}; print('torch' in sys.modules)"
    env = {
        name: value for name, value in os.environ.items() if name != "TRANSFORMER_LAB_CHECK_SHAPES"
    }  # shape checks would import torch
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_style_sheet_affects_only_the_home_page():
    sheet = (lab.EXTENSIONS_FOLDER / "transformer-course-home" / "static" / "page.css").read_text(encoding="utf-8")
    rules = re.findall(r"([^{}]+)\{", re.sub(r"/\*.*?\*/", "", sheet, flags=re.DOTALL))
    selectors = [selector.strip() for rule in rules for selector in rule.split(",\n")]
    # @container is not a selector
    selectors = [selector for selector in selectors if not selector.startswith("@container")]
    assert selectors
    other_selectors = [
        s for s in selectors if not re.match(r"(\[data-(?:jp-theme-light='false|theme='dark)'\] )?\.tl-home\b", s)
    ]
    assert other_selectors == [], "these style rules would also affect notebooks in other tabs"
