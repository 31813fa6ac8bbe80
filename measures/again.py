"""Former name of the command `python -m measures.recompute`, kept for one release."""

import sys

from measures.recompute.__main__ import main

if __name__ == "__main__":
    print("python -m measures.again is deprecated; use python -m measures.recompute.", file=sys.stderr)
    sys.exit(main(sys.argv[1:]))
