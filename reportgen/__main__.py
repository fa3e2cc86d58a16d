"""``python -m reportgen``."""

import sys

INTERRUPTED = 130

if __name__ == "__main__":
    try:
        from reportgen.cli import main

        code = main()
    except KeyboardInterrupt:  # while the command line itself was still being imported
        code = INTERRUPTED
    sys.exit(code)
