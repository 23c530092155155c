"""What tests and the lessons that pytest runs find in their environment, how often they repeat, and their order."""

import os
import tempfile

import pytest
from xdist.scheduler import LoadScopeScheduling

from tests.helpers.repetition import FEW, Repetition, seed_of_the_day
from tests.helpers.scheduling import LessonsFirst, expected_order

os.environ |= {
    "TRANSFORMER_LAB_CHECK_SHAPES": "1",  # read when the library is first imported
    "TRANSFORMER_LAB_STRICT": "0",  # lessons run as published, with nothing solved
    "TRANSFORMER_LAB_PARTS": "",  # and with nothing that was solved in another lesson
    "OMP_NUM_THREADS": "1",
}
os.environ.pop("MPLBACKEND", None)  # lessons draw where they stand, whatever the terminal is set to


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the command line say how often tests repeat."""
    group = parser.getgroup("repetition")
    group.addoption("--thorough", action="store_true", help="repeat as often as is useful, which takes much longer")
    group.addoption("--seed", type=int, help="the seed to try beside the fixed ones (default: today's date)")


def pytest_configure(config: pytest.Config) -> None:
    """Keep tests away from the learner's copy of the lessons; choose the seed of the day once for all workers."""
    lessons = tempfile.TemporaryDirectory(prefix="lessons-")
    os.environ["TRANSFORMER_LAB_LESSONS"] = lessons.name
    config.add_cleanup(lessons.cleanup)
    if config.option.seed is None:
        config.option.seed = seed_of_the_day()


def repetition_of(config: pytest.Config) -> Repetition:
    """Return how often a run repeats."""
    return Repetition(config.option.thorough, config.option.seed)


@pytest.fixture(scope="session")
def repetition(pytestconfig: pytest.Config) -> Repetition:
    """Return how often this run repeats."""
    return repetition_of(pytestconfig)


def not_of_today(items: list[pytest.Item], repetition: Repetition) -> set[pytest.Item]:
    """Return the tests whose turn it is not.

    Those that take minutes have none in a run that asks for few of them among others: they have to be asked for alone.
    """
    markers = {item: marker for item in items if (marker := item.get_closest_marker("rotating"))}
    groups: dict[str, set[str]] = {}
    for marker in markers.values():
        group, name = marker.args
        groups.setdefault(group, set()).add(name)
    today = {group: repetition.of_today(sorted(names)) for group, names in groups.items()}
    for group in {marker.args[0] for marker in markers.values() if marker.kwargs.get("minutes")}:
        n_tests = sum(marker.args[0] == group for marker in markers.values())
        if len(groups[group]) <= FEW and n_tests < len(items):
            today[group] = []
    return {item for item, marker in markers.items() if marker.args[1] not in today[marker.args[0]]}


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what only a thorough run repeats; where workers share the tests, begin with those that take longest."""
    if not config.option.thorough:
        left_out = {item for item in items if item.get_closest_marker("thorough")}
        left_out |= not_of_today(items, repetition_of(config))
        config.hook.pytest_deselected(items=[*left_out])
        items[:] = [item for item in items if item not in left_out]
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: expected_order(item.nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> LoadScopeScheduling | None:
    """Divide the files that take minutes, where whole files were asked for."""
    if config.getoption("dist") != "loadfile":
        return None
    config.option.loadscopereorder = False
    return LessonsFirst(config, log)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print what was not repeated, and the seed with which to repeat a failure."""
    terminalreporter.write_line(str(repetition_of(config)))
