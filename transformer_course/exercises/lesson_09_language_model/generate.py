"""Text generation with a model that has a limited context length."""

from collections.abc import Callable

import torch
from jaxtyping import Int
from torch import Tensor, nn

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.exercises.shared.generation_steps import next_logits
from transformer_course.running.case import Case
from transformer_course.running.stand_in_models import describe_model
from transformer_course.steps import InSteps


def generate(
    model: nn.Module,
    tokens: Int[Tensor, "batch n"],
    max_new_tokens: int,
    context_length: int,
    sample: Callable[[Tensor], Tensor],
) -> Int[Tensor, "batch n_all"]:
    """Return the prompts and all new tokens; the model reads at most the last context_length tokens."""
    for _ in range(max_new_tokens):
        logits = model(tokens[:, -context_length:])  # (batch, at most context_length, vocab_size)
        next_tokens = sample(logits[:, -1])
        tokens = torch.cat([tokens, next_tokens[:, None]], dim=1)
    return tokens


def shown(context_length):
    """pass the model the last context_length tokens → the input of the model: the last context_length tokens"""
    return lambda tokens: tokens[:, -context_length:]


def logits(model):
    """call the model on its input → the logits of every position, (batch, n, vocab_size)"""
    return lambda shown: model(shown)


def next_tokens(sample):
    """sample the next token of each text → the next tokens, (batch,)"""
    return lambda next_logits: sample(next_logits)


def extended():
    """append the next tokens as a column → the extended text: one column longer"""
    return lambda tokens, next_tokens: torch.cat([tokens, next_tokens[:, None]], dim=1)


def n_rounds(max_new_tokens):
    """repeat max_new_tokens times → the number of iterations"""
    return max_new_tokens


def text(tokens, shown, logits, next_logits, next_tokens, extended, n_rounds):
    """run the loop → the text after the loop: the prompts and the new tokens"""
    so_far = tokens
    for _ in range(n_rounds):
        so_far = extended(so_far, next_tokens(next_logits(logits(shown(so_far)))))
    return so_far


def output(text):
    """return the prompts with all new tokens → the prompts and the new tokens"""
    return text


STEPS = InSteps(shown, logits, next_logits, next_tokens, extended, n_rounds, text, output, reference=generate)


VOCAB_SIZE = 13


def generate_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(batch, n, max_new_tokens, context_length, shows, *, readable=None, always=None):
        """Draw prompts and a model in which every position depends differently on each earlier position.

        The model accepts ``context_length`` tokens, or ``readable`` tokens if ``readable`` is given. The sampled token
        depends on the values of the logits, not only on their order. If ``always`` is given, that token is always
        sampled.
        """
        length = readable or context_length
        mixing = normal(rng, length, length).tril()
        mixing /= mixing.norm(dim=-1, keepdim=True)
        model = describe_model(
            "token_mixer",
            embedding=normal(rng, VOCAB_SIZE, VOCAB_SIZE),
            mixing=mixing,
            mixing_in_training=mixing.mT.contiguous(),
            noise=torch.tensor(1.0),
            evaluates=torch.tensor(True),
        )
        noise = normal(rng, VOCAB_SIZE) / 2
        if always is not None:
            noise[always] = 1000.0
        sample = describe_model("fixed_noise_sampler", noise=noise)
        inputs = {
            "model": model,
            "tokens": torch.randint(VOCAB_SIZE, (batch, n), generator=rng),
            "max_new_tokens": max_new_tokens,
            "context_length": context_length,
            "sample": sample,
        }
        return Case(inputs, shows)

    return [
        case(1, 2, 1, 5, "one new token"),
        case(1, 3, 0, 7, "no new token"),
        case(1, 3, 4, 8, "4 new tokens, and a context window that holds everything"),
        case(1, 2, 7, 4, "a text that outgrows the context window"),
        case(1, 6, 5, 3, "a prompt that is longer than the context window"),
        case(2, 3, 6, 1, "a context window of one token, of a model that could read more", readable=11),
        case(2, 5, 9, 4, "a model that could read more than the context window", readable=20),
        case(3, 4, 5, 11, "3 texts, and a context window that holds everything"),
        case(2, 7, 3, 11, "token 0 in every iteration, which doesn't end the text", always=0),
        case(5, 7, 13, 6, "5 texts that outgrow the context window"),
    ]


