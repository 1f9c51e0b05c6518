#!/usr/bin/env python3
"""Compares the stand-ins for Apple's modules with what is known of Apple's: Tests/Data/Apple/declarations.tsv.

    apple.py MODULES     MODULES is where a build has put its .swiftmodule files, and is newer than the sources
    apple.py unverified  lists the declarations that no source has, and what of the others none says

A row is a declaration of the stand-ins, with what `apple_facts.py` found of it: on Apple's page Swift's declaration,
the systems, and what a type inherits from and conforms to; in bindings of Apple's headers the selector, the types,
what may be nil, optional or @Sendable, and the raw value. The value of an enumeration is its cases. `-` is unknown and not
compared. differences.tsv names what differs on purpose, with the reason. Then one fact after another is changed, and
each change has to be found.
"""

import collections
import dataclasses
import pathlib
import re
import sys
import tempfile

import documentation
from declarations import IMPLIED, Declaration, stand_ins

ROOT = pathlib.Path(__file__).resolve().parents[3]
TABLE = ROOT / "Tests" / "Data" / "Apple" / "declarations.tsv"
DIFFERENCES = TABLE.with_name("differences.tsv")
MODULES = ["CallKit", "Intents", "PushKit", "UIKit", "UserNotifications", "UserNotificationsUI"]
# What the app's code has to run on: what is older needs no word. macOS has no UIKit, and another UserNotificationsUI.
FLOOR = {"iOS": (15, 0), "macCatalyst": (15, 0), "macOS": (12, 0), "visionOS": (1, 0)}
WITHOUT_MACOS = {"UIKit", "UserNotificationsUI"}
SYSTEMS = [*FLOOR, "tvOS", "watchOS"]


@dataclasses.dataclass
class Row:
    module: str
    symbol: str
    declaration: str = ""
    systems: str = ""
    conforms: str = ""
    selector: str = ""
    shape: str = ""
    value: str = ""

    @property
    def is_known(self):
        return bool(self.declaration or self.conforms or self.shape or self.value)


def read_table():
    lines = [line for line in TABLE.read_text().splitlines() if not line.startswith("#")]
    return [Row(*("" if cell == "-" else cell for cell in line.split("\t"))) for line in lines[1:]]


def symbols(modules):
    """The stand-ins of a build."""
    toolchain = documentation.Toolchain()
    with tempfile.TemporaryDirectory() as folder:
        for module in MODULES:
            toolchain.write_symbols(module, modules, pathlib.Path(folder) / module)
        return stand_ins(pathlib.Path(folder), ROOT)


# --- The comparison ---------------------------------------------------------------------------------------------------


def version(text):
    return tuple(int(part) for part in f"{text}.0".split(".")[:2])


def wrong_systems(row, stand_in):
    """What a stand-in says wrongly of the systems that have it."""
    parts = [part.partition(" ") for part in row.systems.split(", ")]
    known = {name: version(number) if number else (0, 0) for name, _, number in parts}
    said = dict(stand_in.systems)
    if "iOS" in said:
        said.setdefault("macCatalyst", said["iOS"])
    for system in SYSTEMS:
        has, floor = known.get(system), FLOOR.get(system)
        if system == "macOS" and row.module in WITHOUT_MACOS:
            continue
        number = f"{system} {'.'.join(map(str, has))}" if has else system
        if system in stand_in.missing:
            if has is not None:
                yield f"is not unavailable: {number}"
        elif has is None:
            if system in said or floor:
                yield f"is unavailable on {system}"
        elif system in said and said[system] != has and max(said[system], has) > (floor or (0, 0)):
            yield f"begins with {number}"
        elif system not in said and floor and has > floor:
            yield f"begins with {number}"


def wrong_conformance(row, stand_in):
    superclass, _, conforms = row.conforms.partition(":")
    known, said = set(conforms.split()), stand_in.conforms - IMPLIED
    is_main = "@MainActor" in stand_in.declaration.marks
    if stand_in.inherits != superclass and stand_in.declaration.keyword == "class":
        yield f"inherits from {superclass}"
    for name in sorted(said - known):
        if name != "Sendable" or not is_main:
            yield f"does not conform to {name}"
    if "Sendable" in known - said:
        yield "is Sendable"


def fits(known, said):
    """Whether a shape is as known. Objective-C's name of a type inside another ends with its own, or has an s more:
    UIControl.State is UIControlState, UIControl.Event is UIControlEvents."""
    known, said = (re.findall(r"\w+|->|\S", text) for text in (known, said))
    while known and said:
        if known[0] == "*":
            said = said[1:] if said[0] == "?" else said
        elif known[0] == "Self" or known[0].endswith((said[0], f"{said[0]}s")):
            said = said[1:]
        else:
            return False
        known = known[1:]
    return not said and known in ([], ["*"])


def compare(row, stand_in):
    """What differs, as column and explanation."""
    declaration = stand_in.declaration
    if row.declaration and row.declaration != declaration.text:
        yield "declaration", f"is `{row.declaration}`, here `{declaration.text}`"
    if row.systems:
        yield from (("systems", text) for text in wrong_systems(row, stand_in))
    if row.conforms:
        yield from (("conforms", text) for text in wrong_conformance(row, stand_in))
    if row.shape and not fits(row.shape, stand_in.shape):
        yield "shape", f"is {row.shape}, here {stand_in.shape}"
    if row.value and row.value != stand_in.value:
        yield "value", f"is {row.value}, here {stand_in.value}"


