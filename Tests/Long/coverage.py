#!/usr/bin/env python3
"""Judges which lines the tests have run, by a file in lcov's form: coverage.py LINES.info"""

import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXCEPTIONS = ROOT / "Tests/Long/coverage-exceptions.txt"
LIBRARIES = {"pushcrypt": "Sources/Pushcrypt", "receiver": "Sources/PushcryptReceiver", "keystore": "KeyStore"}
# Of each library, and of each file that no exception names.
LIBRARY_PERCENT = 95
FILE_PERCENT = 90


def read_lines(path):
    """Whether each line with code ran, by file."""
    files, lines = {}, {}
    for record in pathlib.Path(path).read_text().splitlines():
        kind, _, rest = record.partition(":")
        if kind == "SF":
            lines = files.setdefault(os.path.relpath(rest, ROOT), {})
        elif kind == "DA":
            number, count = rest.split(",")[:2]
            lines[int(number)] = lines.get(int(number), False) or int(count) > 0
    return {path: lines for path, lines in files.items() if lines}


def read_exceptions():
    exceptions = {}
    for line in EXCEPTIONS.read_text().splitlines():
        if line and not line.startswith("# "):
            path, _, reason = line.partition(": ")
            exceptions[path] = reason
    return exceptions


def percent(lines):
    return 100 * sum(lines.values()) / len(lines)


def ranges(numbers):
    """1, 2, 3, 7 as 1-3, 7."""
    parts = []
    for number in sorted(numbers):
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in parts)


def main():
    files, exceptions = read_lines(sys.argv[1]), read_exceptions()
    problems, figures = [], []
    print("percent   lines  file and the lines that no test runs")
    for path, lines in sorted(files.items(), key=lambda file: (percent(file[1]), file[0])):
        missing = [number for number, ran in lines.items() if not ran]
        if missing:
            print(f"{percent(lines):7.1f} {len(lines):7}  {path}: {ranges(missing)}")
        if percent(lines) < FILE_PERCENT and path not in exceptions:
            problems.append(f"{path} has {percent(lines):.1f} percent: write the tests, or say why not in {EXCEPTIONS.name}")
    for path, reason in exceptions.items():
        if not reason:
            problems.append(f"{EXCEPTIONS.name} gives no reason for {path}")
        if path not in files:
            problems.append(f"{EXCEPTIONS.name} names {path}, which is not there or has no line that runs")
        elif percent(files[path]) >= FILE_PERCENT:
            problems.append(f"{EXCEPTIONS.name} names {path}, which has {percent(files[path]):.1f} percent: take it out")
    for name, folder in LIBRARIES.items():
        lines = [ran for path, lines in files.items() if path.startswith(folder + "/") for ran in lines.values()]
        share = 100 * sum(lines) / len(lines) if lines else 0
        figures += [f"{name}-percent={share:.1f}", f"{name}-lines={len(lines)}"]
        if share < LIBRARY_PERCENT:
            problems.append(f"{folder} has {share:.1f} percent of its lines, and must have {LIBRARY_PERCENT}")
    if problems:
        for problem in problems:
            print(f"coverage: error: {problem}", file=sys.stderr)
        sys.exit(1)
    print(f"figure: coverage {' '.join(figures)} files={len(files)} excepted-files={len(exceptions)}")


if __name__ == "__main__":
    main()
