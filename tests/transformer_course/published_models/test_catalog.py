"""Tests for the catalog of published models."""

import pytest

from transformer_course.published_models.catalog import MODELS, find_model


@pytest.mark.parametrize("name", MODELS)
def test_card_contains_title_license_and_hub_name(name):
    model = find_model(name)
    for part in (model.title, model.license, model.hub_name):
        assert part in model.card


def test_unknown_name_error_lists_models():
    with pytest.raises(ValueError, match="no published model 'gpt5'; choose one of smollm2"):
        find_model("gpt5")
