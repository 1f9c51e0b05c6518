#!/usr/bin/env python3
"""Checks which lines the tests have run, from a file in lcov's form: coverage.py LINES.info"""

import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
EXCEPTIONS = ROOT / "Tests/Checks/Coverage/exceptions.txt"
LIBRARIES = {"pushcrypt": "Sources/Pushcrypt", "receiver": "Sources/PushcryptReceiver", "keystore": "KeyStore"}
LIBRARY_PERCENT = 95


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


class Excuse:
    """The reason that no test runs a place, identified by words of one of its lines."""

    def __init__(self, path, words, reason):
        self.path, self.words, self.reason = path, words, reason
        self.is_used = False


def read_exceptions():
    """A line without an indentation names a file; those below it are `words of a line: reason`."""
    exceptions, path = [], None
    for number, line in enumerate(EXCEPTIONS.read_text().splitlines(), 1):
        if not line or line.startswith("# "):
            continue
        if not line.startswith(" "):
            path = line
            continue
        words, colon, reason = line.strip().rpartition(" :: ")
        if not (path and words and reason):
            sys.exit(f"coverage: error: {EXCEPTIONS.name}:{number} is no `words of a line :: reason` below a file")
        exceptions.append(Excuse(path, words, reason))
    return exceptions


def percent(lines):
    return 100 * sum(lines.values()) / len(lines)


def ranges(lines):
    """The places that no test runs: the first and the last line of each. Lines without code do not separate places."""
    places, inside = [], False
    for number, ran in sorted(lines.items()):
        if ran:
            inside = False
        elif inside:
            places[-1][1] = number
        else:
            places.append([number, number])
            inside = True
    return places


def excused(path, text, place, exceptions):
    """The exception for a place, found by the words of its lines."""
    for exception in exceptions:
        if exception.path == path and any(exception.words in line for line in text[place[0] - 1:place[1]]):
            exception.is_used = True
            return exception
    return None


def main():
    files, exceptions = read_lines(sys.argv[1]), read_exceptions()
    problems, figures, places = [], [], 0
    for path, lines in sorted(files.items(), key=lambda file: (percent(file[1]), file[0])):
        text = (ROOT / path).read_text().splitlines()
        for place in ranges(lines):
            places += 1
            where = f"{path}:{place[0]}" + (f"-{place[1]}" if place[1] > place[0] else "")
            exception = excused(path, text, place, exceptions)
            if exception:
                print(f"{where}: {exception.reason}")
            else:
                problems.append(f"{where} is run by no test: write one, or say why not in {EXCEPTIONS.name}")
    for exception in exceptions:
        if not exception.is_used:
            problems.append(f"{EXCEPTIONS.name}: '{exception.words}' of {exception.path} is run by a test, or not there: take it out")
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
    print(f"figure: coverage {' '.join(figures)} files={len(files)} places-with-reasons={places}")


if __name__ == "__main__":
    main()
