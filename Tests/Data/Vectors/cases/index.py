"""Every rule has vectors that prove it. A rule without one, and a vector of no rule, are errors.

So is a rule by which no vector refuses anything, unless `WRITTEN` has it. `TESTS` has the rules that data cannot prove,
each with a test of the Swift implementation, whose own tests read both tables.
"""

import re
from pathlib import Path

from .vector import RULE, Vector

# A rule as written in both documents, whether stated or referenced.
MENTION = re.compile(rf"\*\*\[({RULE.pattern})\]\*\*", re.ASCII)

# The names of the test functions, each with the reason that it is not a vector.
TESTS = {
    "A-3": ("noKeyIsUsedTwice", "It is about two files, and about random values."),
    "A-4": ("whatWasSealedBeforeAChangeHasNoEnd", "It is about when a reference is returned."),
    "A-18": ("whatIsNotHTTPSIsNotEvenAskedFor", "It is about what a receiver does on a network."),
    "A-31": ("aFailureGivesNoLastChunk", "It is about when bytes are returned, and about time."),
    "A-5": ("aFileThatChangesBetweenThePassesIsRefused", "It is about a file that changes while it is read."),
    "A-19": ("whatIsNotTheFileIsRefused", "It is about what a receiver does on a network."),
    "A-32": ("whatIsNotTheFileDropsItselfAlone", "It is about when a file is shown."),
    "A-21": ("theFullTextComesOutAndAShortOneIsThereWithoutIt", "It is about what a sealer's caller shortens."),
    "D-47": ("itStaysUntilTheOperatorPermitsIt", "It is about a phone over several launches."),
    "D-37": ("everyReplyBringsTheCertificate", "It is about what a provider answers."),
    "D-40": ("anImportTakesTheHigherSequence", "It is about what a provider stores."),
    "D-44": ("aReplyOfAReplacedSigningKeyIsNotBelieved", "The cases are in `signed.json`."),
    "D-45": ("theNextSequenceIsAboveTheLastOne", "The cases are in `signed.json`."),
    "D-46": ("aStaleRecordIsFollowedByAnother", "The cases are in `signed.json`."),
    "D-49": ("aForgedRollbackCostsNeitherIDNorKey", "It is about a phone over several launches."),
    "D-50": ("whoIsNotKnownSaysSo", "It is about a phone over several launches."),
    "D-51": ("anEndStaysUntilTheProviderHasIt", "It is about a phone over several launches."),
    "D-52": ("aGrantThatHasEndedIsFollowedByAnother", "It is about a phone over several launches."),
    "S-12": ("twoThousandMessagesHaveTwoThousandSharesAndIDs", "It is about random values."),
    "S-11": ("aRecipientThatGivesZeroIsRefused", "No text of a key is one; the cases are in `hpke.json`."),
}

# Rules by which no input can be refused, each with the reason.
WRITTEN = {
    "S-2": "A sealer generates the clear part: each accepted payload has it in `clear`, byte for byte.",
    "S-3": "A sealer generates the clear part: each accepted payload has it in `clear`, byte for byte.",
    "S-9": "A sealer writes epoch, kind and certificate: each seal of `envelopes.json` has them, byte for byte.",
    "T-8": "It states what a planned rotation's certificate says: each accepted plan has it, number for number.",
    "J-8": "It states what counts as what: accepted payloads have it in `clear`, and notifications in what they show.",
    "S-7": "It states what a sealer keeps of a payload: each accepted one has the hash of the sealed payload.",
}

def rules_of(*documents: Path) -> list[str]:
    return sorted({rule for document in documents for rule in MENTION.findall(document.read_text(encoding="utf-8"))})


def check_numbers(rules: list[str]) -> None:
    """No number is missing: D-1, D-2, …; O-3.1, O-3.2, …"""
    numbers: dict[str, list[int]] = {}
    for rule in rules:
        group, number = re.fullmatch(r"(.*[-.])([0-9]+)", rule).groups()
        numbers.setdefault(group, []).append(int(number))
    for group, found in numbers.items():
        missing = sorted(set(range(1, max(found) + 1)) - set(found))
        assert not missing, f"{group}{missing[0]} is no rule, and {group}{max(found)} is one"


def check(rules: list[str], vectors: list[Vector]) -> None:
    check_numbers(rules)
    for vector in vectors:
        for rule in vector.rules:
            assert rule in rules, f"{vector.path} names {rule}, which no document states"
    named = {rule for vector in vectors for rule in vector.rules}
    stopping = {rule for vector in vectors if vector.refuses for rule in vector.rules}
    idle = [rule for rule in WRITTEN if rule in stopping or rule not in named]
    assert not idle, f"{idle} have vectors that refuse something, or none at all, and need no reason"
    missing = sorted(named - stopping - WRITTEN.keys())
    assert not missing, f"by {missing} no vector refuses anything"
    missing = [rule for rule in rules if rule not in named and rule not in TESTS]
    assert not missing, f"no vector proves {missing}"
    idle = [rule for rule in TESTS if rule in named or rule not in rules]
    assert not idle, f"{idle} have vectors, or are no rules, and need no test"
