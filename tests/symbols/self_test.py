"""The checks must fail where they have to: on crafted objects, on missing ones and when a tool fails."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import check_exports
import check_kernel_sources
from symbol_tools import ToolError

HERE = Path(__file__).parent
CRAFTED = {Path(path).name.split(".")[0]: path for path in os.environ["CRAFTED_OBJECTS"].split(":")}
NM, READELF = os.environ["NM"], os.environ["READELF"]


def check(object_path, nm=NM, readelf=READELF):
    """Runs the check as ctest does: its exit status and what it printed."""
    result = subprocess.run(
        [sys.executable, HERE / "check_arch_object.py", f"--nm={nm}", f"--readelf={readelf}",
         "--table=crafted::table", object_path], capture_output=True, text=True, check=False)
    return result.returncode, result.stdout + result.stderr


class ArchObject(unittest.TestCase):
    def assert_found(self, result, fault):
        self.assertEqual(result[0], 1, result[1])
        self.assertIn(fault, result[1])
        self.assertNotIn("Traceback", result[1])

    def test_passes_a_good_object(self):
        self.assertEqual(check(CRAFTED["good"]), (0, ""))

    def test_finds_each_fault(self):
        for name, fault in {"weak_function": "weak symbol: _ZN7crafted13shared_helper",
                            "second_global": "unexpected global symbol: _ZN7crafted5entry",
                            "dynamic_initialiser": "init section: .init_array",
                            "outside_call": "a call outside the unit: malloc",
                            "no_table": "no global symbol crafted::table"}.items():
            with self.subTest(name):
                self.assert_found(check(CRAFTED[name]), fault)

    def test_fails_without_the_object(self):
        self.assert_found(check("there-is-no.o"), "no such file")

    def test_fails_on_a_file_that_is_no_object(self):
        self.assert_found(check(__file__), "exit status 1")

    def test_fails_when_a_tool_is_missing_or_fails_or_says_nothing(self):
        good = CRAFTED["good"]
        self.assert_found(check(good, nm="/there/is/no/nm"), "No such file")
        self.assert_found(check(good, nm="false"), "exit status 1")
        self.assert_found(check(good, nm="true"), "no output")
        self.assert_found(check(good, nm="echo"), "names no symbol")
        self.assert_found(check(good, readelf="false"), "exit status 1")
        self.assert_found(check(good, readelf="true"), "no output")
        self.assert_found(check(good, readelf="echo"), "no sections")


class Exports(unittest.TestCase):
    def test_reads_what_the_headers_mark(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "a.hpp").write_text(
                "#define SIMDATTN_API x()\n// SIMDATTN_API int comment();\nSIMDATTN_API const A* find(int);\n"
                "class [[nodiscard]] Status {\n  SIMDATTN_API static Status error(int);\n  int code();\n};\n"
                "int hidden();\nSIMDATTN_API const char*\nrun(int);\n", encoding="utf-8")
            Path(folder, "b.h").write_text("SIMDATTN_API int simdattn_run(void);\n", encoding="utf-8")
            self.assertEqual(check_exports.public_names(folder),
                             {"simdattn::find", "simdattn::run", "simdattn::Status::error", "simdattn_run"})

    def test_fails_without_headers(self):
        with tempfile.TemporaryDirectory() as folder, self.assertRaises(ToolError):
            check_exports.public_names(folder)

    def test_finds_what_is_too_much_and_what_is_missing(self):
        public = {"simdattn::find", "simdattn::Status::error"}
        exported = ["simdattn::find(int)", "simdattn::Status::error(char const*, ...)"]
        self.assertEqual(check_exports.faults(exported, public), [])
        self.assertEqual(check_exports.faults(exported + ["simdattn::plan()", "void std::sort<int*>(int*)"], public),
                         ["exported but not public: simdattn::plan", "exported but not public: void std::sort<int*>"])
        self.assertEqual(check_exports.faults(exported[:1], public),
                         ["public but not exported: simdattn::Status::error"])


class KernelSources(unittest.TestCase):
    def test_finds_xsimd_outside_of_comments(self):
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "a.hpp")
            source.write_text("// not xsimd::dispatch\nusing V = Isa::Vector;\n", encoding="utf-8")
            self.assertEqual(check_kernel_sources.faults(folder), [])
            source.write_text("#include <xsimd/xsimd.hpp>\n", encoding="utf-8")
            self.assertEqual(len(check_kernel_sources.faults(folder)), 1)

    def test_fails_without_sources(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(len(check_kernel_sources.faults(folder)), 1)


if __name__ == "__main__":
    unittest.main()
