"""A disk that loses power: its possible contents after each recorded call.

The content of a file is certain up to its last fsync. Its name is certain once its directory was fsynced, not by the
file's own fsync. Everything since may be present or absent, in any mixture.
"""
import dataclasses, os, pathlib, random

SECTOR = 512

# The handling of data and names that were not synchronised.
MODES = ("kept", "dropped", "names", "contents", "torn")


@dataclasses.dataclass(frozen=True)
class Call:
    """One line of the shim's log. The recorder inserts `mark`."""
    kind: str
    process: int = 0
    descriptor: int = 0
    offset: int = 0
    length: int = 0
    path: str = ""
    second: str = ""
    data: bytes = b""


def calls(log):
    """Reads a log that was recorded with its data."""
    position = 0
    while position < len(log):
        end = log.index(b"\n", position)
        kind, *rest = log[position:end].decode().split(" ", 5)
        position = end + 1
        if kind == "mark":
            yield Call("mark", path=rest[0])
            continue
        process, descriptor, offset, length = map(int, rest[:4])
        path, _, second = rest[4].partition("\t")
        data = log[position:position + length] if kind == "write" else b""
        position += len(data)
        yield Call(kind, process, descriptor, offset, length, os.path.normpath(path), second, data)


class File:
    """One file, independent of its name. `stable` is certain; `pending` are the later writes and truncations."""

    def __init__(self):
        self.stable = bytearray()
        self.pending = []

    def sync(self):
        for change in self.pending:
            change(self.stable)
        self.pending = []


def write(data, offset):
    def change(content, keeps=lambda: True):
        # Each sector is complete or missing; the length of the file is as if all were written.
        if len(content) < offset + len(data):
            content.extend(bytes(offset + len(data) - len(content)))
        position = offset
        while position < offset + len(data):
            end = min((position // SECTOR + 1) * SECTOR, offset + len(data))
            if keeps():
                content[position:end] = data[position - offset:end - offset]
            position = end
    return change


def truncate(size):
    def change(content, keeps=lambda: True):
        if keeps():
            del content[size:]
            content.extend(bytes(size - len(content)))
    return change


class Disk:
    """The operations on the files below one folder, and which of them are certain."""

    def __init__(self, root):
        self.root = str(root)
        # From name to file, or None for a directory: as a program sees it, and as is certain.
        self.names, self.stable = {self.root: None}, {self.root: None}
        # The later changes of names, each with the directory whose fsync makes it certain.
        self.pending = []
        self.open = {}

    def apply(self, call):
        match call.kind:
            case "create" if call.path not in self.names:
                file = File()
                self._rename(call.path, {call.path: file})
                self.open[call.process, call.descriptor] = file
            case "create" | "open":
                self.open[call.process, call.descriptor] = self.names[call.path] or call.path
            case "write" if call.path != "stdout":
                self.open[call.process, call.descriptor].pending.append(write(call.data, call.offset))
            case "truncate":
                self.open[call.process, call.descriptor].pending.append(truncate(call.offset))
            case "sync":
                target = self.open[call.process, call.descriptor]
                self._sync_directory(target) if isinstance(target, str) else target.sync()
            case "mkdir":
                self._rename(call.path, {call.path: None})
            case "unlink":
                self._rename(call.path, {call.path: "gone"})
            case "rename":
                self._rename(call.path, {call.path: "gone", call.second: self.names[call.path]})
            # Standard output is on no disk; modes and marks change no bytes.
            case "write" | "chmod" | "mark":
                pass
            case _:
                raise ValueError(f"the model knows no call of the kind {call.kind}")

    def _rename(self, path, changes):
        _change(self.names, changes)
        self.pending.append((str(pathlib.PurePath(path).parent), changes))

    def _sync_directory(self, path):
        for directory, changes in self.pending:
            if directory == path:
                _change(self.stable, changes)
        self.pending = [entry for entry in self.pending if entry[0] != path]

    # MARK: After the power is back

    def after(self, mode):
        """The files as path and content, and the directories as path and None; a number is a seed for a mixture."""
        chance = random.Random(mode)
        names = dict(self.stable)
        for _, changes in self.pending:
            if mode in ("kept", "names", "torn") or isinstance(mode, int) and chance.random() < 0.5:
                _change(names, changes)
        found = {}
        for path in sorted(names):
            # Files in a missing directory cannot be reached.
            if path != self.root and str(pathlib.PurePath(path).parent) not in found:
                continue
            file = names[path]
            # The log's index is in memory only, and recreated.
            if not path.endswith("-shm"):
                found[path] = None if file is None else self._content(file, mode, chance)
        return found

    def _content(self, file, mode, chance):
        content = bytearray(file.stable)
        for change in file.pending:
            if mode in ("kept", "contents") or isinstance(mode, int) and chance.random() < 0.5:
                change(content)
            elif mode == "torn":
                change(content, lambda: chance.random() < 0.5)
        return bytes(content)


def _change(names, changes):
    for path, file in changes.items():
        if file == "gone":
            names.pop(path, None)
        else:
            names[path] = file
