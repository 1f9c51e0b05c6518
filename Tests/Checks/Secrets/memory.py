"""The memory of another process, as root reads it and as a core dump would contain it."""

import dataclasses, os, re

HEADER = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ \S+ *(.*)$")


@dataclasses.dataclass
class Mapping:
    start: int
    end: int
    permissions: str
    name: str
    private_dirty: int = 0
    flags: frozenset = frozenset()

    @property
    def is_guarded(self) -> bool:
        """Excluded from core dumps, as with `sodium_malloc`."""
        return "dd" in self.flags

    @property
    def was_written(self) -> bool:
        """Not merely a file's own pages."""
        return "w" in self.permissions or self.private_dirty > 0 or not self.name

    @property
    def kind(self) -> str:
        if self.is_guarded:
            return "guarded memory"
        return self.name if self.name else "memory without a name"


def mappings(process: int) -> list[Mapping]:
    found = []
    with open(f"/proc/{process}/smaps") as smaps:
        for line in smaps:
            header = HEADER.match(line)
            if header:
                start, end, permissions, name = header.groups()
                found.append(Mapping(int(start, 16), int(end, 16), permissions, name))
            elif line.startswith("Private_Dirty:"):
                found[-1].private_dirty = int(line.split()[1])
            elif line.startswith("VmFlags:"):
                found[-1].flags = frozenset(line.split()[1:])
    return found


@dataclasses.dataclass
class Snapshot:
    """The bytes of every written mapping."""

    parts: list[tuple[Mapping, bytes]]

    @property
    def size(self) -> int:
        return sum(len(data) for _, data in self.parts)

    def search(self, needles: list[tuple[str, bytes]]) -> list[tuple[str, Mapping, int]]:
        """The locations of these: name, mapping and address."""
        found = []
        for mapping, data in self.parts:
            for name, needle in needles:
                place = data.find(needle)
                if place >= 0:
                    found.append((name, mapping, mapping.start + place))
        return found


def snapshot(process: int) -> Snapshot:
    """Reads the process as it is; the caller has stopped it, or knows that it is waiting."""
    parts = []
    with open(f"/proc/{process}/mem", "rb", buffering=0) as memory:
        for mapping in mappings(process):
            if "r" not in mapping.permissions or not mapping.was_written or mapping.name in ("[vvar]", "[vsyscall]"):
                continue
            data = bytearray()
            # A guard page ends the read early, with an error.
            while len(data) < mapping.end - mapping.start:
                piece = os.pread(memory.fileno(), mapping.end - mapping.start - len(data), mapping.start + len(data))
                if not piece:
                    break
                data += piece
            parts.append((mapping, bytes(data)))
    return Snapshot(parts)
