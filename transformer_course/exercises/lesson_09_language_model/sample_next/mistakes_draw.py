"""What goes wrong with the draw itself, and with the form of the tokens."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_09_language_model.sample_next.answer import STEPS

DRAW = "`torch.multinomial(probabilities, 1, generator=generator)`."
ONE_FOR_EACH = "`.squeeze(-1)` or `[:, 0]` after `torch.multinomial`."

MISTAKES = [
    Mistake(
        "greedy",
        STEPS.but(drawn=lambda probabilities: probabilities.argmax(dim=-1, keepdim=True)),
        STEPS.but(drawn=lambda probabilities: probabilities.argmin(dim=-1, keepdim=True)).attempt,
        does="the likeliest token is taken every time; nothing is drawn",
        says="The same token is taken every time. Nothing is drawn, so the generator has no part in it.",
        hints=["How often should a token of probability 0.3 come out?"],
    ),
    Mistake(
        "ignores_the_generator",
        STEPS.but(drawn=lambda probabilities: torch.multinomial(probabilities, 1)),
        does="the draw does not use the generator",
    ),
    Mistake(
        "a_generator_of_its_own",
        STEPS.but(
            drawn=lambda probabilities: torch.multinomial(probabilities, 1, generator=torch.Generator().manual_seed(0))
        ),
        STEPS.but(
            drawn=lambda probabilities: torch.multinomial(probabilities, 1, generator=torch.Generator().manual_seed(42))
        ).attempt,
        does="the draw uses a generator with a seed of its own",
    ),
    Mistake(
        "one_draw_for_all_rows",
        STEPS.but(
            drawn=lambda probabilities, generator: torch.multinomial(probabilities[:1], 1, generator=generator)
        ).attempt,
        STEPS.but(
            drawn=lambda probabilities, generator: torch.multinomial(probabilities[0], 1, generator=generator)[:, None]
        ).attempt,
        STEPS.but(
            drawn=lambda probabilities, generator: torch.multinomial(probabilities[:1], 1, generator=generator).expand(
                len(probabilities), 1
            )
        ).attempt,
        does="one token is drawn, of the first row, not one for each row",
        says="Right for one row. In a batch, only one token is drawn: that of the first row.",
        hints=[
            "How many tokens come out for 2 rows of logits?",
            "`torch.multinomial` draws for each row of a table.",
            DRAW,
        ],
    ),
    Mistake(
        "probabilities_of_the_first_row",
        STEPS.but(probabilities=lambda probabilities: probabilities[:1].expand_as(probabilities)).attempt,
        does="all rows are drawn with the probabilities of the first",
        says="{does}. Each has its own.",
        hints=[
            "Two rows with different likeliest tokens: which comes most often in each?",
            "What does the index 0 pick?",
            DRAW,
        ],
    ),
    Mistake(
        "keeps_the_axis_of_the_draws",
        STEPS.but(tokens=lambda drawn: drawn),
        does="the tokens come with an axis of length 1, one number in each row",
    ),
    Mistake(
        "every_axis_of_length_1_removed",
        STEPS.but(tokens=lambda drawn: drawn.squeeze()),
        does="every axis of length 1 is removed, also that of a batch of one",
        says="Every axis of length 1 is removed, also the batch where it has one row. One axis should stay.",
        hints=["What shape comes out for a single row?"],
    ),
    Mistake(
        "an_item_of_many",
        STEPS.but(tokens=lambda drawn: drawn.item()).attempt,
        STEPS.but(tokens=lambda drawn: int(drawn)).attempt,
        STEPS.but(tokens=lambda drawn: torch.tensor([drawn.item()])).attempt,
        does="one number is asked of the tokens of all rows",
        says="`.item()` or `int()` asks for one number. A tensor with one token for each row is asked for.",
        hints=[
            "What shape is asked for?",
            "In a batch there are several tokens.",
            ONE_FOR_EACH,
        ],
    ),
    Mistake(
        "a_list",
        STEPS.but(tokens=lambda drawn: drawn.squeeze(-1).tolist()).attempt,
        STEPS.but(tokens=lambda drawn: drawn.squeeze(-1).float()).attempt,
        STEPS.but(tokens=lambda drawn: drawn.squeeze(-1).int()).attempt,
        does="the tokens are not a tensor of int64",
        says="The tokens come as a list, or in another dtype. Ids are a tensor of int64, as an embedding takes them.",
        hints=[
            "What do `type` and `.dtype` say of the result?",
            "`torch.multinomial` and `argmax` return int64.",
            "Return the tensor as `torch.multinomial` makes it, without its second axis.",
        ],
    ),
    Mistake(
        "the_probability_of_the_token",
        STEPS.but(tokens=lambda probabilities, drawn: probabilities.gather(-1, drawn).squeeze(-1)).attempt,
        does="the probabilities of the tokens are returned, not the tokens",
        says="The probabilities of the drawn tokens come out. The tokens themselves are asked for.",
        hints=[
            "What does `torch.multinomial` return: ids or probabilities?",
            "What it returns are numbers of columns, which are ids of tokens.",
            ONE_FOR_EACH,
        ],
    ),
]
