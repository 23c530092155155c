"""Diagrams of structure: boxes, arrows and tables, which say what a plot of numbers cannot.

``canvas`` is the kit that all others are drawn with, one short module for each topic; it puts ``elements`` on a
diagram, leads arrows by ``routes``, and is made a picture by ``painting``. ``architecture`` is the whole Transformer;
``layers``, ``heads`` and ``memory`` draw what a module does when it runs. The others, in the order of the lessons:
``recurrent``, ``lookup``, ``masks``, ``positions``, ``normalization``, ``patches``, ``teacher_forcing``,
``byte_pairs``, ``language_model``, ``kv_cache``, ``modern_block``, ``diagnosis``, ``online_softmax``,
``data_parallel``, ``tensor_parallel``, ``pipeline``, ``post_training``. Each is loaded when it is first used:
``diagrams.architecture.transformer()`` needs no import but that of ``diagrams``.
"""

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

__all__ = sorted(module.name for module in iter_modules(__path__))


def __getattr__(name: str) -> ModuleType:
    """Import a topic when it is first asked for."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; there are {', '.join(__all__)}")
    return import_module(f"{__name__}.{name}")
