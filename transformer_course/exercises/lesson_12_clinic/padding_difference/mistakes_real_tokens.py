"""What goes wrong when only the logits at real tokens should be compared."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_12_clinic.padding_difference.answer import STEPS

MISTAKES = [
    Mistake(
        "pads_compared_too",
        STEPS.but(differences=lambda all_differences: all_differences),
        STEPS.but(differences=lambda all_differences: all_differences.nan_to_num()),
        does="outputs at padding are compared, too",
        says=(
            "The outputs at padding are compared, too. Nothing is ever read from there, so a healthy model may say "
            "anything, nan too. Look at which positions are compared."
        ),
        hints=["Some of the texts have padding of their own. What should a model say there?"],
    ),
    Mistake(
        "multiplied_by_the_mask",
        STEPS.but(differences=lambda all_differences, real: all_differences * real[..., None]),
        does="the differences at padding are multiplied by 0",
        says="{does}. Where a model says nan at padding, that is nan still. Look at how the padding is left out.",
        hints=["What is nan times 0?"],
    ),
    Mistake(
        "only_pads_compared",
        STEPS.but(real=lambda tokens, pad_id: tokens == pad_id),
        STEPS.but(
            real=lambda tokens, pad_id: tokens == pad_id,
            differences=lambda all_differences, real: all_differences * real[..., None],
        ),
        does="the padding is taken for what is real",
        says="What is compared is the padding, and the real tokens are left out. Look at the comparison with `pad_id`.",
        hints=["Of which tokens is the mask True?"],
    ),
    Mistake(
        "zero_is_always_padding",
        STEPS.but(real=lambda tokens: tokens != 0),
        does="token 0 is taken for padding, whatever `pad_id` is",
        hints=["In most cases `pad_id` is not 0. Which tokens are left out?"],
    ),
    Mistake(
        "an_order_of_the_ids",
        STEPS.but(real=lambda tokens, pad_id: tokens > pad_id),
        STEPS.but(real=lambda tokens, pad_id: tokens < pad_id),
        does="an order, not equality, decides what is padding",
        says=(
            "Whether a token counts depends on an *order*: it has to be larger than `pad_id`, or smaller. Ids are "
            "names, and only one of them is padding."
        ),
        hints=["Try a pad_id of 5 and the tokens 3, 5 and 7. Which of them are real?"],
    ),
    Mistake(
        "padded_texts_left_out",
        STEPS.but(real=lambda real: real & real.all(dim=1, keepdim=True)),
        does="texts with padding of their own are left out",
        says=(
            "A text that has padding of its own is left out as a whole, though it has real tokens, too. Look at what "
            "`all` or `any` is applied to."
        ),
        hints=["Try a text of four tokens and one pad. How many of its positions should be compared?"],
    ),
    Mistake(
        "only_the_last_position",
        STEPS.but(differences=lambda all_differences: all_differences[:, -1]),
        STEPS.but(differences=lambda all_differences, real: all_differences[:, -1][real[:, -1]]),
        does="only the last position is compared",
        says="{does}. A fault may show at any other, and in some texts this is padding.",
        hints=["Take a text with padding at its end. What is compared?"],
    ),
    Mistake(
        "only_the_first_position",
        STEPS.but(differences=lambda all_differences: all_differences[:, 0]),
        STEPS.but(differences=lambda all_differences, real: all_differences[:, 0][real[:, 0]]),
        does="only the first position is compared",
        says="{does}. A fault may show at any other, and in some texts this is padding.",
        hints=["Take a text with padding at its beginning. What is compared?"],
    ),
    Mistake(
        "only_the_first_text",
        STEPS.but(differences=lambda all_differences, real: all_differences[0][real[0]]),
        does="only the first text of the batch is compared",
        says="{does}. A fault may show in another one. Look at the first index.",
        hints=["`tokens` has the shape (batch, n). What does `tokens[0]` hold?"],
    ),
    Mistake(
        "only_the_last_text",
        STEPS.but(differences=lambda all_differences, real: all_differences[-1][real[-1]]),
        does="only the last text of the batch is compared",
        says="{does}, or each text overwrites what the one before it showed.",
        hints=["Take three texts. Of which is the number that comes out?"],
    ),
]
