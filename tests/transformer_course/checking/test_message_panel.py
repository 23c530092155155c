"""Tests that message panels are plain text in a terminal and escaped HTML in a notebook."""

import pytest

from notebooks.build import lessons
from transformer_course.checking.message_panel import TINT_RGB, Panel, code_block


def html_of(message, title="A title"):
    return Panel(title, message, "good")._repr_html_()


def test_terminal_shows_title_and_message():
    assert repr(Panel("A title", "A message", "good")) == "A title\nA message"
    assert repr(Panel("A title", "", "good")) == "A title"


def test_notebook_shows_paragraphs_and_code_blocks():
    displayed = html_of("Words.\n    expected  1\n    got       2\nMore words.")
    assert ">Words.</p><pre" in displayed
    assert ">expected  1\ngot       2</pre><p" in displayed


@pytest.mark.parametrize("text", ["<b>", "    <b>", "`<b>`", "*b<b>*", "\n    <b>"])
def test_escapes_markup_in_learner_text(text):
    for displayed in (html_of(text), html_of("", title=text)):
        assert "<b>" not in displayed
        assert "&lt;b&gt;" in displayed


def test_backticks_mark_code_and_stars_mark_emphasis():
    assert "Look at <code>x * y * z</code> and <em>each row</em>." in html_of("Look at `x * y * z` and *each row*.")


def test_emphasis_may_contain_code_with_literal_stars():
    assert "<em><code>keys</code> as it came in</em>" in html_of("It should be *`keys` as it came in*.")
    assert "<code>*args</code> and <code>a*</code>" in html_of("See `*args` and `a*`.")


def test_links_only_lesson_file_names():
    for name in [f"{lesson}.ipynb" for lesson in lessons()]:
        assert f'in <a href="{name}"><code>{name}</code></a>.' in html_of(f"in `{name}`.")
    assert "<a" not in html_of('`my.ipynb`, `../02_scaling.ipynb`, `02_a b.ipynb`, `02_" x.ipynb`, 02_scaling.ipynb')


@pytest.mark.parametrize("text", ["2 * 3 * 4", "a*b*c", "*args and **keywords", "one * two*", "* a list"])
def test_multiplication_stars_are_not_emphasis(text):
    assert "<em>" not in html_of(text)


@pytest.mark.parametrize("tint", TINT_RGB)
def test_tint_preserves_theme_text_color(tint):
    displayed = Panel("A title", "", tint)._repr_html_()
    assert "color: inherit" in displayed
    assert TINT_RGB[tint] in displayed


def test_indents_every_line_of_code():
    assert code_block("def f(x):\n    return x") == "    def f(x):\n        return x"
    assert ">def f(x):\n    return x</pre>" in html_of(f"Words:\n{code_block('def f(x):' + chr(10) + '    return x')}")
