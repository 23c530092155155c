"""List the functions and classes that the packages of the model library define."""

from importlib import import_module
from inspect import isclass, isfunction
from pkgutil import iter_modules
from typing import Any

PACKAGES = ("attention", "layers", "models", "generation", "training")


def library() -> dict[str, Any]:
    """Return the functions and classes of these packages by name."""
    packages = [import_module(f"transformer_lab.{package}") for package in PACKAGES]
    modules = [
        import_module(f"{package.__name__}.{module.name}")
        for package in packages
        for module in iter_modules(package.__path__)
    ]
    return {
        name: value
        for module in modules
        for name, value in vars(module).items()
        if (isfunction(value) or isclass(value)) and value.__module__ == module.__name__
    }
