#!/usr/bin/env python3
"""Compares this library with PyTorch, ONNX Runtime, OpenVINO and oneDNN on the named shapes of bench/.

    cmake --build build/release --target simdattn_peers
    python3 -m venv build/venv
    build/venv/bin/pip install numpy matplotlib torch onnxruntime onnx openvino
    build/venv/bin/python tools/peers.py --threads 2 --out run.json --plot run.svg

A peer that is not installed is left out. oneDNN is the one that the library was built with; --onednn
adds a libsimdattn_peers.so that was built with another one (cmake -DDNNL_ROOT=…).

Each contender runs in a process of its own, on as many processors as threads, with the same data. Its
output is compared with this library's before anything is timed. Then contenders take turns: a slice of
20 ms or of one call, while all other processes are stopped, and right after it the FMA peak and, where
there are few queries, the speed of reading keys and values. A peer with several ways of computing a
shape is timed by its fastest.

The table is that of tools/compare_bench.py, which also makes one from several --out files.
"""

import argparse
import json
import os
import pathlib
import random
import re
import sys

import compare_bench

SAMPLE_SECONDS = 1e-3
TOLERANCE = 2e-5  # far above any rounding of N(0, 1) data, far below any mistake
ROOT = pathlib.Path(__file__).resolve().parents[1]
PEERS = ("pytorch", "onnxruntime", "openvino", "onednn")


class Results:
    """What was measured, as Google Benchmark would write it."""

    def __init__(self, path):
        self.path = path
        self.context = {"random_interleaving": "true", "OMP_PROC_BIND": "true", "versions": {}, "left_out": {}}
        self.benchmarks = []

    def add(self, shape, contender, threads, **more):
        self.benchmarks.append({"name": f"attention/{shape.name}/{contender}/threads:{threads}",
                                "run_type": "iteration", **more})

    def write(self):
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump({"context": self.context, "benchmarks": self.benchmarks}, file, indent=1)


def start_workers(options, threads, results):
    """The limits' worker and those of the contenders, this library's first."""
    from peer.worker import Worker, WorkerError
    # For the OpenMP of the processes that start now.
    os.environ.update(OMP_NUM_THREADS=str(threads), OMP_PROC_BIND="true")
    wanted = [(name, options.library) for name in ("limits", "simdattn", *options.peers)]
    wanted += [("onednn", path) for path in options.onednn]
    started = [Worker(name, options.processors[:threads], library) for name, library in wanted]
    workers = []
    for worker in started:
        try:
            worker.wait()
            workers.append(worker)
            if worker.version:
                results.context["versions"][worker.name] = worker.version
        except WorkerError as error:
            if worker in started[:2]:
                close(started)  # or the exit would wait for processes that are stopped
                raise
            worker.close()
            results.context["left_out"][worker.name] = str(error)
            print(f"peers.py: {worker.name} is left out: {error}", file=sys.stderr)
    return workers[0], workers[1:]


def close(workers):
    for worker in workers:
        worker.close()


def prepare(worker, shape, expected):
    """Lets a contender compute the shape: what it says about itself, its output and its memory."""
    import numpy
    from peer.worker import WorkerError
    label, output, memory = worker.ask("prepare", shape)
    if expected is not None:
        error = numpy.abs(output - expected).max()
        if not error <= TOLERANCE:
            raise WorkerError(f"its output is off by {error:g}")
    return label, output, memory


def measure_shape(shape, threads, limits, workers, repetitions, results):
    from peer.worker import WorkerError
    limits.ask("prepare", shape)
    ready, expected = {}, None
    for index, worker in enumerate(workers):
        try:
            label, output, memory = prepare(worker, shape, expected)
        except WorkerError as error:
            results.add(shape, worker.name, threads, family_index=index, error_occurred=True,
                        error_message=str(error))
            if worker is workers[0]:
                return
            continue
        expected = output if worker is workers[0] else expected
        ready[worker] = {"family_index": index, "label": label, "memory": memory}
    for _ in range(repetitions):
        for worker in random.sample(list(ready), len(ready)):
            seconds, disturbed = worker.ask("slice")
            peak, reading = limits.ask("sample", max(SAMPLE_SECONDS, seconds / 20))
            figure = {**ready[worker], "real_time": 1e6 * seconds, "time_unit": "us", "disturbed": float(disturbed),
                      "peak_GFLOP/s": peak, "peak_percent": 1e-7 * shape.flops / (seconds * peak)}
            if reading:
                figure["read_percent"] = 1e-7 * shape.key_value_bytes / (seconds * reading)
            results.add(shape, worker.name, threads, **figure)


def measure(options, shapes, results):
    for threads in options.threads:
        limits, workers = start_workers(options, threads, results)
        try:
            for number, shape in enumerate(shapes, 1):
                print(f"threads: {threads}, shape {number}/{len(shapes)}: {shape.name}", file=sys.stderr)
                measure_shape(shape, threads, limits, workers, options.repetitions, results)
        finally:
            close([limits, *workers])


def report(options):
    run = compare_bench.Run()
    compare_bench.collect(compare_bench.load(options.out), "^attention/", run)
    pairs = compare_bench.speedups(run, "simdattn")
    sys.stdout.write("\n".join(compare_bench.table(run, pairs) + [""] + compare_bench.notes(run)).rstrip() + "\n")
    if options.plot:
        compare_bench.plot(run, options.plot)


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", metavar="FILE", default=str(ROOT / "build/release/bench/libsimdattn_peers.so"),
                        help="the library to compare (default: %(default)s)")
    parser.add_argument("--onednn", metavar="FILE", action="append", default=[],
                        help="a libsimdattn_peers.so that was built with another oneDNN; may be repeated")
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS), help="which peers (default: all)")
    parser.add_argument("--shapes", metavar="REGEX", default="^(?!growth)",
                        help="which shapes, by name (default: all but those of the growth benchmark)")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="numbers of threads (default: 1 2)")
    parser.add_argument("--repetitions", type=int, default=9, help="slices of each contender (default: %(default)s)")
    parser.add_argument("--out", metavar="FILE", default="peers.json",
                        help="where the figures go, as JSON (default: %(default)s)")
    parser.add_argument("--plot", metavar="FILE", help="write a plot here: .png, .svg, .pdf")
    parser.add_argument("--list", action="store_true", help="list the shapes, and measure nothing")
    options = parser.parse_args(arguments)
    # Before any OpenMP starts here: where OMP_PROC_BIND is set, it keeps this thread on one of them.
    options.processors = sorted(os.sched_getaffinity(0))
    most = len(options.processors)
    for threads in options.threads:
        if not 1 <= threads <= most:
            parser.error(f"--threads {threads}: must be from 1 to {most}, the processors there are")
    if options.repetitions < 1:
        parser.error(f"--repetitions {options.repetitions}: must be 1 or more")
    return options


def main(arguments=None):
    options = parse_arguments(arguments)
    try:
        from peer.entries import Entries, EntryError
        from peer.worker import WorkerError
    except ImportError as error:
        print(f"peers.py: {error}; --help says what to install", file=sys.stderr)
        return 2
    try:
        shapes = [shape for shape in Entries(options.library).shapes() if re.search(options.shapes, shape.name)]
        if not shapes:
            raise compare_bench.InputError(f"no shape matches --shapes {options.shapes}; --list --shapes . lists all")
        if options.list:
            print("\n".join(shape.name for shape in shapes))
            return 0
        results = Results(options.out)
        results.write()
        measure(options, shapes, results)
        results.write()
        report(options)
    except (compare_bench.InputError, EntryError, WorkerError, OSError, re.error) as error:
        print(f"peers.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
