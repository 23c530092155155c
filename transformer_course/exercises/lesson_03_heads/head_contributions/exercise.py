"""What each head adds to the output of a multi-head attention."""

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_03_heads.head_contributions.answer import STEPS, head_contributions
from transformer_course.exercises.lesson_03_heads.head_contributions.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case


def head_contributions_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(batch: int, n_heads: int, n: int, d_k: int, d_out: int, shows: str) -> Case:
        return Case({"heads": normal(rng, batch, n_heads, n, d_k), "w_o": normal(rng, d_out, n_heads * d_k)}, shows)

    return [
        case(1, 2, 1, 1, 2, "2 heads of width 1, one position"),
        case(1, 1, 2, 3, 3, "one head: all of it"),
        case(1, 2, 1, 2, 4, "2 heads of width 2, one position"),
        case(2, 3, 5, 2, 6, "a batch of 2: 3 heads of width 2, 5 positions"),
        case(3, 4, 5, 2, 7, "a batch of 3: an output of another width than the heads together"),
        case(5, 8, 31, 11, 37, "a batch of 5: 8 heads of width 11, 31 positions"),
    ]


HEAD_CONTRIBUTIONS = Exercise(
    reference=head_contributions,
    steps=STEPS,
    cases=head_contributions_cases,
    points=2,
    verified="What the heads add, each through its own columns of w_o, adds up to the whole output.",
    hints=[
        "Take a single position. Its merged vector is (head 0, head 1, …), one after the other. Which columns of w_o "
        "are multiplied by the numbers of head 0?",
        "Had all heads but head i been set to 0, the output would be what head i adds. Only columns i·d_k to "
        "(i + 1)·d_k − 1 of w_o would then play a part.",
        "For head i: `heads[:, i] @ w_o[:, i * d_k : (i + 1) * d_k].T`. Stack these along axis 1.",
    ],
    told={
        "product_terms: (heads[:, i]) @ (columns[own(i)]).mT": (
            "The columns of w_o that belong to a head meet it as they are. Look at which axes the product pairs."
        ),
        "number_terms: -1": (
            "The numbers are right, but another axis than that of the features comes last. Look at the order "
            "of the axes."
        ),
    },
    mistakes=MISTAKES,
    stretch=True,
)
