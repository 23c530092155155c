"""Definitions of a notebook as plain Python that needs nothing else of it."""

import pytest

from transformer_course.workspace.standalone_source import NotStandalone, standalone_source


def run(source):
    scope = {}
    exec(source, scope)
    return scope


def test_a_function_brings_its_imports_helpers_and_constants_and_nothing_else():
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


def test_what_was_made_last_counts():
    cells = [
        "def f():\n    return g()",
        "def g():\n    return 1",
        "def f():\n    return 10 * g()",
        "def g():\n    return 2",
    ]
    assert run(standalone_source("f", cells))["f"]() == 20


def test_an_assignment_sees_what_was_made_before_it():
    cells = ["def twice(f):\n    return lambda x: f(f(x))", "def f(x):\n    return x + 3", "f = twice(f)"]
    assert run(standalone_source("f", cells))["f"](1) == 7
    cells = ["from functools import partial", "half = partial(pow, 2)", "def f(x):\n    return half(x)"]
    assert run(standalone_source("f", cells))["f"](3) == 8


def test_decorators_defaults_annotations_and_bases_come_along():
    cells = [
        "import functools\nWIDTH: int = 3\nclass Base:\n    pass",
        "def keep(f):\n    return f",
        "@functools.cache\n@keep\ndef f(x: WIDTH = WIDTH) -> WIDTH:\n    return x",
        "class Piece(Base):\n    size = WIDTH\n    both = size + 1\n    def g(self):\n        return f()",
    ]
    piece = run(standalone_source("Piece", cells))["Piece"]
    assert (piece().g(), piece.both, [base.__name__ for base in piece.__bases__]) == (3, 4, ["Base"])


def test_functions_may_call_themselves_and_one_another():
    cells = ["def even(n):\n    return n == 0 or odd(n - 1)\ndef odd(n):\n    return n != 0 and even(n - 1)"]
    assert run(standalone_source("even", cells))["even"](10)


def test_several_names_can_be_made_at_once():
    cells = ["A, (B, *C) = 1, (2, 3, 4); D = A", "def f():\n    return A + B + sum(C) + D"]
    assert run(standalone_source("f", cells))["f"]() == 11


def test_a_cell_that_is_not_python_is_passed_over():
    assert run(standalone_source("f", ["%%bash\nls -l", "def f():\n    return len([1])"]))["f"]() == 1


def test_a_name_of_pythons_own_that_was_made_anew_comes_along():
    assert run(standalone_source("f", ["def sum(x):\n    return 5", "def f():\n    return sum([1])"]))["f"]() == 5


def test_a_name_that_a_star_import_brought_brings_the_import():
    cells = ["from string import *", "from math import *", "def f():\n    return pi"]
    assert standalone_source("f", cells) == "\n\n\n".join(cells[1:])


@pytest.mark.parametrize(
    ("cells", "lost"),
    [
        ([], "f"),
        (["def f():\n    return g()"], "g"),
        (["for g in range(3):\n    pass", "def f():\n    return g"], "g"),
        (["from math import *", "def f():\n    return phi"], "phi"),
        (["H: int", "def f():\n    return H"], "H"),
    ],
)
def test_what_was_made_in_another_way_is_named(cells, lost):
    with pytest.raises(NotStandalone, match=f"^{lost}$"):
        standalone_source("f", cells)
