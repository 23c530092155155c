"""The grader: submitted notebooks in, gradebook and feedback out.

In reading order: ``submissions`` finds and reads the notebooks, ``assess`` runs each in the jail and judges what was
observed there, ``places`` finds where an answer goes wrong; a ``worker`` is a process that does so; ``records`` keeps
what is finished, ``gradebook`` and ``feedback`` write the results, ``grade`` does all of that. The security model is in
``course/jail/README.md``. Uses ``checking`` and ``jail``.
"""
