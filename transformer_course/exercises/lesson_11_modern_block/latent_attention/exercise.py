"""Multi-head latent attention: keys and values of all heads from one short vector a token."""

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_11_modern_block.latent_attention.answer import STEPS, latent_attention
from transformer_course.exercises.lesson_11_modern_block.latent_attention.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case


def latent_attention_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(batch, n_heads, n_query, n_key, r, d, shows):
        inputs = {
            "q": normal(rng, batch, n_heads, n_query, d),
            "latent": normal(rng, batch, n_key, r),
            "w_k": normal(rng, n_heads, r, d),
            "w_v": normal(rng, n_heads, r, d),
        }
        return Case(inputs, shows)

    return [
        case(1, 1, 1, 2, 2, 1, "one head, one query, 2 tokens"),
        case(1, 2, 1, 3, 2, 3, "2 heads, one query, 3 tokens with 2 latent numbers each"),
        case(1, 3, 2, 4, 5, 2, "3 heads, 2 queries, 4 tokens with 5 latent numbers each"),
        case(3, 2, 1, 5, 4, 6, "3 texts, 2 heads, one query, 5 tokens"),
        case(2, 5, 7, 11, 3, 4, "2 texts, 5 heads, 7 queries, 11 tokens"),
    ]


LATENT_ATTENTION = Exercise(
    reference=latent_attention,
    steps=STEPS,
    cases=latent_attention_cases,
    points=3,
    verified="Each head makes its own keys and values of the same short vectors: these are all that is cached.",
    hints=[
        "`latent[:, None]` has the shape (batch, 1, n_key, r). Its product with `w_k`, (n_heads, r, d), is the keys.",
        "The values come in the same way from `w_v`.",
        "The rest is scaled dot-product attention for each head: no mask, and a score adds up d products.",
    ],
    mistakes=MISTAKES,
)
