"""Accept what a draft proposes, or replace it."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_10_inference.accept.answer import STEPS, accept
from transformer_course.exercises.lesson_10_inference.accept.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case


def accept_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(kinds: str, vocab_size: int, shows: str) -> Case:
        """Make a case of tokens that are likelier in p (+), less likely and accepted (-), or rejected (x)."""
        p, q = (normal(rng, len(kinds) + more, vocab_size).mul(2).softmax(dim=-1) for more in (1, 0))
        signs = torch.tensor([1.0 if kind == "+" else -1.0 for kind in kinds])
        drafted = (signs[:, None] * (p[:-1] - q)).argmax(dim=-1)
        ratios = (p[:-1] / q).gather(1, drafted[:, None])[:, 0].tolist()
        places = [{"+": 0.9, "-": r / 2, "x": (1 + r) / 2}[kind] for kind, r in zip(kinds, ratios, strict=True)]
        return Case({"p": p, "q": q, "drafted": drafted, "uniforms": torch.tensor(places)}, shows)

    return [
        case("+", 2, "one token, likelier in p"),
        case("x", 3, "one token, rejected"),
        case("+-", 5, "two tokens, both accepted"),
        case("x+-", 4, "three tokens, the first rejected"),
        case("-+x+", 7, "four tokens, the third rejected"),
        case("", 9, "no token drafted"),
        case("+-+x-x+-", 29, "eight tokens, the fourth and sixth rejected"),
    ]


ACCEPT = Exercise(
    reference=accept,
    steps=STEPS,
    cases=accept_cases,
    points=3,
    verified="Tokens count up to the first rejection, and what comes next makes the output distributed as p.",
    distributions=("p", "q"),
    hints=[
        "Is each uniform number below p / q at its token? The first that is not ends the run, whatever follows.",
        "`passed.cumprod(dim=0)` is 1 up to the first rejection, and 0 from there on.",
        "In the row n of a rejection, `(p[n] - q[n]).clamp(min=0)`, divided by its sum; without one, `p[-1]`.",
    ],
    mistakes=MISTAKES,
)
