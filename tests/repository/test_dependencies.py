"""Test that pyproject.toml declares every imported distribution, and that every declared distribution is used."""

import ast
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from importlib import metadata
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
REQUIREMENTS = {
    "": PYPROJECT["project"]["dependencies"],
    **PYPROJECT["project"]["optional-dependencies"],
    "build": PYPROJECT["build-system"]["requires"],
}
ALLOWED_EXTRA = {
    "transformer_lab": "",
    "transformer_course": "",
    "transformer_course/grading/judging/dask_workers.py": "dask",
    "docs": "site",
    "setup.py": "build",
}
"""The extra whose distributions a folder or file may import in addition to the dependencies (default: ``test``)."""
OWN_MODULES = {
    "transformer_lab",
    "transformer_course",
    "authoring",
    "benchmarks",
    "course",
    "docs",
    "notebooks",
    "tests",
}
OWN_MODULES |= {"with_shapes_and_without"}  # a module that a test creates
USED_WITHOUT_IMPORT = {
    "build": ("tests/repository/test_fresh_install.py", '"build"'),
    "ipykernel": ("course.py", "ipykernel.kernelapp"),
    "mypy": ("tests/repository/test_types.py", '"mypy"'),
    "myst-nb": ("docs/site/conf.py", "myst_nb"),
    "pandas-stubs": ("tests/repository/test_types.py", '"mypy"'),
    "pytest-cov": ("CONTRIBUTING.md", "--cov"),
    "ruff": ("course.py", '"ruff"'),
    "sphinx-book-theme": ("docs/site/conf.py", "sphinx_book_theme"),
    "sphinx-mathjax-offline": ("docs/site/conf.py", "sphinx-mathjax-offline"),
    "twine": ("tests/repository/test_fresh_install.py", '"twine"'),
    "types-tqdm": ("tests/repository/test_types.py", '"mypy"'),
}
"""The distributions that are used without an import, each with a file and the text in it that shows the use."""


def declared(extra: str) -> set[str]:
    """Return the distributions that an extra declares, including those from the extras that it includes."""
    names: set[str] = set()
    for requirement in map(Requirement, REQUIREMENTS[extra]):
        if requirement.name == PYPROJECT["project"]["name"]:
            names = names.union(*map(declared, requirement.extras))
        else:
            names.add(canonicalize_name(requirement.name))
    return names


DECLARED = {extra: declared(extra) for extra in REQUIREMENTS}


def imported_modules(path: Path) -> set[str]:
    """Return the top-level names of the modules that a file imports, including imports inside functions."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
    return {name.partition(".")[0] for name in names}


def needed_extra(path: str) -> str:
    """Return the extra whose distributions a file may import. The longest path that matches decides."""
    folders = [folder for folder in ALLOWED_EXTRA if f"{path}/".startswith(f"{folder}/")]
    return ALLOWED_EXTRA[max(folders, key=len)] if folders else "test"


@pytest.fixture(scope="module")
def imported() -> dict[str, dict[str, set[str]]]:
    """Return the files that import each distribution. The outer key is the files' extra."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a clone, so git cannot list its files")
    listed = subprocess.run(["git", "ls-files", "-z", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    providers = metadata.packages_distributions()
    local = OWN_MODULES | set(sys.stdlib_module_names)
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for name in listed.stdout.split("\0"):
        if name and (ROOT / name).is_file():
            for module in imported_modules(ROOT / name) - local:
                for distribution in providers.get(module, [module]):
                    found[needed_extra(name)][canonicalize_name(distribution)].add(name)
    return found


def test_declares_every_imported_distribution(imported):
    missing = [
        f"{distribution}, imported by {', '.join(sorted(files))}, is not declared in {extra or 'dependencies'}"
        for extra, distributions in imported.items()
        for distribution, files in distributions.items()
        if distribution not in DECLARED[""] | DECLARED[extra]
    ]
    assert not missing, "\n".join(missing)


def test_uses_every_declared_distribution(imported):
    unused = [
        f"{distribution} of {extra or 'dependencies'}"
        for extra, distributions in DECLARED.items()
        for distribution in distributions - imported[extra].keys() - USED_WITHOUT_IMPORT.keys()
    ]
    assert not unused, unused


def test_every_unimported_distribution_has_a_valid_reason(imported):
    for distribution, (file, text) in USED_WITHOUT_IMPORT.items():
        [extra] = [extra for extra, distributions in DECLARED.items() if distribution in distributions]
        assert distribution not in imported[extra], f"{distribution} is imported, so remove it from USED_WITHOUT_IMPORT"
        assert text in (ROOT / file).read_text(encoding="utf-8"), f"{file} no longer uses {distribution}"


def test_type_stubs_belong_to_declared_distributions():
    stubs = [name for name in DECLARED["test"] if name.startswith("types-") or name.endswith("-stubs")]
    assert stubs
    assert {name.removeprefix("types-").removesuffix("-stubs") for name in stubs} <= DECLARED[""]


def test_declares_each_distribution_once():
    names = Counter(Requirement(line).name for line in chain.from_iterable(REQUIREMENTS.values()))
    assert max(names.values()) == 1