def cropped_once(tokens, shown, logits, next_logits, next_tokens, extended, n_rounds):
    """Run the loop on a text that is cropped only once, before the loop."""
    so_far, window = tokens, shown(tokens)
    for _ in range(n_rounds):
        new = next_tokens(next_logits(logits(window)))
        so_far, window = extended(so_far, new), extended(window, new)
    return so_far


MISTAKES = [
    Mistake(
        "shows_the_beginning",
        STEPS.but(shown=lambda context_length: lambda tokens: tokens[:, :context_length]),
        summary="you pass the model the *first* tokens of the sequence instead of the last",
        message=(
            "Once the sequence is longer than the context window, you pass the model its *beginning*, so the model "
            "never reads the newest tokens. Which tokens should it read instead?"
        ),
        hints=["With context_length = 3, which tokens of the sequence 5, 6, 7, 8 should the model read?"],
    ),
    Mistake(
        "shows_the_prompt_only",
        STEPS.but(shown=lambda tokens, context_length: lambda so_far: tokens[:, -context_length:]),
        summary="you pass the model only the prompt in every iteration",
        message=(
            "{summary}, so the model never reads the tokens that you have generated. Which tokens should you pass to "
            "it in the second iteration?"
        ),
        hints=["With the prompt 5, 6 and the new token 7, which tokens should the model read next?"],
    ),
    Mistake(
        "nothing_cropped",
        STEPS.but(shown=lambda: lambda tokens: tokens),
        summary="you pass the model the whole sequence, even if it is longer than the context window",
        message=(
            "{summary}. The model can read at most `context_length` tokens, so your code crashes or the model reads "
            "tokens outside its context window. Which tokens should you pass to it?"
        ),
        hints=["With context_length = 4 and a sequence of 7 tokens, how many tokens should the model read?"],
    ),
    Mistake(
        "crops_the_text_itself",
        STEPS.but(
            extended=lambda context_length: (
                lambda tokens, next_tokens: torch.cat([tokens[:, -context_length:], next_tokens[:, None]], dim=1)
            )
        ),
        STEPS.but(output=lambda text, context_length: text[:, -context_length:]),
        STEPS.but(tokens=lambda tokens, context_length: tokens[:, -context_length:]),
        STEPS.but(
            extended=lambda context_length: (
                lambda tokens, next_tokens: torch.cat([tokens, next_tokens[:, None]], dim=1)[:, -context_length:]
            )
        ).attempt,
        summary="you crop the sequence itself, so its beginning is lost",
        message="{summary}. You should crop only the *model's input*. Which variable should keep the whole sequence?",
        hints=["You add 5 tokens to a prompt of 6 tokens, with context_length = 3. How many tokens should you return?"],
    ),
    Mistake(
        "only_the_new_tokens",
        STEPS.but(output=lambda text, tokens: text[:, tokens.shape[1] :]),
        summary="you return the new tokens without the prompt",
        message=(
            "{summary}: for a prompt of 3 tokens and 4 new tokens, you return 4 tokens instead of 7. With which "
            "tokens should your result begin?"
        ),
        hints=["Which part of the sequence do you slice off before you return it?"],
    ),
    Mistake(
        "counts_the_prompt_as_new",
        STEPS.but(n_rounds=lambda max_new_tokens, tokens: max(max_new_tokens - tokens.shape[1], 0)),
        summary="you count the tokens of the prompt as new tokens",
        message="{summary}, so the longer the prompt, the fewer tokens you add. What does `max_new_tokens` count?",
        hints=["The prompt has 3 tokens, and max_new_tokens is 4. How many tokens should you return?"],
    ),
    Mistake(
        "returns_inside_the_loop",
        STEPS.but(
            n_rounds=lambda max_new_tokens: min(max_new_tokens, 1),
            output=lambda text, max_new_tokens: text if max_new_tokens else None,
        ),
        summary="your loop ends after its first iteration",
        message="{summary}, so you append only one token to each prompt. Is your `return` inside the loop?",
        hints=[
            "With `max_new_tokens=4`, how many columns should you add? How many columns do you add?",
            "A `return` ends the function, even in the middle of a loop.",
            "Move the `return` after the loop, to the indentation of the `for`.",
        ],
    ),
    Mistake(
        "probabilities",
        STEPS.but(next_logits=lambda: lambda logits: logits[:, -1].softmax(dim=-1)),
        summary="you pass probabilities to `sample` instead of logits",
        message=(
            "You pass probabilities to `sample`, but `sample` applies the softmax itself. A second softmax makes the "
            "probabilities too uniform: (1, 0, 0) becomes about (0.58, 0.21, 0.21). What should you pass to `sample`?"
        ),
        hints=["Which function do you apply to the logits before you call `sample`?"],
    ),
    Mistake(
        "sample_not_used",
        STEPS.but(next_tokens=lambda: lambda next_logits: next_logits.argmax(dim=-1)),
        STEPS.but(
            next_tokens=lambda: lambda next_logits: torch.multinomial(next_logits.softmax(dim=-1), 1)[:, 0]
        ).attempt,
        summary="you choose the tokens yourself instead of calling `sample`",
        message=(
            "{summary}, so the caller's `sample` has no effect. The caller decides how to pick a token, for example "
            "greedily or at random. Which argument picks tokens from logits?"
        ),
        hints=["If the caller passes a `sample` that always returns token 0, which tokens should you append?"],
    ),
    Mistake(
        "cropped_once",
        STEPS.but(text=cropped_once),
        summary="you crop the sequence only once, before the loop",
        message=(
            "{summary}, so the model's input grows by one token in each iteration and soon exceeds the context "
            "window. Where should you crop instead?"
        ),
        hints=[
            "With context_length = 4 and a prompt of 4 tokens, how many tokens do you pass in the first iteration, "
            "and how many in the second?",
        ],
    ),
    Mistake(
        "crops_the_prompt_to_its_beginning",
        STEPS.but(tokens=lambda tokens, context_length: tokens[:, :context_length]),
        summary="you keep only the first `context_length` tokens of the prompt",
        message=(
            "{summary}, so the end of a long prompt is lost. You should crop only the *model's input*. Which tokens "
            "should you keep there?"
        ),
        hints=["You add 5 tokens to a prompt of 6 tokens, with context_length = 3. How many tokens should you return?"],
    ),
]


