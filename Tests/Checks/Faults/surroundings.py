#!/usr/bin/env python3
"""Runs each command where something is missing: reads that fail or give half, no locks, no /proc or /dev, little address space, few descriptors.

Usage: surroundings.py [CASE [PLAN]]    for example: surroundings.py rotate-signer 'read EIO 7'
"""
import os, re, sys

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
    yield "no locks"
    for size in ADDRESS_SPACE:
        yield f"space {size}"
    for count in DESCRIPTORS:
        yield f"descriptors {count}"
    if os.geteuid() == 0:
        yield from ("without /proc", "without /dev", "without random")


def before(plan):
    """The command before the command."""
    kind, *words = plan.split()
    if plan.startswith("read EIO"):
        return program.strace("-e", "trace=pread64", "-e", f"inject=pread64:error=EIO:when={words[1]}", "-o", "/dev/null")
    if plan == "no locks":
        return program.strace("-e", "trace=fcntl", "-e", "inject=fcntl:error=ENOLCK", "-o", "/dev/null")
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
    if plan == "no locks" and "another process" in text:
        raise Failure(f"a file system without locks counts as another process: {text}")


def main(arguments):
    names = arguments[:1] or [name for name in cases.ALL if "shared" not in name]
    with scene.scratch(PART) as folder:
        trials = Trials(PART, folder)
        for name in names:
            case = cases.make(name, folder / name)
            trials.run(name, trial(case), arguments[1:] or list(plans(case)))
    trials.end(commands=len(names))


if __name__ == "__main__":
    main(sys.argv[1:])
