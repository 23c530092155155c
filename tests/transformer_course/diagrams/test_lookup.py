"""Diagrams of a lookup: the numbers on them are those of attention."""

import pytest
import torch
from torch.nn import functional as F

from transformer_course.diagrams import lookup


def numbers(texts: tuple[tuple[str, ...], ...]) -> torch.Tensor:
    return torch.tensor([[float(text.replace("−", "-")) for text in row] for row in texts])


@pytest.mark.parametrize("divisor, scale", [(1.0, 1.0), (5**0.5, None)])
def test_the_tables_hold_what_torch_computes(divisor: float, scale: float | None) -> None:
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(n, d, generator=generator) for n, d in ((2, 5), (3, 5), (3, 4)))
    d = lookup.one_head(q, k, v, ["one", "two"], ["a", "b", "c"], divisor=divisor)
    tables = {table.name: numbers(table.texts) for table in d.tables}
    expected = {"queries Q": q, "keys K": k, "values V": v, "scores Q Kᵀ": q @ k.T}
    expected["output"] = F.scaled_dot_product_attention(q, k, v, scale=scale)
    for name, table in expected.items():
        torch.testing.assert_close(tables[name], table, atol=0.051, rtol=0)
    torch.testing.assert_close(tables["weights"].sum(dim=-1), torch.ones(2), atol=0.02, rtol=0)
    assert ("scaled" in tables) == (scale is None)
    assert {("queries Q", "scores Q Kᵀ"), ("keys K", "scores Q Kᵀ"), ("weights", "output")} < d.links()
    assert ("values V", "output") in d.links()
    assert d.flaws() == []


def test_whole_values_are_written_without_a_point() -> None:
    d = lookup.one_head(torch.zeros(1, 2), torch.zeros(2, 2), torch.tensor([[3.0], [2021.0]]))
    assert {table.name: table.texts for table in d.tables}["output"] == (("1012",),)


def test_arrows_end_at_their_vectors_and_keys_at_a_right_angle_to_the_query() -> None:
    query, keys = torch.tensor([2.0, 1.0]), torch.tensor([[2.5, 0.5], [0.3, 1.5]])
    d = lookup.arrows(query, keys, "fruit", ["apple", "pear"], ("edible", "round"))
    tips = {arrow.points[-1].of: torch.tensor(arrow.points[-1][:2]) / lookup.UNIT for arrow in d.arrows if arrow.head}
    torch.testing.assert_close(tips["fruit"], query)
    torch.testing.assert_close(tips["apple"], keys[0])
    for arrow in (arrow for arrow in d.arrows if arrow.dashed):
        start, end = (torch.tensor(point[:2]) for point in arrow.points)
        assert ((end - start) @ query).item() == pytest.approx(0, abs=1e-5)
    assert "apple: fruit · apple = 5.5" in {label.words for label in d.labels}
    assert d.flaws() == []


def test_what_cannot_be_drawn_is_refused() -> None:
    query, keys = torch.ones(2), torch.ones(3, 2)
    with pytest.raises(ValueError, match="3 keys need as many names; got 1: a"):
        lookup.arrows(query, keys, "q", ["a"], ("x", "y"))
    with pytest.raises(ValueError, match="the query must not be 0"):
        lookup.arrows(torch.zeros(2), keys, "q", ["a", "b", "c"], ("x", "y"))
    with pytest.raises(ValueError, match="1 queries need as many names; got 2: a, b"):
        lookup.one_head(query[None], keys, keys, ["a", "b"])


def test_a_vector_moves_from_where_it_was_to_where_each_text_takes_it() -> None:
    before, river, money = torch.tensor([1.0, 1.1]), torch.tensor([0.2, 3.0]), torch.tensor([3.0, 0.4])
    d = lookup.moved("bank", before, {"a": river, "b": money}, {"river": 0.9 * river}, ("money", "water"))
    assert {("bank", "a"), ("bank", "b")} == d.links()
    assert "(0.2, 3.0) in 'a', (3.0, 0.4) in 'b'" in d.alternative_text
    assert d.flaws() == []
    with pytest.raises(ValueError, match="at least one text"):
        lookup.moved("bank", before, {}, {}, ("money", "water"))
