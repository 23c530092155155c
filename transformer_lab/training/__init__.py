"""From batches to a trained model.

In reading order: ``config`` holds the settings of a run, ``presets`` those that work for the tasks of ``recipes``;
``loss``, ``optimizer``, ``muon``, ``schedules`` and ``ema`` are the parts that ``trainer`` combines;
``fine_tuning`` holds the loss of preferences; ``validation``, ``metrics``, ``progress`` and ``log``
measure how it goes; ``checkpoint``, ``interrupt`` and ``folder_lock`` let a run be resumed, stopped, and kept from
others; ``data_parallel`` shows how processes share a batch. Uses ``text``.
"""
