"""Tests for translating lines of code into English imperatives and nouns."""

import pytest

from transformer_course.generated_mistakes.phrases import action, gerund, operand, parse, refers_back, with_instead

NOUNS = {
    "scores": "the scores",
    "largest": "the maximum of each row",
    "w": "W",
    "layer": "the first layer",
    "mean": "the mean",
}


def noun(name):
    return NOUNS.get(name, "")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("scores - largest", "subtract the maximum of each row from the scores"),
        ("scores / largest[:, None]", "divide the scores by the maximum of each row"),
        ("scores @ w.T", "multiply the scores by W, transposed,"),
        ("scores ** 0.5", "take the square root of the scores"),
        ("scores ** 3", "raise the scores to the power 3"),
        ("-scores", "flip the sign of the scores"),
        ("scores.mT", "transpose the scores"),
        ("torch.exp(scores)", "take `exp` of the scores"),
        ("scores.sum(dim=-1)", "add up the scores"),
        ("self.w_q(scores)", "apply `w_q` to the scores"),
        ("layer(scores)", "apply the first layer to the scores"),
        ("softmax(scores)", "take the softmax of the scores"),
        ("mean(scores)", ""),  # `mean` is the name of a step here, not the function
        ("scores - unknown", ""),
        ("scores.exp().sum() / w.sum()", ""),
        ("lambda: scores * w", "multiply the scores by W"),
    ],
)
def test_operation_becomes_imperative(code, expected):
    assert action(parse(code), noun) == expected


def test_values_become_nouns():
    nouns = [operand(parse(code), noun) for code in ("w.shape[-1]", "-1", "math.sqrt(w)", "w + 1", "w ** 2", "self.b")]
    assert nouns == ["the size of dim −1 of W", "−1", "the square root of W", "", "the square of W", "`b`"]


def test_recognizes_imperatives_that_refer_back():
    assert all(map(refers_back, ("subtract it", "take its root", "add the two", "do so for every row", "repeat")))
    assert not any(
        map(refers_back, ("subtract the mean", "divide by the sum", "add the two terms", "count the tokens"))
    )


def test_imperatives_become_gerunds():
    assert [gerund(one) for one in ("take the root", "cut it", "add up", "see it")] == [
        "taking the root",
        "cutting it",
        "adding up",
        "seeing it",
    ]


def test_instruction_names_wrong_and_correct_values():
    assert with_instead("add up §", "the keys", "the values") == "add up the keys instead of the values"
    assert with_instead("add § to x", "the keys", "the values") == "add the keys, not the values, to x"
    assert with_instead("add x", "the keys", "the values") == ""
