"""Diagrams of caches: what they show is what the library's caches and attention do."""

import pytest
import torch

from transformer_course.diagrams.elements import BLUE, GREY, PINK, light
from transformer_course.diagrams.kv_cache import drafts, pages, shared_heads, steps
from transformer_lab.attention.grouped_query import repeat_kv
from transformer_lab.attention.kv_cache import KVCache

TOKENS = ["<bos>", *"Retu"]


@pytest.mark.parametrize("n_prompt", [1, 2, 4])
def test_after_each_pass_the_cache_holds_what_has_been_read(n_prompt):
    d = steps(TOKENS, n_prompt)
    cache = KVCache(max_length=len(TOKENS))
    new = [n_prompt, *[1] * (len(TOKENS) - n_prompt - 1)]
    for table, n_new in zip(d.tables, new, strict=True):
        keys, _ = cache.append(*torch.zeros(2, 3, 2, n_new, 7))
        assert table.texts == (tuple(TOKENS[: keys.shape[2]]),)
        n_kept = keys.shape[2] - n_new
        assert table.colours == (tuple([light(GREY)] * n_kept + [light(BLUE)] * n_new),)
    assert [table.row_names[0] for table in d.tables] == ["prefill", *["decode"] * (len(new) - 1)]
    assert [arrow.label for arrow in d.arrows if arrow.label] == ["1 query" if n == 1 else f"{n} queries" for n in new]
    assert [box.name for box in d.boxes if box.name] == TOKENS[n_prompt:]
    assert d.flaws() == []


def test_a_predicted_token_is_fed_to_the_next_pass():
    d = steps(TOKENS, n_prompt=2)
    fed = [arrow for arrow in d.arrows if arrow.dashed]
    assert [arrow.points[0].of for arrow in fed] == ["e", "t"]
    for arrow, table in zip(fed, d.tables[1:], strict=True):
        end = arrow.points[-1]
        assert end.y == table.top.y
        assert table.rect.x1 - table.width / len(table.texts[0]) < end.x < table.rect.x1


@pytest.mark.parametrize("n_prompt", [0, 5])
def test_there_is_a_prompt_and_something_to_generate(n_prompt):
    with pytest.raises(ValueError, match=f"n_prompt must be from 1 to 4 for 5 tokens; got {n_prompt}"):
        steps(TOKENS, n_prompt)


def test_what_is_accepted_stays_in_the_text_and_what_follows_a_rejection_does_not():
    d = drafts("Ge", [("nure", 1, "e"), ("rate", 4, "d")])
    assert ["".join(table.texts[0]) for table in d.tables] == ["Genure", "Generate"]
    grey, blue, pink = map(light, (GREY, BLUE, PINK))
    assert d.tables[0].colours == ((grey, grey, blue, pink, "white", "white"),)
    assert d.tables[1].colours == ((*[grey] * 4, *[blue] * 4),)
    assert [arrow.label for arrow in d.arrows] == ["instead of u", "one more"]
    assert d.flaws() == []


def test_query_heads_use_the_heads_that_repeat_kv_gives_them():
    d = shared_heads(6, [6, 3, 2, 1])
    expected = set()
    for n in (6, 3, 2, 1):
        used = repeat_kv(torch.arange(n)[None, :, None, None].float(), 6 // n).flatten().int().tolist()
        expected |= {(f"q{i}", f"k{kept}, v{kept}") for i, kept in enumerate(used)}
    assert d.links() == expected
    assert len(d.arrows) == 4 * 6
    words = [label.words for label in d.labels]
    assert [words.count(name) for name in ("multi-head", "grouped-query", "multi-query")] == [1, 2, 1]
    assert d.flaws() == []


@pytest.mark.parametrize("n", [0, 4])
def test_key_value_heads_divide_the_query_heads(n):
    with pytest.raises(ValueError, match=f"n_heads=6, n_kv_heads={n}"):
        shared_heads(6, [6, n])


@pytest.mark.parametrize(("n_tokens", "room", "page"), [((6, 3), 8, 2), ((5, 1, 4), 5, 3), ((4, 7), 9, 4)])
def test_a_page_table_leads_to_the_tokens_of_its_text_in_order(n_tokens, room, page):
    d = pages(n_tokens, room, page)
    n = len(n_tokens)
    reserved, tables, memory = d.tables[:n], d.tables[n : 2 * n], d.tables[-1]
    for i, (row, table) in enumerate(zip(reserved, tables, strict=True)):
        tokens = [f"{'ABC'[i]}{j}" for j in range(n_tokens[i])]
        assert list(row.texts[0]) == tokens + [""] * (room - n_tokens[i])
        paged = [text for number in table.texts[0] for text in memory.texts[int(number)]]
        assert paged[: n_tokens[i]] == tokens
        assert set(paged[n_tokens[i] :]) <= {""}
        assert len(paged) < n_tokens[i] + page
    assert sorted(int(number) for table in tables for number in table.texts[0]) == list(range(len(memory.texts)))
    assert d.flaws() == []


def test_the_longest_text_fits_into_its_room():
    with pytest.raises(ValueError, match="room=4 must hold the longest text; got 5 tokens"):
        pages([3, 5], room=4, page=2)