def faults(rows, found, differences):
    """Where rows and stand-ins differ without a reason, and reasons without a difference."""
    here, there, unused = collections.defaultdict(list), collections.defaultdict(list), set(differences)
    for stand_in in found:
        here[stand_in.module, stand_in.symbol].append(stand_in)
    for row in rows:
        there[row.module, row.symbol].append(row)
    for key in sorted(here.keys() | there.keys()):
        # Overloads stand in the order of their texts.
        standing = sorted(here[key], key=lambda each: each.declaration.text)
        name = f"{standing[0].place}:{standing[0].line}: {key[1]}" if standing else " ".join(key)
        if len(standing) != len(there[key]):
            yield (f"{name} is {len(standing)} times in the stand-ins and {len(there[key])} times in the table: "
                   "run apple_facts.py")
            continue
        for stand_in, row in zip(standing, there[key]):
            for column, text in compare(row, stand_in):
                if (key[1], column) in differences:
                    unused.discard((key[1], column))
                else:
                    yield f"{stand_in.place}:{stand_in.line}: {key[1]} {text}"
    for symbol, column in sorted(unused):
        yield f"{DIFFERENCES.name}: {symbol} has no other {column} than Apple's"


# --- Changed facts, each of which has to be found ---------------------------------------------------------------------

CHANGES = [
    ("a parameter's type", "declaration", lambda text: text.replace("[String])", "[Int])")),
    ("a label", "declaration", lambda text: text.replace("withIdentifiers:", "identifiers:")),
    ("a default", "declaration", lambda text: text.replace(" = nil", "")),
    ("a result that may be nil", "declaration", lambda text: text.replace("? { get }", " { get }")),
    ("a setter", "declaration", lambda text: text.replace("{ get set }", "{ get }")),
    ("async", "declaration", lambda text: text.replace(" async", "")),
    ("an optional requirement", "declaration", lambda text: text.replace("optional ", "")),
    ("@MainActor", "declaration", lambda text: text.replace("@MainActor ", "")),
    ("no @MainActor", "declaration", lambda text: text if "@MainActor" in text else f"@MainActor {text}"),
    ("@Sendable", "shape", lambda text: text.replace("@Sendable ", "")),
    ("no @Sendable", "shape", lambda text: text if "@Sendable" in text else text.replace(", (", ", @Sendable (")),
    ("a type in Objective-C", "shape", lambda text: text.replace("[UNNotificationAction]", "[String]")),
    ("a parameter that may be nil", "shape", lambda text: text.replace("(String, ", "(String?, ")),
    ("a closure's parameter", "shape", lambda text: text.replace("(Bool, Error*)", "(Error*)")),
    ("a later version", "systems", lambda text: text.replace("iOS 15,", "iOS 99,")),
    ("a system less", "systems", lambda text: text.replace(", macOS 10.14", "")),
    ("a system more", "systems", lambda text: text if "macOS" in text else f"{text}, macOS 11"),
    ("a superclass", "conforms", lambda text: text.replace("UNNotificationContent:", "NSObject:")),
    ("a conformance", "conforms", lambda text: text.replace(" NSMutableCopying", "")),
    ("Sendable", "conforms", lambda text: text.replace(": Sendable", ":")),
    ("no Sendable", "conforms", lambda text: text.replace("NSObject:", "NSObject: Sendable")),
    ("a case", "value", lambda text: f"{text} other" if text.endswith("unspecified") else text),
    ("a raw value", "value", lambda text: text.replace("64", "65")),
]


def missed(rows, found, differences):
    """The changes of one fact that are not found."""
    for name, column, change in CHANGES:
        places = [index for index, row in enumerate(rows)
                  if change(getattr(row, column)) != getattr(row, column) and (row.symbol, column) not in differences
                  and not (column == "systems" and row.module in WITHOUT_MACOS)]
        altered = list(rows)
        if places:
            row = rows[places[0]]
            altered[places[0]] = dataclasses.replace(row, **{column: change(getattr(row, column))})
        if not places or not any(True for _ in faults(altered, found, differences)):
            yield name
    if not any(True for _ in faults(rows[1:], found, differences)):
        yield "a row that is missing"


def unverified(rows):
    """The rows without a source, and those whose closures are @Sendable or not by the stand-in's word alone."""
    declared = [row for row in rows if row.declaration]
    return ([row for row in rows if not row.is_known], [row for row in rows if row.is_known and not row.declaration],
            [row for row in declared if not row.shape and "->" in Declaration(row.declaration).inside])


def main(arguments):
    rows = read_table()
    unknown, half, closures = unverified(rows)
    if arguments == ["unverified"]:
        for what, listed in ("all", unknown), ("Swift's name and the systems", half), ("@Sendable", closures):
            print(f"{what} in no source:", *[f"  {row.module} {row.symbol}" for row in listed], sep="\n")
        return
    if len(arguments) != 1:
        sys.exit(__doc__)
    found = symbols(pathlib.Path(arguments[0]))
    lines = [line.split("\t") for line in DIFFERENCES.read_text().splitlines() if not line.startswith("#")]
    differences = {(symbol, column): reason for symbol, column, reason in lines}
    complaints = list(faults(rows, found, differences))
    if not complaints:
        complaints = [f"a changed fact is not found: {name}" for name in missed(rows, found, differences)]
    for complaint in complaints:
        print(f"apple: error: {complaint}", file=sys.stderr)
    if complaints:
        sys.exit(65)
    print(f"apple: {len(rows) - len(unknown)} of {len(rows)} declarations of the stand-ins are as Apple's, "
          f"{len(differences)} facts differ on purpose; unverified: {len(unknown)} declarations, Swift's name and the systems "
          f"of {len(half)}, @Sendable of {len(closures)}")


if __name__ == "__main__":
    main(sys.argv[1:])
