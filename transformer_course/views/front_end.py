"""Bundle the JavaScript modules of ``front_end/`` into a single module per widget.

A notebook receives a widget's code as text, not from a URL, so it cannot resolve an ``import`` of another file.
Instead of a build step, this module concatenates the files and wraps each one in a function that returns its exports.
Names that are not exported remain private.
"""

import re
from functools import cache
from pathlib import Path

STATE = "transformer-course-state"
"""The key in an output's metadata under which the view's state is stored. CI does not compare it."""
FOLDER = Path(__file__).with_name("front_end")
_IMPORT = re.compile(r'^import \{([\w,\s]+)\} from "\./(\w+)\.mjs";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|const|class) (\w+))", re.MULTILINE)
_OTHER = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


@cache
def module(name: str, folder: Path = FOLDER) -> str:
    """Return the JavaScript of a view, including its imports, as one module.

    The default export contains ``render``, which a notebook calls, and ``modelOf``, for pages without a kernel.

    Args:
        name: The name of the view's module, which exports ``draw``.
        folder: The folder with the modules.

    Raises:
        ValueError: Imports are circular, or an import or export cannot be bundled. Supported are
            ``import { a } from "./b.mjs";`` and ``export`` before a function, a constant or a class.
    """
    order = dict.fromkeys([*_in_order("view", folder, ()), *_in_order(name, folder, ())])
    entry = f'export default {{ render: $view.render(${name}.draw, "{name}"), modelOf: $view.modelOf }};\n'
    return "".join(_wrap_module(other, folder) for other in order) + entry


@cache
def style(name: str, folder: Path = FOLDER) -> str:
    """Return the style sheet of a view: the shared rules, followed by the view's own rules if it has any.

    A style sheet applies to the whole page, and a notebook may show several views. A view's own rules are therefore
    nested in a rule that selects only that view. The colors use ``light-dark()``, and every browser that supports it
    also supports nesting.
    """
    shared, own = ((folder / f"{sheet}.css") for sheet in ("view", name))
    if not own.exists():
        return shared.read_text(encoding="utf-8")
    return f"{shared.read_text(encoding='utf-8')}\n.tl-view.{name} {{\n{own.read_text(encoding='utf-8')}}}\n"


def _in_order(name: str, folder: Path, above: tuple[str, ...]) -> list[str]:
    """Return a module and everything that it imports, ordered so that each module follows its imports."""
    if name in above:
        raise ValueError(f"modules must not import each other in a cycle; got {' → '.join([*above, name])}")
    imported = [match[2] for match in _IMPORT.finditer(_source(name, folder))]
    below = [other for module in imported for other in _in_order(module, folder, (*above, name))]
    return list(dict.fromkeys([*below, name]))


def _wrap_module(name: str, folder: Path) -> str:
    source = _source(name, folder)
    exports = [match[1] for match in _EXPORT.finditer(source)]
    body = _EXPORT.sub("", _IMPORT.sub(r"const {\1} = $\2;\n", source))
    if other := _OTHER.search(body):
        raise ValueError(f"{name}.mjs has an import or export that cannot be bundled: {other[0]}")
    return f"const ${name} = (() => {{\n{body}return {{ {', '.join(exports)} }};\n}})();\n"


def _source(name: str, folder: Path) -> str:
    return (folder / f"{name}.mjs").read_text(encoding="utf-8")
