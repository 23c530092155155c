"""The JavaScript modules of ``front_end/``, joined into the single one that a widget consists of.

A notebook gets a widget's code as text, not from an address, so an ``import`` of the file beside it would find nothing.
Instead of a build step, the modules are put one after another, each in a function that returns what it exports: names
that are not exported stay private, as they are in the files.
"""

import re
from functools import cache
from pathlib import Path

STATE = "transformer-course-state"
"""Where the metadata of an output hold the state of its view: they are not compared between machines."""
FOLDER = Path(__file__).with_name("front_end")
_IMPORT = re.compile(r'^import \{([\w,\s]+)\} from "\./(\w+)\.mjs";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|const|class) (\w+))", re.MULTILINE)
_OTHER = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


@cache
def module(name: str, folder: Path = FOLDER) -> str:
    """Return the JavaScript of a view, with all that it imports, as one module.

    Its default export has ``render``, which a notebook calls, and ``modelOf`` for where there is no kernel.

    Args:
        name: The view's own module, which exports ``draw``.
        folder: Where the modules are.

    Raises:
        ValueError: A module imports or exports in another form than ``import { a } from "./b.mjs";`` and ``export`` in
            front of a function, a constant or a class; or modules import one another in a circle.
    """
    order = dict.fromkeys([*_in_order("view", folder, ()), *_in_order(name, folder, ())])
    entry = f'export default {{ render: $view.render(${name}.draw, "{name}"), modelOf: $view.modelOf }};\n'
    return "".join(_wrapped(other, folder) for other in order) + entry


@cache
def style(name: str, folder: Path = FOLDER) -> str:
    """Return the style sheet of a view: what all share, then its own if it has one.

    A sheet holds for the whole page, and a notebook may show several views. So the rules of its own are put into one
    that chooses the view alone, by nesting, which every browser has that has the ``light-dark()`` of the colors.
    """
    shared, own = ((folder / f"{sheet}.css") for sheet in ("view", name))
    if not own.exists():
        return shared.read_text(encoding="utf-8")
    return f"{shared.read_text(encoding='utf-8')}\n.tl-view.{name} {{\n{own.read_text(encoding='utf-8')}}}\n"


def _in_order(name: str, folder: Path, above: tuple[str, ...]) -> list[str]:
    """List a module after those that it imports."""
    if name in above:
        raise ValueError(f"modules must not import one another in a circle; got {' → '.join([*above, name])}")
    imported = [match[2] for match in _IMPORT.finditer(_source(name, folder))]
    below = [other for module in imported for other in _in_order(module, folder, (*above, name))]
    return list(dict.fromkeys([*below, name]))


def _wrapped(name: str, folder: Path) -> str:
    source = _source(name, folder)
    exports = [match[1] for match in _EXPORT.finditer(source)]
    body = _EXPORT.sub("", _IMPORT.sub(r"const {\1} = $\2;\n", source))
    if other := _OTHER.search(body):
        raise ValueError(f"{name}.mjs has an import or export that cannot be joined: {other[0]}")
    return f"const ${name} = (() => {{\n{body}return {{ {', '.join(exports)} }};\n}})();\n"


def _source(name: str, folder: Path) -> str:
    return (folder / f"{name}.mjs").read_text(encoding="utf-8")
