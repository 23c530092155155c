"""An install of the library alone: what runs without the extras, and what is said of all that does not."""

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from transformer_lab.cli.main import EXTRAS

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

NEED_AN_EXTRA = re.compile(
    r"transformer_lab\.(inspection\.(alternative_text|diagrams|plots|shapes)|views|data\.dates|training\.(trainer|recipes))\b"
)
"""The modules of the library that cannot be imported without one."""

LIBRARY_ALONE = """
import contextlib, importlib, io, json, sys

absent, modules, commands = json.loads(sys.argv[1])

class NotInstalled:
    def find_spec(self, name, path=None, target=None):
        if name in absent:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, NotInstalled())
failed = {}
for module in modules:
    try:
        importlib.import_module(module)
    except ModuleNotFoundError as error:
        failed[module] = error.name

import torch
import transformer_lab as lab
from transformer_lab.cli.main import main

torch.manual_seed(0)  # with other parameters the text may end at once
model = lab.Transformer(lab.TransformerConfig(11, d_model=8, n_heads=2, d_ff=16, n_layers=1, max_length=20)).eval()
shape = list(lab.greedy_decode(model, torch.tensor([[3, 4, 5]]), bos_id=1, eos_id=2, max_length=4).shape)
said = {}
for command in commands:
    with contextlib.redirect_stderr(io.StringIO()) as stream:
        code = main(command)
    said[command[0]] = [code, stream.getvalue()]
try:
    lab.plots
except ImportError as error:
    said["plots"] = str(error)
print(json.dumps([failed, shape, said]))
"""
COMMANDS = [
    ["lab"],
    ["release", "01_lookup", "-o", "out"],
    ["grade", "a.ipynb", "-o", "out"],
    ["feedback", "out"],
    ["export", "out", "--canvas", "a.csv"],
    ["train", "dates"],
    ["evaluate", "dates"],
]


def installed_with(name: str, seen: set[str]) -> set[str]:
    """Collect the packages that come along when one is installed without extras."""
    seen.add(name)
    wanted = PROJECT["dependencies"] if name == PROJECT["name"] else metadata.requires(name) or []
    for requirement in map(Requirement, wanted):
        marker = requirement.marker
        if requirement.name.lower() not in seen and (marker is None or marker.evaluate({"extra": ""})):
            installed_with(requirement.name.lower(), seen)
    return seen


def absent_modules() -> list[str]:
    """List what can be imported here, but could not be where only the library was installed."""
    there = {re.sub("[-_.]+", "-", name) for name in installed_with(PROJECT["name"], set())}
    providers = metadata.packages_distributions().items()
    return sorted(top for top, names in providers if not {re.sub("[-_.]+", "-", n).lower() for n in names} & there)


@pytest.mark.slow
def test_the_library_alone_runs_and_names_the_extra_for_the_rest(tmp_path):
    absent = absent_modules()
    assert {"jupyterlab", "matplotlib", "pandas", "babel", "sacrebleu", "nbformat", "IPython"} <= set(absent)
    assert not {"torch", "numpy", "tokenizers"} & set(absent)
    paths = [path for path in (ROOT / "transformer_lab").rglob("*.py") if "course" not in path.parts]
    modules = [".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in paths]
    asked = json.dumps([absent, sorted(set(modules) - {"transformer_lab.cli.__main__"}), COMMANDS])
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", LIBRARY_ALONE, asked], cwd=tmp_path, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    failed, shape, said = json.loads(done.stdout)
    assert {name: missing for name, missing in failed.items() if not NEED_AN_EXTRA.match(name)} == {}
    assert len(failed) > 15  # the diagrams alone are more
    assert shape == [1, 4]
    for name, text in said.items():
        if name == "plots":
            assert text.startswith("transformer_lab.plots needs the extra 'course', for ")
        else:
            code, complaint = text
            assert code == 2
            extra = EXTRAS[name]
            assert complaint.startswith(
                f"transformer-course: transformer-course {name} needs the extra {extra!r}, for "
            )
            assert complaint.endswith(f": pip install 'transformer-course[{extra}]'\n")


@pytest.mark.parametrize("extra", sorted({*EXTRAS.values()}))
def test_an_extra_that_is_named_is_there(extra):
    assert extra in PROJECT["optional-dependencies"]
