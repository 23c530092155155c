"""A small exercise of a kind the course will have: a sampler.

Its signature is the contract's; its lesson comes later.
"""

from tests.course.sample_exercises.sample_next import SAMPLE_NEXT

SAMPLES = {sample.name: sample for sample in (SAMPLE_NEXT,)}
