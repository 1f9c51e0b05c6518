#!/usr/bin/env python3
"""Removes each security check of the product in turn, and verifies that a test notices.

    mutants.py [NAME …]              only the mutants with one of these texts in their names, or of a table such as send.txt; nothing
                                     is kept then
    mutants.py --suite-2 [NAME …]    those whose tests need libsodium 1.0.22, which others leave out; fetches it into .build
    mutants.py --check TESTS         looks whether the tables fit the sources, and a program with the tests, and runs nothing

The tables beside this file list the changes. All mutants are built at once: each change tests whether its mutant is on,
and a resource limit that nothing else uses is the number of the mutant that is on: programs inherit it, whatever environment
and session their tests give them. So there is one build, and one run of tests for each mutant, as many at once as there are
processors.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import threading
import time

TABLES = pathlib.Path(__file__).resolve().parent
ROOT = TABLES.parents[2]
WORK = ROOT / ".build" / "mutants"
CHECKOUT = WORK / "checkout"
SUITE_2 = sys.argv[1:2] == ["--suite-2"]
BUILD = WORK / ("build-suite-2" if SUITE_2 else "build")
STATE = ROOT / ".build" / "long" / "mutants"

# Modules with their own switch: the second uses no other module of the project.
SWITCHES = {"Sources/Pushcrypt/": "package ", "Sources/PushcryptCommand/Kit/": ""}
SOURCES = ["Package.swift", "Sources", "KeyStore", "Tests", "Docs", "README.md"]
MARK = "MUTANT"
SECONDS_TO_END = 300
SECONDS_FOR_ALL = 1800
SECONDS_AFTER_FAILURE = 1
LIMIT = resource.getrlimit(resource.RLIMIT_MSGQUEUE)[1]
# Not only at the start of a line: an argument of a test may end without one.
FAILED = re.compile(r"✘ Test (?!run )(.+?) (?:recorded an issue|failed|with \d)", re.M)
COLOUR = re.compile(r"\x1b\[[0-9;]*m")

SWITCH = '''
#if canImport(Glibc)
    internal import Glibc
#endif

/// Which check of the product is removed: the one whose number is the limit of message queues.
{access}enum Mutant {
    private static let active: UInt = {
        var limit = rlimit()
        return unsafe getrlimit(__rlimit_resource_t(__RLIMIT_MSGQUEUE.rawValue), &limit) == 0 ? limit.rlim_cur : 0
    }()

    {access}static func isOn(_ number: UInt) -> Bool { number == active }
}
'''


class Mutant:
    """A change of one place in one file, and the tests that should notice it."""

    def __init__(self, place, block):
        self.place = place
        self.name = self.file = self.equivalent = self.needs = None
        self.tests = []
        before, after = [], []
        for line in block:
            if line.startswith("- "):
                before.append(line[2:])
            elif line.startswith("+ "):
                after.append(line[2:])
            else:
                key, colon, value = line.partition(": ")
                if not colon or key not in ("mutant", "file", "tests", "needs", "equivalent"):
                    fail(f"{place}: this is no line of a mutant: {line}")
                if key == "tests":
                    self.tests = value.split()
                else:
                    setattr(self, "name" if key == "mutant" else key, value)
        self.before, self.after = "\n".join(before), "\n".join(after)
        if self.needs not in (None, "suite-2"):
            fail(f"{place}: a mutant can need suite-2, and nothing else")
        if not (self.name and self.file and self.tests and before and MARK in self.after):
            fail(f"{place}: a mutant has a name, a file, tests, what is there and what takes its place, with {MARK} in it")

    def filters(self):
        return [f"^{re.escape(test)}(/|\\(|$)" for test in self.tests]


def fail(*problems):
    for problem in problems:
        print(f"mutants: error: {problem}", file=sys.stderr)
    sys.exit(1)


# MARK: Reading

def read_tables():
    mutants = []
    for table in sorted(TABLES.glob("*.txt")):
        block, first = [], 0
        for number, line in enumerate(table.read_text().splitlines() + [""], 1):
            if line.startswith("# "):
                continue
            if line:
                first = first or number
                block.append(line)
            elif block:
                mutants.append(Mutant(f"{table.name}:{first}", block))
                block, first = [], 0
    names = [mutant.name for mutant in mutants]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        fail(*(f"two mutants are called '{name}'" for name in repeated))
    if not mutants:
        fail("there are no mutants")
    return mutants


def mutated(mutants):
    """The text of every changed file, with all of its mutants."""
    texts, problems = {}, []
    for path in {mutant.file for mutant in mutants}:
        original = (ROOT / path).read_text() if (ROOT / path).is_file() else ""
        places = []
        for number, mutant in enumerate(mutants, 1):
            if mutant.file != path:
                continue
            count = original.count(mutant.before)
            if count != 1:
                problems.append(f"{mutant.place}: '{mutant.name}' must be updated: {path} has its text {count} times")
                continue
            start = original.index(mutant.before)
            places.append((start, start + len(mutant.before), number, mutant))
        places.sort()
        for one, next in zip(places, places[1:]):
            if one[1] > next[0]:
                problems.append(f"{next[3].place}: '{next[3].name}' changes what '{one[3].name}' changes, too")
        text = original
        for start, end, number, mutant in reversed(places):
            text = text[:start] + re.sub(rf"\b{MARK}\b", f"Mutant.isOn({number})", mutant.after) + text[end:]
        if not path.startswith(tuple(SWITCHES)) and not re.search(r"^\s*(\w+ )?import Pushcrypt$", text, re.M):
            text = "internal import Pushcrypt\n" + text
        texts[path] = text
    if problems:
        fail(*problems)
    return texts


# MARK: Building

def write(path, data):
    if not path.exists() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def make_checkout(texts):
    """Writes only changed files, so that a second build is short. Returns the hash of everything that a result depends
    on."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *SOURCES],
        cwd=ROOT, check=True, capture_output=True).stdout.decode().split("\0")
    files = {name: ROOT / name for name in listed if name and (ROOT / name).is_file()}
    digest = hashlib.sha256()
    wanted = set()
    for folder, access in SWITCHES.items():
        wanted.add(CHECKOUT / folder / "Mutant.swift")
        text = SWITCH.replace("{access}", access)
        write(CHECKOUT / folder / "Mutant.swift", text.encode())
    for name in sorted(files):
        data = texts[name].encode() if name in texts else files[name].read_bytes()
        # Some tests read documents, but none of those that detect mutants.
        if not name.startswith("Docs/") and name != "README.md":
            digest.update(f"{name}\0{len(data)}\0".encode() + data)
        write(CHECKOUT / name, data)
        os.chmod(CHECKOUT / name, files[name].stat().st_mode & 0o777)
        wanted.add(CHECKOUT / name)
    for path in CHECKOUT.rglob("*"):
        if path.is_file() and path not in wanted and ".build" not in path.parts[len(CHECKOUT.parts):]:
            path.unlink()
    return digest.hexdigest()[:16]


