"""Tests for converting a notebook's definitions to standalone Python."""

import pytest

from transformer_course.workspace.standalone_source import NotStandalone, standalone_source


def run(source):
    scope = {}
    exec(source, scope)
    return scope


def test_includes_only_needed_imports_helpers_and_constants():
    cells = [
        "import math\nimport os\nfrom math import tau as whole, e",
        "HALF = 0.5\nother = 3",
        "def helper(x):\n    return HALF * x",
        "def unrelated(x):\n    return other",
        "def area(x):\n    # a comment\n    return [helper(whole * y) + math.pi for y in [x]]",
    ]
    source = standalone_source("area", cells)
    assert source == "\n\n\n".join(["\n".join(cells[0].splitlines()[::2][::-1]), "HALF = 0.5", cells[2], cells[4]])
    assert run(source)["area"](1.0) == [0.5 * 2 * run("import math")["math"].pi + run("import math")["math"].pi]


def test_statement_may_define_several_names():
    cells = ["A, (B, *C) = 1, (2, 3, 4); D = A", "def f():\n    return A + B + sum(C) + D"]
    assert run(standalone_source("f", cells))["f"]() == 11


def test_skips_cells_that_are_not_python():
    assert run(standalone_source("f", ["%%bash\nls -l", "def f():\n    return len([1])"]))["f"]() == 1


def test_includes_redefined_builtins():
    assert run(standalone_source("f", ["def sum(x):\n    return 5", "def f():\n    return sum([1])"]))["f"]() == 5


def test_includes_star_import_that_defines_a_needed_name():
    cells = ["from string import *", "from math import *", "def f():\n    return pi"]
    assert standalone_source("f", cells) == "\n\n\n".join(cells[1:])


@pytest.mark.parametrize(
    ("cells", "missing_name"),
    [
        ([], "f"),
        (["def f():\n    return g()"], "g"),
        (["for g in range(3):\n    pass", "def f():\n    return g"], "g"),
        (["from math import *", "def f():\n    return phi"], "phi"),
        (["H: int", "def f():\n    return H"], "H"),
    ],
)
def test_reports_names_that_no_statement_defines(cells, missing_name):
    with pytest.raises(NotStandalone, match=f"^{missing_name}$"):
        standalone_source("f", cells)
