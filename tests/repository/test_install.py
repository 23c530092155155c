"""The library needs only torch, and jaxtyping for shape annotations; building a model requires nothing else."""

import json
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]

WITHOUT = """
import json, sys

absent = set(json.loads(sys.argv[1]))

class Hiding:
    def __init__(self, finder):
        self.finder = finder

    def __getattr__(self, name):  # a finder finds versions, too
        return getattr(self.finder, name)

    def find_spec(self, name, *others):
        return None if name in absent else self.finder.find_spec(name, *others)

sys.meta_path[:] = map(Hiding, sys.meta_path)
"""
MODELS = """
from transformer_lab import LanguageModel, MultiHeadAttention, Transformer, TransformerConfig
import torch

model = Transformer(TransformerConfig(11, d_model=8, n_heads=2, d_ff=16, n_layers=1, max_length=20)).eval()
print(*model(torch.tensor([[3, 4, 5]]), torch.tensor([[3, 4]])).shape)
"""


def brought_by(*names: str) -> set[str]:
    """Return the packages that are installed along with these."""
    observed, left = set(), [*map(Requirement, names)]
    while left:
        requirement = left.pop()
        for extra in {"", *requirement.extras}:
            asked = (canonicalize_name(requirement.name), extra)
            if asked not in observed:
                observed.add(asked)
                listed = map(Requirement, metadata.requires(requirement.name) or [])
                left += [each for each in listed if each.marker is None or each.marker.evaluate({"extra": extra})]
    return {name for name, _ in observed}


def run_with_only(code: str, *packages: str) -> subprocess.CompletedProcess[str]:
    """Run code that can import only Python's standard library, the library, and what these packages install."""
    there = {*brought_by(*packages), "transformer-course"}
    providers = metadata.packages_distributions().items()
    absent = sorted(top for top, names in providers if not {*map(canonicalize_name, names)} & there)
    env = {name: value for name, value in os.environ.items() if name != "TRANSFORMER_LAB_CHECK_SHAPES"}
    env |= {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-W", "ignore", "-c", WITHOUT + code, json.dumps(absent)]  # torch warns without numpy
    return subprocess.run(command, env=env, capture_output=True, text=True)


def test_importing_the_library_needs_only_torch():
    done = run_with_only("import transformer_lab; print(transformer_lab.__name__)", "torch")
    assert done.stdout == "transformer_lab\n", done.stderr


def test_running_a_model_needs_only_torch_and_jaxtyping():
    done = run_with_only(MODELS, "torch", "jaxtyping")
    assert done.stdout == "1 2 11\n", done.stderr


@pytest.mark.parametrize("package", ["numpy", "IPython"])
def test_uninstalled_packages_cannot_be_imported(package):
    done = run_with_only(f"import {package}", "torch", "jaxtyping")
    assert done.stderr.endswith(f"No module named {package!r}\n")
