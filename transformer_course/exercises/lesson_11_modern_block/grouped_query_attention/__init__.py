"""Grouped-query attention: several query heads share keys and values."""

import torch
from torch import Tensor

from transformer_course.exercise import Exercise, Wording
from transformer_course.exercises.lesson_11_modern_block.grouped_query_attention.answer import (
    STEPS,
    GroupedQueryAttention,
)
from transformer_course.exercises.lesson_11_modern_block.grouped_query_attention.mistakes import MISTAKES
from transformer_course.exercises.shared import attention_mistakes
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.exercises.shared.draw_layers import drawn_mask
from transformer_course.running.case import Case


def grouped_query_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(
        batch: int,
        n: int,
        d_model: int,
        n_heads: int,
        n_kv_heads: int,
        shows: str,
        mask: Tensor | None = None,
        later: tuple[dict[str, Tensor | None], ...] = (),
    ) -> Case:
        d_kv = d_model // n_heads * n_kv_heads
        widths = {"w_q": d_model, "w_k": d_kv, "w_v": d_kv, "w_o": d_model}
        return Case(
            {"x": normal(rng, batch, n, d_model)},
            shows,
            kind="module",
            arguments={"d_model": d_model, "n_heads": n_heads, "n_kv_heads": n_kv_heads},
            parameters={
                f"{name}.weight": 1.5 * normal(rng, width, d_model) / d_model**0.5 for name, width in widths.items()
            },
            keywords={} if mask is None else {"mask": mask},
            later=later,
        )

    def causal(n: int) -> Tensor:
        return torch.ones(n, n, dtype=torch.bool).tril()

    def padding_in_front(batch: int, n: int) -> Tensor:
        """Return a causal mask for left-padded sentences. Their first queries may not attend to anything."""
        n_pads = torch.randint(1, n - 1, (batch, 1, 1, 1), generator=rng)
        n_pads[0] = 0
        return causal(n) & (torch.arange(n) >= n_pads)

    def zeros() -> Case:
        one = case(1, 3, 4, 2, 1, "a mask, and a position whose scores are all 0", drawn_mask(rng, 3, 3))
        one.inputs["x"][:, 0] = 0.0
        one.keywords["mask"][:, 1] = True
        return one

    def of_positive_numbers(shows: str, w_q: list[float], mask: Tensor | None = None) -> Case:
        """Draw a case with positive x. The keys are x, and the queries are x with each feature scaled by ``w_q``."""
        one = case(1, 3, 2, 1, 1, shows, mask)
        one.inputs["x"].abs_().add_(0.5)
        one.parameters["w_q.weight"].copy_(torch.diag(torch.tensor(w_q)))
        one.parameters["w_k.weight"].copy_(torch.eye(2))
        return one

    def far_worse() -> Case:
        only_the_next = torch.tensor([[False, True, False], [False, False, True], [True, False, False]])
        shows = "visible keys score far lower than hidden keys"
        one = of_positive_numbers(shows, [-1e6, -1e6], only_the_next)
        one.inputs["x"][:, 0] *= -1.0
        one.keywords["mask"][1] = torch.tensor([False, True, True])
        return one

    def extreme() -> Case:
        one = of_positive_numbers("very large scores for one position, very small ones for another", [1.0, -1.0])
        one.inputs["x"][0, :, 1].copy_(torch.tensor([5.0, 2.0, 130.0]))
        one.inputs["x"][0, 0, 0] = 130.0
        return one

    return [
        case(1, 2, 2, 1, 1, "one head, 2 positions"),
        far_worse(),
        extreme(),
        zeros(),
        case(1, 3, 4, 2, 1, "2 query heads, one key-value head"),
        case(1, 3, 8, 4, 2, "4 query heads, 2 key-value heads"),
        case(1, 4, 8, 4, 2, "a causal mask of shape (n, n)", causal(4), later=({"mask": None},)),
        case(3, 5, 6, 6, 3, "a mask of shape (batch, 1, 1, n)", drawn_mask(rng, 3, 1, 1, 5)),
        case(3, 4, 12, 6, 2, "padding in front, so the first queries may attend to nothing", padding_in_front(3, 4)),
        case(2, 4, 8, 4, 4, "4 query heads, 4 key-value heads, a mask for each head", drawn_mask(rng, 2, 4, 4, 4)),
        case(
            2,
            5,
            12,
            6,
            2,
            "6 query heads, 2 key-value heads, then other sentences",
            later=({"x": normal(rng, 3, 4, 12)},),
        ),
        case(5, 13, 32, 8, 2, "a mask of shape (batch, 1, n, n)", drawn_mask(rng, 5, 1, 13, 13)),
    ]


