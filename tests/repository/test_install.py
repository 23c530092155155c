"""Test that importing the library requires only torch, and that running a model also requires only jaxtyping."""

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

HIDE_PACKAGES = """
import json, sys

absent = set(json.loads(sys.argv[1]))

class Hiding:
    def __init__(self, finder):
        self.finder = finder

    def __getattr__(self, name):  # importlib.metadata uses other methods of a finder
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


def with_dependencies(*names: str) -> set[str]:
    """Return these packages and all their direct and indirect dependencies."""
    visited, pending = set(), [*map(Requirement, names)]
    while pending:
        requirement = pending.pop()
        for extra in {"", *requirement.extras}:
            key = (canonicalize_name(requirement.name), extra)
            if key not in visited:
                visited.add(key)
                listed = map(Requirement, metadata.requires(requirement.name) or [])
                pending += [r for r in listed if r.marker is None or r.marker.evaluate({"extra": extra})]
    return {name for name, _ in visited}


def run_with_only(code: str, *packages: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process that can import only the standard library, our library, and these packages with their
    dependencies.
    """
    available = {*with_dependencies(*packages), "transformer-course"}
    providers = metadata.packages_distributions().items()
    absent = sorted(top for top, names in providers if not {*map(canonicalize_name, names)} & available)
    env = {name: value for name, value in os.environ.items() if name != "TRANSFORMER_LAB_CHECK_SHAPES"}
    env |= {"PYTHONPATH": str(ROOT)}
    # Without numpy, torch prints a warning.
    command = [sys.executable, "-W", "ignore", "-c", HIDE_PACKAGES + code, json.dumps(absent)]
    return subprocess.run(command, env=env, capture_output=True, text=True)


def test_importing_the_library_needs_only_torch():
    done = run_with_only("import transformer_lab; print(transformer_lab.__name__)", "torch")
    assert done.stdout == "transformer_lab\n", done.stderr


def test_running_a_model_needs_only_torch_and_jaxtyping():
    done = run_with_only(MODELS, "torch", "jaxtyping")
    assert done.stdout == "1 2 11\n", done.stderr


@pytest.mark.parametrize("package", ["numpy", "IPython"])
def test_cannot_import_hidden_packages(package):
    done = run_with_only(f"import {package}", "torch", "jaxtyping")
    assert done.stderr.endswith(f"No module named {package!r}\n")
