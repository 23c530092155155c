"""Post-training: the advantages within a group of samples, and which parts of the course are a learner's own."""

from collections.abc import Mapping, Sequence

from transformer_course.diagrams.canvas import Diagram
from transformer_course.diagrams.elements import BLUE, FONT_SIZE_PT, GRAY, GREEN, ORANGE, PINK, Look, text_width

ROW_HEIGHT = 0.46


def group(prompt: str, answers: Sequence[str], rewards: Sequence[float], advantages: Sequence[float]) -> Diagram:
    """Draw one group of GRPO: a prompt, its samples, the reward of each, and its advantage over the others.

    Args:
        prompt: The prompt of all answers.
        answers: The samples.
        rewards: One reward per answer.
        advantages: One advantage per answer. Training makes answers above 0 more likely, and those below 0 less likely.

    Raises:
        ValueError: The numbers of answers, rewards and advantages differ.

    >>> ("prompt", "1 March") in group("prompt", ["1 March", "2 March"], [1.0, 0.0], [1.0, -1.0]).links()
    True
    """
    if not len(answers) == len(rewards) == len(advantages):
        raise ValueError(
            f"each answer needs a reward and an advantage; got {len(answers)} answers, {len(rewards)} rewards and "
            f"{len(advantages)} advantages"
        )
    d = Diagram(
        "A group of GRPO. "
        + " ".join(
            f"{answer}: reward {reward:g}, advantage {advantage:+.2g}."
            for answer, reward, advantage in zip(answers, rewards, advantages, strict=True)
        )
    )
    middle = (len(answers) - 1) * ROW_HEIGHT / 2
    asked = d.box(prompt, (0, -middle), PINK, outline="square", width=text_width(prompt) + 0.2)
    width = max(map(text_width, answers)) + 0.2
    first = asked.rect.x1 + 0.8 + width / 2
    for i, (answer, reward, advantage) in enumerate(zip(answers, rewards, advantages, strict=True)):
        y = -i * ROW_HEIGHT
        color = GREEN if advantage > 0 else ORANGE if advantage < 0 else GRAY
        box = d.box(answer, (first, y), color, outline="square", width=width, height=0.32)
        d.arrow(asked.spot(1, 0.5), box)
        d.text(f"{reward:g}", (first + width / 2 + 0.55, y))
        d.text(f"{advantage:+.2f}", (first + width / 2 + 1.6, y), bold=advantage != 0)
    for words, x in (("answers", first), ("reward", first + width / 2 + 0.55), ("advantage", first + width / 2 + 1.6)):
        d.text(words, (x, 0.42), size=FONT_SIZE_PT - 1, bold=True)
    return d


def built(whose: Mapping[str, Mapping[str, str]]) -> Diagram:
    """Draw all parts of the course, with a row for each lesson and the learner's own parts in color.

    Args:
        whose: For each lesson its parts, and for each part ``yours`` or ``the library's``.
    """
    own = [name for row in whose.values() for name, of in row.items() if of == "yours"]
    n_parts = sum(map(len, whose.values()))
    sentences = (
        f"{len(own)} of {n_parts} are yours: {', '.join(own)}" if own else f"all {n_parts} are the library's so far"
    )
    d = Diagram(f"The parts of the course, lesson by lesson: {sentences}.", lists=False)
    for i, (lesson, row) in enumerate(whose.items()):
        x, y = 0.0, -i * ROW_HEIGHT
        d.text(lesson, (-0.15, y), align="right", bold=True)
        for name, of in row.items():
            width = text_width(name, FONT_SIZE_PT - 1.5) + 0.12
            look: Look = "filled" if of == "yours" else "dimmed"
            d.box(
                name, (x + width / 2, y), BLUE, look, width=width, height=0.3, size=FONT_SIZE_PT - 1.5, outline="square"
            )
            x += width + 0.06
    return d
