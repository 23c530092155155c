"""Tests that diagrams of KV caches distinguish cached from new tokens, and that predictions are fed back."""

from transformer_course.diagrams.elements import BLUE, GRAY, PINK, light
from transformer_course.diagrams.kv_cache import drafts, steps

TOKENS = ["<bos>", *"Retu"]


def test_predicted_token_is_input_to_next_pass():
    d = steps(TOKENS, n_prompt=2)
    gray, blue = light(GRAY), light(BLUE)
    assert [table.colors for table in d.tables] == [((blue, blue),), ((gray, gray, blue),), ((*[gray] * 3, blue),)]
    fed = [arrow for arrow in d.arrows if arrow.dashed]
    assert [arrow.points[0].of for arrow in fed] == ["e", "t"]
    for arrow, table in zip(fed, d.tables[1:], strict=True):
        end = arrow.points[-1]
        assert end.y == table.top.y
        assert table.rect.x1 - table.width / len(table.texts[0]) < end.x < table.rect.x1


def test_next_pass_keeps_only_accepted_tokens():
    d = drafts("Ge", [("nure", 1, "e"), ("rate", 4, "d")])
    gray, blue, pink = map(light, (GRAY, BLUE, PINK))
    assert d.tables[0].colors == ((gray, gray, blue, pink, "white", "white"),)
    assert d.tables[1].colors == ((*[gray] * 4, *[blue] * 4),)
