"""The learner's home page in JupyterLab: progress, open exercises, and the next step.

The modules, in reading order:

- ``lesson_outline`` reads the content of the published lessons, with the ``exercise_list`` and the ``reading_time``.
- ``learner_progress`` reads the learner's progress. ``home_page`` renders both as HTML from the template in the folder
  ``templates``, with the map that ``lesson_map`` draws and the plot from ``calibration``. ``progress_export`` writes
  the progress as CSV and JSON.
- ``own_model`` shows the map of the learner's own model as it was saved with a lesson. ``cell_names`` finds the cell
  that defines a name.
- ``server`` responds to requests from the page and the notebooks, and saves notebooks with ``saved_views``. ``lab``
  starts JupyterLab with this server.

The front end, ``labextensions/transformer-course-home``, is plain JavaScript without a build step. It implements the
page's panel, the bar that offers to run the cells above, resets, hints, and the views of a notebook that is opened
while its kernel is running. Nothing that the server needs imports torch. The package uses ``workspace`` and the front
end of ``views``.
"""