EXERCISE = Exercise(
    reference=GroupedQueryAttention,
    steps=STEPS,
    cases=grouped_query_cases,
    points=3,
    verified="Each query head attends separately, and neighboring query heads share their keys and values.",
    hints=[
        "This is the attention of lesson 03 with x as query, key and value, except that keys and values have fewer "
        "heads. With 6 query heads and 2 key heads, which key head does query head 4 use?",
        "`parts.split_heads(self.w_k(x), self.n_kv_heads)` has shape (batch, n_kv_heads, n, d_k), and the queries have "
        "shape (batch, n_heads, n, d_k).",
        "Each key head serves `n_heads // n_kv_heads` neighboring query heads: `repeat_interleave(…, dim=1)` repeats "
        "each head next to itself.",
        "The rest is `parts.masked_attention(q, k, v, mask)`, `parts.merge_heads` and `self.w_o`. Without a mask, use "
        "`parts.scaled_dot_product_attention(q, k, v)`.",
    ],
    messages={
        **attention_mistakes.SCALING_MESSAGES,
        **attention_mistakes.MASK_MESSAGES,
        "inverted_mask: ~mask if mask is not None else None": attention_mistakes.MASK_INVERTED,
        "length_width: queries.shape[-2]": attention_mistakes.root_of_the_number("keys"),
        "length_width: x.shape[-1]": attention_mistakes.ROOT_OF_D_MODEL,
        "wrong_layer_queries": Wording(
            "{summary}, so each query head is wider than the key heads. Only keys and values have `n_kv_heads` heads.",
            summary="you split the queries into `n_kv_heads` heads",
        ),
        "part_left_out_n_repeats": Wording(
            "{summary}, so their number doesn't match the number of query heads. For 6 query heads and 2 key heads, "
            "how often should you repeat each key head?",
            summary="you repeat the key and value heads the wrong number of times",
        ),
        "call_left_out_weights": Wording(
            "{summary}. The output of such a query should be all zeros. Which weights give that output?",
            summary="you keep the softmax weights of queries that may attend to nothing",
        ),
        "moved_probabilities: weights": Wording(
            "Your output is right for every query that may attend to at least one key. A query that may attend to "
            "nothing (with padding in front of a sentence) gives all keys the same weight. What should the output of "
            "such a query be?",
            summary="you give all keys the same weight if a query may attend to nothing",
            hints=[
                "What is the softmax of three equal numbers? Does it matter how low they are?",
                "The output of such a query is zeros, so its weights must be 0 after the softmax.",
                "`weights.masked_fill(empty, 0.0)`, where `empty` is `~mask.any(dim=-1, keepdim=True)`.",
            ],
        ),
        "wrong_layer_from_values: w_k": Wording(
            "{summary}, so your values equal your keys. Which layer projects the values?",
            summary="you compute the values with `w_k`",
        ),
        "ignored_mask: None": Wording(
            "{summary}, so every position attends to every other, even to padding. What should happen to the scores "
            "of masked-out keys?",
            summary="you don't use `mask`",
        ),
        "call_left_out_probabilities: scores": Wording(
            "{summary}. Scores can be negative and don't sum to 1. Which function turns them into weights?",
            summary="you use the scores as weights",
        ),
    },
    mistakes=MISTAKES,
)
