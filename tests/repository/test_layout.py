"""Test the imports between packages, the paths of tests, and the consistency of all installation methods."""

import ast
import re
import subprocess
import tomllib
from functools import cache
from graphlib import TopologicalSorter
from itertools import chain
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

import course

ROOT = Path(__file__).parents[2]
PACKAGES = ("transformer_lab", "transformer_course", "authoring")

MAY_USE: dict[str, str] = {
    # Permissions are transitive: a package may also import whatever its dependencies may import.
    #
    # The model library, in reading order.
    "transformer_lab.checks": "",
    "transformer_lab.shape_checks": "",
    "transformer_lab.device": "",
    "transformer_lab.atomic_write": "",
    "transformer_lab.tensor_files": "atomic_write device",
    "transformer_lab.data": "atomic_write",
    "transformer_lab.attention": "checks device",
    "transformer_lab.layers": "attention",
    "transformer_lab.models": "layers",
    "transformer_lab.inspection": "attention",
    "transformer_lab.fast": "models",
    "transformer_lab.generation": "fast",
    "transformer_lab.pretrained": "models tensor_files",
    "transformer_lab.text": "generation pretrained data tensor_files",
    "transformer_lab.training": "text tensor_files fast",
    # The course imports the library, which never imports the course.
    "transformer_course.running": "attention layers models",
    "transformer_course.sandbox": "running",
    "transformer_course.steps": "",
    "transformer_course.exercise": "running steps",
    "transformer_course.lesson_order": "",
    "transformer_course.templates": "",
    "transformer_course.interrupts": "",
    "transformer_course.lesson_folder": "",
    "transformer_course.exercises": "exercise lesson_order attention layers models generation training",
    "transformer_course.generated_mistakes": "exercise",
    "transformer_course.checking": "generated_mistakes lesson_order",
    "transformer_course.locating": "checking",
    "transformer_course.workspace": "exercises lesson_folder atomic_write",
    "transformer_course.lesson": "locating exercises workspace templates",
    "transformer_course.practice": "lesson",
    "transformer_course.home": "practice workspace exercises inspection diagrams views templates",
    "transformer_course.plots": "",
    "transformer_course.diagrams": "models inspection plots",
    "transformer_course.views": "inspection training plots",
    "transformer_course.clinic": "generation training",
    "transformer_course.stored_models": "data tensor_files",
    "transformer_course.published_models": "pretrained lesson_folder",
    "transformer_course.grading.incoming": "exercises checking",
    "transformer_course.grading.rules": "incoming sandbox atomic_write",
    "transformer_course.grading.judging": "rules locating",
    "transformer_course.grading.reports": "judging templates",
    "transformer_course.grading": "reports interrupts",
    "transformer_course.commands": "home grading training device",
    # Tools for authors. They work only in a clone.
    "authoring": "home lesson stored_models training",
}
"""The packages, each with the short names of the packages that it may import."""

PRIVATE_ADDRESSES = [  # a private package index, and a user's home folder
    re.compile(
        r"index[-_]url\W+\w+://(?!\w+[.]example)|find[-_]links =|pypi[.]org|pythonhosted[.]org|download[.]pytorch", re.I
    ),
    re.compile(r"/(?:home|Users)/\w+/|/roo[t]/|[A-Z]:\\Users\\"),
]


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))}
PACKAGES = {package.rpartition(".")[2]: package for package in MAY_USE}


@cache
def imports(name: str, inside_functions: bool = True) -> set[str]:
    """Return the repository's modules that a module imports, including their parent packages."""
    found = set()
    tree = ast.parse(MODULES[name].read_text(encoding="utf-8"))
    lazy = MODULES[name].name == "__init__.py"  # packages import the names that they re-export on first use
    nodes = ast.walk(tree) if inside_functions and not lazy else iter(tree.body)
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name} has a relative import, which this test does not support"
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    parents = {".".join(parts[:n]) for parts in (m.split(".") for m in found) for n in range(1, len(parts) + 1)}
    return parents & MODULES.keys()


def reached(name: str) -> set[str]:
    """Return all modules that importing a module loads."""
    visited, pending = set(), {name}
    while pending:
        visited |= pending
        pending = set().union(*(imports(module) for module in pending)) - visited
    return visited - {name}


def within(modules: set[str], *packages: str) -> list[str]:
    """Return the modules that belong to these packages, including the packages themselves."""
    return sorted(m for m in modules if any(m == package or m.startswith(f"{package}.") for package in packages))


@pytest.fixture(scope="module")
def tracked():
    if not (ROOT / ".git").exists():
        pytest.skip("not a clone, so git cannot list its files")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.split("\0") if (ROOT / name).is_file()]


def package_of(module: str) -> str | None:
    """Return the package to which a module belongs, or None for a top-level package."""
    return max((package for package in MAY_USE if f"{module}.".startswith(f"{package}.")), key=len, default=None)


