"""The leak test: change what comes later, and see whether anything before it moves."""

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_04_masks.leaks_future import mistakes_comparison, mistakes_perturbation
from transformer_course.exercises.lesson_04_masks.leaks_future.answer import STEPS, leaks_future
from transformer_course.exercises.lesson_04_masks.leaks_future.leaky_models import leaks_future_cases

LEAKS_FUTURE = Exercise(
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
    mistakes=[*mistakes_comparison.MISTAKES, *mistakes_perturbation.MISTAKES],
)
