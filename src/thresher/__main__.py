"""`python -m thresher`."""

import sys

from thresher.cli import main

sys.exit(main())
