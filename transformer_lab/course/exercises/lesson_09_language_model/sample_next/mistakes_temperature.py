"""What goes wrong with the temperature, and with the draw."""

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_09_language_model.sample_next.answer import STEPS

MISTAKES = [
    Mistake(
        "multiplies_by_the_temperature",
        [STEPS.but(scaled=lambda logits, temperature: logits * temperature)],
        does="the logits are multiplied by the temperature",
        says="The logits are multiplied by the temperature: a high one makes the likeliest token still likelier.",
        hints=[
            "Which temperature should make all tokens nearly equally likely, a high one or a low one?",
            "A temperature above 1 should bring the logits closer together.",
            "Divide by the temperature.",
        ],
    ),
    Mistake(
        "greedy",
        [STEPS.but(drawn=lambda probabilities: probabilities.argmax(dim=-1, keepdim=True))],
        does="the likeliest token is taken every time; nothing is drawn",
        says="The likeliest token is taken every time. Nothing is drawn, so the generator has no part in it.",
        hints=[
            "How often should a token of probability 0.3 come out?",
            "A token should be *drawn*, with these probabilities.",
            "`torch.multinomial(probabilities, 1, generator=generator)`.",
        ],
    ),
]
