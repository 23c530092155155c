"""Lesson 13: beyond one machine."""

from transformer_course.exercises.lesson_13_scale.accumulate.exercise import ACCUMULATE
from transformer_course.exercises.lesson_13_scale.all_reduce_gradients.exercise import ALL_REDUCE_GRADIENTS
from transformer_course.exercises.lesson_13_scale.column_parallel.exercise import COLUMN_PARALLEL
from transformer_course.exercises.lesson_13_scale.compute_optimal_size.exercise import COMPUTE_OPTIMAL_SIZE
from transformer_course.exercises.lesson_13_scale.memory_bill.exercise import MEMORY_BILL
from transformer_course.exercises.lesson_13_scale.pipeline_schedule.exercise import PIPELINE_SCHEDULE
from transformer_course.exercises.lesson_13_scale.row_parallel.exercise import ROW_PARALLEL
from transformer_course.exercises.lesson_13_scale.training_flops.exercise import TRAINING_FLOPS
from transformer_course.exercises.lesson_13_scale.zero_step.exercise import ZERO_STEP

EXERCISES = (
    MEMORY_BILL,
    ACCUMULATE,
    ALL_REDUCE_GRADIENTS,
    ZERO_STEP,
    COLUMN_PARALLEL,
    ROW_PARALLEL,
    PIPELINE_SCHEDULE,
    TRAINING_FLOPS,
    COMPUTE_OPTIMAL_SIZE,
)
