"""``python -m transformer_course.commands`` is the command ``transformer-course``."""

import sys

from transformer_course.commands.main import main

sys.exit(main())
