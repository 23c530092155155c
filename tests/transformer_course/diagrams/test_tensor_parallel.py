"""The drawing of tensor parallelism cuts the matrices as the products demand."""

import pytest

from transformer_course.diagrams.tensor_parallel import N_IN, N_ROWS, feed_forward


@pytest.mark.parametrize("n", [2, 3])
def test_the_cuts_fit_each_other(n):
    d = feed_forward(n)
    tables = {table.name: table.texts for table in d.tables}
    columns = tables["w_1"][0]
    assert sorted(columns) == list(columns) and set(columns) == set(map(str, range(n)))
    assert len({columns.count(str(i)) for i in range(n)}) == 1  # equal parts
    assert tables["w_1"] == (columns,) * N_IN  # whole columns
    assert tables["hidden"] == (columns,) * N_ROWS  # whoever has a column has what it makes
    assert tables["w_2"] == tuple((owner,) * N_IN for owner in columns)  # and the rows that this meets
    for i in range(n):
        assert tables[f"part {i}"] == ((str(i),) * N_IN,) * N_ROWS
    for whole in ("x", "output"):
        assert tables[whole] == (("",) * N_IN,) * N_ROWS
    assert d.flaws() == []


@pytest.mark.parametrize("n", [2, 3])
def test_only_the_second_product_has_an_all_reduce(n):
    d = feed_forward(n)
    (reduce,) = d.boxes
    tables = {table.name: table for table in d.tables}
    assert all(table.right.x < reduce.left.x for name, table in tables.items() if name != "output")
    assert (reduce.name, "output") in d.links()
    arriving = [arrow for arrow in d.arrows if arrow.points[-1].x == reduce.left.x]
    assert {arrow.points[0].of for arrow in arriving} == {f"part {i}" for i in range(n)}


@pytest.mark.parametrize("n", [1, 4])
def test_two_or_three_devices_can_be_drawn(n):
    with pytest.raises(ValueError, match=f"n_devices={n}"):
        feed_forward(n)
