"""The layout: which room may import which, where tests are, and that every way to install gives the same."""

import ast
import re
import subprocess
import tomllib
from graphlib import TopologicalSorter
from itertools import chain
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

import course

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "transformer_lab"

MAY_USE: dict[str, str] = {
    # The library, in reading order. Whatever a room may use, it may use what that room may use.
    "checks": "",
    "shape_checks": "",
    "device": "",
    "extras": "",
    "atomic_write": "",
    "file_lock": "",
    "tensor_files": "atomic_write device",
    "data": "atomic_write",
    "attention": "checks device",
    "layers": "attention",
    "models": "layers",
    "inspection": "attention",
    "fast": "models",
    "views": "inspection training",
    "generation": "models",
    "pretrained": "models tensor_files",
    "text": "generation pretrained data tensor_files",
    "training": "text tensor_files file_lock fast",
    "cli": "training device extras course.home course.grading",
    # The course knows the library; of the library, only the command line knows the course.
    "course.running": "attention layers models inspection data",
    "course.jail": "course.running file_lock",
    "course.steps": "",
    "course.exercise": "course.running course.steps",
    "course.exercises": "course.exercise attention layers models generation training",
    "course.checking": "course.exercises",
    "course.workspace": "course.checking atomic_write",
    "course.session": "course.workspace",
    "course.clinic": "generation training",
    "course.lesson_text": "",
    "course.reading_time": "",
    "course.home": "course.workspace course.reading_time inspection",
    "course.interview_questions": "course.lesson_text",
    "course.glossary": "course.lesson_text",
    "course.page_to_keep": "course.glossary inspection models",
    "course.notebook": "course.session",
    "course.grading": "course.checking course.jail atomic_write",
}
"""The rooms, each with those that it may import."""

ELSEWHERE = {
    "a package index": re.compile(
        r"index[-_]url|find[-_]links =|pypi[.]org|pythonhosted[.]org|download[.]pytorch", re.I
    ),
    "somebody's home": re.compile(r"/(?:home|Users)/\w+/|/roo[t]/|[A-Z]:\\Users\\"),
}


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def imports(name: str, inside_functions: bool = True) -> set[str]:
    """List the package's modules that one of them imports, with the packages that are imported on the way."""
    found = set()
    tree = ast.parse(MODULES[name].read_text(encoding="utf-8"))
    lazy = MODULES[name].name == "__init__.py"  # a package that re-exports names loads them only when asked
    nodes = ast.walk(tree) if inside_functions and not lazy else iter(tree.body)
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name} imports relatively, which this test does not follow"
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    on_the_way = {".".join(parts[:n]) for parts in (m.split(".") for m in found) for n in range(1, len(parts) + 1)}
    return on_the_way & MODULES.keys()


def reached(name: str) -> set[str]:
    """List all that comes along when a module is imported."""
    seen, coming = set(), {name}
    while coming:
        seen |= coming
        coming = set().union(*(imports(module) for module in coming)) - seen
    return seen - {name}


def within(modules: set[str], *packages: str) -> list[str]:
    """Pick those modules that are one of these or lie in it."""
    return sorted(m for m in modules if any(m == package or m.startswith(f"{package}.") for package in packages))


@pytest.fixture(scope="module")
def tracked():
    if not (ROOT / ".git").exists():
        pytest.skip("this is no clone, so git cannot list its files")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.split("\0") if (ROOT / name).is_file()]


def room_of(module: str) -> str | None:
    """Find the room that a module is in; the two packages themselves are in none."""
    path = module.removeprefix("transformer_lab.")
    return max((room for room in MAY_USE if f"{path}.".startswith(f"{room}.")), key=len, default=None)


def allowed(room: str) -> set[str]:
    """List the rooms that a room may use, directly or through another."""
    nearest = set(MAY_USE[room].split())
    return nearest.union(*(allowed(other) for other in nearest))


def test_every_module_is_in_a_room():
    assert [m for m in MODULES if room_of(m) is None] == ["transformer_lab", "transformer_course"]


def test_the_rooms_can_be_read_in_an_order_in_which_none_needs_a_later_one():
    order = list(TopologicalSorter({room: MAY_USE[room].split() for room in MAY_USE}).static_order())
    assert set(order) == set(MAY_USE)


@pytest.mark.parametrize("name", [m for m in MODULES if room_of(m)])
def test_a_module_imports_only_from_rooms_that_its_own_may_use(name):
    own = room_of(name)
    used = {room_of(module) for module in imports(name)} - {own, None}
    assert used - allowed(own) == set()


@pytest.mark.parametrize("room", [room for room in MAY_USE if (PACKAGE / room.replace(".", "/")).is_dir()])
def test_the_docstring_of_a_room_says_what_it_holds_and_in_which_order_to_read_it(room):
    folder = PACKAGE / room.replace(".", "/")
    text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
    named = re.findall(r"``(\w+)``", text)
    inside = {path.stem for path in folder.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert inside - {"__init__", "__main__"} - {name for name in inside if name.startswith("lesson_")} <= set(named)


def test_what_runs_beside_a_learners_code_brings_no_answers_however_it_is_reached():
    for room in ("course.running", "course.jail"):
        for name in [m for m in MODULES if room_of(m) == room]:
            rooms = {room_of(module) for module in reached(name)}
            assert not {r for r in rooms if r and r.startswith("course")} - {"course.running", "course.jail"}, name


def test_the_command_line_imports_only_what_the_command_needs():
    at_once = imports("transformer_lab.cli.main", inside_functions=False)
    assert at_once <= {"transformer_lab", "transformer_lab.cli", "transformer_lab.extras"}


@pytest.mark.parametrize(
    "name",
    [
        m
        for m, path in MODULES.items()
        if not path.name.startswith(("__", "patient_")) and room_of(m) != "course.exercises"
    ],
)
def test_a_module_has_its_tests_where_one_looks_for_them(name):
    path = MODULES[name].relative_to(PACKAGE)
    assert (ROOT / "tests" / path.with_name(f"test_{path.name}")).exists()


@pytest.mark.parametrize("what", ELSEWHERE)
def test_no_file_names_a_place_that_only_some_can_reach(tracked, what):
    naming = []
    for name in tracked:
        data = (ROOT / name).read_bytes()
        if b"\0" not in data and (found := ELSEWHERE[what].search(data.decode())):
            naming.append(f"{name}: {found[0]}")
    assert naming == []


def test_what_the_readme_links_to_is_there():
    links = re.findall(r"\]\((?!https?:|#)([^)]+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def pinned() -> list[Requirement]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return [Requirement(line) for line in lines if not line.startswith("#")]


def test_constraints_are_exact_versions_that_any_index_has():
    for requirement in pinned():
        [version] = requirement.specifier
        assert version.operator == "==", requirement
        assert not re.search(r"[+*]", version.version), requirement
        assert requirement.url is None, requirement


def test_constraints_hold_every_dependency_within_its_range():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    for wanted in map(Requirement, chain(project["dependencies"], *extras.values())):
        if wanted.name == project["name"]:  # an extra that another one includes
            assert wanted.extras <= extras.keys()
            continue
        versions = [next(iter(p.specifier)).version for p in pinned() if p.name == wanted.name]
        assert versions, wanted
        assert all(version in wanted.specifier for version in versions), wanted


def test_conda_and_course_py_install_the_same():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    python, pip, section = environment["dependencies"]
    assert pip == "pip"
    assert " ".join(section["pip"]).split() == list(course.INSTALL)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["requires-python"] == ">=3.11"
    assert python == "python=3.11"
