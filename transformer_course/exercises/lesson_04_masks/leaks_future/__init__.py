"""The leak test: change what comes later, and see whether anything before it moves."""

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_04_masks.leaks_future.answer import STEPS, leaks_future
from transformer_course.exercises.lesson_04_masks.leaks_future.leaky_models import leaks_future_cases
from transformer_course.exercises.lesson_04_masks.leaks_future.mistakes import MISTAKES

EXERCISE = Exercise(
    reference=leaks_future,
    steps=STEPS,
    cases=leaks_future_cases,
    points=4,
    verified="Leaks from every later position into every earlier one were found, in any sentence and at any id; "
    "neither dropout nor rounding raised a false alarm; and the model is in the mode in which it came.",
    hints=[
        "Run the model once as it is. Then change the token at one position, in a copy, and run it again. Which "
        "outputs may have moved, and which may not?",
        "Do that for every position but the first: the outputs at `[:, :position]` belong to what came before it. "
        "`torch.allclose(a, b, atol=1e-4)` compares up to rounding.",
        "The new token must differ from the old one, and must be one that the model knows. The ids go from 0 to "
        "`tokens.max()` at least, and `%` brings one that gets too large back to 0.",
        "`model.eval()` switches off what is random in training, and `model.training` tells whether it was on, so that "
        "`model.train(...)` can leave the model as it was.",
    ],
    messages={
        "part_left_out_another: ids + 1": (
            "The new id may be one that the model does not know: 1 is added to the largest id, and nothing takes it "
            "back to 0 in time. Which ids are sure to exist, the tokens say."
        ),
        "not_inverted_moved": (
            "It answers True as soon as *one* change leaves the earlier outputs as they were. That is what "
            "innocent models do, and leaky ones too, at most positions."
        ),
        "sibling_leaks": (
            "It answers True only if *every* change moves something before it. A model that leaks from one "
            "position only goes free."
        ),
        "not_indexed_watched": (
            "It accuses honest models, too: among the outputs that are compared is one at a changed position, "
            "or after it, and such an output may well move. Hold the place that is changed against those that "
            "are compared."
        ),
        "call_left_out_evaluating": (
            "The model is not switched to eval mode. While it trains, dropout makes every run different, and "
            "innocent models are accused; and one that leaks only outside of training is missed."
        ),
        "range_positions: range(1, tokens.shape[1] - 1)": (
            "The last token is never changed: what leaks from there stays unseen. Look at where the loop ends."
        ),
        "number_positions: 2": (
            "The second token is never changed: what leaks from there into the first position stays unseen. "
            "Look at where the positions begin."
        ),
    },
    mistakes=MISTAKES,
)
