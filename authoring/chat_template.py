"""Format a chat as SmolLM2 expects it."""

from collections.abc import Sequence


def chat(turns: Sequence[tuple[str, str]], asked: str) -> str:
    """Return SmolLM2's chat template with questions and answers, and a last question."""
    roles = [*(turn for q, a in turns for turn in (("user", q), ("assistant", a))), ("user", asked)]
    text = "".join(f"<|im_start|>{role}\n{content}<|im_end|>\n" for role, content in roles)
    return text + "<|im_start|>assistant\n"
