"""Tests of count.py with a record and programs that are made up."""

import contextlib
import io
import json
import stat
import sys
import tempfile
import unittest
from pathlib import Path

import count

# Stands in for valgrind: writes a count where callgrind would.
FAKE_VALGRIND = """#!{python}
import sys
out = [word.split("=", 1)[1] for word in sys.argv if word.startswith("--callgrind-out-file=")][0]
open(out, "w").write("totals: {total}\\n")
"""


class CountTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.counts = self.folder / "counts.json"
        self.program = self.script("program", "#!/bin/sh\necho a_case\n")
        self.counts.write_text(json.dumps({"compiler": "GCC 12", "counts": {"isa": {"a_case": 1000}}}))

    def script(self, name, text):
        path = self.folder / name
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)

    def run_count(self, action, total, isa="isa", compiler="GCC 12", **more):
        valgrind = self.script("valgrind", FAKE_VALGRIND.format(python=sys.executable, total=total))
        options = {"program": self.program, "valgrind": valgrind, "counts": str(self.counts),
                   "compiler": compiler, **more}
        words = [word for name, value in options.items() for word in (f"--{name}", value)]
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            code = count.main([action, isa, *words])
        return code, output.getvalue()

    def test_within_the_margin_is_right_and_says_by_how_much(self):
        for total, change in ((1000, "+0.00 %"), (1020, "+2.00 %"), (980, "-2.00 %")):
            code, output = self.run_count("check", total)
            self.assertEqual(code, 0, output)
            self.assertIn(change, output)

    def test_beyond_the_margin_is_wrong_in_both_directions(self):
        for total in (1021, 979):
            code, output = self.run_count("check", total)
            self.assertEqual(code, 1, output)
            self.assertIn("more than 2 %", output)
            self.assertIn("record_instruction_counts", output)

    def test_a_case_that_is_not_recorded_or_no_more_counted_is_wrong(self):
        self.program = self.script("program", "#!/bin/sh\necho another_case\n")
        code, output = self.run_count("check", 1000)
        self.assertEqual(code, 1)
        self.assertRegex(output, "(?s)a_case .*in the record alone.*another_case .*not recorded")

    def test_what_can_not_be_compared_is_skipped_and_says_why(self):
        for arguments, reason in (({"compiler": "GCC 13"}, "GCC 13"), ({"unlike": "no reason"}, "no reason"),
                                  ({"isa": "other"}, "nothing is recorded for other")):
            code, output = self.run_count("check", 1000, **arguments)
            self.assertEqual(code, count.SKIPPED)
            self.assertIn(reason, output)

    def test_a_tool_that_fails_or_counts_nothing_is_an_error(self):
        self.assertEqual(self.run_count("check", 0)[0], 2)
        self.assertEqual(self.run_count("check", 1000, valgrind="/bin/false")[0], 2)
        self.assertEqual(self.run_count("check", 1000, valgrind=str(self.folder / "missing"))[0], 2)

    def test_a_new_record_replaces_the_old_one(self):
        self.assertEqual(self.run_count("record", 2000)[0], 0)
        self.assertEqual(self.run_count("check", 2000)[0], 0)
        self.assertEqual(self.run_count("record", 3000, isa="new")[0], 0)
        self.assertEqual(json.loads(self.counts.read_text())["counts"],
                         {"isa": {"a_case": 2000}, "new": {"a_case": 3000}})


if __name__ == "__main__":
    unittest.main()
