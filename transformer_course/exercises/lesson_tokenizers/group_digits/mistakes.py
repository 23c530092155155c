"""What goes wrong when numbers are cut."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_tokenizers.group_digits.answer import STEPS

MISTAKES = [
    Mistake(
        "from_the_left",
        STEPS.but(first=lambda size: lambda number: size),
        does="the groups begin at the left",
        says="{does}. Then the thousands of 1234567 stand in `123`, and those of 12345 in `12`: count from the right.",
        hints=["Which groups should 1234567 have: 123 456 7, or 1 234 567?"],
    ),
    Mistake(
        "an_empty_group",
        STEPS.but(first=lambda size: lambda number: len(number) % size),
        does="a number whose digits come out even begins with an empty group",
        says="{does}. With 6 digits nothing is left over, and the first group is a whole one.",
        hints=["What is `6 % 3`, and what does `number[:0]` give?"],
    ),
    Mistake(
        "single_digits",
        STEPS.but(size=lambda: 1),
        does="every digit is a piece of its own",
        says="{does}, as in Llama 2. Asked for are groups of three.",
        hints=["How many pieces should 2021 have?"],
    ),
    Mistake(
        "only_numbers",
        STEPS.but(pieces=lambda runs, grouped: [p for run in runs if run[0] in "0123456789" for p in grouped(run)]),
        does="what stands between the numbers is left out",
        says="{does}. Put together, the pieces should be the text again.",
        hints=["What is `''.join(pieces)`?"],
    ),
    Mistake(
        "words_cut_as_well",
        STEPS.but(pieces=lambda runs, grouped: [piece for run in runs for piece in grouped(run)]),
        does="what is between the numbers is cut into groups, too",
        says="{does}. Only digits are.",
        hints=["What should become of the text `minus`?"],
    ),
    Mistake(
        "a_list_for_each_number",
        STEPS.but(
            pieces=lambda runs, grouped: [grouped(run) if run[0] in "0123456789" else run for run in runs]
        ).attempt,
        says="Each number is a list within the list. All pieces belong into one.",
        hints=[
            "What is the type of each entry of the result?",
            "`list.append` puts a list in as one entry; `+=` puts in its entries.",
            "`pieces += groups`.",
        ],
    ),
]
