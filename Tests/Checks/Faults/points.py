"""Runs very many small trials on two workers, and prints how to repeat a failure."""
import hashlib, itertools, multiprocessing, os, pathlib, shlex, shutil, sys, time, traceback

from program import Failure

WORKERS = 2
# The most failures of one name to report.
LISTED = 3


class Trials:
    """Trials of one part. Each gets a folder that does not exist, and returns counts that are added up."""

    def __init__(self, part, folder):
        self.part = part
        self.folder = pathlib.Path(folder)
        self.counts = {}
        self.failures = 0

    def run(self, name, trial, items):
        """Runs `trial(item, folder)` for every item. Everything else it needs must exist before the workers are forked.
        """
        start = time.monotonic()
        items = list(items)
        if not items:
            sys.exit(f"{self.part}: there is nothing to try in {name}: has what is recorded another form now?")
        global _trial, _folder
        _trial, _folder = trial, self.folder
        counts, listed = {}, self.failures + LISTED
        with multiprocessing.get_context("fork").Pool(WORKERS) as pool:
            for item, result, problem in pool.imap_unordered(_attempt, items, chunksize=8):
                for key, number in result.items():
                    counts[key] = counts.get(key, 0) + number
                if problem is not None:
                    self.failures += 1
                    if self.failures > listed:
                        continue
                    print(f"FAILED: {problem}\n    again: Tests/Checks/Faults/{self.part}.py {name} {shlex.quote(str(item))}", flush=True)
        for key, number in counts.items():
            self.counts[key] = self.counts.get(key, 0) + number
        line = " ".join(f"{key}={number}" for key, number in counts.items())
        print(f"{name}: {line} seconds={time.monotonic() - start:.0f}", flush=True)

    def end(self, **more):
        """Prints the figure, if every trial passed."""
        if self.failures:
            sys.exit(f"{self.part}: {self.failures} trials have failed")
        line = " ".join(f"{key}={number}" for key, number in (self.counts | more).items())
        print(f"figure: {self.part.replace('_', '-')} {line} failed=0")


_serial = itertools.count()


def _attempt(item):
    folder = _folder / f"{os.getpid()}-{next(_serial)}"
    try:
        return item, _trial(item, folder), None
    except Failure as failure:
        return item, {}, f"{item}: {failure}"
    except Exception:
        return item, {}, f"{item}: {traceback.format_exc()}"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Seen:
    """The states of the stores already checked in this process: equal bytes are checked once."""

    def __init__(self):
        self.states = set()

    def is_new(self, stores, *circumstances):
        state = hashlib.sha256(repr(circumstances).encode())
        for file in sorted(stores.root.rglob("*")):
            # The log's index is rebuilt from the log after the last process has ended.
            if not file.name.endswith("-shm"):
                content = file.read_bytes() if file.is_file() else b""
                state.update(f"{file.relative_to(stores.root)} {file.is_file()} {len(content)}\n".encode() + content)
        digest = state.digest()
        if digest in self.states:
            return False
        self.states.add(digest)
        return True
