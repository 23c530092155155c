"""The learner's home page in JupyterLab: what has passed, what is left, and where to go on.

In reading order: ``lesson_outline`` is what the published lessons hold, with the ``exercise_list``, and
``reading_time`` how long they take; ``learner_progress`` is how far the learner has come in them; ``home_page`` renders
both as HTML, from the template in the folder ``templates``, with the map that ``lesson_map`` draws and the plot of
``calibration``; ``progress_export`` writes them as CSV and JSON. ``own_model`` is the map of the learner's own model,
as a lesson was saved with it. ``cell_names`` finds the cell that defines a name. ``server`` answers the requests of the
page and of the notebooks, and has notebooks saved by ``saved_views``; ``lab`` starts JupyterLab with it. The front end
is ``labextensions/transformer-course-home``, plain JavaScript that JupyterLab loads as it is: the panel of the page,
the bar that offers to run the cells above, resets, hints, and the views of a notebook that is opened while its kernel
runs. Nothing that the server needs imports torch. Uses ``workspace``, and of ``views`` the front end.
"""
