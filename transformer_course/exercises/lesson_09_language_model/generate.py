"""Continue texts, one token after another, with a model that sees a limited number of tokens."""

from collections.abc import Callable

import torch
from jaxtyping import Int
from torch import Tensor, nn

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import generator, normal
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
    """Return the prompts and all new tokens; the model sees the last context_length tokens at most."""
    for _ in range(max_new_tokens):
        logits = model(tokens[:, -context_length:])  # (batch, at most context_length, vocab_size)
        next_tokens = sample(logits[:, -1])
        tokens = torch.cat([tokens, next_tokens[:, None]], dim=1)
    return tokens


def shown(context_length):
    """show the model the last context_length tokens → what the model is shown: the last context_length tokens"""
    return lambda tokens: tokens[:, -context_length:]


def logits(model):
    """call the model on what it is shown → the logits of every position, (batch, n, vocab_size)"""
    return lambda shown: model(shown)


def next_logits():
    """take the logits of the last position → the logits of the next token, (batch, vocab_size)"""
    return lambda logits: logits[:, -1]


def next_tokens(sample):
    """sample the next token of each text → the next tokens, (batch,)"""
    return lambda next_logits: sample(next_logits)


def extended():
    """append them as a column → the tokens, one column longer"""
    return lambda tokens, next_tokens: torch.cat([tokens, next_tokens[:, None]], dim=1)


def n_rounds(max_new_tokens):
    """go round max_new_tokens times → the number of rounds"""
    return max_new_tokens


def text(tokens, shown, logits, next_logits, next_tokens, extended, n_rounds):
    """repeat → the tokens after the last round"""
    so_far = tokens
    for _ in range(n_rounds):
        so_far = extended(so_far, next_tokens(next_logits(logits(shown(so_far)))))
    return so_far


def output(text):
    """return the prompts with all that follows → the prompts and the new tokens"""
    return text


STEPS = InSteps(shown, logits, next_logits, next_tokens, extended, n_rounds, text, output, reference=generate)


VOCAB_SIZE = 13


def generate_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(batch, n, max_new_tokens, context_length, shows, *, readable=None, always=None):
        """Draw prompts, and a model of which every position hears all before it, each in a way of its own.

        The model reads ``context_length`` tokens, or as many as ``readable`` says. What is sampled depends on the
        sizes of the logits, not only on their order; or it is ``always`` the same token.
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
        case(2, 7, 3, 11, "token 0 in every round: it ends nothing", always=0),
        case(5, 7, 13, 6, "5 texts that outgrow the context window"),
    ]


MISTAKES = [
    Mistake(
        "shows_the_beginning",
        STEPS.but(shown=lambda context_length: lambda tokens: tokens[:, :context_length]),
        summary="the model is shown the *first* tokens of the text, not the last",
        message=(
            "Once the text is longer than the context window, the model is shown its *beginning*, and never sees what "
            "was generated last."
        ),
        hints=["Which tokens matter most for the next one?"],
    ),
    Mistake(
        "shows_the_prompt_only",
        STEPS.but(shown=lambda tokens, context_length: lambda so_far: tokens[:, -context_length:]),
        summary="the model is shown the prompt in every round, not what has been generated",
        message="In every round the model is shown the prompt alone: what it has generated since never reaches it.",
        hints=["How does what is shown in round 2 differ from what is shown in round 1?"],
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
        summary="the text itself is cropped, so that its beginning is lost",
        message=(
            "The text itself is cropped, so its beginning is missing in what is returned. Only what the *model* is "
            "shown should be cropped."
        ),
        hints=["A prompt of 6 tokens and 5 new ones: how many come back? There should be 11."],
    ),
    Mistake(
        "only_the_new_tokens",
        STEPS.but(output=lambda text, tokens: text[:, tokens.shape[1] :]),
        summary="the prompt is left out of what is returned",
        message="Only the new tokens come back. The prompt is part of the text that is asked for.",
        hints=["A prompt of 3 tokens and 4 new ones: how many should come back?"],
    ),
    Mistake(
        "counts_the_prompt_as_new",
        STEPS.but(n_rounds=lambda max_new_tokens, tokens: max(max_new_tokens - tokens.shape[1], 0)),
        summary="the length of the prompt decides how many tokens are added",
        message="The longer the prompt, the fewer tokens are added. `max_new_tokens` counts only the *new* ones.",
    ),
    Mistake(
        "returns_inside_the_loop",
        STEPS.but(
            n_rounds=lambda max_new_tokens: min(max_new_tokens, 1),
            output=lambda text, max_new_tokens: text if max_new_tokens else None,
        ),
        summary="the loop ends after its first round",
        hints=["With `max_new_tokens=4`, how many columns are added?"],
    ),
    Mistake(
        "probabilities",
        STEPS.but(next_logits=lambda: lambda logits: logits[:, -1].softmax(dim=-1)),
        summary="`sample` gets probabilities, not logits",
        message="`sample` gets probabilities. It takes logits, and takes the softmax itself.",
        hints=["What does the lesson say that `sample` takes?"],
    ),
    Mistake(
        "sample_not_used",
        STEPS.but(next_tokens=lambda: lambda next_logits: next_logits.argmax(dim=-1)),
        STEPS.but(
            next_tokens=lambda: lambda next_logits: torch.multinomial(next_logits.softmax(dim=-1), 1)[:, 0]
        ).attempt,
        summary="`sample` is not used",
        message="The likeliest token is taken, or one is drawn here. How to choose is the argument `sample`.",
        hints=["Where does the argument `sample` occur in the code?"],
    ),
]


EXERCISE = Exercise(
    reference=generate,
    steps=STEPS,
    cases=generate_cases,
    points=3,
    verified="Every new token is sampled from what the model says after the last tokens that it can see, and the "
    "whole text comes back.",
    hints=[
        "One round of the loop: show the model the text, take the logits of the next token, sample, append.",
        "`model(…)` returns logits for every position, (batch, n, vocab_size). The next token is what the *last* "
        "position predicts, so `sample` gets (batch, vocab_size).",
        "The model reads at most `context_length` tokens: show it the last ones, and keep the whole text for the end.",
        "`torch.cat([tokens, next_tokens[:, None]], dim=1)` appends a column and leaves the caller's tensor as it is.",
    ],
    messages={
        "call_left_out_text: so_far": "The model is shown the whole text, however long it is.",
        "ignored_context_length: 1": "The model is shown the last token only. Without a cache, it knows no other.",
    },
    mistakes=MISTAKES,
)
