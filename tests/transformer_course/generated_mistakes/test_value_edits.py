"""Every operation on a value is valid code."""

import pytest

from authoring.build_generated_mistakes import UNCLEAR_KINDS
from transformer_course.generated_mistakes.value_edits import OF_ARGUMENTS, OF_RESULTS, OF_THE_ANSWER
from transformer_course.generated_mistakes.wording import OF_ARGUMENTS as TEMPLATES_OF_ARGUMENTS
from transformer_course.generated_mistakes.wording import TEMPLATES

FORMS = [form for forms in (*OF_RESULTS.values(), *OF_ARGUMENTS.values(), OF_THE_ANSWER) for form in forms]


@pytest.mark.parametrize(("form", "kind"), sorted({(form, kind) for form, kind, _ in FORMS}))
def test_every_operation_is_valid_code_with_message(form, kind):
    compile(form.replace("§", "value"), "form", "eval")
    assert kind in TEMPLATES or kind in TEMPLATES_OF_ARGUMENTS or kind in UNCLEAR_KINDS
