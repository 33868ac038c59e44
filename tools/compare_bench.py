#!/usr/bin/env python3
"""Turns the JSON of an interleaved run of simdattn_bench into a table of ratios and a plot.

    simdattn_bench --benchmark_filter='^attention/' --benchmark_repetitions=9 \\
        --benchmark_enable_random_interleaving=true --benchmark_out=run.json
    tools/compare_bench.py run.json --base onednn --plot run.svg

The table is Markdown, on standard output or in --table FILE. A cell is the median time of one call
over the repetitions and the median share of the FMA peak, or, where "read" follows it, of the speed
at which keys and values can be read, if that is the larger share; a ratio is the base's time divided
by the contender's, so above 1 the contender is faster. bench/README.md has the protocol.
"""

import argparse
import json
import math
import re
import statistics
import sys
from dataclasses import dataclass, field

LEAST_REPETITIONS = 7
NAME = re.compile(r"(?P<group>[^/]+)/(?P<case>[^/]+)/(?P<contender>[^/]+)/threads:(?P<threads>\d+)")
SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


class InputError(Exception):
    """The input is not what it must be; the message names it."""


@dataclass
class Samples:
    """The repetitions of one contender on one case."""

    seconds: list = field(default_factory=list)
    percents: list = field(default_factory=list)
    reading: list = field(default_factory=list)
    disturbed: list = field(default_factory=list)
    memory: float = 0.0
    times_base: list = field(default_factory=list)
    label: str = ""
    error: str = ""

    @property
    def time(self):
        return statistics.median(self.seconds) if self.seconds else None

    @property
    def percent(self):
        return statistics.median(self.percents) if self.percents else None

    @property
    def limited_by_reading(self):
        return 2 * sum(self.reading) > len(self.reading)

    @property
    def mostly_disturbed(self):
        return 2 * sum(self.disturbed) > len(self.disturbed)


@dataclass
class Run:
    """Samples by (case, threads), then by contender, in the order of registration; and the context
    of each file that they come from."""

    contexts: list = field(default_factory=list)
    rows: dict = field(default_factory=dict)
    contenders: list = field(default_factory=list)


def load(path):
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: {error}") from error
    if not isinstance(data, dict) or "benchmarks" not in data:
        raise InputError(f"{path}: not the JSON of a benchmark run (it has no \"benchmarks\")")
    return data


def collect(data, pattern, run, names=NAME):
    """Adds the repetitions of every benchmark whose name matches; `names` says what is what in it."""
    run.contexts.append(data.get("context", {}))
    # An interleaved run reports in random order; families are numbered as they were registered.
    for entry in sorted(data["benchmarks"], key=lambda entry: entry.get("family_index", 0)):
        name = names.match(entry["name"])
        if entry.get("run_type") != "iteration" or not name or not re.search(pattern, entry["name"]):
            continue
        key = (name["case"], int(name["threads"]))
        samples = run.rows.setdefault(key, {}).setdefault(name["contender"], Samples())
        if name["contender"] not in run.contenders:
            run.contenders.append(name["contender"])
        if entry.get("error_occurred"):
            samples.error = entry.get("error_message", "no reason given")
            continue
        samples.label = entry.get("label", "")
        if "times_base" in entry:
            samples.times_base.append(entry["times_base"])
        samples.seconds.append(entry["real_time"] * SECONDS[entry["time_unit"]])
        samples.disturbed.append(bool(entry.get("disturbed", 0)))
        samples.memory = max(samples.memory, entry.get("memory", 0))
        if "peak_percent" in entry:
            reading = entry.get("read_percent", 0)
            samples.percents.append(max(entry["peak_percent"], reading))
            samples.reading.append(reading > entry["peak_percent"])


def ratio(row, contender, base):
    """How many times faster than the base; None where either has no time."""
    ours, theirs = row.get(contender), row.get(base)
    if not ours or not theirs or not ours.seconds or not theirs.seconds:
        return None
    return theirs.time / ours.time


