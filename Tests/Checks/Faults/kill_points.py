#!/usr/bin/env python3
"""Kills each command at every system call that it makes, and checks the stores after each kill.

Usage: kill_points.py [CASE [CALL:NUMBER]]    for example: kill_points.py rotate-signer pwrite64:3
       kill_points.py suite-2                 all those of suite 2

A command without X-Wing leaves those of suite 2 out. PUSHCRYPT_PROGRAM names another command than the release build's.
"""
import collections, contextlib, re, signal, sqlite3, sys

import bytes_on_disk, cases, checker, program, scene
from points import Seen, Trials

PART = "kill_points"


def calls(case, folder):
    """Every system call of an undisturbed run: its name, and its number among the calls of this name in its thread."""
    log = folder.with_suffix(".log")
    done = case.run(case.life.copy(folder), program.strace(f"-o{log}"))
    if done.exit != 0:
        raise program.Failure(f"{case.name} fails undisturbed: {done.messages.decode()}")
    counts = collections.Counter()
    points = {}
    for line in log.read_text(errors="replace").splitlines():
        # strace makes the first call itself, to become the command. How often the heap grows depends on where it begins, which is
        # random; a run that is killed there has done what the call before did. The thread that waits for signals may come too late
        # to wait for any.
        if (match := re.match(r"(\d+) +(\w+)\(", line)) and match[2] not in ("execve", "brk", "rt_sigtimedwait"):
            thread, call = match.groups()
            counts[thread, call] += 1
            points[f"{call}:{counts[thread, call]}"] = None
    return points


def killed(case, point, folder):
    """Kills a run before the call is made."""
    call, number = point.split(":")
    stores = case.life.copy(folder)
    # The first thread that reaches this number is killed. Only an import has two, one of which reads lines and no
    # store.
    run = case.run(stores, program.strace(
        "-o/dev/null", f"-etrace={call}", f"-einject={call}:signal=KILL:when={number}"))
    if run.exit != -signal.SIGKILL:
        raise program.Failure(f"it was not killed, but ended with {run.exit}")
    return stores, run


def trial(case, seen):
    def one(point, folder):
        stores, run = killed(case, point, folder)
        counts = {"kills": 1, "acknowledged": int(case.is_acknowledged(run))}
        if seen.is_new(stores, case.is_acknowledged(run)):
            checker.check(stores, case.bounds(case.is_acknowledged(run)), case.repeat)
            counts["states"] = 1
        return counts
    return one


def plant(folder):
    """A log-out without secure_delete: the state goes, and its bytes stay."""
    case = cases.make("log-out", folder / "planted")
    stores = case.life.copy(folder / "planted-copy")
    with contextlib.closing(sqlite3.connect(stores.phone / bytes_on_disk.DATABASE)) as database:
        database.execute("PRAGMA secure_delete = OFF")
        database.execute("DELETE FROM states")
        database.commit()
    checker.check(stores, case.bounds(True), case.repeat)


def main(arguments):
    names = list(cases.SUITE_2) if arguments == ["suite-2"] else arguments[:1] or list(cases.ALL)
    if not arguments:
        if program.has_suite_2():
            names += cases.SUITE_2
        else:
            print("SKIPPED: cases of suite 2 need libsodium 1.0.22: make nightly PART=post-quantum")
    with scene.scratch(PART) as folder:
        checker.finds("what was destroyed lies in D", lambda: plant(folder))
        trials = Trials(PART, folder)
        for name in names:
            case = cases.make(name, folder / name)
            points = arguments[1:] or list(calls(case, folder / f"{name}-calls"))
            trials.run(name, trial(case, Seen()), points)
    trials.end(commands=len(names))


if __name__ == "__main__":
    main(sys.argv[1:])
