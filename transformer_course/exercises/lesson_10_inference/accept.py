"""Accept what a draft proposes, or replace it."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def accept(
    p: Float[Tensor, "n_rows vocab_size"],
    q: Float[Tensor, "n_drafted vocab_size"],
    drafted: Int[Tensor, " n_drafted"],
    uniforms: Float[Tensor, " n_drafted"],
) -> tuple[int, Float[Tensor, " vocab_size"]]:
    """Return how many drafted tokens are accepted, and the distribution from which the next token is drawn."""
    ratios = (p[:-1] / q).gather(1, drafted[:, None])[:, 0]
    n_accepted = int((uniforms < ratios).cumprod(dim=0).sum())  # 0 from the first rejection on
    rest = p[-1] if n_accepted == len(q) else (p[n_accepted] - q[n_accepted]).clamp(min=0)
    return n_accepted, rest / rest.sum()


def ratios(p, q, drafted):
    """divide the model's probability of each drafted token by the draft's → the ratios: p / q of each drafted token"""
    return (p[:-1] / q).gather(1, drafted[:, None])[:, 0]


def passed(ratios, uniforms):
    """compare each uniform number with the ratio → the tokens that pass: those with a uniform number below the ratio"""
    return uniforms < ratios


def n_accepted(passed):
    """count the tokens before the first rejection → the number of accepted tokens: all before the first rejection"""
    return int(passed.cumprod(dim=0).sum())


def rest(p, q, n_accepted):
    """subtract q from p in the row of the rejection, and clip at 0 → the rest: max(0, p − q), or p if all passed"""
    return p[n_accepted] if n_accepted == len(q) else (p[n_accepted] - q[n_accepted]).clamp(min=0)


def following(rest):
    """divide the rest by its sum → the distribution of the next token: the rest, divided by its sum"""
    return rest / rest.sum()


def output(n_accepted, following):
    """return the number and the distribution → the number of accepted tokens, and the distribution of the next one"""
    return n_accepted, following


STEPS = InSteps(ratios, passed, n_accepted, rest, following, output, reference=accept)


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


MISTAKES = [
    Mistake(
        "no_token_more",
        STEPS.but(rest=lambda rest, p, q, n_accepted: p[-2] if n_accepted == len(q) else rest),
        summary="when all tokens are accepted, the last row of p, which follows them, is not used",
    ),
    Mistake(
        "no_chance", STEPS.but(passed=lambda ratios: ratios >= 1), summary="a token is rejected wherever p is below q"
    ),
]


EXERCISE = Exercise(
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
    messages={
        "part_left_out_rest: p[n_accepted]": Wording(
            "{summary}. Tokens that are likely in p were accepted often already, so they would come too often.",
            summary="the replacement is drawn from p itself",
        ),
        "call_left_out_n_accepted: passed": Wording(
            "{summary}. They were drafted as the continuation of a token that is gone.",
            summary="tokens behind the first rejection count, too",
        ),
        "part_left_out_following: rest": Wording(summary="max(0, p − q) is not divided by its sum"),
        "order_ratios: (q) / (p[:-1])": Wording(summary="q is divided by p, not p by q"),
    },
    mistakes=MISTAKES,
)
