"""The reference of the library: a page for each room, in the order in which the library is read as a book."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PACKAGE = "transformer_lab"


class Room(NamedTuple):
    """A folder of the library, or the modules that lie in no folder."""

    name: str
    docstring: str
    modules: list[str]
    """Full names, in reading order."""


def rooms(package: Path) -> list[Room]:
    """List the rooms of the library in reading order, as the docstrings of the packages tell it.

    What a docstring does not name comes last: nothing is left out.
    """
    docstring = _docstring(package / "__init__.py")
    folders = [path.name for path in package.iterdir() if (path / "__init__.py").exists()]
    found = []
    for folder in _in_order(folders, docstring):
        text = _docstring(package / folder / "__init__.py")
        found.append(Room(folder, text, list(_modules(package / folder, text, f"{PACKAGE}.{folder}"))))
    alone = [path.stem for path in package.glob("*.py") if not path.stem.startswith("_")]
    text = "Small modules that all rooms share\n\nArguments, devices, files and shapes."
    return [*found, Room("shared", text, [f"{PACKAGE}.{name}" for name in _in_order(alone, docstring)])]


def contents(package: Path) -> str:
    """Return the page in front of the rooms: what the package says of itself, and its public names."""
    title, _, rest = _docstring(package / "__init__.py").partition("\n")
    names = [f"* :py:obj:`~{PACKAGE}.{place}.{name}`" for name, place in _public_names(package).items()]
    return "\n\n".join(
        [
            "# The library as a book",
            title,
            _restructured(rest.strip()),
            "## Rooms, in reading order",
            _toctree(room.name for room in rooms(package)),
            "## Public names",
            "These can be imported from `transformer_lab` itself.",
            _restructured("\n".join(names)),
            "",
        ]
    )


def page(room: Room) -> str:
    """Return the page of a room: what its docstring says, then each module with all it defines."""
    title, _, rest = room.docstring.partition("\n")
    parts = [f"# `{room.name}`", f"**{title}**", _restructured(rest.strip())]
    for module in room.modules:
        name = module.removeprefix(f"{PACKAGE}.").removeprefix(f"{room.name}.")
        parts += [f"## `{name}`", _restructured(f".. automodule:: {module}\n   :members:")]
    return "\n\n".join([*parts, ""])


def _modules(folder: Path, docstring: str, package: str) -> Iterator[str]:
    """Yield the modules of a room; those of a folder in it follow its own docstring."""
    inside = [path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")]
    inside += [path.name for path in folder.iterdir() if (path / "__init__.py").exists()]
    for name in _in_order(inside, docstring):
        yield f"{package}.{name}"
        if (folder / name / "__init__.py").exists():
            yield from _modules(folder / name, _docstring(folder / name / "__init__.py"), f"{package}.{name}")


def _in_order(names: list[str], docstring: str) -> list[str]:
    """Sort names by where a docstring first has them in double backticks."""
    told = list(dict.fromkeys(re.findall(r"``(\w+)``", docstring)))
    return sorted(names, key=lambda name: (told.index(name) if name in told else len(told), name))


def _public_names(package: Path) -> dict[str, str]:
    """Read where each public name is defined."""
    for node in ast.parse((package / "__init__.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_MODULES":
            return dict(ast.literal_eval(node.value))
    raise ValueError(f"{package / '__init__.py'} has no table _MODULES of its public names")


def _docstring(path: Path) -> str:
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or path.parent.name


def _restructured(text: str) -> str:
    """Wrap reStructuredText, in which docstrings are written, for a page in Markdown."""
    return f"```{{eval-rst}}\n{text}\n```"


def _toctree(names: Iterator[str]) -> str:
    return "\n".join(["```{toctree}", ":maxdepth: 2", "", *names, "```"])
