"""Checks that the kernels name xsimd only through their Isa parameter.

A plain xsimd::batch<float> would take the instruction set of whichever unit includes it first.
"""

import re
import sys
from pathlib import Path


def faults(folder):
    """The lines of code, comments apart, that name xsimd."""
    sources = sorted(path for path in Path(folder).rglob("*") if path.suffix in {".hpp", ".cpp", ".inc"})
    if not sources:
        return [f"{folder}: no kernel sources"]
    found = []
    for path in sources:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if re.search("xsimd", line.split("//")[0], re.IGNORECASE):
                found.append(f"{path}:{number}: names xsimd: {line.strip()}")
    return found


def main():
    found = faults(sys.argv[1])
    print("\n".join(found))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
