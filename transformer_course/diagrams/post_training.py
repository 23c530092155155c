"""Draw post-training: its stages, and the advantages within a group of samples."""

from collections.abc import Sequence

from transformer_course.diagrams.canvas import Diagram
from transformer_course.diagrams.elements import BLUE, FONT_SIZE_PT, GRAY, GREEN, ORANGE, PINK, text_width

ROW_HEIGHT = 0.46


def group(prompt: str, answers: Sequence[str], rewards: Sequence[float], advantages: Sequence[float]) -> Diagram:
    """Draw one group of GRPO: a prompt and its samples, each with its reward and its advantage.

    Args:
        prompt: The prompt that all answers share.
        answers: The sampled answers.
        rewards: One reward per answer.
        advantages: One advantage per answer. Training makes answers with a positive advantage more likely.

    Raises:
        ValueError: The numbers of answers, rewards and advantages differ.

    >>> ("prompt", "1 March") in group("prompt", ["1 March", "2 March"], [1.0, 0.0], [1.0, -1.0]).links()
    True
    """
    if not len(answers) == len(rewards) == len(advantages):
        raise ValueError(
            f"rewards and advantages must have one entry per answer; got {len(answers)} answers, {len(rewards)} "
            f"rewards and {len(advantages)} advantages"
        )
    d = Diagram(
        "A group of GRPO. "
        + " ".join(
            f"{answer}: reward {reward:g}, advantage {advantage:+.2g}."
            for answer, reward, advantage in zip(answers, rewards, advantages, strict=True)
        )
    )
    middle = (len(answers) - 1) * ROW_HEIGHT / 2
    prompt_box = d.box(prompt, (0, -middle), PINK, outline="square", width=text_width(prompt) + 0.2)
    width = max(map(text_width, answers)) + 0.2
    first = prompt_box.rect.x1 + 0.8 + width / 2
    for i, (answer, reward, advantage) in enumerate(zip(answers, rewards, advantages, strict=True)):
        y = -i * ROW_HEIGHT
        color = GREEN if advantage > 0 else ORANGE if advantage < 0 else GRAY
        box = d.box(answer, (first, y), color, outline="square", width=width, height=0.32)
        d.arrow(prompt_box.spot(1, 0.5), box)
        d.text(f"{reward:g}", (first + width / 2 + 0.55, y))
        d.text(f"{advantage:+.2f}", (first + width / 2 + 1.6, y), bold=advantage != 0)
    for words, x in (("answers", first), ("reward", first + width / 2 + 0.55), ("advantage", first + width / 2 + 1.6)):
        d.text(words, (x, 0.42), size=FONT_SIZE_PT - 1, bold=True)
    return d


def pipeline() -> Diagram:
    """Draw the stages of training and the data that each stage learns from.

    >>> ("SFT", "DPO") in pipeline().links() and ("SFT", "GRPO") in pipeline().links()
    True
    """
    d = Diagram(
        "Four boxes in a pipeline. Pretraining learns from text, and SFT from chats. From there, DPO learns from pairs "
        "of answers, and GRPO from its own answers and a judge."
    )
    stages = {
        "pretraining": ("text", 0.0, 0.0, GRAY),
        "SFT": ("prompts with\ngood answers", 2.1, 0.0, BLUE),
        "DPO": ("pairs of answers:\nchosen, rejected", 4.2, 0.55, ORANGE),
        "GRPO": ("prompts, and a judge\nof its own answers", 4.2, -0.55, GREEN),
    }
    boxes = {}
    for name, (data, x, y, color) in stages.items():
        boxes[name] = d.box(name, (x, y), color, "highlighted" if name == "GRPO" else "filled", width=1.05)
        if name in ("DPO", "GRPO"):
            d.text(data, (x + 0.65, y), size=FONT_SIZE_PT - 1, align="left")
        else:
            d.text(data, (x, y - 0.42), size=FONT_SIZE_PT - 1)
    d.arrow(boxes["pretraining"].spot(1, 0.5), boxes["SFT"], "continues")
    d.arrow(boxes["SFT"].spot(1, 0.5), boxes["DPO"], "answers", route="-|-")
    d.arrow(boxes["SFT"].spot(1, 0.5), boxes["GRPO"], route="-|-")
    return d
