"""Transfer: attention by direction alone."""

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_02_scaling.cosine_attention.answer import STEPS, cosine_attention
from transformer_course.exercises.lesson_02_scaling.cosine_attention.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import attention_cases, generator, uniform
from transformer_course.running.case import Case


def cosine_attention_cases(seed: int) -> list[Case]:
    rng = generator(seed)
    cases = attention_cases(seed, zeros=False)
    short = attention_cases(seed + 1)[2]
    for name in ("queries", "keys"):
        short.inputs[name].mul_(0.03)
    cases.insert(3, Case(short.inputs, "queries and keys that are very short"))
    cold = attention_cases(seed + 2)[1]
    temperatures = [uniform(rng, 0.2, 0.4) for _ in cases]
    drawn = [Case({**case.inputs, "temperature": t}, case.label) for case, t in zip(cases, temperatures, strict=True)]
    drawn.insert(4, Case({**cold.inputs, "temperature": 0.001}, "a temperature of 0.001: scores far above 88"))
    return drawn


COSINE_ATTENTION = Exercise(
    reference=cosine_attention,
    steps=STEPS,
    may_cut_gradients=True,
    cases=cosine_attention_cases,
    points=2,
    stretch=True,
    verified="Only directions count, and the temperature says how sharply. Some large models do this, with a "
    "temperature that is learned, so that scores stay bounded.",
    hints=[
        "The cosine is the dot product of two vectors of length 1. What has to happen to the queries and keys first?",
        "`x.norm(dim=-1, keepdim=True)` is the length of every vector in x.",
        "Normalise queries and keys along the last axis, then take the scores, `queries @ keys.mT`.",
        "Divide the scores by the temperature, and go on as ever: softmax over the keys, product with the values.",
    ],
    told={
        "moved_unit_keys: unit_queries": (
            "The lengths of the keys stand in a column, of shape (n_key, 1), but the keys are the *columns* "
            "of the scores. That crashes, or divides by the lengths of other keys. Look at the shapes."
        ),
    },
    mistakes=MISTAKES,
)