def build():
    command = ["swift", "build", "--build-tests", "--quiet", "--package-path", CHECKOUT, "--scratch-path", BUILD]
    environment = dict(os.environ)
    if SUITE_2:
        prefix = subprocess.run(
            [ROOT / "Tests/Checks/PostQuantum/sodium.sh"], check=True, capture_output=True, text=True).stdout.strip()
        subprocess.run([ROOT / "Sources/Packaging/libsodium.sh", prefix, "shared"], check=True)
        environment["PKG_CONFIG_PATH"] = str(ROOT / ".build/sodium-link/pkgconfig")
        command += ["-Xlinker", "-rpath", "-Xlinker", f"{prefix}/lib", "-Xlinker", "--enable-new-dtags"]
    subprocess.run(command, check=True, env=environment)


# MARK: Testing

def run(number, tests, seconds_to_end):
    """Runs tests with a mutant on, one after another, in a separate process. Returns its output and exit code; None if it did
    not end on its own."""
    command = [BUILD / "debug" / "pushcryptPackageTests.xctest", "--testing-library", "swift-testing", "--no-parallel"]
    for test in tests:
        command += ["--filter", test]
    process = subprocess.Popen(
        command, cwd=CHECKOUT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_MSGQUEUE, (number, LIMIT)),
        env={**os.environ, "SWIFT_BACKTRACE": "enable=no", "SWIFT_DETERMINISTIC_HASHING": "1"})
    lines, failed_at = [], []

    def read():
        for line in process.stdout:
            lines.append(COLOUR.sub("", line.decode(errors="replace")))
            if not failed_at and FAILED.search(lines[-1]):
                failed_at.append(time.monotonic())

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    start, code = time.monotonic(), None
    # A mutant may make a test wait that has already failed.
    while code is None and time.monotonic() < (failed_at[0] + SECONDS_AFTER_FAILURE if failed_at else start + seconds_to_end):
        try:
            code = process.wait(timeout=0.1)
        except subprocess.TimeoutExpired:
            pass
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
    reader.join(timeout=10)
    return "".join(lines), code


def failed_test(output):
    found = FAILED.search(output)
    return found.group(1) if found else None


def judge(number, mutant):
    """Reports whether a mutant was killed, and by which test."""
    output, code = run(number, mutant.filters(), SECONDS_TO_END)
    if code == 0:
        return "survived", output
    test = failed_test(output)
    if test:
        return f"killed by {test}", output
    if code is None:
        return "hung", output
    # SIGKILL comes from outside, for example when memory runs out.
    if code < 0 and code != -signal.SIGKILL:
        return f"killed: the tests ended with signal {-code}", output
    # The command's handler, which the tests contain, reports a trap.
    crashed = re.search(r"^pushcrypt: error: crashed \((\w+)\)", output, re.M)
    if crashed:
        return f"killed: the tests ended with {crashed.group(1)}", output
    return "unclear", output


