"""Tests of tools/compare_bench.py on small runs whose medians and ratios are known by hand."""

import contextlib
import importlib.util
import io
import json
import os
import pathlib
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "tools" / "compare_bench.py"


def load_script():
    spec = importlib.util.spec_from_file_location("compare_bench", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["compare_bench"] = module
    spec.loader.exec_module(module)
    return module


compare_bench = load_script()
try:
    import matplotlib  # noqa: F401
    HAVE_MATPLOTLIB = True
except ImportError:
    HAVE_MATPLOTLIB = False


def repetition(case, contender, threads, time, percent=None, unit="us", **more):
    entry = {"name": f"{case}/{contender}/threads:{threads}/iterations:1/manual_time",
             "run_type": "iteration", "real_time": time, "time_unit": unit}
    if percent is not None:
        entry["peak_percent"] = percent
    return {**entry, **more}


def repetitions(case, contender, threads, times, percent=None, **more):
    return [repetition(case, contender, threads, time, percent, **more) for time in times]


GOOD_CONTEXT = {"random_interleaving": "true", "OMP_PROC_BIND": "true"}
SEVEN = (3000, 1000, 2000, 2000, 2000, 9000, 1500)  # median 2000


class CompareBenchTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_script(self, benchmarks, *arguments, context=GOOD_CONTEXT):
        path = self.folder / "run.json"
        path.write_text(json.dumps({"context": context, "benchmarks": benchmarks}), encoding="utf-8")
        return self.run_on(path, *arguments)

    def run_on(self, path, *arguments):
        output, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            code = compare_bench.main([str(path), *map(str, arguments)])
        return code, output.getvalue(), errors.getvalue()

    def two_cases(self):
        return (repetitions("attention/a", "avx2", 1, SEVEN, 80)
                + repetitions("attention/a", "onednn", 1, [4000] * 7, 40)
                + repetitions("attention/b", "avx2", 1, [1] * 7, 90)
                + repetitions("attention/b", "onednn", 1, [8] * 7, 11.4))

    def test_cells_hold_the_medians_and_ratios_are_base_over_contender(self):
        code, output, errors = self.run_script(self.two_cases(), "--base", "onednn")
        self.assertEqual((code, errors), (0, ""))
        self.assertEqual(output.splitlines(), [
            "| case | threads | avx2 | onednn | avx2 : onednn |",
            "| --- | ---: | ---: | ---: | ---: |",
            "| a | 1 | 2 ms, 80 % | 4 ms, 40 % | 2.00 × |",
            "| b | 1 | 1 µs, 90 % | 8 µs, 11 % | 8.00 × |",
            "| geometric mean | 1 |  |  | 4.00 × |",
        ])

    def test_a_contender_can_be_compared_with_each_of_the_others(self):
        _, output, _ = self.run_script(self.two_cases() + repetitions("attention/a", "mkl", 1, [1000] * 7),
                                       "--speedup-of", "avx2")
        lines = output.splitlines()
        self.assertTrue(lines[0].endswith("| avx2 : onednn | avx2 : mkl |"), output)
        self.assertTrue(lines[2].endswith("| 1 ms | 2.00 × | 0.50 × |"), output)
        self.assertTrue(lines[4].endswith("| 4.00 × | 0.50 × |"), output)

    def test_who_is_left_out_is_said(self):
        _, output, _ = self.run_script(self.two_cases(), context={**GOOD_CONTEXT, "left_out": {"mkl": "no module"}})
        self.assertIn("mkl is left out: no module.", output)

    def test_aggregates_are_not_counted_as_repetitions(self):
        mean = repetition("attention/a", "avx2", 1, 1e9, run_type="aggregate")
        _, output, _ = self.run_script(repetitions("attention/a", "avx2", 1, SEVEN) + [mean])
        self.assertIn("| a | 1 | 2 ms |", output)

    def test_rows_and_contenders_are_in_the_order_of_registration(self):
        shuffled = [repetition(f"attention/{case}", contender, 1, 5, family_index=index)
                    for index, case, contender in ((2, "b", "avx2"), (1, "a", "onednn"),
                                                   (3, "b", "onednn"), (0, "a", "avx2"))]
        _, output, _ = self.run_script(shuffled)
        lines = output.splitlines()
        self.assertEqual(lines[0], "| case | threads | avx2 | onednn |")
        self.assertTrue(lines[2].startswith("| a |") and lines[3].startswith("| b |"), output)

    def test_units_are_converted(self):
        _, output, _ = self.run_script(repetitions("attention/a", "avx2", 1, [0.25] * 7, unit="s")
                                       + repetitions("attention/b", "avx2", 1, [300] * 7, unit="ns"))
        self.assertIn("| a | 1 | 250 ms |", output)
        self.assertIn("| b | 1 | 300 ns |", output)

    def test_thread_counts_are_rows_and_means_of_their_own(self):
        _, output, _ = self.run_script(self.two_cases()
                                       + repetitions("attention/a", "avx2", 2, [1000] * 7, 75)
                                       + repetitions("attention/a", "onednn", 2, [3000] * 7, 25),
                                       "--base", "onednn")
        self.assertIn("| a | 2 | 1 ms, 75 % | 3 ms, 25 % | 3.00 × |", output)
        self.assertIn("| geometric mean | 1 |  |  | 4.00 × |", output)
        self.assertIn("| geometric mean | 2 |  |  | 3.00 × |", output)

    def test_where_reading_is_the_limit_its_share_is_shown(self):
        _, output, _ = self.run_script(repetitions("attention/a", "avx2", 1, SEVEN, 10, read_percent=95)
                                       + repetitions("attention/b", "avx2", 1, SEVEN, 80, read_percent=30))
        self.assertIn("| a | 1 | 2 ms, 95 % read |", output)
        self.assertIn("| b | 1 | 2 ms, 80 % |", output)

    def test_memory_is_shown_on_request(self):
        benchmarks = (repetitions("growth/a", "avx2", 1, SEVEN, 80, memory=192 * 1024)
                      + repetitions("growth/a", "onednn", 1, SEVEN, memory=5 * 2.0**30)
                      + repetitions("growth/a", "reference", 1, SEVEN, memory=1001 * 1024))
        _, output, _ = self.run_script(benchmarks, "--filter", "^growth/", "--memory")
        self.assertIn("| a | 1 | 2 ms, 80 %, 192 KiB | 2 ms, 5 GiB | 2 ms, 1001 KiB |", output)

    def test_several_files_are_one_run(self):
        more = self.folder / "more.json"
        more.write_text(json.dumps({"context": {"random_interleaving": "true"},
                                    "benchmarks": repetitions("attention/c", "avx2", 1, [7] * 7)}),
                        encoding="utf-8")
        code, output, _ = self.run_script(self.two_cases(), more)
        self.assertEqual(code, 0)
        self.assertIn("| a | 1 | 2 ms, 80 % | 4 ms, 40 % |", output)
        self.assertIn("| c | 1 | 7 µs | – |", output)
        self.assertIn("not pinned", output)

    def test_a_contender_that_failed_is_left_out_and_named(self):
        failed = repetition("attention/a", "onednn", 1, 0, error_occurred=True, error_message="only ref")
        code, output, _ = self.run_script(repetitions("attention/a", "avx2", 1, SEVEN) + [failed],
                                          "--base", "onednn")
        self.assertEqual(code, 0)
        self.assertIn("| a | 1 | 2 ms | – | – |", output)
        self.assertIn("onednn is left out of a on 1 threads: only ref.", output)

    def test_what_weakens_the_figures_is_said(self):
        _, output, _ = self.run_script(
            repetitions("attention/a", "avx2", 1, [5] * 3, disturbed=1.0), context={})
        for note in ("not interleaved", "not pinned", "Repetitions: 3;", "interrupted"):
            self.assertIn(note, output)
        self.assertIn("| 5 µs \\* |", output)

    def test_a_good_run_has_no_notes(self):
        _, output, _ = self.run_script(self.two_cases())
        self.assertTrue(output.strip().endswith("|"), output)

    def test_the_filter_chooses_benchmarks(self):
        benchmarks = self.two_cases() + repetitions("kernel/scores_64", "avx2", 1, [7] * 7)
        _, output, _ = self.run_script(benchmarks)
        self.assertNotIn("scores_64", output)
        _, output, _ = self.run_script(benchmarks, "--filter", "^kernel/")
        self.assertIn("| scores_64 | 1 | 7 µs |", output)
        self.assertNotIn("| a |", output)

    def test_the_table_goes_to_a_file(self):
        target = self.folder / "table.md"
        code, output, _ = self.run_script(self.two_cases(), "--table", target)
        self.assertEqual((code, output), (0, ""))
        self.assertIn("| a | 1 | 2 ms, 80 % |", target.read_text(encoding="utf-8"))

    @unittest.skipUnless(HAVE_MATPLOTLIB, "matplotlib is not installed")
    def test_the_plot_is_a_png_or_an_svg_with_every_case(self):
        for name, start in (("plot.png", b"\x89PNG"), ("plot.svg", b"<?xml")):
            code, _, errors = self.run_script(self.two_cases(), "--plot", self.folder / name)
            self.assertEqual((code, errors), (0, ""))
            self.assertTrue((self.folder / name).read_bytes().startswith(start))
        svg = (self.folder / "plot.svg").read_text(encoding="utf-8")
        for text in ("<!-- a -->", "<!-- b -->", "<!-- avx2 -->", "<!-- onednn -->"):
            self.assertIn(text, svg)

    @unittest.skipUnless(HAVE_MATPLOTLIB, "matplotlib is not installed")
    def test_a_plot_that_can_not_be_written_is_an_error(self):
        for name in ("no/such/folder/plot.png", "plot.nonsense"):
            code, _, errors = self.run_script(self.two_cases(), "--plot", self.folder / name)
            self.assertEqual(code, 2)
            self.assertIn(name, errors)

    def test_bad_input_is_named(self):
        broken = self.folder / "broken.json"
        broken.write_text("{", encoding="utf-8")
        other = self.folder / "other.json"
        other.write_text("[]", encoding="utf-8")
        for path in (broken, other, self.folder / "missing.json"):
            code, _, errors = self.run_on(path)
            self.assertEqual(code, 2)
            self.assertIn(path.name, errors)
        for arguments, named in ((["--base", "mkl"], "mkl"), (["--speedup-of", "mkl"], "mkl"),
                                 (["--filter", "nothing"], "nothing"),
                                 (["--filter", "("], "unterminated")):
            code, _, errors = self.run_script(self.two_cases(), *arguments)
            self.assertEqual(code, 2)
            self.assertIn(named, errors)


if __name__ == "__main__":
    os.environ.setdefault("MPLCONFIGDIR", tempfile.gettempdir())
    unittest.main()