def geometric_mean(values):
    return math.exp(statistics.fmean(math.log(value) for value in values))


def three_digits(number):
    """Three digits, and all of them before the point."""
    return f"{number:.3g}" if number < 999.5 else f"{number:.0f}"


def format_time(seconds):
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{three_digits(seconds / scale)} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def format_memory(size):
    for unit, scale in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size >= scale:
            return f"{three_digits(size / scale)} {unit}"
    return f"{size:.0f} B"


def format_cell(samples, with_memory=False):
    if samples is None or not samples.seconds:
        return "–"
    cell = format_time(samples.time)
    if samples.percent is not None:
        cell += f", {samples.percent:.0f} %" + (" read" if samples.limited_by_reading else "")
    if with_memory:
        cell += ", " + format_memory(samples.memory)
    return cell + (" \\*" if samples.mostly_disturbed else "")


def format_ratio(value):
    return "–" if value is None else f"{value:.2f} ×"


def speedups(run, contender):
    """The pairs of a contender with every other one as its base."""
    return [(contender, other) for other in run.contenders if other != contender]


def against(run, base):
    """The pairs of every other contender with a base."""
    return [(other, base) for other in run.contenders if other != base]


def table(run, pairs, with_memory=False):
    """The lines of the Markdown table: the ratios of (contender, base) pairs, and their geometric mean
    for each number of threads."""
    header = (["case", "threads"] + run.contenders
              + [f"{contender} : {base}" for contender, base in pairs])
    lines = [header, ["---"] + ["---:"] * (len(header) - 1)]
    for (case, threads), row in run.rows.items():
        lines.append([case, str(threads)]
                     + [format_cell(row.get(contender), with_memory) for contender in run.contenders]
                     + [format_ratio(ratio(row, *pair)) for pair in pairs])
    for threads in sorted({key[1] for key in run.rows}) if pairs else []:
        means = []
        for pair in pairs:
            ratios = [ratio(row, *pair) for key, row in run.rows.items() if key[1] == threads]
            ratios = [value for value in ratios if value is not None]
            means.append(format_ratio(geometric_mean(ratios) if ratios else None))
        lines.append(["geometric mean", str(threads)] + [""] * len(run.contenders) + means)
    return ["| " + " | ".join(line) + " |" for line in lines]


def notes(run):
    """What a reader must know to judge the figures."""
    found = []
    if any(context.get("random_interleaving") != "true" for context in run.contexts):
        found.append("The contenders were not interleaved: the machine may have changed between them.")
    if not all(context.get("OMP_PROC_BIND") for context in run.contexts):
        found.append("Threads were not pinned (OMP_PROC_BIND was not set).")
    for name, reason in {pair for context in run.contexts for pair in context.get("left_out", {}).items()}:
        found.append(f"{name} is left out: {reason}.")
    samples = [samples for row in run.rows.values() for samples in row.values()]
    fewest = min((len(one.seconds) for one in samples if one.seconds), default=0)
    if fewest < LEAST_REPETITIONS:
        found.append(f"Repetitions: {fewest}; the protocol asks for {LEAST_REPETITIONS} or more.")
    if any(one.mostly_disturbed for one in samples):
        found.append("\\* The system interrupted our threads in most of these repetitions.")
    for (case, threads), row in run.rows.items():
        for contender, one in row.items():
            if one.error:
                found.append(f"{contender} is left out of {case} on {threads} threads: {one.error}.")
    return found


