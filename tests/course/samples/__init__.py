"""Small exercises of kinds the course will have: functions that take a model and decode, and samplers.

Their signatures are the contract's; their lessons come later.
"""

from tests.course.samples.greedy_decode import GREEDY_DECODE
from tests.course.samples.sample_next import SAMPLE_NEXT

SAMPLES = {sample.name: sample for sample in (GREEDY_DECODE, SAMPLE_NEXT)}
