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
"""The tag of cells that are not run, as in ``notebooks/build.py``, whose import would delay every pytest by seconds."""

gc.disable()  # until all tests are collected

os.environ |= {
    "TRANSFORMER_LAB_CHECK_SHAPES": "1",  # read when the library is first imported
    "TRANSFORMER_LAB_STRICT": "0",  # lessons run as published, with no exercise solved
    "TRANSFORMER_LAB_PARTS": "",  # and without parts saved by other lessons
    "OMP_NUM_THREADS": "1",
}
os.environ.pop("MPLBACKEND", None)  # lessons draw inline, whatever backend the shell is set to


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add options for how often tests repeat and for shards."""
    group = parser.getgroup("thoroughness")
    group.addoption(
        "--thorough", action="store_true", help="repeat tests often enough for rare failures to show; takes hours"
    )
    group.addoption("--seed", type=int, default=0, help="the seed of every run, thorough or not (default: 0)")
    group.addoption(
        "--shard", default="1/1", metavar="N/M", help="run part N of M, to divide the tests among M machines"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Keep tests away from the learner's copy of the lessons, and reject an invalid shard."""
    try:
        Shard.parse(config.option.shard)
    except ValueError as error:
        raise pytest.UsageError(f"--shard: {error}") from None
    if getattr(config.option, "maxworkerrestart", "") is None:
        config.option.maxworkerrestart = "0"  # after a worker crash, xdist may wait for its tests forever
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
    """Collect garbage only after collection. Garbage collection is rare afterwards, because the many objects of
    modules, tests and catalogs of generated mistakes would make it slow.
    """
    try:
        return (yield)
    finally:
        collect_garbage_rarely()


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark the cells of lessons as slow, and make nbval compare their outputs as their tags require."""
    if item.nodeid.startswith("notebooks/"):
        item.add_marker("slow")
    if getattr(item, "cell", None):
        compared_as = comparison(_tags(item))
        item.sanitize = lambda output: compared_as(without_fold(output)) if isinstance(output, str) else output


def _tags(item: pytest.Item) -> list[str]:
    cell = getattr(item, "cell", None)  # only cells of lessons have this attribute
    return list(cell.metadata.get("tags", [])) if cell else []


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect tests of thorough runs or other shards, and cells that are never run.

    Those cells are Colab's and the reader's own experiment, which nbval would execute. Workers start with the slowest
    tests.
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
    """Divide the files that take minutes, if whole files are distributed."""
    if config.getoption("dist") != "loadfile":
        return None
    config.option.loadscopereorder = False
    return LessonsFirst(config, log)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print how often tests were repeated."""
    terminalreporter.write_line(str(thoroughness_of(config)))