def plot(run, path):
    """Bars of the share of the machine's limit: one panel for each number of threads."""
    try:
        import matplotlib
    except ImportError as error:
        raise InputError("--plot needs matplotlib (Debian: python3-matplotlib)") from error
    matplotlib.use("Agg")
    from matplotlib import pyplot

    counts = sorted({threads for _, threads in run.rows})
    cases = list(dict.fromkeys(case for case, _ in run.rows))
    legend_columns = 3 * len(counts)
    legend_height = 0.3 * math.ceil(len(run.contenders) / legend_columns)  # inches, like the others
    height = 1 + legend_height + 0.11 * len(cases) * (len(run.contenders) + 1)
    figure, panels = pyplot.subplots(1, len(counts), sharey=True, squeeze=False,
                                     figsize=(1.8 + 4.5 * len(counts), height))
    reading = any(one.limited_by_reading for row in run.rows.values() for one in row.values())
    thickness = 0.85 / len(run.contenders)
    for panel, threads in zip(panels[0], counts):
        for index, contender in enumerate(run.contenders):
            samples = [run.rows.get((case, threads), {}).get(contender) for case in cases]
            percents = [one.percent or 0.0 if one else 0.0 for one in samples]
            places = [place + (index - (len(run.contenders) - 1) / 2) * thickness
                      for place in range(len(cases))]
            panel.barh(places, percents, thickness, label=contender)
        panel.set_title("1 thread" if threads == 1 else f"{threads} threads")
        panel.set_xlabel("% of the FMA peak" + (", or of reading K and V" if reading else ""))
        panel.set_xlim(0, 100)
        panel.grid(axis="x", alpha=0.4)
        panel.set_axisbelow(True)
    panels[0][0].set_yticks(range(len(cases)), cases)
    panels[0][0].set_ylim(len(cases) - 0.4, -0.6)
    figure.legend(*panels[0][0].get_legend_handles_labels(), loc="upper center", ncol=legend_columns)
    figure.tight_layout(rect=(0, 0, 1, 1 - legend_height / height))
    try:
        figure.savefig(path, dpi=150)
    except (OSError, ValueError) as error:
        raise InputError(f"--plot {path}: {error}") from error


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", nargs="+", help="what --benchmark_out wrote; several are one run")
    ratios = parser.add_mutually_exclusive_group()
    ratios.add_argument("--base", metavar="NAME", help="the contender that the others are compared with")
    ratios.add_argument("--speedup-of", metavar="NAME",
                        help="instead: the contender that is compared with each of the others")
    parser.add_argument("--filter", default="^attention/", metavar="REGEX",
                        help="benchmarks to look at, by name (default: %(default)s)")
    parser.add_argument("--memory", action="store_true",
                        help="show the memory that a contender needs beside the tensors")
    parser.add_argument("--table", metavar="FILE", help="write the table here")
    parser.add_argument("--plot", metavar="FILE", help="write a plot here: .png, .svg, .pdf")
    return parser.parse_args(arguments)


def chosen_pairs(run, options):
    for option, name, pairs in (("--base", options.base, against),
                                ("--speedup-of", options.speedup_of, speedups)):
        if name and name not in run.contenders:
            raise InputError(f"{option} {name} is not in the run; there are "
                             + ", ".join(run.contenders))
        if name:
            return pairs(run, name)
    return []


def page(lines, run):
    """A table and what a reader must know, as text."""
    return "\n".join(lines + [""] + notes(run)).rstrip() + "\n"


def exit_status(tool, work):
    """Does the work of a program; what is wrong with its input goes to standard error."""
    try:
        work()
    except (InputError, OSError, re.error) as error:
        print(f"{tool}: {error}", file=sys.stderr)
        return 2
    return 0


def compare(options):
    run = Run()
    for path in options.run:
        collect(load(path), options.filter, run)
    if not run.rows:
        raise InputError(f"{', '.join(options.run)}: no benchmark matches --filter {options.filter}")
    text = page(table(run, chosen_pairs(run, options), options.memory), run)
    if options.table:
        with open(options.table, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        sys.stdout.write(text)
    if options.plot:
        plot(run, options.plot)


def main(arguments=None):
    options = parse_arguments(arguments)
    return exit_status("compare_bench.py", lambda: compare(options))


if __name__ == "__main__":
    sys.exit(main())
