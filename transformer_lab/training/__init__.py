"""Train a model on batches.

In reading order: ``config`` defines the settings of a run, and ``presets`` contains settings for the tasks in
``recipes``; ``loss``, ``optimizer``, ``muon``, ``schedules`` and ``ema`` are the parts that ``trainer`` combines;
``fine_tuning`` contains the preference loss; ``validation``, ``metrics``, ``progress`` and ``log`` track a run;
``checkpoint``, ``interrupt`` and ``folder_lock`` resume, stop and protect runs; ``data_parallel`` splits batches. Uses
``text``.
"""
