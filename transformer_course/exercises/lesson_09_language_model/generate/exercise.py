"""Continue texts, one token after another, with a model that sees a limited number of tokens."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_09_language_model.generate.answer import STEPS, generate
from transformer_course.exercises.lesson_09_language_model.generate.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.running.stand_in_models import describe_model

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


GENERATE = Exercise(
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
    told={
        "call_left_out_text: so_far": "The model is shown the whole text, however long it is.",
        "ignored_context_length: 1": "The model is shown the last token only. Without a cache, it knows no other.",
    },
    mistakes=MISTAKES,
)
