"""A language model made of blocks with a causal mask."""

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.lesson_09_language_model.gpt.answer import GPT, STEPS
from transformer_course.exercises.shared import layer_stack_mistakes
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.exercises.shared.draw_layers import drawn_tokens, stack_parameters
from transformer_course.running.case import Case


def gpt_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(shows: str, sizes: tuple[int, ...], *calls: tuple[int, int]) -> Case:
        names = ("vocab_size", "d_model", "n_heads", "n_layers", "context_length")
        vocab_size, d_model, _, n_layers, length = sizes
        parameters = stack_parameters(rng, d_model, 4 * d_model, n_layers, "blocks")
        parameters |= {"embedding.weight": normal(rng, vocab_size, d_model), "positions": normal(rng, length, d_model)}
        parameters |= {"norm.weight": 0.5 + normal(rng, d_model).abs(), "norm.bias": normal(rng, d_model)}
        first, *later = [{"tokens": drawn_tokens(rng, vocab_size, *call)} for call in calls]
        arguments = dict(zip(names, sizes, strict=True))
        return Case(first, shows, kind="module", arguments=arguments, parameters=parameters, later=later)

    return [
        case("one text of 3 tokens, one block", (5, 4, 1, 1, 7), (1, 3)),
        case("2 texts of 3 tokens, 2 blocks", (7, 6, 2, 2, 11), (2, 3), (2, 3), (3, 5)),
        case("texts as long as the context window, 3 blocks", (11, 6, 3, 3, 5), (3, 5), (1, 4)),
        case("5 texts of 13 tokens, 2 blocks", (17, 24, 4, 2, 19), (5, 13)),
    ]


GPT_EXERCISE = Exercise(
    reference=GPT,
    steps=STEPS,
    cases=gpt_cases,
    points=3,
    verified="Your own language model: tokens in, the logits of every next token out, and no look ahead.",
    hints=[
        "In this order: embeddings plus positions; the blocks, each with a causal mask; the norm; the logits.",
        "n tokens need the first n rows of `self.positions`, and the logits are products with `self.embedding.weight`.",
        "In the loop, `x = block(x, parts.causal_mask(n))`, and after it `self.norm(x) @ self.embedding.weight.T`.",
    ],
    mistakes=[
        *layer_stack_mistakes.layer_mistakes(STEPS)[:-1],  # one more norm before the last changes next to nothing
        *layer_stack_mistakes.mask_mistakes(STEPS, "layer_mask", "mask"),
        Mistake(
            "norm_after_every_block",
            STEPS.but(kept=lambda self: lambda before, after: self.norm(after)),
            STEPS.but(kept=lambda self: lambda before, after: self.norm(after), normed=lambda output: output),
            does="the last norm is used in the loop",
            says="{does}: the residual stream is normalised again and again. Pre-norm blocks only add to it.",
        ),
        Mistake(
            "probabilities",
            STEPS.but(logits=lambda logits: logits.softmax(dim=-1)),
            does="a softmax is taken of the logits",
            says="{does}. The loss and the sampling take logits, and do that themselves. Look at what is returned.",
        ),
        Mistake(
            "log_probabilities",
            STEPS.but(logits=lambda logits: logits.log_softmax(dim=-1)),
            does="a log-softmax is taken of the logits",
            says="{does}. The loss and the sampling take logits, and do that themselves. Look at what is returned.",
            hints=["What does `F.cross_entropy` do first with what it is given?"],
        ),
    ],
)
