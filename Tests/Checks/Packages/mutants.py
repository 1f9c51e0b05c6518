#!/usr/bin/env python3
"""Removes one check after another from a copy of each package, and expects the package's own tests to notice: `make nightly
PART=package-mutants`, which installs what is needed.

    mutants.py [LANGUAGE [NAME …]]   all, or those of a language, or those with one of these texts in their names
    mutants.py --check               only looks whether the tables fit the sources

LANGUAGE/mutants.txt has the mutants: a name, lines with `- ` that occur once in the package, as they are or as part of a line, and lines
with `+ ` in their place. A mutant must build and pass the tests of `SMOKE`, or its failures show nothing. `equivalent` says why no test can
notice a mutant; it must survive.

A run goes on where the last one stopped: what had the expected outcome is not run again, on the same package and with the same tests, unless
it was out of time. FRESH=1 runs all again.
"""
import concurrent.futures
import contextlib
import hashlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
TABLES = ROOT / "Tests/Checks/Packages"
LANGUAGES = ("python", "javascript", "java", "go")
DONE = ROOT / ".build/long/package-mutants"
BUILT = {"node_modules", "__pycache__", "build", "target"}
SECONDS = 300
LATE = re.compile(r"^more than|timed out after")
# The sources, and the commands in a copy of the package's folder, with ROOT and PUSHCRYPT_VECTORS: what must pass, and what must fail.
SOURCES = {"python": "src", "javascript": "lib", "java": "src/main/java", "go": "."}
PYTEST = 'PYTHONPATH=src "$ROOT/.build/interop/bin/python" -B -m pytest -q -x -p no:cacheprovider '
NODE = "node --test --test-reporter=dot --test-timeout=180000 "
# Without what pays only in longer runs.
JVM = "export JAVA_TOOL_OPTIONS='-XX:TieredStopAtLevel=1 -XX:+UseSerialGC'; "
JAVAC = JVM + "find src/main/java -name '*.java' >sources && javac --release 17 -Xlint:all -Werror -d smoke @sources"
# The package's classes are those of the smoke test.
JUNIT = JVM + (
    "junit=smoke:$(find /usr/share/java -name 'junit-*.jar' -o -name 'opentest4j*.jar' -o -name 'apiguardian*.jar' | tr '\\n' ':') && "
    "run() { java -cp tests:$junit org.junit.platform.console.ConsoleLauncher --details=summary --fail-if-no-tests --scan-classpath=tests \"$@\"; } && "
    "javac -cp $junit -d tests $(find src/test/java -name '*.java')"
)
GO = (
    'cache=$ROOT/.build/languages/go; env GODEBUG=goindex=0 GOSUMDB=off GOPROXY="file://$cache/proxy" GOMODCACHE="$cache/modules" '
    'GOCACHE="$cache/cache" GOFLAGS="-mod=mod -modfile=$cache/proxy/go.mod" go test -vet=off -failfast -parallel 16 '
)
SMOKE = {
    "python": f'{PYTEST} "tests/test_kit.py::test_envelopes[a-genuine-envelope]"',
    "javascript": f'{NODE} --test-name-pattern="an own message opens" test/kit.test.mjs',
    "java": f'{JAVAC} && java -cp smoke "$ROOT/Tests/Checks/Packages/java/Smoke.java"',
    "go": f"{GO} -run 'TestKit/envelopes/a-genuine-envelope$' .",
}
FILTER = re.compile(r"filter|_engine\.py|_lines\.py|line\.go")
# Both write their members with it.
SHARED = {"Json.java"}
# For mutants of the filter its tests, which wait for child processes; for the others all but those, the quick ones first.
TESTS = {
    "python": (f"{PYTEST} -m 'not command' $(ls tests/test_*.py | grep -v -e kit -e filter) tests/test_kit.py", f"{PYTEST} tests/test_filter.py"),
    "javascript": (
        f"{NODE} $(ls test/*.test.mjs | grep -v -e kit -e types -e filter) && {NODE} test/kit.test.mjs test/types.test.mjs", f"{NODE} test/filter.test.mjs"),
    "java": (f"{JUNIT} && run -N '.*(Filter|Kit|Misuse)Test' && run -n '.*(Kit|Misuse)Test'", f"{JUNIT} && run -n .*FilterTest"),
    "go": (f"{GO} . ./relay", f"{GO} ./filter"),
}


class Mutant:
    def __init__(self, language, block):
        self.language, self.name, self.equivalent = language, None, None
        self.before, self.after = ("\n".join(line[2:] for line in block if line.startswith(sign)) for sign in ("- ", "+ "))
        for line in block:
            key, colon, value = line.partition(": ")
            if line[:2] in ("- ", "+ "):
                continue
            if not colon or key not in ("mutant", "equivalent"):
                sys.exit(f"mutants: error: {language}: this is no line of a mutant: {line}")
            setattr(self, "name" if key == "mutant" else key, value)
        if not self.name or not self.before:
            sys.exit(f"mutants: error: {language}: a mutant without a name or text: {block}")

    def place(self, folder):
        """The one file that has the text, or `None`."""
        texts = {path: text for path, text in sources(self.language, folder) if self.before in text}
        return next(iter(texts.items())) if len(texts) == 1 and sum(text.count(self.before) for text in texts.values()) == 1 else None


