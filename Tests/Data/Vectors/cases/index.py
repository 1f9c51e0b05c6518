"""INDEX.md: every rule with the vectors that prove it. A rule without one, and a vector of no rule, are errors.

So is a rule by which no vector refuses anything, unless `WRITTEN` has it. For a rule that data cannot prove, the index
names a test of the Swift implementation.
"""

import re
from collections import Counter, defaultdict
from pathlib import Path

from .vector import RULE, Vector

# A rule as written in both documents, whether stated or referenced.
MENTION = re.compile(rf"\*\*\[({RULE.pattern})\]\*\*", re.ASCII)

# The names of the test functions, each with the reason that it is not a vector.
TESTS = {
    "A-3": ("noKeyIsUsedTwice", "It is about two files, and about random values."),
    "A-4": ("whatWasSealedBeforeAChangeHasNoEnd", "It is about when a reference is returned."),
    "A-16": ("whatIsNotHTTPSIsNotEvenAskedFor", "It is about what a receiver does on a network."),
    "A-27": ("aFailureGivesNoLastChunk", "It is about when bytes are returned, and about time."),
    "A-33": ("aFileThatChangesBetweenThePassesIsRefused", "It is about a file that changes while it is read."),
    "A-34": ("whatIsNotTheFileIsRefused", "It is about what a receiver does on a network."),
    "A-35": ("aFileThatIsShorterLongerAnotherOrNotThereDropsItselfAlone", "It is about when a file is shown."),
    "A-29": ("theFullTextComesOutAndAShortOneIsThereWithoutIt", "It is about what a sealer's caller shortens."),
    "D-25": ("itStaysUntilTheOperatorPermitsIt", "It is about a phone over several launches."),
    "R-23": ("aRecoveryIsAnnouncedUntilTheDeviceReportsItsKey", "It is about what a provider seals to which device."),
    "R-24": ("aRecoveryIsKeptThoughTheFileIsFull", "It is about a receiver's own file."),
    "S-9": ("twoThousandMessagesHaveTwoThousandSharesAndIDs", "It is about random values."),
    "S-11": ("aRecipientThatGivesZeroIsRefused", "No text of a key is one; the cases are in `hpke.json`."),
}

# Rules by which no input can be refused, each with the reason.
WRITTEN = {
    "S-2": "A sealer generates the clear part: each accepted payload has it in `clear`, byte for byte.",
    "S-3": "A sealer generates the clear part: each accepted payload has it in `clear`, byte for byte.",
    "S-7": "It states what a sealer keeps of a payload: each accepted one has the hash of the sealed payload.",
}

HEAD = """\
# What proves each rule

Written by `../generate.py`: the rules of `Docs/Format.md` and its parts, and those of stores in [README.md](README.md),
each with the files that name it. That program and the Swift tests refuse a rule without a file, and a rule by which no file refuses
anything, unless its reason is given here.
"""


def rules_of(*documents: Path) -> list[str]:
    found = {rule for document in documents for rule in MENTION.findall(document.read_text(encoding="utf-8"))}
    letters = "OSJKRDNAT"

    def place(rule: str) -> tuple[int, list[int]]:
        letter, numbers = rule.split("-")
        return letters.index(letter), [int(number) for number in numbers.split(".")]

    return sorted(found, key=place)


def document(rules: list[str], vectors: list[Vector]) -> str:
    by_rule: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for vector in vectors:
        for rule in vector.rules:
            assert rule in rules, f"{vector.path} names {rule}, which no document states"
            by_rule[rule][vector.folder].append(vector.path)
    stopping = {rule for vector in vectors if vector.refuses for rule in vector.rules}
    idle = [rule for rule in WRITTEN if rule in stopping or rule not in by_rule]
    assert not idle, f"{idle} have vectors that refuse something, or none at all, and need no reason"
    missing = [rule for rule in by_rule if rule not in stopping and rule not in WRITTEN]
    assert not missing, f"by {missing} no vector refuses anything"
    missing = [rule for rule in rules if rule not in by_rule and rule not in TESTS]
    assert not missing, f"no vector proves {missing}"
    idle = [rule for rule in TESTS if rule in by_rule or rule not in rules]
    assert not idle, f"{idle} have vectors, or are no rules, and need no test"

    sections = []
    for rule in rules:
        if rule in TESTS:
            test, reason = TESTS[rule]
            lines = [f"- the test `{test}`. {reason}"]
        else:
            lines = [
                f"- {folder}: " + ",\n  ".join(f"[{Path(path).stem}]({path})" for path in sorted(paths))
                for folder, paths in sorted(by_rule[rule].items())
            ]
            if rule in WRITTEN:
                lines.append(f"- nothing is refused by it. {WRITTEN[rule]}")
        sections.append("\n".join([f"\n## {rule}\n", *lines, ""]))
    counts = Counter(vector.folder for vector in vectors)
    table = [f"| `{folder}` | {count} |\n" for folder, count in [*sorted(counts.items()), ("all", sum(counts.values()))]]
    return HEAD + "\n| folder | files |\n|---|---:|\n" + "".join(table) + "".join(sections)
