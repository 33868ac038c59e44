"""Sums up the stages of .ci/run as ctest sums up one: from their JUnit files and exit statuses."""

import sys
import xml.etree.ElementTree as xml
from pathlib import Path


def read_stage(results, name, status):
    """Names of the tests that ran, of those that were skipped and of those that failed."""
    ran, skipped, failed = [], [], []
    report = results / f"{name}.xml"
    cases = xml.parse(report).getroot().iter("testcase") if report.is_file() else []
    for case in cases:
        test = f"{name}: {case.get('name')}"
        if case.get("status") == "disabled":
            continue
        ran.append(test)
        if case.find("skipped") is not None:
            skipped.append(test)
        elif case.get("status") != "run" or case.find("failure") is not None:
            failed.append(test)
    if not ran or (status != 0 and not failed):  # the build failed, or there was nothing to run
        ran.append(f"{name}: the stage itself")
        failed.append(ran[-1])
    return ran, skipped, failed


def main():
    results = Path(sys.argv[1])
    total, failures = 0, []
    print(f"\n{'stage':<12}{'tests':>8}{'skipped':>9}{'failed':>8}{'seconds':>9}")
    for line in (results / "stages").read_text(encoding="utf-8").splitlines():
        name, status, seconds = line.split()
        ran, skipped, failed = read_stage(results, name, int(status))
        print(f"{name:<12}{len(ran):>8}{len(skipped):>9}{len(failed):>8}{seconds:>9}")
        total += len(ran)
        failures += failed
    if failures:
        print("\nThe following tests FAILED:")
        for test in failures:
            print(f"\t{test}")
    passed = 100 * (total - len(failures)) // total if total else 0
    print(f"\n{passed}% tests passed, {len(failures)} tests failed out of {total}")
    sys.exit(1 if failures or not total else 0)


if __name__ == "__main__":
    main()
