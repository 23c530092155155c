"""Write the API reference: pages for the packages of the library in reading order, and for some parts of the course.

Only the parts of the course that lessons and instructors import have a page. ARCHITECTURE.md describes all other parts.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PACKAGE = "transformer_lab"
COURSE = "transformer_course"


class Package(NamedTuple):
    """A package, or a group of modules that do not belong to a package."""

    name: str
    docstring: str
    modules: list[str]
    """Full names of the modules, in reading order."""


def packages(parent: Path) -> list[Package]:
    """Return the library's packages in the order of its docstring, followed by all other packages."""
    docstring = _docstring(parent / "__init__.py")
    folders = [path.name for path in parent.iterdir() if (path / "__init__.py").exists()]
    found = []
    for folder in _in_order(folders, docstring):
        found.append(_package(parent, folder))
    alone = [path.stem for path in parent.glob("*.py") if not path.stem.startswith("_")]
    text = "Small modules that all packages share\n\nThese modules handle arguments, devices, files and shapes."
    return [*found, Package("shared", text, [f"{PACKAGE}.{name}" for name in _in_order(alone, docstring)])]


def course_packages(course: Path) -> list[Package]:
    """Return the parts of the course that lessons and instructors import."""
    names = "``from transformer_course import check, compare, hint, parts, solution``"
    lesson = f"Functions that lessons import from the course\n\n{names}"
    exercise = "Write your own exercises\n\nThe guide to grading a class has an example."
    return [
        Package("lesson", lesson, [f"{COURSE}.lesson.{name}" for name in ("notebook", "final_page")]),
        _package(course, "views"),
        _package(course, "diagrams"),
        _package(course, "plots"),
        _package(course, "stored_models"),
        _package(course, "published_models"),
        Package("exercise", exercise, [f"{COURSE}.{name}" for name in ("exercise", "steps", "running.case")]),
    ]


def _package(parent: Path, folder: str) -> Package:
    text = _docstring(parent / folder / "__init__.py")
    return Package(folder, text, list(_modules(parent / folder, text, f"{parent.name}.{folder}")))


def contents(parent: Path, course: Path) -> str:
    """Return the index page: the library's docstring, its packages and public names, and the parts of the course."""
    title, _, rest = _docstring(parent / "__init__.py").partition("\n")
    names = [f"* :py:obj:`~{PACKAGE}.{place}.{name}`" for name, place in _public_names(parent).items()]
    return "\n\n".join(
        [
            "# The library as a book",
            title,
            _restructured(rest.strip()),
            "## Packages, in reading order",
            _toctree(package.name for package in packages(parent)),
            "## Public names",
            "You can import these names directly from `transformer_lab`.",
            _restructured("\n".join(names)),
            "## Parts of the course for lessons and instructors",
            _toctree(package.name for package in course_packages(course)),
            "",
        ]
    )


def page(package: Package) -> str:
    """Return the page for a package: its docstring, followed by its modules with their definitions."""
    title, _, rest = package.docstring.partition("\n")
    parts = [f"# `{package.name}`", f"**{title}**", _restructured(rest.strip())]
    for module in package.modules:
        name = module.partition(".")[2].removeprefix(f"{package.name}.")
        parts += [f"## `{name}`", _restructured(f".. automodule:: {module}\n   :members:")]
    return "\n\n".join([*parts, ""])


def _modules(folder: Path, docstring: str, parent: str) -> Iterator[str]:
    """Yield the modules of a package and its nested packages, each in the order of its docstring."""
    inside = [path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")]
    inside += [path.name for path in folder.iterdir() if (path / "__init__.py").exists()]
    for name in _in_order(inside, docstring):
        yield f"{parent}.{name}"
        if (folder / name / "__init__.py").exists():
            yield from _modules(folder / name, _docstring(folder / name / "__init__.py"), f"{parent}.{name}")


def _in_order(names: list[str], docstring: str) -> list[str]:
    """Sort names by their first occurrence in double backticks in a docstring."""
    order = list(dict.fromkeys(re.findall(r"``(\w+)``", docstring)))
    return sorted(names, key=lambda name: (order.index(name) if name in order else len(order), name))


def _public_names(parent: Path) -> dict[str, str]:
    """Map each public name to the module that defines it."""
    for node in ast.parse((parent / "__init__.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_MODULES":
            return dict(ast.literal_eval(node.value))
    raise ValueError(f"{parent / '__init__.py'} must define _MODULES, the table of its public names")


def _docstring(path: Path) -> str:
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or path.parent.name


def _restructured(text: str) -> str:
    """Embed reStructuredText, the format of docstrings, in a Markdown page."""
    return f"```{{eval-rst}}\n{text}\n```"


def _toctree(names: Iterator[str]) -> str:
    return "\n".join(["```{toctree}", ":maxdepth: 2", "", *names, "```"])
