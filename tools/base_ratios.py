#!/usr/bin/env python3
"""Turns the JSON of a run of simdattn_bench into a table of ratios to what each call was timed beside.

    simdattn_bench --benchmark_filter='^options/.*/avx2/threads:1/' --benchmark_repetitions=9 \\
        --benchmark_enable_random_interleaving=true --benchmark_out=run.json
    tools/base_ratios.py run.json

Benchmarks such as options/ time a call and a base in turns, slice by slice. A ratio is the call's
time divided by the base's: the median of the slices of a repetition, and then of the repetitions,
whose smallest and largest follow it. Where a benchmark says how large the ratio may be, one above
that is set in bold. bench/README.md has the protocol.
"""

import argparse
import re
import statistics
import sys

from compare_bench import InputError, Run, collect, exit_status, format_time, load, page

NAME = re.compile(r"(?P<case>.+)/(?P<contender>[^/]+)/threads:(?P<threads>\d+)")
LABEL = re.compile(r"(?:at most (?P<limit>[\d.]+) )?of (?P<base>.+)$")


def ratio_cells(samples):
    """Base, ratio, range and limit of one benchmark."""
    label = LABEL.match(samples.label)
    limit = float(label["limit"]) if label and label["limit"] else None
    ratio = statistics.median(samples.times_base)
    text = f"{ratio:.3f}"
    return [label["base"] if label else "", f"**{text}**" if limit and ratio > limit else text,
            f"{min(samples.times_base):.3f} – {max(samples.times_base):.3f}", f"{limit:g}" if limit else ""]


def table(run):
    lines = [["benchmark", "implementation", "threads", "time", "% of peak", "base", "time : base", "range", "at most"],
             ["---", "---", "---:", "---:", "---:", "---", "---:", "---:", "---:"]]
    for (case, threads), row in run.rows.items():
        for contender, samples in row.items():
            if not samples.times_base:
                continue
            percent = f"{samples.percent:.1f}" if samples.percent is not None else ""
            time = format_time(samples.time) + (" \\*" if samples.mostly_disturbed else "")
            lines.append([case, contender, str(threads), time, percent, *ratio_cells(samples)])
    return ["| " + " | ".join(line) + " |" for line in lines]


def show_ratios(options):
    run = Run()
    collect(load(options.run), options.filter, run, NAME)
    lines = table(run)
    if len(lines) == 2:
        raise InputError(f"{options.run}: no benchmark that was timed beside another matches "
                         f"--filter {options.filter}")
    sys.stdout.write(page(lines, run))


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", help="what --benchmark_out wrote")
    parser.add_argument("--filter", default="", metavar="REGEX", help="benchmarks to look at, by name")
    options = parser.parse_args(arguments)
    return exit_status("base_ratios.py", lambda: show_ratios(options))


if __name__ == "__main__":
    sys.exit(main())
