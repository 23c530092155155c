"""The tree itself: what may import what, where things are, and that every way to install gives the same."""

import ast
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

import course

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "transformer_lab"
COURSE = "transformer_lab.course"

TOP = {
    *(".ci", ".gitignore", "Makefile", "README.md", "conftest.py", "constraints.txt", "course.py", "environment.yml"),
    *("benchmarks", "docs", "notebooks", "pyproject.toml", "tests", "transformer_lab"),
}
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
    nodes = ast.walk(tree) if inside_functions else iter(tree.body)
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


@pytest.mark.parametrize("name", [m for m in MODULES if not within({m}, COURSE, "transformer_lab.cli")])
def test_the_library_knows_nothing_of_the_course(name):
    assert within(imports(name), COURSE) == []


def test_the_command_line_imports_only_what_the_command_needs():
    assert imports("transformer_lab.cli", inside_functions=False) == set()
    assert within(imports("transformer_lab.cli"), COURSE) != []


@pytest.mark.parametrize("name", [f"{COURSE}.call", f"{COURSE}.grading.worker"])
def test_what_runs_beside_a_learners_code_brings_no_answers(name):
    answers = ("exercise", "exercises", "judge", "explain", "notebook", "lessons")
    assert within(reached(name), *(f"{COURSE}.{module}" for module in answers)) == []


def test_the_worker_brings_nothing_of_the_grader_but_how_to_find_an_answer():
    grading = f"{COURSE}.grading"
    assert within(reached(f"{grading}.worker"), grading) == [grading, f"{grading}.cells"]


def test_imports_go_from_grading_to_exercises_to_exercise():
    outside = [name for name in MODULES if not within({name}, f"{COURSE}.grading", "transformer_lab.cli")]
    assert [name for name in outside if within(imports(name), f"{COURSE}.grading")] == []
    assert within(reached(f"{COURSE}.exercise"), f"{COURSE}.exercises", f"{COURSE}.grading") == []
    judging = [f"{COURSE}.{name}" for name in ("judge", "notebook", "grading")]
    for name in within(set(MODULES), f"{COURSE}.exercises"):
        assert within(imports(name), *judging) == [], name


@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_short_enough_to_read(name):
    limit = 300 if within({name}, f"{COURSE}.exercises") else 200  # exercises are mostly data
    assert len(MODULES[name].read_text(encoding="utf-8").splitlines()) <= limit


@pytest.mark.parametrize(
    "name",
    [m for m, path in MODULES.items() if path.name != "__init__.py" and not within({m}, f"{COURSE}.exercises")],
)
def test_a_module_has_its_tests_where_one_looks_for_them(name):
    path = MODULES[name].relative_to(PACKAGE)
    assert (ROOT / "tests" / path.with_name(f"test_{path.name}")).exists()


def test_the_top_of_the_tree_is_short(tracked):
    assert {name.split("/")[0] for name in tracked} <= TOP


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


def test_constraints_say_first_how_they_are_renewed():
    first, second = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()[:2]
    assert first.startswith("# ")
    assert second.startswith("#    uv pip compile --extra test --universal")


def test_constraints_are_exact_versions_that_any_index_has():
    for requirement in pinned():
        [version] = requirement.specifier
        assert version.operator == "==", requirement
        assert not re.search(r"[+*]", version.version), requirement
        assert requirement.url is None, requirement
    assert [str(requirement) for requirement in pinned() if requirement.name == "torch"] == ["torch==2.13.0"]


def test_constraints_hold_every_dependency_within_its_range():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for wanted in map(Requirement, project["dependencies"] + project["optional-dependencies"]["test"]):
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