def sources(language, folder):
    for path in sorted((folder / SOURCES[language]).rglob("*.*")):
        if path.suffix in (".py", ".js", ".java", ".go") and not path.name.endswith("_test.go"):
            yield path, path.read_text()


def table(language):
    blocks = (TABLES / language / "mutants.txt").read_text().split("\n\n")
    blocks = [[line for line in block.split("\n") if line and not line.startswith("# ")] for block in blocks]
    mutants = [Mutant(language, block) for block in blocks if block]
    folder = ROOT / "Sources/Languages" / language
    wrong = [f"{language}: {mutant.name}: its text is not there once" for mutant in mutants if not mutant.place(folder)]
    names = [mutant.name for mutant in mutants]
    return mutants, wrong + [f"{language}: two mutants are called {name}" for name in {name for name in names if names.count(name) > 1}]


def files(language):
    """The package's and the vectors, without what is built or only read by people."""
    for folder in (ROOT / "Sources/Languages" / language, ROOT / "Tests/Data/Vectors"):
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(ROOT)
            if path.is_file() and path.suffix != ".md" and not BUILT & {*name.parts}:
                yield str(name), path.read_bytes()


def places(language, mutants):
    """For each mutant the file that says that it had the expected outcome."""
    package = hashlib.sha256(repr((SMOKE[language], TESTS[language], *files(language))).encode())
    for mutant in mutants:
        own = package.copy()
        own.update(repr(vars(mutant)).encode())
        yield mutant, DONE / own.hexdigest()


def run(command, folder):
    """The end of the output of a command that fails, or `None`."""
    environment = {**os.environ, "PUSHCRYPT_VECTORS": str(ROOT / "Tests/Data/Vectors"), "ROOT": str(ROOT)}
    # A session apart, because tests stop and kill processes, and a mutant may choose the wrong ones.
    with subprocess.Popen(
            ["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace", start_new_session=True) as process:
        try:
            output, _ = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return f"more than {SECONDS} seconds: {command}"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    return f"{output[-2000:]}\n{command}" if process.returncode else None


def outcome(language, mutant=None, done=None):
    """What is wrong with a mutant, or with the package itself; or `None`."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary, language)
        built = shutil.ignore_patterns(*BUILT)
        shutil.copytree(ROOT / "Sources/Languages" / language, folder, ignore=built)
        tests = TESTS[language]
        if mutant:
            path, text = mutant.place(folder)
            path.write_text(text.replace(mutant.before, mutant.after))
            tests = tests if path.name in SHARED else [tests[FILTER.search(path.name.lower()) is not None]]
        if found := run(SMOKE[language], folder):
            return f"it is broken altogether: {found}"
        found = next(filter(None, (run(command, folder) for command in tests)), None)
    if mutant is None:
        return found
    # A busy machine is as slow as a mutant that hangs, so that is no outcome to keep.
    is_late = found is not None and LATE.search(found) is not None
    print(f"mutants: {language}: {mutant.name}: {'out of time' if is_late else 'noticed' if found else 'the tests pass'}", flush=True)
    if bool(found) == bool(mutant.equivalent):
        return f"noticed, so it is not equivalent: {found}" if found else "the tests pass"
    if not is_late:
        done.touch()
    return None


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--check"]
    languages = [arguments[0]] if arguments and arguments[0] in LANGUAGES else os.environ.get("LANGUAGES", " ".join(LANGUAGES)).split()
    tables = {language: table(language) for language in languages}
    if wrong := [problem for _, problems in tables.values() for problem in problems]:
        sys.exit("\n".join(f"mutants: error: {problem}" for problem in wrong))
    if "--check" in sys.argv:
        return
    if "go" in languages:
        # The modules that it needs, and its cache.
        subprocess.run([TABLES / "go.sh", "install"], cwd=ROOT, check=True)
    texts = arguments[1:] or [""]
    chosen = [mutant for mutants, _ in tables.values() for mutant in mutants if any(text in mutant.name for text in texts)]
    DONE.mkdir(parents=True, exist_ok=True)
    left = [(mutant, done) for language in languages for mutant, done in places(language, [mutant for mutant in chosen if mutant.language == language])
        if "FRESH" in os.environ or not done.exists()]
    for language in dict.fromkeys(mutant.language for mutant, _ in left):
        if found := outcome(language):
            sys.exit(f"mutants: error: {language}: the tests fail without a mutant: {found}")
    # Tests of the filter mostly wait.
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        outcomes = list(pool.map(lambda one: outcome(one[0].language, *one), left))
    failures = [f"{mutant.language}: {mutant.name}: {found}" for (mutant, _), found in zip(left, outcomes) if found]
    if failures:
        sys.exit("\n".join(f"mutants: error: {failure}" for failure in failures))
    noticed = [mutant.language for mutant in chosen if not mutant.equivalent]
    counts = " ".join(f"{language}={noticed.count(language)}" for language in languages)
    print(f"figure: package-mutants {counts} equivalent={len(chosen) - len(noticed)} unnoticed=0")


main()
