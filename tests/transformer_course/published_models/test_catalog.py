"""The catalog of published models."""

import pytest

from transformer_course.published_models.catalog import MODELS, find_model


@pytest.mark.parametrize("name", MODELS)
def test_card_names_model_license_and_address(name):
    model = find_model(name)
    for part in (model.title, model.license, model.hub_name):
        assert part in model.card


def test_error_lists_the_existing_models():
    with pytest.raises(ValueError, match="no published model 'gpt5'; choose one of smollm2"):
        find_model("gpt5")