def uses(package: str) -> set[str]:
    """Return the packages that a package may import directly."""
    return {PACKAGES[name] for name in MAY_USE[package].split()}


def allowed(package: str) -> set[str]:
    """Return the packages that a package may import, directly or indirectly."""
    return uses(package).union(*(allowed(other) for other in uses(package)))


def test_every_module_is_in_a_package():
    assert [m for m in MODULES if package_of(m) is None] == ["transformer_lab", "transformer_course"]


def test_packages_have_a_reading_order_without_forward_references():
    order = list(TopologicalSorter({package: uses(package) for package in MAY_USE}).static_order())
    assert set(order) == set(MAY_USE)


def test_modules_import_only_from_allowed_packages():
    wrong = []
    for name in MODULES:
        if own := package_of(name):
            parents = {
                module for module in MODULES if f"{name}.".startswith(f"{module}.")
            }  # Python imports parent packages automatically
            used = {package_of(module) for module in imports(name) - parents} - {own, None}
            wrong += [f"{name} imports {package}" for package in used - allowed(own)]
    assert not wrong, "\n".join(wrong)


def test_library_is_within_its_size_limit():
    lines = [path.read_text(encoding="utf-8").count("\n") for path in (ROOT / "transformer_lab").rglob("*.py")]
    assert sum(lines) <= 10_400


def test_package_docstrings_list_all_modules():
    missing = []
    for package in MAY_USE:
        folder = ROOT / package.replace(".", "/")
        if folder.is_dir():
            text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
            inside = {path.stem for path in folder.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
            inside = {name for name in inside if not name.startswith(("__", "lesson_"))}
            missing += [f"{package}: {name}" for name in inside - {*re.findall(r"``(\w+)``", text)}]
    assert not missing, "\n".join(missing)


def test_sandboxed_code_does_not_import_answers():
    inside = {"transformer_course.running", "transformer_course.sandbox"}
    for name in [m for m in MODULES if package_of(m) in inside]:
        packages = {package_of(module) for module in reached(name)}
        assert not {r for r in packages if r and not r.startswith("transformer_lab")} - inside, name


def test_library_does_not_import_the_course():
    wrong = [m for m in MODULES if m.startswith("transformer_lab") and within(reached(m), "transformer_course")]
    assert wrong == []


def test_library_files_do_not_mention_the_course():
    texts = {path: path.read_text(encoding="utf-8") for path in (ROOT / "transformer_lab").rglob("*.py")}
    assert texts
    assert [path for path, text in texts.items() if re.search(r"transformer[-_\s]course", text, re.I)] == []


def test_command_line_loads_commands_lazily():
    at_import = imports("transformer_course.commands.main", inside_functions=False)
    assert at_import <= {"transformer_course", "transformer_course.commands", "transformer_course.interrupts"}


def test_every_module_has_matching_test_file():
    named = [m for m, path in MODULES.items() if not path.name.startswith(("__", "patient_"))]
    # test_every_exercise.py and test_topics.py test these packages.
    tested_together = {"transformer_course.exercises", "transformer_course.diagrams"}
    paths = [MODULES[m].relative_to(ROOT) for m in named if package_of(m) not in tested_together]
    assert [path for path in paths if not (ROOT / "tests" / path.with_name(f"test_{path.name}")).exists()] == []


def test_no_file_contains_a_private_address(tracked):
    wrong = []
    for name in tracked:
        data = (ROOT / name).read_bytes()
        matches = [pattern.search(data.decode()) for pattern in PRIVATE_ADDRESSES if b"\0" not in data]
        wrong += [f"{name}: {match[0]}" for match in matches if match]
    assert wrong == []


def test_links_in_the_readme_exist():
    links = re.findall(r"\]\((?!https?:|#)([^)]+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert links
    assert [link for link in links if not (ROOT / link.partition("#")[0]).exists()] == []


def pinned() -> list[Requirement]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return [Requirement(line) for line in lines if not line.startswith("#")]


def test_constraints_are_exact_versions_without_local_labels():
    for requirement in pinned():
        [version] = requirement.specifier
        assert version.operator == "==", requirement
        assert not re.search(r"[+*]", version.version), requirement
        assert requirement.url is None, requirement


def test_constraints_cover_every_dependency_within_its_range():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    for required in map(Requirement, chain(project["dependencies"], *extras.values())):
        if required.name == project["name"]:  # an extra that includes further extras
            assert required.extras <= extras.keys()
            continue
        versions = [next(iter(p.specifier)).version for p in pinned() if p.name == required.name]
        assert versions, required
        assert all(version in required.specifier for version in versions), required


def test_conda_and_course_py_install_the_same_packages():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    python, pip, section = environment["dependencies"]
    assert pip == "pip"
    assert " ".join(section["pip"]).split() == [*course.CONSTRAINTS, "-e", "."]
    assert course.EXTRAS["lab"] == ()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["requires-python"] == ">=3.11"
    assert python == "python=3.11"
