"""``python -m convgrad``, ``convgrad``: the command line, and ``convgrad tensorflow``, which is Python's."""

from __future__ import annotations

import os
import pathlib
import sys


def main() -> None:
    if sys.argv[1:2] == ["tensorflow"]:
        from . import tensorflow

        sys.exit(tensorflow.main(sys.argv[2:]))
    program = pathlib.Path(__file__).parent / "bin" / "convgrad"
    if not program.exists():
        sys.exit("convgrad: this build of the package has no command line (CONVGRAD_CLI was off)")
    os.execv(program, ["convgrad", *sys.argv[1:]])


if __name__ == "__main__":
    main()
