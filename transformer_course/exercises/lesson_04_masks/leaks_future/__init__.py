"""The leak test: change a token and check whether an earlier output changes."""

from transformer_course.exercise import Exercise, Wording
from transformer_course.exercises.lesson_04_masks.leaks_future.answer import STEPS, leaks_future
from transformer_course.exercises.lesson_04_masks.leaks_future.leaky_models import leaks_future_cases
from transformer_course.exercises.lesson_04_masks.leaks_future.mistakes import MISTAKES

EXERCISE = Exercise(
    reference=leaks_future,
    steps=STEPS,
    cases=leaks_future_cases,
    points=4,
    verified=(
        "You find leaks from every later position into every earlier one, in any sentence and for any id. Neither "
        "dropout nor rounding raises a false alarm, and you leave the model in its original mode."
    ),
    hints=[
        "Run the model once. Then change the token at one position, in a copy, and run it again. Which outputs may "
        "have changed, and which may not?",
        "Do that for every position but the first: the outputs at `[:, :position]` come before it. "
        "`torch.allclose(a, b, atol=1e-4)` compares up to rounding.",
        "The new token must differ from the old one, and the model must know it. The ids from 0 to `tokens.max()` "
        "exist, and `%` brings an id that is too large back to 0.",
        "`model.eval()` switches dropout off. Save `model.training` first, so that `model.train(...)` can restore "
        "the mode at the end.",
    ],
    messages={
        "part_left_out_another: ids + 1": Wording(
            "You add 1 to the largest token ID without wrapping around to 0, so your new ID may be outside the model's "
            "vocabulary. Which IDs are certain to exist?",
            summary="you may use a token ID outside the model's vocabulary",
            hints=["If 6 is the largest token ID, what do you replace a 6 with?"],
        ),
        "not_inverted_moved": Wording(
            "You return True as soon as *one* change leaves the earlier outputs the same, so you return True for "
            "correct models. Which result of your comparison means a leak?",
            summary="you count outputs that stay the same as a leak",
            hints=["What does `torch.allclose` return if nothing has changed?"],
        ),
        "sibling_leaks": Wording(
            "You return True only if *every* change moves an earlier output, so you miss a model that leaks from a "
            "single position. Which function returns True if at least one change moves an output?",
            summary="you require every change to move an earlier output",
            hints=[
                "Suppose that a model of 5 tokens leaks only from its last one. After how many of your changes do "
                "earlier outputs move?"
            ],
        ),
        "not_indexed_watched": Wording(
            "You report leaks in correct models because you compare outputs at or after the changed position, which "
            "may change. Which outputs must stay the same?",
            summary="you compare outputs at the changed position or after it",
            hints=["You change the token at position 2. Which outputs do you compare?"],
        ),
        "call_left_out_evaluating": Wording(
            "You don't switch the model to eval mode. In training mode, dropout makes every run different, so correct "
            "models look leaky, and you miss models that leak only in eval mode. Which method switches dropout off?",
            summary="you don't switch the model to eval mode",
            hints=["If you run the model twice on the same tokens in training mode, are the outputs equal?"],
        ),
        "range_positions: range(1, tokens.shape[1] - 1)": Wording(
            "You never change the last token, so you miss leaks from the last position. Where does your loop end?",
            summary="you never change the last token",
            hints=["With 4 tokens, which positions does your loop change?"],
        ),
        "number_positions: 2": Wording(
            "You use 2 where your range of positions should have 1: a range that starts at 2 never changes the second "
            "token, and `tokens.shape[2]` raises an IndexError. Which positions should the range contain?",
            summary="you use 2 instead of 1 in your range of positions",
            hints=["With 4 tokens, which positions should your loop change?"],
        ),
    },
    mistakes=MISTAKES,
)
