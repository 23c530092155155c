"""The web edition: the lessons and documents of the repository as a static site.

``python3 course.py site`` builds it into ``build/site/html``. ``pages`` lists all pages and writes Sphinx's sources in
a tree that mirrors the repository, so that links work in both. ``lessons`` prepares a stored notebook for reading: it
executes nothing and collapses answers. ``reference`` has a page for each package of the library, and for the parts of
the course that others import; ``exercise_list`` lists all exercises; ``teaching_plan`` computes the tables of an
instructor's plan, and ``slides`` makes a deck for each lesson. ``front_page`` is the front page, ``inside`` shows the
inside of a running model, and ``live_views`` makes views interactive without a kernel. ``previews`` has the previews of
shared links. ``repository`` determines where the project is published, if it is. ``conf`` has Sphinx's settings; only
it and ``__main__`` need the extra ``site``.
"""
