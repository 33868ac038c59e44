"""Holds the object of one instruction set to the rule in arch/README.md.

Its code must never be reachable but through its kernel table: a weak function may replace everybody's copy, a
dynamic initialiser runs on every CPU. So: one global symbol, the table; nothing weak; nothing that runs before
main; nothing asked of the rest of the program but copying memory and a logarithm.
"""

import argparse
import sys

from symbol_tools import ToolError, read_sections, read_symbols

# The log-sum-exp takes one logarithm a row; the rest is what compilers ask for on their own.
ALLOWED_UNDEFINED = {"log", "memcpy", "memmove", "memset", "_GLOBAL_OFFSET_TABLE_", "__stack_chk_fail"}
INIT_SECTIONS = (".init", ".ctors", ".preinit_array")  # .init_array as well


def mangle(qualified_name):
    """The linker's name of a variable in a namespace."""
    return "_ZN" + "".join(f"{len(part)}{part}" for part in qualified_name.split("::")) + "E"


def faults(symbols, sections, table):
    """What breaks the rule, one line each."""
    found = []
    global_names = []
    for name, kind in symbols:
        if kind in "WwVvui":  # weak, unique and indirect: lower-case "u" and "i" are global too
            found.append(f"weak symbol: {name} ({kind})")
        elif kind == "U":
            if name not in ALLOWED_UNDEFINED:
                found.append(f"undefined symbol, so a call outside the unit: {name}")
        elif kind.isupper() and kind != "N":
            global_names.append(name)
        elif not kind.islower() and kind != "N":
            found.append(f"symbol of unknown kind: {name} ({kind})")
    found += [f"unexpected global symbol: {name}" for name in global_names if name != mangle(table)]
    if global_names.count(mangle(table)) != 1:
        found.append(f"no global symbol {table}")
    found += [f"init section: {name}" for name in sections if name.startswith(INIT_SECTIONS)]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nm", required=True)
    parser.add_argument("--readelf", required=True)
    parser.add_argument("--table", required=True, help="qualified name of the one global symbol")
    parser.add_argument("objects", nargs="+")
    arguments = parser.parse_args()
    failed = False
    for path in arguments.objects:
        try:
            found = faults(read_symbols(arguments.nm, path), read_sections(arguments.readelf, path),
                           arguments.table)
        except ToolError as error:
            found = [str(error)]
        for fault in found:
            print(f"{path}: {fault}")
        failed = failed or bool(found)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
