"""Train a model on batches.

In reading order: ``config`` defines the settings of a run, and ``presets`` has settings for the tasks of ``recipes``;
``loss``, ``optimizer``, ``muon``, ``schedules`` and ``ema`` are the parts that ``trainer`` combines; ``fine_tuning``
has the preference loss; ``validation``, ``metrics``, ``progress`` and ``log`` track a run; ``checkpoint``,
``interrupt`` and ``folder_lock`` resume, stop and protect it; ``data_parallel`` shares a batch. Uses ``text``.
"""
