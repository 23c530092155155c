"""Tests that the numbers of bits in the diagram of number formats match PyTorch's range and precision."""

import pytest
import torch

from transformer_course.diagrams.number_formats import FORMATS, bits

FLOATS = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
    "fp8 (E4M3)": torch.float8_e4m3fn,
}


@pytest.mark.parametrize("name", FLOATS)
def test_bits_match_the_format_in_torch(name):
    info, (sign, exponent, fraction) = torch.finfo(FLOATS[name]), FORMATS[name]
    assert sign + exponent + fraction == info.bits
    assert info.eps == 2.0**-fraction
    assert info.smallest_normal == 2.0 ** (2 - 2 ** (exponent - 1))


def test_draws_a_cell_for_each_bit():
    assert [len(table.texts[0]) for table in bits().tables] == [32, 16, 16, 8, 8, 4]
