"""Tests for finding the notebook cell that defines a name."""

import pytest

from transformer_course.home.cell_names import defining_cell


@pytest.mark.parametrize(
    "source",
    [
        "def x(): pass",
        "async def x(): pass",
        "class x: pass",
        "x = 1",
        "x: int = 1",
        "x += 1",
        "y, (x, *z) = 1, (2, 3)",
        "import x",
        "import torch as x",
        "import x.y",
        "from torch import y, x",
        "for x in (1, 2): pass",
        "with open('f') as x: pass",
        "if True:\n    x = 1",
        "try:\n    import x\nexcept ImportError as error:\n    x = None",
        "print(x := 1)",
        "%matplotlib inline\nx = 1",
        "!ls\nx = 1",
        "def x(:\n    return 1",  # incomplete code
        "x = (1,",
    ],
)
def test_finds_every_way_to_define_a_name(source):
    assert defining_cell("x", ["y = 2", source, "print(x)"]) == 1


@pytest.mark.parametrize(
    "source",
    [
        "print(x)",
        "x.y = 1",
        "x[0] = 1",
        "def f():\n    x = 1",
        "[x for x in y]",
        "'x = 1'",
        "xs = 1",
        "%%bash\nx = 1",
        "",
    ],
)
def test_ignores_cells_that_only_use_a_name(source):
    assert defining_cell("x", [source]) is None


def test_returns_the_last_of_several_cells():
    assert defining_cell("x", ["x = 1", "x = 2", "print(x)"]) == 1
