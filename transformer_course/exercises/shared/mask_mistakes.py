"""Messages shared by the mask exercises: a mask is inverted, off by one, or not boolean."""

from transformer_course.exercise import Wording

INVERTED = Wording(
    "{summary}: it is True where attention should be *blocked*. In this course, True means *may attend*.",
    summary="your mask is inverted",
    hints=["What does True mean in this course? What does it mean in your mask?"],
)
"""The message for a completely inverted mask."""

NOT_ITSELF = Wording(
    "{summary}, so the first position can't attend to anything. What should the mask be where the query and the key "
    "are at the same position?",
    summary="your mask hides each position from itself",
    hints=[
        "Which positions may the first position attend to?",
        "A position may attend to itself, so the main diagonal of the mask is True.",
        "Compare with `<=` instead of `<`, or keep one more diagonal with `.tril`.",
    ],
)
"""The message for ``<`` instead of ``<=``, or for ``.tril(-1)``."""

THE_NEXT_TOO = Wording(
    "{summary}, so each position can read the token that it should predict. Which key is the last one that the first "
    "position may attend to?",
    summary="your mask also lets each position attend to the next position",
    hints=[
        "For 3 positions, what should the first row of the mask be? What is yours?",
        "A position may attend to itself and to earlier positions, so j ≤ i.",
        "Keep one diagonal fewer, or compare j with i instead of i + 1.",
    ],
)
"""The message for ``.tril(1)`` instead of ``.tril(0)``."""

ADDED_TO_THE_SCORES = Wording(
    "{summary}, to be added to the scores. In this course, a mask is boolean: True means *may attend*. Which "
    "comparison returns True where a query may attend?",
    summary="your mask is additive: it contains 0 and −∞",
    hints=["What is the `.dtype` of your mask, and which dtype does the annotation after `->` specify?"],
)
"""The message for an additive mask."""

OF_FLOATS = Wording(
    "{summary}, so `~` and `masked_fill` raise an error. How do you create a boolean matrix?",
    summary="your mask contains floats instead of True and False",
    hints=["What is `torch.ones(2, 2).dtype`?"],
)
"""The message for a matrix of ones without a dtype."""

PADDED_ROWS = Wording(
    "{summary}, so real tokens can still attend to padding. The scores have shape (batch, n_heads, n_query, n_key). "
    "Along which of these dimensions should your mask vary?",
    summary="you hide padding in the dimension of the queries instead of the keys",
    hints=["If the last token is padding, should the last row or the last column of the mask be False?"],
)
"""The message for a padding mask of shape (batch, 1, n, 1)."""

PADDING_ALLOWED = Wording(
    "{summary}, so queries attend only to padding. In this course, True means *may attend*. For which tokens should "
    "the mask be True?",
    summary="you allow the padding and hide the real tokens",
    hints=["For the tokens 8, 6, 0 and a `pad_id` of 0, which three values should the comparison return?"],
)
"""The message for ``==`` instead of ``!=``."""

PAD_ID_UNUSED = Wording(
    "{summary}, so your mask is right only if `pad_id` is 0. With a `pad_id` of 5, which tokens should your mask hide?",
    summary="you don't use `pad_id`",
    hints=["If `pad_id` is 5, is token 0 a real token?"],
)
"""The message for a comparison with 0."""
