"""Counts the instructions of fused calls under callgrind, and compares them with a record.

    count.py check IMPLEMENTATION ...    exit status 1 if a count differs by more than 2 %, 77 if
                                         this build or this machine can't be compared
    count.py record IMPLEMENTATION ...   replaces the record of these implementations

CMakeLists.txt passes the rest. A count that has fallen is a difference too: record it, so that what
was gained can't be lost again.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

MARGIN = 0.02
SKIPPED = 77


class CountError(Exception):
    """Nothing is known about the counts; the message says why."""


class CanNotCompare(Exception):
    """The counts would say nothing here; the message says why."""


def run(command, **options):
    result = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if result.returncode == SKIPPED:
        raise CanNotCompare(result.stderr.strip())
    if result.returncode != 0:
        raise CountError(f"{' '.join(command)}: exit status {result.returncode}: {result.stderr.strip()}")
    return result.stdout


def count(options, implementation, case):
    """The instructions of one call."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "callgrind.out"
        run([options.valgrind, "--quiet", "--tool=callgrind", "--collect-atstart=no",
             "--toggle-collect=simdattn_counted_call", f"--callgrind-out-file={out}",
             options.program, implementation, case],
            env={**os.environ, "SIMDATTN_VERBOSE": ""})
        found = re.search(r"^(?:totals|summary): (\d+)", out.read_text(encoding="utf-8"), re.MULTILINE)
    if not found or int(found[1]) == 0:
        raise CountError(f"callgrind counted nothing in {implementation} {case}")
    return int(found[1])


def count_all(options, implementation):
    return {case: count(options, implementation, case) for case in run([options.program]).split()}


def load(path):
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"compiler": "", "counts": {}}


def compare(counted, recorded):
    """The lines of a table, and whether every count is within the margin."""
    lines, right = [f"{'case':20} {'recorded':>12} {'now':>12}"], True
    for case in dict.fromkeys([*recorded, *counted]):
        before, now = recorded.get(case), counted.get(case)
        if before is None or now is None:
            verdict, right = "in the record alone" if now is None else "not recorded", False
        else:
            change = now / before - 1
            verdict = f"{100 * change:+.2f} %"
            if abs(now - before) > MARGIN * before:
                verdict, right = f"{verdict}: more than {100 * MARGIN:g} %", False
        lines.append(f"{case:20} {before or '-':>12} {now or '-':>12}  {verdict}")
    return lines, right


def check(options):
    record = load(options.counts)
    if record["compiler"] != options.compiler:
        raise CanNotCompare(f"the compiler is {options.compiler}, and the counts are of {record['compiler']}")
    right = True
    for implementation in options.implementations:
        if implementation not in record["counts"]:
            raise CanNotCompare(f"nothing is recorded for {implementation}")
        lines, within = compare(count_all(options, implementation), record["counts"][implementation])
        print(f"{implementation}:", *lines, sep="\n")
        right = right and within
    if not right:
        print("If that is meant, record anew: cmake --build <folder> --target record_instruction_counts")
    return 0 if right else 1


def record_anew(options):
    record = load(options.counts)
    if record["compiler"] != options.compiler:
        record = {"compiler": options.compiler, "counts": {}}
    for implementation in options.implementations:
        try:
            counted = count_all(options, implementation)
        except CanNotCompare as reason:
            print(f"{implementation} is left as it is: {reason}")
            continue
        print(f"{implementation}:", *compare(counted, record["counts"].get(implementation, {}))[0], sep="\n")
        record["counts"][implementation] = counted
    options.counts.write_text(json.dumps(record, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    return 0


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["check", "record"])
    parser.add_argument("implementations", nargs="+")
    parser.add_argument("--program", required=True, help="simdattn_one_call")
    parser.add_argument("--valgrind", required=True)
    parser.add_argument("--counts", required=True, type=Path, help="file of the record")
    parser.add_argument("--compiler", required=True, help="what the program was built with")
    parser.add_argument("--unlike", default="", help="why this build can't be compared, if it can't")
    options = parser.parse_args(arguments)
    try:
        if options.unlike:
            raise CanNotCompare(options.unlike)
        return check(options) if options.action == "check" else record_anew(options)
    except CanNotCompare as reason:
        print(f"skipped: {reason}")
        return SKIPPED
    except (CountError, OSError, ValueError) as error:
        print(f"count.py: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
