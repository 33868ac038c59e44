"""Tests of tools/base_ratios.py on small runs whose medians are known by hand."""

import contextlib
import importlib.util
import io
import json
import pathlib
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))
SPEC = importlib.util.spec_from_file_location("base_ratios", TOOLS / "base_ratios.py")
base_ratios = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(base_ratios)


def repetitions(name, ratios, label, time=2000, **more):
    return [{"name": f"{name}/threads:1/iterations:1/manual_time", "run_type": "iteration", "real_time": time,
             "time_unit": "us", "times_base": ratio, "label": label, **more} for ratio in ratios]


class BaseRatiosTest(unittest.TestCase):
    def run_script(self, benchmarks, *arguments):
        context = {"random_interleaving": "true", "OMP_PROC_BIND": "true"}
        output, errors = io.StringIO(), io.StringIO()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "run.json"
            path.write_text(json.dumps({"context": context, "benchmarks": benchmarks}), encoding="utf-8")
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
                code = base_ratios.main([str(path), *arguments])
        return code, output.getvalue(), errors.getvalue()

    def test_a_ratio_is_the_median_of_the_repetitions(self):
        code, output, errors = self.run_script(
            repetitions("options/softcap/shape/avx2", [1.2, 9, 1, 1.1, 1.3, 1.1, 1.2], "at most 1.35 of plain",
                        peak_percent=61.26))
        self.assertEqual((code, errors), (0, ""))
        self.assertEqual(output.splitlines()[-1],
                         "| options/softcap/shape | avx2 | 1 | 2 ms | 61.3 | plain | 1.200 | 1.000 – 9.000 | 1.35 |")

    def test_a_ratio_above_its_limit_is_bold_and_one_at_it_is_not(self):
        _, output, _ = self.run_script(repetitions("a/b/avx2", [1.06] * 7, "at most 1.05 of plain")
                                       + repetitions("a/c/avx2", [1.05] * 7, "at most 1.05 of plain")
                                       + repetitions("a/d/avx2", [7] * 7, "of reading K and V"))
        self.assertIn("| plain | **1.060** |", output)
        self.assertIn("| plain | 1.050 |", output)
        self.assertIn("| reading K and V | 7.000 | 7.000 – 7.000 |  |", output)

    def test_what_has_no_base_is_left_out(self):
        plain = repetitions("attention/a/avx2", [1] * 7, "")
        for entry in plain:
            del entry["times_base"]
        _, output, _ = self.run_script(plain + repetitions("a/b/avx2", [1] * 7, "of plain"))
        self.assertNotIn("attention", output)
        code, _, errors = self.run_script(plain)
        self.assertEqual(code, 2)
        self.assertIn("no benchmark that was timed beside another", errors)

    def test_the_filter_chooses_benchmarks(self):
        _, output, _ = self.run_script(repetitions("a/b/avx2", [1] * 7, "of plain")
                                       + repetitions("a/c/avx2", [1] * 7, "of plain"), "--filter", "^a/c/")
        self.assertNotIn("a/b", output)
        self.assertIn("a/c", output)

    def test_few_repetitions_are_said(self):
        _, output, _ = self.run_script(repetitions("a/b/avx2", [1] * 3, "of plain"))
        self.assertIn("Repetitions: 3;", output)


if __name__ == "__main__":
    unittest.main()
