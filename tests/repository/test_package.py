"""Test imports in a separate process: shape checks, the modules that an import loads, and public names."""

import ast
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import transformer_course
import transformer_lab

ROOT = Path(__file__).parents[2]
FLOATS_FOR_POSITIONS = """
import sys, torch
from transformer_lab.attention.masks import sliding_window_mask
print(*sys.modules)
sliding_window_mask(torch.zeros(3), torch.zeros(3), window=2)
"""
WITHOUT_MEMORY = """
from transformer_lab.device import without_memory
from transformer_lab.models.language_model import LanguageModel
from transformer_lab.models.language_model_config import LanguageModelConfig
with without_memory():
    model = LanguageModel(LanguageModelConfig(11))
assert {p.device.type for p in model.parameters()} == {"meta"}
"""
UNWANTED = {
    WITHOUT_MEMORY: ("sympy", "torch._dynamo"),
    "import transformer_course.workspace.working_copies": ("nbformat",),  # importing nbformat would delay saving a pass
    "from transformer_course import diagrams; diagrams.__all__": ("matplotlib",),
    "from transformer_course.plots.alternative_text import *; describe_displayed_figures()": ("IPython",),
}


EXPORTED = """
import transformer_course
from transformer_course.lesson import notebook
print([getattr(transformer_course, name) is getattr(notebook, name) for name in transformer_course.__all__])
"""
COMBINED_SCRIPT = "\n".join(
    [
        FLOATS_FOR_POSITIONS,
        *(f"{code}\nprint({[*names]}, *{{*{[*names]}}} & {{*sys.modules}})" for code, names in UNWANTED.items()),
        EXPORTED,
    ]
)
"""All code in one script, because importing torch takes seconds. Code that must load fewer modules comes first."""


@cache
def python(code: str, *, check_shapes: str | None) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if name != "TRANSFORMER_LAB_CHECK_SHAPES"}
    if check_shapes is not None:
        env["TRANSFORMER_LAB_CHECK_SHAPES"] = check_shapes
    return subprocess.run([sys.executable, "-c", code], env=env, cwd=ROOT, capture_output=True, text=True)


def output_lines() -> list[str]:
    done = python(COMBINED_SCRIPT, check_shapes=None)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_shape_checks_are_off_by_default():
    assert "beartype" not in output_lines()[0].split()


@pytest.mark.thorough
def test_variable_turns_shape_checks_off():
    done = python(FLOATS_FOR_POSITIONS, check_shapes="0")
    assert done.returncode == 0, done.stderr
    assert "beartype" not in done.stdout.split()


def test_variable_turns_shape_checks_on():
    done = python(FLOATS_FOR_POSITIONS, check_shapes="1")
    assert "TypeCheckError" in done.stderr
    assert "parameter 'query_positions'" in done.stderr


def test_library_imports_neither_the_course_nor_plots():
    loaded = output_lines()[0].split()
    assert "transformer_lab.attention.masks" in loaded
    assert not [name for name in loaded if name.startswith(("transformer_course", "matplotlib", "pandas"))]


def test_package_loads_slow_modules_only_when_needed():
    assert output_lines()[1:-1] == [str([*unwanted]) for unwanted in UNWANTED.values()]


def test_importing_the_package_does_not_load_torch():
    loaded = python("import sys, transformer_lab; print(*sys.modules)", check_shapes=None).stdout.split()
    assert "transformer_lab" in loaded
    assert "torch" not in loaded


def test_public_names_exist():
    assert sorted(transformer_lab.__all__) == sorted(set(transformer_lab.__all__))
    for name in transformer_lab.__all__:
        assert getattr(transformer_lab, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'Transformers'"):
        transformer_lab.Transformers  # noqa: B018


def test_type_checkers_find_the_same_public_names():
    for package in (transformer_lab, transformer_course):
        tree = ast.parse(Path(package.__file__).read_text(encoding="utf-8"))
        [block] = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
        imported = {alias.asname for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
        assert imported == {*package.__all__}


def test_course_exports_the_names_that_lessons_import():
    assert sorted(transformer_course.__all__) == ["check", "compare", "hint", "parts", "solution", "tally"]
    # This uses a separate process, because grading an answer may have replaced the package in this process.
    assert output_lines()[-1] == str([True] * len(transformer_course.__all__))
