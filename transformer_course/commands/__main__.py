"""Run the command line with ``python -m transformer_course.commands``."""

import sys

from transformer_course.commands.main import main

sys.exit(main())
