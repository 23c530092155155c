"""Speculative decoding: accept or replace the tokens of a draft."""

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
    n_accepted = int((uniforms < ratios).cumprod(dim=0).sum())  # the product is 0 from the first rejection on
    rest = p[-1] if n_accepted == len(q) else (p[n_accepted] - q[n_accepted]).clamp(min=0)
    return n_accepted, rest / rest.sum()


def ratios(p, q, drafted):
    """divide p by q at each drafted token → the ratios: p / q of each drafted token"""
    return (p[:-1] / q).gather(1, drafted[:, None])[:, 0]


def passed(ratios, uniforms):
    """compare each uniform number with its ratio → the tokens that pass: uniform number below the ratio"""
    return uniforms < ratios


def n_accepted(passed):
    """count the tokens before the first rejection → the number of accepted tokens"""
    return int(passed.cumprod(dim=0).sum())


def rest(p, q, n_accepted):
    """subtract q from p at the first rejection and clamp at 0 → the residual: max(0, p − q), or p without rejection"""
    return p[n_accepted] if n_accepted == len(q) else (p[n_accepted] - q[n_accepted]).clamp(min=0)


def following(rest):
    """divide the residual by its sum → the distribution of the next token: the residual divided by its sum"""
    return rest / rest.sum()


def output(n_accepted, following):
    """return the number and the distribution → the pair: number of accepted tokens, distribution"""
    return n_accepted, following


STEPS = InSteps(ratios, passed, n_accepted, rest, following, output, reference=accept)


def accept_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(kinds: str, vocab_size: int, shows: str) -> Case:
        """Return a case with tokens that are likelier in p (+), less likely but accepted (-), or rejected (x).

        For the tokens marked < (accepted) and > (rejected), the uniform number is close to the ratio.
        """
        p, q = (normal(rng, len(kinds) + more, vocab_size).mul(2).softmax(dim=-1) for more in (1, 0))
        signs = torch.tensor([1.0 if kind == "+" else -1.0 for kind in kinds])
        drafted = (signs[:, None] * (p[:-1] - q)).argmax(dim=-1)
        ratios = (p[:-1] / q).gather(1, drafted[:, None])[:, 0].tolist()
        places = [
            {"+": 0.9, "-": r / 2, "x": (1 + r) / 2, "<": 0.9 * r, ">": 0.9 * r + 0.1}[kind]
            for kind, r in zip(kinds, ratios, strict=True)
        ]
        return Case({"p": p, "q": q, "drafted": drafted, "uniforms": torch.tensor(places)}, shows)

    return [
        case("+", 2, "one token, more likely in p"),
        case("x", 3, "one token, rejected"),
        case("+-", 5, "two tokens, both accepted"),
        case("x+-", 4, "three tokens, the first rejected"),
        case("-+x+", 7, "four tokens, the third rejected"),
        case("", 9, "no token drafted"),
        case("+<>+<", 6, "five tokens, the third rejected, uniform numbers near the ratios"),
        case("<+<<+<<>", 11, "eight tokens, the last rejected, uniform numbers near the ratios"),
        case("+-+x-x+-", 29, "eight tokens, the fourth and sixth rejected"),
    ]


MISTAKES = [
    Mistake(
        "no_token_more",
        STEPS.but(rest=lambda rest, p, q, n_accepted: p[-2] if n_accepted == len(q) else rest),
        STEPS.but(rest=lambda rest, p, q, n_accepted: p[n_accepted - 1] if n_accepted == len(q) else rest),
        summary="you don't use the last row of p when all tokens are accepted",
        message=(
            "{summary}: you draw the next token from the distribution for the last drafted token. Which row of p "
            "predicts the token after it?"
        ),
        hints=["With 2 drafted tokens, p has 3 rows. Which token does each row predict?"],
    ),
    Mistake(
        "no_chance",
        STEPS.but(passed=lambda ratios: ratios >= 1),
        summary="you reject every token whose p is below its q",
        message=(
            "{summary}, so your result doesn't depend on the uniform numbers. How often should you accept a token "
            "with p = 0.2 and q = 0.4?"
        ),
    ),
    Mistake(
        "most_likely_token_only",
        STEPS.but(passed=lambda p, drafted: p[:-1].argmax(dim=-1) == drafted),
        summary="you accept a token only if it is the most likely one in p",
        message=(
            "{summary}, so your result doesn't depend on the uniform numbers. That is right only for greedy decoding. "
            "How often should you accept a token with p = 0.2 and q = 0.4?"
        ),
        hints=[
            "A drafted token is twice as likely in p as in q, but another token is more likely in p. Should you "
            "accept the drafted token?",
        ],
    ),
    Mistake(
        "ratio_to_the_largest",
        STEPS.but(
            ratios=lambda p, drafted: (p[:-1] / p[:-1].amax(dim=-1, keepdim=True)).gather(1, drafted[:, None])[:, 0]
        ),
        summary="you divide p by its largest entry instead of q",
        message=(
            "{summary}, so the number of accepted tokens doesn't depend on q, the draft model's distribution. How "
            "often should you accept a token with p = 0.2 and q = 0.4?"
        ),
        hints=["If q changes, should the same tokens be accepted?"],
    ),
    Mistake(
        "everything_accepted",
        STEPS.but(passed=lambda drafted: torch.ones_like(drafted, dtype=torch.bool)),
        summary="you accept every drafted token",
        message=(
            "{summary}, so the output follows q instead of p. When should you reject a token with p = 0.2 and q = 0.4?"
        ),
        hints=["A token has p = 0.2 and q = 0.4. For which uniform numbers should you reject it?"],
    ),
]


