"""Test that documents name existing files, modules and functions, and that the authors' example exercise works."""

import ast
import importlib
import re
import sys
from functools import cache
from pathlib import Path

import pytest

from authoring.build_generated_mistakes import update
from transformer_course.checking.judge import judge
from transformer_course.generated_mistakes import catalog
from transformer_course.running.observe import observe

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    *("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "transformer_course/sandbox/README.md"),
    *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))),
]
FOLDERS = ("authoring", "benchmarks", "docs", "notebooks", "tests", "transformer_course", "transformer_lab")
SOURCE = re.compile(r"\.(?:py|mjs|js|md|toml|yml)$")
PLACEHOLDER = re.compile(r"NN_name|my_function|l2_normalize|^name\.py$|ASSIGNMENT|_assignsubmission_")

WRITTEN = {
    *("build/", "build/site/html", "build/translator/"),
    *("my-lessons/", "my-lessons/parts/", "my-lessons/practice/", "my-lessons/progress.jsonl"),
    "transformer_course/notebooks",  # exists only in the wheel
    ".venv/install.log",
    "own_exercises/",
    "feedback/",
    "students/",
    "converters/autograde.py",  # a file of nbgrader
}


def code_spans(text):
    """Return the code spans in a text, each joined into one line. Code blocks are ignored."""
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    return [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", prose)]


def paths_in(text):
    """Return the paths in a document's code spans, and those in its commands that start with a known folder."""
    commands = [
        line for block in re.findall(r"^```\n(.*?)^```", text, re.MULTILINE | re.DOTALL) for line in block.split("\n")
    ]
    found = {span for span in code_spans(text) if re.fullmatch(r"[\w.-]+(?:/[\w.-]+)*/?", span)}
    named = {path for path in found if "/" in path or SOURCE.search(path)}
    words = {word for line in [*code_spans(text), *commands] for word in line.partition(" #")[0].split()}
    named |= {word for word in words if re.fullmatch(rf"(?:{'|'.join(FOLDERS)})/[\w./-]+", word)}
    return {path for path in named if not PLACEHOLDER.search(path)} - WRITTEN


def exists(path, document):
    """Return whether a path exists in the root, the course or the document's folder, or is the name of any file."""
    bases = (ROOT, ROOT / "transformer_course", (ROOT / document).parent)
    if any((base / name).exists() for base in bases for name in (path, f"{path}.py")):
        return True
    return "/" not in path and path in file_names()


@cache
def file_names():
    return {path.name for folder in FOLDERS for path in (ROOT / folder).rglob("*") if SOURCE.search(path.name)}


def dotted_names_in(text):
    """Return the modules in ``python -m`` commands, and the dotted names in code spans, except torch's names."""
    commands = {name for name in re.findall(r"-m\s+([a-z_]+(?:\.\w+)*)", text) if name.split(".")[0] in FOLDERS}
    dotted = {span for span in code_spans(text) if re.fullmatch(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+", span)}
    files = {
        name for name in dotted if re.search(r"\.(?:py|mjs|js|md|toml|yml|csv|json|jsonl|html|txt|ipynb|zip)$", name)
    }
    return commands | {name for name in dotted - files if not name.startswith(("torch.", "nn."))}


@cache
def defined_names():
    """Return the dotted names of the repository's modules, functions, classes and methods."""
    names = set()
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*.py"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            module = ".".join(parts[:-1] if parts[-1] in ("__init__", "__main__") else parts)
            names.add(module)
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.FunctionDef | ast.ClassDef):
                    names |= {f"{module}.{node.name}", f"{path.stem}.{node.name}"}
                if isinstance(node, ast.ClassDef):
                    names |= {f"{node.name}.{inner.name}" for inner in node.body if isinstance(inner, ast.FunctionDef)}
    return names


@pytest.mark.parametrize("document", DOCUMENTS)
def test_documents_name_only_paths_that_exist(document):
    missing = [path for path in paths_in((ROOT / document).read_text(encoding="utf-8")) if not exists(path, document)]
    assert not missing, f"{document} names {sorted(missing)}"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_documents_name_only_modules_and_functions_that_exist(document):
    missing = dotted_names_in((ROOT / document).read_text(encoding="utf-8")) - defined_names()
    assert not missing, f"{document} names {sorted(missing)}"


def test_reports_missing_paths_and_names():
    text = "`fast/gone.py`, `running/record.py`, `gone.py`, `tests.gone`, `record.gone`\n```\npython tests/gone.py\n```"
    assert {path for path in paths_in(text) if not exists(path, "README.md")} == {
        *("fast/gone.py", "gone.py", "tests/gone.py")
    }
    assert dotted_names_in(text) - defined_names() == {"tests.gone", "record.gone"}


@pytest.fixture
def example(tmp_path, monkeypatch):
    """The example exercise in the authors' guide as a module, with a folder for its catalog of generated mistakes."""
    page = (ROOT / "docs" / "authoring.md").read_text(encoding="utf-8")
    [source] = [block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "EXERCISE =" in block]
    (tmp_path / "l2_normalize.py").write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(catalog, "FOLDER", tmp_path)
    yield importlib.import_module("l2_normalize").EXERCISE
    del sys.modules["l2_normalize"]


def test_example_exercise_in_authoring_guide_names_its_mistakes(example):
    update(example, is_check=False)  # raises an error if a message has no generated mistake

    def verdict(attempt):
        return judge(example, 1, [observe(attempt, case) for case in example.cases(1)])

    assert verdict(example.reference).passed
    [mistake] = example.mistakes
    assert verdict(mistake.attempts[0]).mistake == mistake.name
    [(key, wording)] = example.messages.items()
    squared = verdict(lambda vectors: vectors / vectors.square().sum(dim=-1, keepdim=True))
    assert squared.mistake == key
    assert squared.message.startswith(wording.sentence)
