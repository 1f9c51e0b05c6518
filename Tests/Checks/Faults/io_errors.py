#!/usr/bin/env python3
"""Fails each call of each command that changes a file, or writes half of it, and checks the output and the stores.

Usage: io_errors.py [CASE ['NUMBER MODE CODE']]    for example: io_errors.py rotate-signer '12 once 28'
"""
import errno, json, re, sys

import cases, checker, program, scene
from points import Seen, Trials

PART = "io_errors"

# One call fails, as with a bad block or a signal; or every call from there on, as when a disk is full or gone.
PLANS = (
    f"once {errno.ENOSPC}", f"once {errno.EIO}", f"once {errno.EINTR}", f"on {errno.ENOSPC}", f"on {errno.EIO}",
    "half", f"half-on {errno.ENOSPC}",
)
# The allowed codes of a failure.
CODES = ("disk-full", "input-output")
# Standard output and a named file are not files of a store: the system's message is enough.
OUTPUT = "cannot write standard output"
NAMED = r"error: cannot (make|read|write|write into) '.*': (no space left on device|input/output error|interrupted system call)"


def plans(case, folder):
    """Every plan for every call of an undisturbed run."""
    log = folder.with_suffix(".log")
    stores = case.life.copy(folder)
    done = case.run(stores, environment=program.through_shim(stores.root, log))
    if done.exit != 0:
        raise program.Failure(f"{case.name} fails undisturbed: {done.messages.decode()}")
    kinds = [line.split(" ", 1)[0] for line in log.read_text().splitlines()]
    for number, kind in enumerate(kinds, 1):
        for plan in PLANS:
            # Only writes can be partial.
            if kind == "write" or not plan.startswith("half"):
                yield f"{number} {plan}"


def trial(case, seen):
    def one(plan, folder):
        stores = case.life.copy(folder)
        run = case.run(stores, environment=program.through_shim(stores.root, plan=plan))
        counts = {"faults": 1, "refused": int(run.exit != 0)}
        if run.exit != 0:
            said(case, run)
            done = is_done(case, stores)
            counts["refused-yet-done"] = int(done)
            text = run.messages.decode()
            if done and plan.split()[1] == "once" and not case.may_be_done and OUTPUT not in text and not re.search(NAMED, text):
                raise program.Failure(f"it was done and refused: {text.strip()}")
        elif case.says not in run.output + run.messages:
            raise program.Failure(f"it ended with 0 and did not say {case.says}")
        if seen.is_new(stores, run.exit):
            # On a disk that goes on failing, a destroyed key stays in the file until the log is next emptied.
            is_kept = run.exit == 0 and keeps(run) and not re.search("on ", plan.split(" ", 1)[1])
            checker.check(stores, case.bounds(is_kept), case.repeat, replay_is_kept=keeps(run))
            counts["states"] = 1
        return counts
    return one


def said(case, run):
    """A command that fails prints the reason and ends with 1; a push that does not open ends in the fallback, as on a
    phone."""
    text = run.messages.decode()
    if "Fatal error" in text or run.exit not in (1, 65):
        raise program.Failure(f"it ended with {run.exit}: {text}")
    if run.exit == 1 and (OUTPUT in text or re.search(NAMED, text)):
        return
    if run.exit == 65:
        answer = json.loads(run.output)
        if case.name.startswith("open") and answer["outcome"] == "fallback" and answer["code"] in CODES:
            return
    # The system's message, for a different file than the one that failed.
    if "No such file" in text:
        raise program.Failure(f"the reason is another one: {text.strip()}")
    if run.exit != 1 or not re.search(rf"(error: |\"message\":\")({'|'.join(CODES)}): cannot .{{10,}}", text):
        raise program.Failure(f"it ended with {run.exit} and said: {text.strip() or 'nothing'}")


def keeps(run):
    """A message is shown although the guard or the message's changes could not be written; a warning reports it."""
    return b"warning: " not in run.messages and b'"event":"warning"' not in run.messages


def is_done(case, stores):
    """Whether the database contains the change that the command reported as failed."""
    try:
        checker.look(stores, checker.Bounds(case.before, case.before))
        return False
    except program.Failure:
        return True


def main(arguments):
    names = arguments[:1] or [name for name in cases.ALL if "shared" not in name]
    with scene.scratch(PART) as folder:
        planted = cases.make("rotate-device", folder / "planted")
        checker.finds("said: nothing", lambda: said(planted, program.Run(1, b"", b"")))
        trials = Trials(PART, folder)
        for name in names:
            case = cases.make(name, folder / name)
            points = arguments[1:] or list(plans(case, folder / f"{name}-calls"))
            trials.run(name, trial(case, Seen()), points)
    trials.end(commands=len(names))


if __name__ == "__main__":
    main(sys.argv[1:])
