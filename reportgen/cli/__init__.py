"""The command line: parse, call, print. What the commands do is in `pipeline` and `doctor`.

Nothing heavy is imported before the command that needs it runs, so ``--help`` answers at once.
"""

from reportgen.cli.commands import COMMANDS
from reportgen.cli.entry import main

__all__ = ["COMMANDS", "main"]
