"""Tests of tools/peers.py: on contenders made up here, and with the library that SIMDATTN_PEERS_LIBRARY names."""

import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
LIBRARY = os.environ.get("SIMDATTN_PEERS_LIBRARY", "")
sys.path.insert(0, str(TOOLS))

import peers  # noqa: E402

try:
    import numpy
    from peer import contenders, worker
    from peer.entries import Entries, Shape
    from peer.worker import WorkerError
except ImportError:
    numpy = None


# Counts the processors that this library's worker has for its threads, after a call of two of them. As in main(),
# the library is loaded in this process first.
PROCESSORS_OF_TWO_THREADS = """
import os, sys
import peers
options = peers.parse_arguments(["--library", sys.argv[1], "--threads", "2", "--peers"])
from peer.entries import Entries
shape = next(shape for shape in Entries(options.library).shapes() if shape.name == "bert_base_128")
limits, workers = peers.start_workers(options, 2, peers.Results("unused"))
workers[0].ask("prepare", shape)
tasks = os.listdir(f"/proc/{workers[0].process.pid}/task")
print(len(set().union(*(os.sched_getaffinity(int(task)) for task in tasks))))
peers.close([limits, *workers])
"""


class MadeUpWorker:
    """Answers as a worker does: a call takes `seconds`, and the output is `output`, or there is an error."""

    def __init__(self, name, output, seconds, log, error=None):
        self.name, self.output, self.seconds, self.log, self.error = name, output, seconds, log, error

    def ask(self, method, *arguments):
        self.log.append((self.name, method))
        if self.error:
            raise WorkerError(self.error)
        return ("a form", numpy.array(self.output), 1024) if method == "prepare" else (self.seconds, False)


class MadeUpLimits:
    def __init__(self, log, reading):
        self.log, self.reading = log, reading

    def ask(self, method, *arguments):
        self.log.append(("limits", method))
        return (100.0, self.reading) if method == "sample" else None


@unittest.skipIf(numpy is None, "numpy is not installed")
class MeasuringTest(unittest.TestCase):
    """A shape of 1e9 operations, on a machine that does 1e11 of them and reads 1e9 bytes in a second."""

    SHAPE = numpy and Shape(0, "named", 1, 1, 1, 1, 1000, 64, 64, causal=0, bshd=0, few_queries=1, flops=1e9)

    def measure(self, *workers, reading=0.0):
        self.log = []
        results = peers.Results("unused")
        made = [MadeUpWorker(*worker[:3], self.log, *worker[3:]) for worker in workers]
        peers.measure_shape(self.SHAPE, 2, MadeUpLimits(self.log, reading), made, 7, results)
        return results.benchmarks

    def of(self, benchmarks, contender):
        return [entry for entry in benchmarks if entry["name"] == f"attention/named/{contender}/threads:2"]

    def test_each_slice_is_compared_with_the_limit_right_after_it(self):
        benchmarks = self.measure(("simdattn", [1.0], 0.02), ("other", [1.0], 0.04))
        for contender, micros, percent in (("simdattn", 20000, 50), ("other", 40000, 25)):
            entries = self.of(benchmarks, contender)
            self.assertEqual(len(entries), 7)
            for entry in entries:
                self.assertAlmostEqual(entry["real_time"], micros)
                self.assertAlmostEqual(entry["peak_percent"], percent)
                self.assertEqual((entry["time_unit"], entry["memory"]), ("us", 1024))
                self.assertNotIn("read_percent", entry)
        timed = self.log[3:]
        self.assertEqual([step[1] for step in timed], ["slice", "sample"] * 14)
        for turn in range(7):  # interleaved: each one once in every turn
            self.assertEqual({timed[4 * turn][0], timed[4 * turn + 2][0]}, {"simdattn", "other"})

    def test_where_there_are_few_queries_reading_is_a_limit_too(self):
        seconds = 4 * self.SHAPE.key_value_bytes / 1e9
        benchmarks = self.measure(("simdattn", [1.0], seconds), reading=1.0)
        self.assertEqual(self.SHAPE.key_value_bytes, 1000 * 128 * 4)
        self.assertAlmostEqual(benchmarks[0]["read_percent"], 25)

    def test_a_peer_that_is_off_is_reported_and_not_timed(self):
        for output in ([1.0001], [float("nan")]):
            benchmarks = self.measure(("simdattn", [1.0], 0.02), ("other", output, 0.01))
            (entry,) = self.of(benchmarks, "other")
            self.assertTrue(entry["error_occurred"])
            self.assertIn("off by", entry["error_message"])
            self.assertNotIn(("other", "slice"), self.log)
            self.assertEqual(len(self.of(benchmarks, "simdattn")), 7)

    def test_rounding_is_not_off(self):
        self.assertEqual(len(self.of(self.measure(("simdattn", [1.0], 1), ("other", [1.000002], 1)), "other")), 7)

    def test_a_peer_that_has_no_such_call_is_reported(self):
        benchmarks = self.measure(("simdattn", [1.0], 0.02), ("other", [], 0, "no groups"))
        (entry,) = self.of(benchmarks, "other")
        self.assertEqual(entry["error_message"], "no groups")