EXERCISE = Exercise(
    reference=generate,
    steps=STEPS,
    cases=generate_cases,
    points=3,
    verified=(
        "You sample every new token from the logits at the last position of the context window, and you return the "
        "whole sequence."
    ),
    hints=[
        "The prompt is 5, 6 and context_length is 3. Which tokens should the model read in the first, second and "
        "third iteration?",
        "In each iteration, pass the model the end of the sequence, take the logits of the next token, sample a "
        "token, and append it.",
        "`model(…)` returns logits for every position, (batch, n, vocab_size). The *last* position predicts the "
        "next token, so `sample` gets (batch, vocab_size).",
        "The model reads at most `context_length` tokens: pass it only the last `context_length` tokens, and keep the "
        "whole sequence to return it.",
        "`torch.cat([tokens, next_tokens[:, None]], dim=1)` appends a column, and leaves the caller's tensor "
        "unchanged.",
    ],
    messages={
        "ignored_context_length: 1": (
            Wording(
                "You pass the model only the newest token. Without a cache, its predictions then don't depend on "
                "earlier tokens. How many tokens can the model read?",
                summary="you pass the model only one token",
                hints=["With context_length = 3, which tokens of the sequence 5, 6, 7, 8 should the model read?"],
            )
        ),
        "shifted_context_length: context_length - 1": Wording(
            "{summary}, so the model never reads the oldest token that still fits. How many tokens can it read?",
            summary="you pass the model at most context_length − 1 tokens",
        ),
        "shifted_context_length: context_length + 1": Wording(
            "{summary}, one more than the model can read. How many tokens should your slice keep?",
            summary="you pass the model up to context_length + 1 tokens",
        ),
        "range_text: range(n_rounds - 1)": Wording(
            "{summary}, so you append max_new_tokens − 1 tokens. How many iterations does your `range` produce?",
            summary="your loop makes one iteration too few",
        ),
        "range_text: range(n_rounds + 1)": Wording(
            "{summary}, so you append max_new_tokens + 1 tokens. How many iterations does your `range` produce?",
            summary="your loop makes one iteration too many",
        ),
        "slice_next_logits: logits[:, 0]": Wording(
            "You sample from the logits of the *first* position, so the new tokens depend only on the first token. "
            "Which position predicts the next token?",
            summary="you sample from the logits of the *first* position instead of the last",
        ),
    },
    mistakes=MISTAKES,
)
