"""Small exercises of every kind the course will have: modules, functions that take a model and decode, and samplers.

Their signatures are the contract's; their lessons come later.
"""

from tests.course.samples.feed_forward import FEED_FORWARD
from tests.course.samples.greedy_decode import GREEDY_DECODE
from tests.course.samples.sample_next import SAMPLE_NEXT

SAMPLES = {sample.name: sample for sample in (FEED_FORWARD, GREEDY_DECODE, SAMPLE_NEXT)}
