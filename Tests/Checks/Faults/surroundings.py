#!/usr/bin/env python3
"""Runs each command where something is missing: reads that fail or give half, no /proc or /dev, little address space, few
descriptors, a full disk of small blocks, the same command at once, and a stop at each byte of the input.

Usage: surroundings.py [CASE [PLAN]]    for example: surroundings.py rotate-sender 'read EIO 7'
"""
import contextlib, errno, json, os, re, signal, subprocess, sys, threading

import cases, checker, program, scene
from points import Trials
from program import Failure

PART = "surroundings"
# In KiB: from where nothing starts to where all does.
ADDRESS_SPACE = range(24_000, 160_000, 4_000)
DESCRIPTORS = range(3, 16)
MOST_READS = 80


def plans(case):
    for number in range(1, MOST_READS):
        yield f"read EIO {number}"
    for number in range(1, MOST_READS, 3):
        yield f"read short {number}"
    for size in ADDRESS_SPACE:
        yield f"space {size}"
    for count in DESCRIPTORS:
        yield f"descriptors {count}"
    yield "twice"
    if os.geteuid() == 0:
        yield from ("without /proc", "without /dev", "without random")


def before(plan):
    """The command before the command."""
    kind, *words = plan.split()
    if plan.startswith("read EIO"):
        return program.strace("-e", "trace=pread64", "-e", f"inject=pread64:error=EIO:when={words[1]}", "-o", "/dev/null")
    if kind == "space":
        return ("prlimit", f"--as={int(words[0]) << 10}", "--core=0")
    if kind == "descriptors":
        return ("prlimit", f"--nofile={words[0]}")
    if kind == "without":
        place = "/dev" if words[0] == "random" else words[0]
        inject = "strace -f -qq -o /tmp/none -e inject=getrandom:error=ENOSYS --" if words[0] == "random" else ""
        # The stores are in /dev/shm.
        back = "&& mkdir /dev/shm && mount --bind /mnt /dev/shm" if place == "/dev" else ""
        mount = f"mount --bind /dev/shm /mnt && mount -t tmpfs none {place} {back}"
        return ("unshare", "-m", "sh", "-c", f'{mount} && exec {inject} "$@"', "sh")
    return ()


def trial(case):
    def one(plan, folder):
        stores = case.life.copy(folder)
        if plan == "twice":
            return twice(case, stores)
        environment = dict(program.CHEAP)
        if plan.startswith("read short"):
            environment = program.through_shim(stores.root) | {"FAULTS_SHORT": plan.split()[2]}
        run = case.run(stores, before=before(plan), environment=environment)
        if not is_started(plan, run):
            return {"runs": 1, "not-started": 1}
        judge(plan, run)
        checker.check(
            stores, case.bounds(case.is_acknowledged(run)), case.repeat,
            replay_is_kept=b"warning" not in run.messages and run.exit in (0, 65))
        return {"runs": 1, "refused": int(run.exit != 0), "crash-lines": int(b"crashed (" in run.messages)}
    return one


def is_started(plan, run):
    """Whether the program was. Without room for it, or if its libraries cannot be read, the system may refuse to."""
    text = run.messages.decode(errors="replace")
    kind, *words = plan.split()
    limits = {"space": ADDRESS_SPACE, "descriptors": DESCRIPTORS}.get(kind)
    if limits and int(words[0]) < limits[-1] and run.exit in (126, 127) and re.search(
            r"error while loading shared libraries|prlimit: .*(Cannot allocate memory|Too many open files)", text):
        return False
    if plan.startswith("read EIO") and run.exit == 127 and "cannot read file data: Input/output error" in text:
        return False
    if re.search(r"^(\S*/)?(prlimit|unshare|strace|sh|mount): |error while loading shared libraries", text, re.M):
        raise Failure(f"the program was not started: {text}")
    return True


