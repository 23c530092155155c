"""What tests and the lessons that pytest runs find in their environment, how often they repeat, and their order."""

import gc
import os
import tempfile
from collections.abc import Generator

import pytest
from xdist.scheduler import LoadScopeScheduling

from tests.helpers.scheduling import LessonsFirst, Shard, expected_order
from tests.helpers.thoroughness import Thoroughness
from tests.notebooks.approximate import comparison
from tests.notebooks.forked_kernel import look_for_garbage_rarely, use_forked_kernels
from tests.notebooks.live_displays import follow_live_displays

SKIP_TAG = "skip-execution"
"""The tag of ``notebooks/build.py``, which takes seconds to import: every pytest that is started would wait for it."""

gc.disable()  # until all tests are collected

os.environ |= {
    "TRANSFORMER_LAB_CHECK_SHAPES": "1",  # read when the library is first imported
    "TRANSFORMER_LAB_STRICT": "0",  # lessons run as published, with nothing solved
    "TRANSFORMER_LAB_PARTS": "",  # and with nothing that was solved in another lesson
    "OMP_NUM_THREADS": "1",
}
os.environ.pop("MPLBACKEND", None)  # lessons draw where they stand, whatever the terminal is set to


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the command line say how often tests repeat."""
    group = parser.getgroup("thoroughness")
    group.addoption("--thorough", action="store_true", help="repeat as often as proves something: takes hours")
    group.addoption("--seed", type=int, default=0, help="the seed that is always tried (default: 0)")
    group.addoption("--shard", default="1/1", metavar="N/M", help="run the Nth of M parts, which M machines share")


def pytest_configure(config: pytest.Config) -> None:
    """Keep tests away from the learner's copy of the lessons; refuse a shard that there is not."""
    try:
        Shard.parse(config.option.shard)
    except ValueError as error:
        raise pytest.UsageError(f"--shard: {error}") from None
    if getattr(config.option, "maxworkerrestart", "") is None:
        config.option.maxworkerrestart = "0"  # where a worker has crashed, xdist may wait for its tests for ever
    use_forked_kernels()
    follow_live_displays()
    lessons = tempfile.TemporaryDirectory(prefix="lessons-")
    os.environ["TRANSFORMER_LAB_LESSONS"] = lessons.name
    config.add_cleanup(lessons.cleanup)


def thoroughness_of(config: pytest.Config) -> Thoroughness:
    """Return how often a run repeats."""
    return Thoroughness(config.option.thorough, config.option.seed)


@pytest.fixture(scope="session")
def thoroughness(pytestconfig: pytest.Config) -> Thoroughness:
    """Return how often this run repeats."""
    return thoroughness_of(pytestconfig)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Let garbage be collected only now, and not among modules and tests; catalogs of generated mistakes are to come,
    as large.
    """
    try:
        return (yield)
    finally:
        look_for_garbage_rarely()


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark the cells of lessons, which cannot mark themselves, and have nbval compare them as their tags ask."""
    if item.nodeid.startswith("notebooks/"):
        item.add_marker("slow")
    if (compared_as := comparison(_tags(item))) is not str:
        item.sanitize = lambda output: compared_as(output) if isinstance(output, str) else output


def _tags(item: pytest.Item) -> list[str]:
    cell = getattr(item, "cell", None)  # of a lesson
    return list(cell.metadata.get("tags", [])) if cell else []


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what only a thorough run or another shard has, and the cells of lessons that are never run.

    Those are Colab's and the reader's own experiment, which nbval would execute. Workers begin with what takes longest.
    """
    thorough, shard = config.option.thorough, Shard.parse(config.option.shard)
    left_out = {item for item in items if not thorough and item.get_closest_marker("thorough")}
    left_out |= {item for item in items if item.nodeid not in shard or SKIP_TAG in _tags(item)}
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
    """Print how often things were repeated."""
    terminalreporter.write_line(str(thoroughness_of(config)))
