"""``python -m transformer_lab.cli`` is the command ``transformer-course``."""

import sys

from transformer_lab.cli.main import main

sys.exit(main())
