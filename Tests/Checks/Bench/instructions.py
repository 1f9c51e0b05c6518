#!/usr/bin/env python3
"""Counts the instructions that sealing, opening, a batch, a lookup and a command take, and compares them with recorded ceilings.

Usage: instructions.py check   fails for a count more than 1 % above its ceiling; also proves that it notices a planted slowdown
       instructions.py record  writes the ceilings again

`make check` checks and `make record` records, after the release build of the command and of PushcryptBench. Callgrind counts, so
another process on the machine changes nothing. What libsodium does is left out, because it chooses its code by the processor; the C
library would do the same, and is told which processor to expect. The kernel is not counted: it shows in system calls only.
"""

import concurrent.futures, json, os, platform, re, shutil, sqlite3, subprocess, sys, tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
CEILINGS = HERE / "ceilings.tsv"
RELEASE = ROOT / ".build/release"
TOLERANCE = 0.01
# The processor's features that the C library chooses code by, all off.
FEATURES = "AVX,AVX2,BMI1,BMI2,ERMS,FSRM,FMA,FMA4,LZCNT,MOVBE,POPCNT,RTM,SSE3,SSSE3,SSE4_1,SSE4_2,XSAVE,XSAVEC"
PAYLOAD = {
    "aps": {
        "alert": {
            "title": "Table for two",
            "body": "See you at 8 on the terrace, they keep the table for us until a quarter past",
        },
        "sound": "default",
        "thread-id": "chat-c41",
    },
    "chat": "c41",
    "message": "7182",
}
TOPIC = "com.example.app"
DEVICES = 8


class Failure(Exception):
    """What is printed instead of counts."""


# MARK: Counting


class Counts:
    """The instructions and system calls of one process, from the file that callgrind wrote."""

    def __init__(self, file: Path):
        names: dict[str, str] = {}

        def name(text: str) -> str:
            number, _, rest = text.partition(" ")
            if rest:
                names[number] = rest
            return names.get(number, number)

        total, calls, inside = 0, 0, 0
        here = there = ""
        is_call = False
        with open(file) as lines:
            for line in lines:
                if line[0] in "0123456789+-*":
                    costs = line.split()[1:]
                    if is_call:
                        # What a call costs, with all that it calls.
                        if "libsodium" in there and "libsodium" not in here and costs:
                            inside += int(costs[0])
                        is_call, there = False, here
                    elif costs:
                        total += int(costs[0])
                        calls += int(costs[1]) if len(costs) > 1 else 0
                elif line.startswith("ob="):
                    here = there = name(line[3:].strip())
                elif line.startswith("cob="):
                    there = name(line[4:].strip())
                elif line.startswith("calls="):
                    is_call = True
        if inside == 0:
            raise Failure(f"{file} has no call into libsodium: the count would not be outside it")
        self.instructions = total - inside
        self.system_calls = calls


def run(command: list[str], **options) -> bytes:
    """Runs a command; raises what it says when it fails."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    result = subprocess.run(command, env=environment(), **options)
    if result.returncode != 0:
        said = result.stderr.decode(errors="replace").strip()
        raise Failure(f"{' '.join(command)} ended with {result.returncode}: {said[-2000:]}")
    return result.stdout


def environment() -> dict[str, str]:
    """The same for everybody. Swift's hashes would otherwise be others in every process."""
    tunables = "glibc.cpu.hwcaps=" + ",".join("-" + feature for feature in FEATURES.split(","))
    return {"GLIBC_TUNABLES": tunables, "SWIFT_DETERMINISTIC_HASHING": "1", "LC_ALL": "C"}


