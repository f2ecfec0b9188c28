"""``python -m bertsmith``."""

import sys

from bertsmith.cli.main import main

sys.exit(main())
