"""Tests that edits to values give valid code, and that each kind of edit has a message."""

import pytest

from authoring.build_generated_mistakes import UNCLEAR_KINDS
from transformer_course.generated_mistakes.value_edits import ARGUMENT_EDITS, FINAL_RESULT_EDITS, RESULT_EDITS
from transformer_course.generated_mistakes.wording import ARGUMENT_TEMPLATES, TEMPLATES

FORMS = [form for forms in (*RESULT_EDITS.values(), *ARGUMENT_EDITS.values(), FINAL_RESULT_EDITS) for form in forms]


@pytest.mark.parametrize(("form", "kind"), sorted({(form, kind) for form, kind, _ in FORMS}))
def test_every_operation_is_valid_code_and_has_message(form, kind):
    compile(form.replace("§", "value"), "form", "eval")
    assert kind in TEMPLATES or kind in ARGUMENT_TEMPLATES or kind in UNCLEAR_KINDS
