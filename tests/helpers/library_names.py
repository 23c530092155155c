"""What the rooms of the model library define, by name."""

from importlib import import_module
from inspect import isclass, isfunction
from pkgutil import iter_modules
from typing import Any

ROOMS = ("attention", "layers", "models", "generation", "training")


def library() -> dict[str, Any]:
    """Map the name of each function and class of the model's rooms to it."""
    rooms = [import_module(f"transformer_lab.{room}") for room in ROOMS]
    modules = [
        import_module(f"{room.__name__}.{found.name}") for room in rooms for found in iter_modules(room.__path__)
    ]
    return {
        name: thing
        for module in modules
        for name, thing in vars(module).items()
        if (isfunction(thing) or isclass(thing)) and thing.__module__ == module.__name__
    }