class Bench:
    """Programs and files in a folder whose path is equally long everywhere."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.files = 0
        self.command, self.bench = (self.copy(name) for name in ("pushcrypt", "PushcryptBench"))
        (folder / "payload.json").write_text(json.dumps(PAYLOAD, separators=(",", ":")))
        self.make_stores()

    def copy(self, name: str) -> str:
        """Like an installed program."""
        run(["strip", "-o", str(self.folder / name), str(RELEASE / name)])
        return str(self.folder / name)

    def make_stores(self) -> None:
        def pushcrypt(store: str, *arguments: str) -> bytes:
            return run([self.command, "--store", str(self.folder / store), *arguments])

        pushcrypt("provider", "init")
        pushcrypt("provider", "key", "new", "provider")
        for number in range(DEVICES):
            pushcrypt(f"phone{number}", "init")
            pushcrypt(f"phone{number}", "key", "new", "device")
            record = self.folder / f"record{number}"
            record.write_bytes(pushcrypt(f"phone{number}", "key", "show", "--json"))
            pushcrypt("provider", "device", "add", f"phone{number}", str(record))

    def counts(self, command: list[str], **options) -> Counts:
        """Runs a command under callgrind."""
        self.files += 1
        output = self.folder / f"callgrind{self.files}"
        callgrind = ["valgrind", "--tool=callgrind", "--collect-systime=yes", "--demangle=no", "--quiet"]
        callgrind.append(f"--callgrind-out-file={output}")
        run(callgrind + command, **options)
        return Counts(output)

    def each(self, few: int, many: int, command: list[str], lines=None) -> float:
        """What one more costs; `{}` stands for how many there are."""

        def count(number: int) -> int:
            words = [word.replace("{}", str(number)) for word in command]
            if lines is None:
                return self.counts(words).instructions
            # Files, because a pipe takes and gives other pieces on a busy machine.
            file = self.folder / f"lines{number}"
            file.write_bytes(lines(number))
            with open(file, "rb") as standard_input, open(f"{file}.sealed", "wb") as standard_output:
                return self.counts(words, stdin=standard_input, stdout=standard_output).instructions

        return (count(many) - count(few)) / (many - few)

    # MARK: What is counted

    def lines(self, count: int) -> bytes:
        return b"".join(
            json.dumps({"to": f"phone{number % DEVICES}", "payload": PAYLOAD, "n": number}, separators=(",", ":")).encode() + b"\n"
            for number in range(count)
        )

    def seal_once(self) -> Counts:
        store, payload = str(self.folder / "provider"), str(self.folder / "payload.json")
        return self.counts([self.command, "--store", store, "seal", "--to", "phone1", "--topic", TOPIC, payload])

    def measure(self) -> dict[str, float]:
        """Every count by its name."""
        batch = [self.command, "--store", str(self.folder / "provider"), "seal", "--batch", "--jobs", "1", "--topic", TOPIC]
        # Alone, because it has fewer system calls if nobody else uses the store.
        once = self.seal_once()
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            each = {
                "library seal": pool.submit(self.each, 20, 120, [self.bench, "seal", "{}"]),
                "library open": pool.submit(self.each, 20, 120, [self.bench, "open", "{}"]),
                # Both many times a chunk, so that both have as many lines a chunk.
                "batch line": pool.submit(self.each, 200, 1400, batch, self.lines),
                "device found among 1,000,000": pool.submit(self.each, 100, 600, [self.bench, "find", "{}", million()]),
            }
            found = {name: future.result() for name, future in each.items()}
            found["one seal command"] = once.instructions
            found["system calls of one seal command"] = once.system_calls
        return found


def million() -> str:
    """A key store with a million devices, made when there is none that this version opens."""
    store = ROOT / ".build/million-devices"
    bench = str(RELEASE / "PushcryptBench")
    try:
        run([bench, "find", "1", str(store)])
    except Failure:
        shutil.rmtree(store, ignore_errors=True)
        run([bench, "make-store", str(store)])
    return str(store)


# MARK: Ceilings


def system() -> str:
    """Where ceilings hold: other processors have other instructions, and other systems other libraries."""
    release = platform.freedesktop_os_release() if sys.platform == "linux" else {}
    return f"{release.get('ID', sys.platform)} {release.get('VERSION_ID', '')} {platform.machine()}"


def versions() -> str:
    """What may move a count although no source has changed."""
    said = subprocess.run(["swift", "--version"], capture_output=True, text=True).stdout
    swift = re.search(r"Swift version (\S+)", said)
    return f"Swift {swift[1] if swift else '?'}, {os.confstr('CS_GNU_LIBC_VERSION')}, SQLite {sqlite3.sqlite_version}"


def read_ceilings() -> dict[str, str]:
    rows = (line.split("\t") for line in CEILINGS.read_text().splitlines() if line and not line.startswith("#"))
    return {name: value for name, value in rows}


def write_ceilings(counts: dict[str, float]) -> None:
    rows = {"system": system(), "versions": versions()} | {name: str(round(count)) for name, count in counts.items()}
    CEILINGS.write_text(
        "# What instructions.py counted when `make record` ran: instructions outside libsodium, and system calls.\n"
        + "".join(f"{name}\t{value}\n" for name, value in rows.items())
    )


def excess(count: float, ceiling: str) -> float:
    """How far a count is above its ceiling, as a share of it."""
    return count / int(ceiling) - 1


def compare(counts: dict[str, float], ceilings: dict[str, str]) -> list[str]:
    """What is wrong, a line for each count."""
    complaints = []
    for name, count in counts.items():
        if name not in ceilings:
            complaints.append(f"{name}: {count:,.0f}, and no ceiling is recorded")
        elif excess(count, ceilings[name]) > TOLERANCE:
            above = 100 * excess(count, ceilings[name])
            complaints.append(f"{name}: {count:,.0f}, which is {above:.1f} % above the recorded {int(ceilings[name]):,}")
    complaints += [f"{name}: a ceiling is recorded, and nothing is counted" for name in ceilings if name not in counts]
    return complaints


def check(bench: Bench) -> int:
    ceilings = read_ceilings()
    recorded = ceilings.pop("versions"), ceilings.pop("system")
    counts = bench.measure()
    complaints = compare(counts, ceilings)
    for name, count in counts.items():
        if name in ceilings:
            print(f"instructions: {name}: {round(count)}")
            if excess(count, ceilings[name]) < -TOLERANCE:
                print(f"{name}: {-100 * excess(count, ceilings[name]):.1f} % below its ceiling: record it with make record")
    # A message in thirty is sealed twice.
    planted = {"library seal": bench.each(20, 120, [bench.bench, "seal", "{}", "slower"])}
    if excess(planted["library seal"], str(round(counts["library seal"]))) <= TOLERANCE:
        complaints.append("a planted slowdown of 3 % is not noticed")
    for complaint in complaints:
        print(f"error: instructions: {complaint}", file=sys.stderr)
    if complaints:
        print("hint: make it faster again; if it is worth that, make record, and give the reason in the commit", file=sys.stderr)
        if recorded[0] != versions():
            print(f"hint: recorded with {recorded[0]}; here is {versions()}", file=sys.stderr)
    return 1 if complaints else 0


def main() -> int:
    what = sys.argv[1] if len(sys.argv) == 2 else ""
    if what not in ("check", "record"):
        print(__doc__, file=sys.stderr)
        return 64
    if shutil.which("valgrind") is None:
        print("error: instructions: there is no valgrind: make setup PART=test installs it", file=sys.stderr)
        return 1
    if what == "check" and read_ceilings()["system"] != system():
        print(f"SKIPPED: instructions: the ceilings hold for {read_ceilings()['system']}, this is {system()}")
        return 0
    try:
        # Not below TMPDIR, whose length is another one everywhere.
        with tempfile.TemporaryDirectory(prefix="pushcrypt-", dir="/tmp") as folder:
            bench = Bench(Path(folder))
            if what == "check":
                return check(bench)
            write_ceilings(bench.measure())
            print(CEILINGS.read_text(), end="")
            return 0
    except Failure as failure:
        print(f"error: instructions: {failure}", file=sys.stderr)
        return 1


sys.exit(main())