def judge(plan, run):
    text = run.messages.decode(errors="replace")
    if run.exit < 0 or run.exit not in (0, 1, 64, 65):
        raise Failure(f"it ended with {run.exit}: {text}")
    if run.exit != 0 and not text:
        raise Failure(f"it ended with {run.exit} and said nothing")
    if "Fatal error" in text and "crashed (" not in text:
        raise Failure(text)
    if plan.startswith("read EIO") and "restore it from a backup" in text:
        raise Failure(f"a read that failed counts as damage: {text}")


def twice(case, stores):
    """Two at once: each succeeds, or says why not; and the stores are as after one or after two."""
    runs = []
    threads = [threading.Thread(target=lambda: runs.append(case.run(stores))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if len(runs) != 2:
        raise Failure("one did not end")
    for run in runs:
        judge("twice", run)
    if not any(run.exit == 0 or run.exit in case.again for run in runs):
        raise Failure(f"none succeeded: {[run.messages.decode() for run in runs]}")
    for store in filter(os.path.exists, stores.stores):
        found = stores.run(store, "doctor")
        if b"problem" in found.output:
            raise Failure(f"doctor: {found.output.decode()}")
    return {"pairs": 1}


# MARK: Stops

def stops(folder):
    """A signal at each byte of three lines: two processes on one pipe answer each line once."""
    with scene_of_seal(folder) as (store, lines):
        text = b"".join(lines)

        def one(position, _):
            reader, writer = os.pipe()
            first = seal(store, reader)
            os.write(writer, text[:position])
            # Now and then before it reads, or reads again.
            if position % 3:
                wait_for_lines(first, text[:position].count(b"\n"))
            first.send_signal(signal.SIGTERM)
            os.write(writer, text[position:])
            os.close(writer)
            answers = []
            for process in (first, None):
                process = process or seal(store, reader)
                output, messages = process.communicate(timeout=program.LIMIT)
                answers += getattr(process, "early", []) + output.splitlines()
                if process.returncode not in (0, -signal.SIGTERM):
                    raise Failure(f"it ended with {process.returncode}: {messages.decode()} {answers}")
            os.close(reader)
            found = [json.loads(answer) for answer in answers]
            if sorted(a.get("n", -1) for a in found) != list(range(len(lines))) or any("error" in a for a in found):
                raise Failure(f"answered: {[(a.get('n'), a.get('error')) for a in found]}")
            return {"stops": 1}

        yield one, range(len(text) + 1)


@contextlib.contextmanager
def scene_of_seal(folder):
    stores = scene.Scene(folder)
    folder.mkdir()
    stores.must(stores.provider, "init")
    stores.must(stores.provider, "keygen", "sender", "--topic", scene.APP)
    key = program.must(["keygen", "device", "-o", folder / "key"])
    stores.must(stores.provider, "device", "add", scene.PHONE, "-", input=key)
    yield stores.provider, [json.dumps(scene.request(scene.PHONE, "x") | {"n": n}).encode() + b"\n" for n in range(3)]


def seal(store, reader):
    return subprocess.Popen(
        [program.PUSHCRYPT, "--store", store, "seal", "--batch"], stdin=reader, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, env=program.ENVIRONMENT)


def wait_for_lines(process, count):
    process.early = [process.stdout.readline().rstrip(b"\n") for _ in range(count)]


# MARK: Disks

def small_blocks(folder):
    """Fills a file system with blocks of 1 KiB but for some: a command says that the disk is full, and one that does not is done."""
    if os.geteuid() != 0:
        print("SKIPPED: a disk of small blocks (needs the right to mount)")
        return
    image, place = folder / "disk", folder / "mounted"
    place.mkdir()
    with open(image, "wb") as file:
        file.truncate(4 << 20)
    subprocess.run(["mkfs.ext4", "-q", "-b", "1024", "-O", "^has_journal", "-m", "0", image], check=True)
    if subprocess.run(["mount", "-o", "loop", image, place], capture_output=True).returncode != 0:
        print("SKIPPED: a disk of small blocks (no loop device)")
        return
    try:
        with scene_of_seal(place / "life") as (store, lines):
            counts = {"disks": 0, "full": 0, "written": 0}
            title = b""
            for free in range(0, 480, 3):
                filler = place / "filler"
                filler.unlink(missing_ok=True)
                fill(filler, place, free)
                new = f"t{free}"
                for arguments, given in (
                        (["config", "set", "title", new], b""), (["seal", "--batch"], lines[0]), (["device", "list"], b"")):
                    run = program.run(["--store", store, *arguments], given)
                    judge("disk", run)
                    if b"crashed" in run.messages:
                        raise Failure(f"{free} blocks free: {run.messages.decode()}")
                    if run.exit == 1 and b"disk-full" not in run.messages and b"room" not in run.messages:
                        raise Failure(f"{free} blocks free: {run.messages.decode()}")
                    counts["full"] += run.exit != 0
                    if arguments[0] == "config" and run.exit == 0:
                        title = new.encode()
                        counts["written"] += 1
                filler.unlink()
                kept = program.must(["--store", store, "config", "get", "title"]).strip() if title else title
                if kept != title:
                    raise Failure(f"{free} blocks free: the title is {kept}, and {title} was acknowledged")
                counts["disks"] += 1
            if not counts["full"] or not counts["written"]:
                raise Failure(f"the disk was never full, or always: {counts}")
            return counts
    finally:
        subprocess.run(["umount", "-l", place], check=True)


def fill(filler, place, free):
    """Leaves so many blocks."""
    with open(filler, "wb", buffering=0) as file:
        with contextlib.suppress(OSError):
            while file.write(bytes(1024)):
                pass
        size = max(0, file.tell() - free * 1024)
        file.truncate(size)
        os.fsync(file.fileno())


# MARK: Backups

def backups(folder):
    """Backups while devices are added, and restores of each: what was acknowledged before is in it, in order."""
    counts = {"backups": 0, "devices": 0}
    with scene_of_seal(folder) as (store, _):
        ended = threading.Event()
        added = [0]
        problems = []

        def add():
            try:
                while not ended.is_set():
                    number = added[0]
                    key = program.must(["keygen", "device", "-o", folder / f"k{number}"])
                    program.must(["--store", store, "device", "add", f"d{number:05}", "-"], key)
                    added[0] += 1
            except Exception as problem:
                problems.append(problem)

        thread = threading.Thread(target=add)
        thread.start()
        try:
            for number in range(40):
                least = added[0]
                program.must(["--store", store, "backup", folder / f"b{number}", "--key-output", folder / f"s{number}"])
                most = added[0] + 1
                copy = folder / f"r{number}"
                program.must(["--store", copy, "restore", folder / f"b{number}", "--key", folder / f"s{number}"])
                listed = program.must(["--store", copy, "device", "list"]).decode().split("\n")
                names = [line.split()[0] for line in listed if line.startswith("d")]
                if names != [f"d{n:05}" for n in range(len(names))] or not least <= len(names) <= most:
                    raise Failure(f"backup {number} has {len(names)} devices of {least} to {most}")
                counts["backups"] += 1
                counts["devices"] = len(names)
        finally:
            ended.set()
            thread.join()
        if problems:
            raise problems[0]
        if not counts["devices"]:
            raise Failure("no backup has a device")
    return counts


def main(arguments):
    names = arguments[:1] or [name for name in cases.ALL if "shared" not in name]
    with scene.scratch(PART) as folder:
        trials = Trials(PART, folder)
        for name in names:
            if name in ("stops", "disk", "backups"):
                continue
            case = cases.make(name, folder / name)
            trials.run(name, trial(case), arguments[1:] or list(plans(case)))
        if not arguments or names == ["stops"]:
            for one, positions in stops(folder / "stops"):
                trials.run("stops", one, [int(n) for n in arguments[1:]] or positions)
        for name, body in (("disk", small_blocks), ("backups", backups)):
            if not arguments or names == [name]:
                (folder / f"of-{name}").mkdir()
                trials.run(name, lambda _, __: body(folder / f"of-{name}" / "life" if body is backups else folder / f"of-{name}") or {}, [0])
    trials.end(commands=len(names))


if __name__ == "__main__":
    main(sys.argv[1:])
