import sys

from coderelay.cli import main

sys.exit(main())
