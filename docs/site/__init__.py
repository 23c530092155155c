"""The web edition: all that can be read in the repository, as a static site.

``python3 course.py site`` builds it into ``build/site/html``. ``pages`` lists them and writes what Sphinx reads, in a
tree that mirrors the repository, so that a link in a text leads to the same place in both. ``lessons`` makes a stored
notebook fit to be read: nothing is executed, and answers are folded. ``reference`` has a page for each package of the
library, and for what others import of the course; ``teaching_plan`` is what an instructor's plan is made of, ``slides``
a deck for each lesson. ``front_page`` is the first to be seen, ``inside`` has a whole model at work, and ``live_views``
lets the views in them and in the lessons answer without a kernel. ``repository`` knows where the project is published,
if it is. ``conf`` has the settings of Sphinx, and only it and ``__main__`` need the extra ``site``.
"""
