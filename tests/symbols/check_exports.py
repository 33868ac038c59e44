"""Checks that a shared library exports what the headers mark with SIMDATTN_API, all of it and nothing else."""

import argparse
import re
import sys
from pathlib import Path

from symbol_tools import ToolError, read_symbols, run


def public_names(include_dir):
    """The qualified names of the functions that the headers mark; those of a class are indented in it."""
    names = set()
    for header in sorted(Path(include_dir).rglob("*.h*")):
        text = header.read_text(encoding="utf-8")
        namespace = "simdattn::" if header.suffix == ".hpp" else ""
        for marked in re.finditer(r"^( *)SIMDATTN_API\s[^(;]*?(\w+)\(", text, re.MULTILINE):
            owner = ""
            if marked[1]:
                classes = re.findall(r"^(?:class|struct) (?:\[\[\w+\]\] )?(\w+)", text[:marked.start()], re.MULTILINE)
                owner = classes[-1] + "::"
            names.add(namespace + owner + marked[2])
    if not names:
        raise ToolError(f"{include_dir}: no header marks a function with SIMDATTN_API")
    return names


def demangle(cxxfilt, names):
    """Readable names, in the same order."""
    readable = run([cxxfilt, "--", *names]).splitlines()
    if len(readable) != len(names):
        raise ToolError(f"{cxxfilt}: {len(readable)} names for {len(names)}")
    return readable


def faults(exported, public):
    """What is exported but not public, and the reverse; `exported` are demangled names."""
    plain = {name.split("(")[0] for name in exported}
    return ([f"exported but not public: {name}" for name in sorted(plain - public)] +
            [f"public but not exported: {name}" for name in sorted(public - plain)])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nm", required=True)
    parser.add_argument("--cxxfilt", default="c++filt")
    parser.add_argument("--include", required=True, help="folder of the public headers")
    parser.add_argument("library")
    arguments = parser.parse_args()
    try:
        symbols = read_symbols(arguments.nm, arguments.library, "--dynamic", "--defined-only")
        names = demangle(arguments.cxxfilt, [symbol.name for symbol in symbols])
        found = faults(names, public_names(arguments.include))
    except ToolError as error:
        found = [str(error)]
    for fault in found:
        print(f"{arguments.library}: {fault}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
