"""The learner's home page in JupyterLab: progress, what is left, and what to do next.

In reading order: ``lesson_outline`` reads the content of the published lessons, with the ``exercise_list`` and the
``reading_time``; ``learner_progress`` reads how far the learner has come; ``home_page`` renders both as HTML from the
template in the folder ``templates``, with the map that ``lesson_map`` draws and the plot of ``calibration``;
``progress_export`` writes them as CSV and JSON. ``own_model`` shows the map of the learner's own model, as it was saved
with a lesson. ``cell_names`` finds the cell that defines a name. ``server`` answers requests from the page and the
notebooks, and saves notebooks with ``saved_views``; ``lab`` starts JupyterLab with it. The front end,
``labextensions/transformer-course-home``, is plain JavaScript without a build step: the page's panel, the bar that
offers to run the cells above, resets, hints, and the views of a notebook that is opened while its kernel runs. Nothing
that the server needs imports torch. Uses ``workspace``, and the front end of ``views``.
"""
