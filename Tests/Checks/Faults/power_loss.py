#!/usr/bin/env python3
"""Cuts the power after every call that changes a file, and checks every possible state of the disk.

Usage: power_loss.py [STORY ['CUT MODE']]    for example: power_loss.py alone '120 torn'
The environment's SEED chooses the mixtures.
"""
import functools, itertools, os, shutil, sys, time

import checker, disk_model, program, scene
from points import Seen, Trials
from story import Story

PART = "power_loss"
STORIES = {"alone": Story.tell, "beside-others": Story.tell_beside_others}
MIXTURES = 4


def begun(story, calls):
    """For each call, its step, and whether the step had already reported that it is done."""
    steps = iter(story.steps)
    step, is_said = next(steps), False
    for call in calls:
        yield step, is_said
        if call.kind == "mark":
            # After the last step only the other processes end.
            following = next(steps, None)
            step, is_said = following or step, following is None
        elif call.path == "stdout" and call.length and call.process not in story.others:
            is_said = True


def trial(story, calls, owners, seen):
    @functools.lru_cache(1)
    def disk_at(cut):
        """The disk after everything before the cut."""
        disk = disk_model.Disk(story.life.root)
        for call in calls[:cut]:
            disk.apply(call)
        return disk

    def one(point, folder):
        cut, mode = point.split()
        cut, mode = int(cut), int(mode) if mode.isdecimal() else mode
        disk = disk_at(cut)
        step, is_said = owners[cut]
        stores = scene.Scene(folder)
        # A guard that must be recreated takes what was sent more than ten minutes ago for shown.
        stores.late = int(time.time() - story.end)
        lay(disk.after(mode), story.life.root, folder)
        counts = {"cuts": 1, "acknowledged": int(is_said)}
        if seen.is_new(stores, step.name, is_said):
            bounds = checker.Bounds(step.after if is_said else step.before, step.after)
            try:
                checker.check(stores, bounds, step.repeat, replay_is_kept=False)
            except program.Failure as failure:
                raise program.Failure(f"in {step.name!r}{', after its answer' if is_said else ''}: {failure}") from None
            counts["states"] = 1
        return counts
    return one


def lay(files, old, new):
    for path, content in files.items():
        path = new / path.removeprefix(str(old)).lstrip("/")
        if content is None:
            path.mkdir(mode=0o700)
        else:
            path.write_bytes(content)
            path.chmod(0o600)


def plant(story, calls):
    """A store that never waits for the disk does not survive every cut."""
    calls = [call for call in calls if call.kind != "sync"]
    one = trial(story, calls, list(begun(story, calls)), Seen())
    for cut, mode in itertools.product(range(len(calls)), ("dropped", "names", "torn")):
        folder = story.life.root.parent / f"planted-{cut}-{mode}"
        one(f"{cut} {mode}", folder)
        shutil.rmtree(folder)


def main(arguments):
    seed = int(os.environ.get("SEED", "1"))
    print(f"SEED={seed}")
    modes = [*disk_model.MODES, *range(seed * MIXTURES, (seed + 1) * MIXTURES)]
    names = arguments[:1] or list(STORIES)
    with scene.scratch(PART) as folder:
        trials = Trials(PART, folder)
        steps = 0
        for name in names:
            (folder / name).mkdir()
            story = STORIES[name](Story(folder / name))
            calls = list(disk_model.calls(story.log.read_bytes()))
            owners = list(begun(story, calls))
            checker.finds("", lambda: plant(story, calls))
            # A mark is a moment too: the command has ended.
            points = arguments[1:] or [f"{cut} {mode}" for cut in range(len(calls)) for mode in modes]
            trials.run(name, trial(story, calls, owners, Seen()), points)
            steps += len(story.steps)
    trials.end(steps=steps, seed=seed)


if __name__ == "__main__":
    main(sys.argv[1:])
