"""One step of decoding: a new token meets the keys and values that earlier ones left behind."""

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_10_inference.attend_with_cache.answer import STEPS, attend_with_cache
from transformer_course.exercises.lesson_10_inference.attend_with_cache.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case


def attend_with_cache_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def chain(batch: int, n_heads: int, d: int, *steps: tuple[int, str]) -> list[Case]:
        """Draw the tokens of a text, and make cases of some: each has the cache that the tokens before it make."""
        length = max(n for n, _ in steps) + 1
        query, key, value = (normal(rng, batch, n_heads, length, d) for _ in range(3))

        def case(n_old: int, shows: str) -> Case:
            new = slice(n_old, n_old + 1)
            cache = (key[:, :, :n_old].clone(), value[:, :, :n_old].clone()) if n_old else None
            inputs = {"query": query[:, :, new], "key": key[:, :, new], "value": value[:, :, new], "cache": cache}
            return Case(inputs, shows)

        return [case(*step) for step in steps]

    loud = chain(1, 3, 7, (3, "very large scores"))
    loud[0].inputs["query"].mul_(300)
    return [
        *chain(
            1, 2, 3,
            (0, "the first token: there is no cache"),
            (1, "the second token: one token in the cache"),
            (2, "the third token: two tokens in the cache"),
        ),
        *loud,
        *chain(3, 2, 5, (0, "the first token of 3 texts"), (4, "the fifth token of 3 texts")),
        *chain(2, 4, 6, (6, "a cache as long as it is wide")),
        *chain(5, 7, 16, (29, "the 30th token of 5 texts, 7 heads")),
    ]  # fmt: skip


ATTEND_WITH_CACHE = Exercise(
    reference=attend_with_cache,
    steps=STEPS,
    may_cut_gradients=True,
    cases=attend_with_cache_cases,
    points=3,
    verified="One query, all keys and values so far, and a cache that is one token longer.",
    hints=[
        "First make the keys and values of all tokens so far; then it is the attention of lesson 02, with a single "
        "query. What becomes of the first call, where `cache` is None?",
        "The axes are (batch, heads, positions, width). The new key is one more *position*, after the old ones; the "
        "same goes for the new value.",
        "`keys = torch.cat([cache[0], key], dim=-2)`, or just `key` if there is no cache, and likewise the values. "
        "The new cache is the pair of both.",
        "`scores = query @ keys.mT / query.shape[-1] ** 0.5`. The newest token may see all, so there is no mask. "
        "Return `scores.softmax(dim=-1) @ values` and `(keys, values)`.",
    ],
    told={
        "part_left_out_scores": (
            "The scores are not divided by the root of the width. The wider the vectors, the more one key takes all."
        ),
    },
    mistakes=MISTAKES,
)
