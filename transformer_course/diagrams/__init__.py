"""Diagrams of structure: boxes, arrows and tables, for what a plot of numbers cannot show.

``canvas`` is the drawing kit: it puts ``elements`` on a diagram, connects them by ``routes``, and ``painting`` turns
the result into a picture. The other modules cover one topic each. ``architecture`` is the whole Transformer;
``layers``, ``heads`` and ``memory`` draw what a module does when it runs. The rest, in the order of the lessons:
``recurrent``, ``lookup``, ``masks``, ``positions``, ``normalization``, ``patches``, ``teacher_forcing``,
``byte_pairs``, ``language_model``, ``kv_cache``, ``number_formats``, ``online_softmax``, ``batching``,
``modern_block``, ``diagnosis``, ``data_parallel``, ``tensor_parallel``, ``pipeline``, ``post_training``. Each module
is loaded on first use: ``diagrams.architecture.transformer()`` needs only ``from transformer_course import diagrams``.
"""

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

__all__ = sorted(module.name for module in iter_modules(__path__))


def __getattr__(name: str) -> ModuleType:
    """Import a topic on first use."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; there are {', '.join(__all__)}")
    return import_module(f"{__name__}.{name}")