EXERCISE = Exercise(
    reference=accept,
    steps=STEPS,
    cases=accept_cases,
    points=3,
    verified="You count the tokens before the first rejection, and your distribution of the next token makes the "
    "whole output follow p.",
    distributions=("p", "q"),
    hints=[
        "A drafted token has p = 0.2 and q = 0.4. For which uniform numbers do you accept it, and what happens to the "
        "tokens after a rejected one?",
        "A token passes if its uniform number is below p / q. The first token that fails ends the accepted part, even "
        "if later tokens pass. The next token then comes from max(0, p − q) in that row, normalized.",
        "`passed.cumprod(dim=0)` is 1 before the first rejection and 0 from there on, so its sum counts the accepted "
        "tokens.",
        "With n accepted tokens and a rejection, the distribution is `(p[n] - q[n]).clamp(min=0)` divided by its sum. "
        "Without a rejection it is `p[-1]`.",
    ],
    messages={
        "part_left_out_ratios: p[:-1]": Wording(
            "{summary}. If the draft model is exactly right, so that p = q, you should accept every drafted token. "
            "How often do you accept a token with p = q = 0.2?",
            summary="you accept a drafted token with probability p instead of p / q",
        ),
        "absolute_rest": Wording(
            "{summary}, so a token with p = 0.1 and q = 0.5 can still be drawn right after its rejection. What should "
            "p − q become where it is negative?",
            summary="you take the absolute value of p − q",
            hints=["A token has p = 0.1 and q = 0.5. After a rejection, what probability should it get?"],
        ),
        "part_left_out_rest: p[n_accepted]": Wording(
            "{summary}, so the output contains tokens that are likely in both p and q too often: they could already "
            "have been accepted as drafted tokens. Which tokens does the draft model propose too rarely?",
            summary="after a rejection, you return p itself instead of max(0, p − q)",
        ),
        "call_left_out_n_accepted: passed": Wording(
            "{summary}. If the first of three tokens is rejected and the other two pass, you return 2 instead of 0. "
            "Where should you stop counting?",
            summary="you also count the tokens that pass after the first rejection",
        ),
        "part_left_out_following: rest": Wording(
            "{summary}, so after a rejection your distribution sums to less than 1. Which number should you divide by?",
            summary="you never divide max(0, p − q) by its sum",
        ),
        "order_ratios: (q) / (p[:-1])": Wording(
            "{summary}, so you always accept a token with p = 0.2 and q = 0.4. How often should you accept it?",
            summary="you divide q by p instead of p by q",
        ),
        "call_left_out_rest: p[n_accepted] - q[n_accepted]": Wording(
            "{summary}, so a token with p = 0.1 and q = 0.5 gets a negative probability. What should p − q become "
            "where it is negative?",
            summary="you don't clamp p − q at 0",
        ),
        "comparison_passed: (uniforms) > (ratios)": Wording(
            "{summary}, so you accept a token with p = 0.2 and q = 0.4 half of the time, but you never accept a token "
            "with p = q. For which uniform numbers should you accept a token?",
            summary="you accept a token if its uniform number is *above* p / q",
        ),
        "order_rest: (q[n_accepted]) - (p[n_accepted])": Wording(
            "{summary}, so after a rejection you draw the tokens that the draft model proposes too often. Which "
            "tokens does it propose too rarely?",
            summary="you subtract p from q instead of q from p",
        ),
    },
    mistakes=MISTAKES,
)