@unittest.skipIf(numpy is None, "numpy is not installed")
class FormsTest(unittest.TestCase):
    def test_the_fastest_form_is_kept_and_each_is_selected_before_its_calls(self):
        log = []
        times = {"slow": [0.02] * 5, "often_fast": [0.03, 0.01, 0.05, 0.05, 0.05], "long": [0.5]}
        forms = [contenders.Form(name, call=lambda name=name: log.append((name, "call")), output=None,
                                 select=lambda name=name: log.append((name, "select"))) for name in times]
        with unittest.mock.patch.object(worker, "repeated", lambda call, least: times[log[-1][0]].pop(0)):
            best, seconds = worker.Contest.fastest(forms)
        self.assertEqual((best.label, seconds), ("often_fast", 0.01))
        self.assertEqual(log[:6], [(name, step) for name in times for step in ("select", "call")])
        self.assertEqual(len(log), 2 * (5 + 5 + 1))  # what takes long is tried once


class ToolTest(unittest.TestCase):
    def run_tool(self, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            run = pathlib.Path(folder) / "run.json"
            done = subprocess.run([sys.executable, "-B", TOOLS / "peers.py", "--out", run, *arguments], check=False,
                                  capture_output=True, text=True)
            return done, json.loads(run.read_text(encoding="utf-8")) if run.exists() else None


class ArgumentsTest(ToolTest):
    def test_bad_arguments_are_named(self):
        for arguments, named in ((["--threads", "0"], "--threads 0: must be from 1"),
                                 (["--repetitions", "0"], "--repetitions 0: must be 1"),
                                 (["--peers", "mkl"], "'mkl'")):
            errors = io.StringIO()
            with contextlib.redirect_stderr(errors), self.assertRaises(SystemExit) as stopped:
                peers.parse_arguments(arguments)
            self.assertEqual(stopped.exception.code, 2)
            self.assertIn(named, errors.getvalue())

    @unittest.skipIf(numpy is None, "numpy is not installed")
    def test_a_library_that_is_not_there_is_named(self):
        done, run = self.run_tool("--library", "no/such/lib.so")
        self.assertEqual((done.returncode, run), (2, None))
        self.assertIn("peers.py: no/such/lib.so: ", done.stderr)
        self.assertIn("--target simdattn_peers", done.stderr)


@unittest.skipUnless(numpy and LIBRARY, "numpy, or SIMDATTN_PEERS_LIBRARY, is missing")
class LibraryTest(ToolTest):
    def test_the_shapes_are_those_of_the_benchmarks(self):
        shapes = {shape.name: shape for shape in Entries(LIBRARY).shapes()}
        lesson, gqa = shapes["lesson"], shapes["gqa_32_8_1024_causal"]
        self.assertEqual(lesson.flops, 4 * 10 * 10 * 4 * 64)
        self.assertEqual((gqa.heads, gqa.kv_heads, gqa.causal, gqa.bshd), (32, 8, 1, 0))
        self.assertEqual(gqa.flops, 4 * (1024 * 1025 / 2) * 32 * 128)
        self.assertEqual([shape.index for shape in shapes.values()], list(range(len(shapes))))
        self.assertTrue(shapes["few_1_32_8_4096"].few_queries and not shapes["growth_65536"].few_queries)
        self.assertEqual(self.run_tool("--library", LIBRARY, "--shapes", "^growth", "--list")[0].stdout.split(),
                         [name for name in shapes if name.startswith("growth")])

    def test_a_run_from_end_to_end(self):
        done, run = self.run_tool("--library", LIBRARY, "--peers", "onednn", "--shapes", "^lesson$", "--threads", "1",
                                  "--repetitions", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("| lesson | 1 | ", done.stdout)
        times = [entry for entry in run["benchmarks"] if entry["name"] == "attention/lesson/simdattn/threads:1"]
        self.assertEqual(len(times), 2)
        self.assertTrue(all(entry["real_time"] > 0 and 0 < entry["peak_percent"] for entry in times))
        if "onednn" not in run["context"]["left_out"]:
            self.assertEqual(sum("/onednn_" in entry["name"] and entry["real_time"] > 0
                                 for entry in run["benchmarks"]), 2)

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "there is one processor")
    def test_two_threads_have_two_processors_where_openmp_is_bound(self):
        environment = dict(os.environ, OMP_PROC_BIND="true", PYTHONPATH=str(TOOLS))
        done = subprocess.run([sys.executable, "-B", "-c", PROCESSORS_OF_TWO_THREADS, LIBRARY], check=False,
                              capture_output=True, text=True, env=environment)
        self.assertEqual((done.returncode, done.stdout.split()), (0, ["2"]), done.stderr)

    def test_a_peer_that_is_not_installed_is_left_out_and_said_so(self):
        missing = next((name for name in ("openvino", "torch", "onnxruntime") if not has_module(name)), None)
        if missing is None:
            self.skipTest("every peer is installed")
        peer = "pytorch" if missing == "torch" else missing
        done, run = self.run_tool("--library", LIBRARY, "--peers", peer, "--shapes", "^lesson$", "--threads", "1",
                                  "--repetitions", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"{peer} is left out: No module named '{missing}'", done.stdout)
        self.assertIn("| case | threads | simdattn |", done.stdout)
        self.assertIn(peer, run["context"]["left_out"])

    def test_a_shape_that_is_not_there_is_named(self):
        for pattern, named in (("^nothing$", "no shape matches --shapes ^nothing$"), ("(", "unterminated")):
            done, _ = self.run_tool("--library", LIBRARY, "--shapes", pattern)
            self.assertEqual(done.returncode, 2)
            self.assertIn(named, done.stderr)


def has_module(name):
    return subprocess.run([sys.executable, "-c", f"import {name}"], check=False, capture_output=True).returncode == 0


if __name__ == "__main__":
    os.environ.setdefault("MPLCONFIGDIR", tempfile.gettempdir())
    unittest.main()
