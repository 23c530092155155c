"""Extras: a missing package names the one to install."""

import pytest

from transformer_lab.extras import MissingExtra, needs_extra


def test_a_missing_package_names_the_extra_to_install():
    with pytest.raises(MissingExtra) as caught, needs_extra("transformer-course lab", "course"):
        import no_such_package.inner  # noqa: F401
    assert str(caught.value) == (
        "transformer-course lab needs the extra 'course', for no_such_package: pip install 'transformer-course[course]'"
    )
    assert caught.value.name == "no_such_package"


def test_a_module_of_our_own_that_is_missing_is_no_matter_of_extras():
    with pytest.raises(ModuleNotFoundError) as caught, needs_extra("it", "course"):
        import transformer_lab.no_such_module  # noqa: F401
    assert not isinstance(caught.value, MissingExtra)


def test_where_no_extra_is_known_the_error_is_as_it_was():
    with pytest.raises(ModuleNotFoundError) as caught, needs_extra("transformer-course generate", None):
        import no_such_package  # noqa: F401
    assert not isinstance(caught.value, MissingExtra)