def check_filters(mutants, tests):
    """Every filter names an existing test."""
    listed = subprocess.run(
        [tests, "--testing-library", "swift-testing", "--list-tests"], check=True, capture_output=True,
        text=True).stdout.splitlines()
    problems = [
        f"{mutant.place}: '{mutant.name}' names tests that are not there: {test}"
        for mutant in mutants for test, pattern in zip(mutant.tests, mutant.filters())
        if not any(re.search(pattern, line) for line in listed)]
    if problems:
        fail(*problems)


def check_baseline(mutants):
    """With no mutant on, the tests of all of them pass."""
    check_filters(mutants, BUILD / "debug" / "pushcryptPackageTests.xctest")
    tests = sorted({pattern for mutant in mutants for pattern in mutant.filters()})
    output, code = run(0, tests, SECONDS_FOR_ALL)
    if code != 0:
        print(output[-4000:], file=sys.stderr)
        fail(f"without a mutant the tests do not pass: {failed_test(output) or 'they do not end'}")


# MARK: All of them

def main():
    # A shell that starts this in the background has it ignore SIGINT, which tests send.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    start = time.monotonic()
    mutants = read_tables()
    texts = mutated(mutants)
    if sys.argv[1:2] == ["--check"]:
        if len(sys.argv) != 3:
            fail("--check takes the program with the tests: .build/debug/pushcryptPackageTests.xctest")
        return check_filters(mutants, sys.argv[2])
    wanted_names = sys.argv[2 if SUITE_2 else 1:]
    WORK.mkdir(parents=True, exist_ok=True)
    STATE.mkdir(parents=True, exist_ok=True)
    sources = make_checkout(texts)
    kept_in = STATE / ("suite-2.json" if SUITE_2 else "results.json")
    kept = json.loads(kept_in.read_text()) if kept_in.exists() else {}
    if kept.get("sources") != sources:
        kept = {"sources": sources, "results": {}}
    results = kept["results"]
    named = [
        m for m in mutants
        if not wanted_names or any(text in m.name or text == m.place.split(":")[0] for text in wanted_names)]
    chosen = [m for m in named if SUITE_2 == (m.needs == "suite-2")]
    if not SUITE_2 and len(chosen) < len(named):
        print(f"SKIPPED: {len(named) - len(chosen)} mutants need libsodium 1.0.22: run mutants.py --suite-2", flush=True)
    if not chosen:
        fail("run them with" + ("out" if SUITE_2 else "") + " --suite-2" if named else "no mutant has such a name")
    print(f"{len(mutants)} mutants of {len(texts)} files, sources {sources}", flush=True)
    build()
    if not results:
        check_baseline(chosen)
    bad = []

    def tested(number, mutant):
        if (before := results.get(mutant.name)) and not wanted_names:
            return number, mutant, before, f"{before} (before)"
        begun = time.monotonic()
        result, output = judge(number, mutant)
        (STATE / f"{number}.log").write_text(output)
        return number, mutant, result, f"{result} ({time.monotonic() - begun:.1f} s)"

    pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count())
    try:
        runs = [pool.submit(tested, n, m) for n, m in enumerate(mutants, 1) if m in chosen]
        for done in concurrent.futures.as_completed(runs):
            number, mutant, result, shown = done.result()
            if mutant.equivalent:
                is_right = result == "survived"
                shown = f"equivalent: {mutant.equivalent}" if is_right else f"NOT EQUIVALENT: {shown}"
            else:
                is_right = result.startswith("killed")
            print(f"{number:3} {mutant.name}: {shown}", flush=True)
            if is_right:
                results[mutant.name] = result
                if not wanted_names:
                    kept_in.write_text(json.dumps(kept, indent=1))
            else:
                bad.append((number, mutant, result))
    finally:
        pool.shutdown(cancel_futures=True)
    if bad:
        fail(*(f"{m.place}: '{m.name}' {r}; its tests printed {STATE / f'{n}.log'}; again: Tests/Checks/Mutants/mutants.py {'--suite-2 ' if SUITE_2 else ''}'{m.name}'"
               for n, m, r in bad))
    equivalent = sum(1 for mutant in chosen if mutant.equivalent)
    print(f"figure: mutants{'-suite-2' if SUITE_2 else ''} total={len(chosen)} killed={len(chosen) - equivalent} equivalent={equivalent} "
          f"seconds={time.monotonic() - start:.0f}")


if __name__ == "__main__":
    main()
