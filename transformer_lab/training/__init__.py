"""From batches to a trained model.

In reading order: ``config`` holds the numbers, ``recipes`` the two tasks; ``loss``, ``optimizer``, ``schedules`` and
``weight_average`` are the pieces that ``trainer`` combines; ``validation``, ``metrics``, ``progress`` and ``log``
watch it; ``checkpoint``, ``interrupt`` and ``distributed`` keep it safe. Uses ``text``.
"""
