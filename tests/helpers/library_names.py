"""The names that the packages of the model library define."""

from importlib import import_module
from inspect import isclass, isfunction
from pkgutil import iter_modules
from typing import Any

PACKAGES = ("attention", "layers", "models", "generation", "training")


def library() -> dict[str, Any]:
    """Return the functions and classes of the model's packages by name."""
    packages = [import_module(f"transformer_lab.{package}") for package in PACKAGES]
    modules = [
        import_module(f"{package.__name__}.{found.name}")
        for package in packages
        for found in iter_modules(package.__path__)
    ]
    return {
        name: thing
        for module in modules
        for name, thing in vars(module).items()
        if (isfunction(thing) or isclass(thing)) and thing.__module__ == module.__name__
    }
