"""The learner's home page in JupyterLab: what has passed, what is left, and where to go on.

In reading order: ``lesson_outline`` is what the published lessons hold, ``reading_time`` how long they take;
``learner_progress`` is how far the learner has come in them; ``home_page`` renders both as HTML, from the template in
the folder ``templates``, with the map that ``lesson_map`` draws and the plot of ``calibration``; ``progress_export``
writes them as CSV and JSON. ``own_model`` is the map of the learner's own model, as a lesson was saved with it.
``server`` answers the page's requests and has notebooks saved by ``saved_views``, and ``lab`` starts JupyterLab with
it. The panel is
``labextensions/transformer-course-home``, plain JavaScript that JupyterLab loads as it is; it also brings back the
views of a notebook that is opened while its kernel runs. Nothing that the server needs imports torch. Uses
``workspace``, and of ``views`` the front end.
"""
