"""Configure all tests: environment variables, repetitions, shards and the order in which tests run."""

import gc
import os
import tempfile
from collections.abc import Generator

import pytest
from xdist.scheduler import LoadScopeScheduling

from notebooks.verdict_fold import without_fold
from tests.helpers.scheduling import LessonsFirst, Shard, expected_order
from tests.helpers.thoroughness import Thoroughness
from tests.notebooks.approximate import comparison
from tests.notebooks.forked_kernel import collect_garbage_rarely, use_forked_kernels
from tests.notebooks.live_displays import follow_live_displays

SKIP_TAG = "skip-execution"
"""Tag of the cells that tests skip. ``notebooks/build.py`` defines the same tag, but importing it takes seconds."""

gc.disable()  # until all tests are collected

os.environ |= {
    "TRANSFORMER_LAB_CHECK_SHAPES": "1",  # read when the library is first imported
    "TRANSFORMER_LAB_STRICT": "0",  # lessons run as published, even if no exercise is solved
    "TRANSFORMER_LAB_PARTS": "",  # lessons do not use parts that other lessons saved
    "OMP_NUM_THREADS": "1",
}
os.environ.pop("MPLBACKEND", None)  # lessons must draw inline, even if the shell sets another backend


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options ``--thorough``, ``--seed`` and ``--shard``."""
    group = parser.getgroup("thoroughness")
    group.addoption(
        "--thorough", action="store_true", help="repeat tests often enough to reveal rare failures (takes hours)"
    )
    group.addoption("--seed", type=int, default=0, help="random seed for the tests (default: 0)")
    group.addoption(
        "--shard", default="1/1", metavar="N/M", help="run part N of M, to split the tests across M machines"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Give the tests a temporary folder for copies of lessons, fork their kernels, and reject an invalid shard."""
    try:
        Shard.parse(config.option.shard)
    except ValueError as error:
        raise pytest.UsageError(f"--shard: {error}") from None
    if getattr(config.option, "maxworkerrestart", "") is None:
        config.option.maxworkerrestart = "0"  # with restarts, xdist may wait forever for the tests of a crashed worker
    use_forked_kernels()
    follow_live_displays()
    lessons = tempfile.TemporaryDirectory(prefix="lessons-")
    os.environ["TRANSFORMER_LAB_LESSONS"] = lessons.name
    config.add_cleanup(lessons.cleanup)


def thoroughness_of(config: pytest.Config) -> Thoroughness:
    """Return how often a run with these options repeats each test."""
    return Thoroughness(config.option.thorough, config.option.seed)


@pytest.fixture(scope="session")
def thoroughness(pytestconfig: pytest.Config) -> Thoroughness:
    """Return how often this run repeats each test."""
    return thoroughness_of(pytestconfig)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Let garbage collection run, rarely, after all tests are collected.

    Garbage collection is slow, because modules, tests and catalogs of generated mistakes contain many objects.
    """
    try:
        return (yield)
    finally:
        collect_garbage_rarely()


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark lesson cells as slow, and make nbval compare their outputs according to the cells' tags."""
    if item.nodeid.startswith("notebooks/"):
        item.add_marker("slow")
    if getattr(item, "cell", None):
        compared_as = comparison(_tags(item))
        item.sanitize = lambda output: compared_as(without_fold(output)) if isinstance(output, str) else output


def _tags(item: pytest.Item) -> list[str]:
    cell = getattr(item, "cell", None)  # only items for lesson cells have this attribute
    return list(cell.metadata.get("tags", [])) if cell else []


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect tests of thorough runs, tests of other shards, and lesson cells that tests skip.

    The skipped cells are the setup cell for Colab and the reader's own experiment, which nbval would execute. Workers
    start with the slowest tests.
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
    """Split the slowest files among workers if xdist distributes tests by file."""
    if config.getoption("dist") != "loadfile":
        return None
    config.option.loadscopereorder = False
    return LessonsFirst(config, log)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print how often tests were repeated."""
    terminalreporter.write_line(str(thoroughness_of(config)))
