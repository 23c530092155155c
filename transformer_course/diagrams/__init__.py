"""Diagrams of structure, drawn with boxes, arrows and tables instead of plots of numbers.

``canvas`` is the drawing kit. It arranges ``elements``, connects them along ``routes``, fills ``table_cells``, and
writes the ``alternative_text``; ``legibility`` finds texts that overlap, and ``painting`` turns the result into a
picture. The other modules draw one topic each. ``architecture`` is the whole Transformer; ``layers``, ``heads`` and
``memory`` run a module and draw its data flow, which ``data_flow`` traces for ``layers``. The remaining modules are, in
the order of the lessons, ``recurrent``, ``lookup``, ``masks``, ``positions``, ``normalization``, ``patches``,
``teacher_forcing``, ``byte_pairs``, ``language_model``, ``kv_cache``, ``number_formats``, ``online_softmax``,
``batching``, ``modern_block``, ``diagnosis``, ``data_parallel``, ``tensor_parallel``, ``pipeline``, ``post_training``.
Each module is loaded on first use: ``diagrams.architecture.transformer()`` needs only ``from transformer_course import
diagrams``.
"""

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

__all__ = sorted(module.name for module in iter_modules(__path__))


def __getattr__(name: str) -> ModuleType:
    """Import a module on first use."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; the modules are {', '.join(__all__)}")
    return import_module(f"{__name__}.{name}")
