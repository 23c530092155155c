"""Tests for the chat template."""

from authoring.chat_template import chat


def test_chat_ends_with_start_of_answer():
    text = chat([("1 + 1?", "2")], "1 + 2?")
    assert text.count("<|im_start|>user") == 2
    assert text.endswith("<|im_start|>user\n1 + 2?<|im_end|>\n<|im_start|>assistant\n")
