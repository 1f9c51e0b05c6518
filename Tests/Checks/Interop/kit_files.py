"""Reads the test kit, Tests/Data/Vectors/kit, for the receivers. What is not looked at must not pass: a group, a header or an `expect`
that is not known here is a failure, and so are a header that says nothing of the test's outcome and a group without tests.
"""
import functools
import json
import os

from drivers import ROOT, Failure

KIT = os.path.join(ROOT, "Tests/Data/Vectors/kit")
COMMON = {"expect", "rules", "comment"}
TRUST = {"sender", "superseded", "recovery", "last-recovery"}
SITUATION = {"time", "context", "device"} | TRUST
OPENED = {"payload-sha256", "message-id", "sent-at", "time-to-live", "signed-by"}
AFTER = {"sender-after", "superseded-after", "last-recovery-after"}
# Headers of the question, allowed in any test.
HEADERS = {
    "envelopes": SITUATION | {"fingerprint"},
    "pushes": SITUATION,
    "statements": {"time", "context", "told"} | TRUST,
    "contexts": set(),
    "keys": {"kind"},
    "suite-2-keys": {"kind"},
    "attachments": {"key", "size", "sha256"},
    "references": set(),
    "attachment-lists": set(),
    "full-bodies": set(),
    "records": {"kind", "held-key", "held-generation", "held-topic", "held-user", "user", "elsewhere", "replace", "provider-has", "seals"},
    "replies": {"device", "pinned", "held-recovery", "built-in"},
    "reserved": set(),
    "payloads": {"push-type", "time", "time-to-live", "title", "clear-sound", "kept", "attachment", "statements", "sent-exactly"},
}
# Headers required in each test with a good outcome, and allowed in no other.
WHEN_GOOD = {
    "envelopes": OPENED,
    "pushes": OPENED,
    "attachments": {"plain-size", "plain-sha256"},
    "references": {"url", "key", "size", "sha256", "type", "file-name"},
    "payloads": {"bucket", "payload-sha256", "clear", "length", "widest-length"},
    "records": {"key", "generation"},
    "replies": {"confirms"},
}
# Headers allowed only in tests with a good outcome.
IF_GOOD = {
    "envelopes": AFTER | {"told"},
    "pushes": AFTER | {"told"},
    "statements": AFTER,
    "keys": {"bytes", "key-id", "public-key"},
    "suite-2-keys": {"bytes", "key-id", "public-key"},
    "attachment-lists": {"attachment", "full-body", "dropped"},
    "records": {"device", "suites", "topic", "created", "sender", "recovery", "app-version", "foreign"},
    "replies": {"acknowledged", "refused", "sender", "recovery", "foreign", "pinned-after", "recovery-after"},
    "reserved": {"withdraws", "drop", "sender-name", "handle", "conversation", "recipient", "avatar", "dropped"},
}
GOOD = {group: {"opened"} for group in ("envelopes", "pushes", "attachments", "attachment-lists", "reserved")}
GOOD |= {"statements": {"accepted", "unchanged"}}
# Further headers of a refused input, by its outcome.
KNOWN = {(group, "weak-key"): {"bytes"} for group in ("keys", "suite-2-keys")}
# Parts that no package has: it has no store, shows nothing, and does not seal or open with the suite that needs ML-KEM.
NOT_ASKED = {"notifications", "sequences", "stores", "suite-2-envelopes"}
CODES = {
    "envelopes": {
        "malformed-envelope", "unsupported-suite", "unknown-recipient-key", "authentication-failed", "rotation-conflict",
        "recovery-conflict", "unsupported-message", "expired", "not-yet-valid", "malformed-payload",
    },
    "statements": {
        "malformed-statement", "untrusted-old-key", "bad-statement-signature", "weak-key", "rotation-conflict", "superseded-new-key",
        "overlap-too-long", "statement-not-yet-valid", "statement-expired", "unknown-recovery-key", "recovery-conflict",
    },
    "keys": {"malformed-key", "wrong-checksum", "wrong-kind-of-key", "weak-key"},
    "attachments": {"not-a-sealed-file", "authentication-failed", "malformed-file", "wrong-size", "truncated-file", "wrong-hash"},
    "references": {"malformed-reference"},
    "attachment-lists": set(),
    "full-bodies": {"malformed-file"},
    "records": {
        "malformed-record", "user-mismatch", "generation-rollback", "generation-too-high", "suite-downgrade", "unsupported-suite",
        "topic-mismatch", "key-taken",
    },
    "replies": {"malformed-record"},
    "reserved": set(),
}
CODES["suite-2-keys"] = CODES["keys"]
CODES["records"] |= CODES["keys"]
CODES["replies"] |= CODES["keys"]
CODES["contexts"] = CODES["payloads"] = {"refused"}
CODES["pushes"] = CODES["envelopes"] | {"malformed-notification", "not-encrypted"}
KNOWN |= {("envelopes", code): {"recipient-key-id", "bucket"} for code in CODES["envelopes"] | {"opened"}}
KNOWN |= {("envelopes", code): set() for code in ("malformed-envelope", "unsupported-suite")}


def read(group):
    """The tests of a group: path, header and body. Every header is a list of texts here, also one that cannot be repeated."""
    with open(os.path.join(KIT, group + ".json"), encoding="utf-8") as file:
        document = json.load(file)
    if set(document) != {"group", "shared", "tests"} or document["group"] != group or not document["tests"]:
        raise Failure(f"{group}: not the file of a group, or no tests")
    for test in document["tests"]:
        members = document["shared"] | test
        path, body, pieces = f"{group}/{members.pop('name')}", members.pop("body", None), members.pop("pieces", None)
        header = {name: value if isinstance(value, list) else [value] for name, value in members.items() if value != []}
        if (body is None) == (pieces is None) or not all(isinstance(value, str) and value for values in header.values() for value in values):
            raise Failure(f"{path}: not a test of the kit")
        if pieces is None:
            yield path, header, (body if isinstance(body, str) else "\n".join(body)).encode()
        else:
            runs = [piece.partition("*") for piece in pieces]
            yield path, header, b"".join(bytes.fromhex(digits) * int(count or 1) for digits, _, count in runs)


def check_header(group, path, header):
    """Refuses a test with a header that does not apply to its outcome, because it would not be checked."""
    names, expected = set(header), set(header.get("expect", []))
    good = GOOD.get(group, {"accepted"})
    if not expected or expected - good - CODES[group]:
        raise Failure(f"{path}: {sorted(expected)} is not known here")
    if len(header["expect"]) != 1 and group != "statements":
        raise Failure(f"{path}: more than one `expect`")
    allowed = COMMON | HEADERS[group] | set().union(*(KNOWN.get((group, code), set()) for code in expected))
    if expected & good:
        needed = WHEN_GOOD.get(group, set())
        if needed - names:
            raise Failure(f"{path}: {sorted(needed - names)} is missing")
        allowed |= needed | IF_GOOD.get(group, set())
    if names - allowed:
        raise Failure(f"{path}: {sorted(names - allowed)} is not known here, or says nothing of {sorted(expected)}")


def tests_of(group):
    """The tests of a group, in order: group, path, header and body."""
    found = [(group, *test) for test in read(group)]
    if len({path for _, path, _, _ in found}) != len(found):
        raise Failure(f"{group}: a name occurs twice")
    return found


@functools.cache
def tests():
    """All tests that a receiver can be asked about."""
    groups = sorted(os.listdir(KIT))
    if groups != sorted(group + ".json" for group in set(HEADERS) | NOT_ASKED):
        raise Failure(f"{KIT}: other groups than are known here: {groups}")
    found = [test for group in sorted(HEADERS) for test in tests_of(group)]
    for group, path, header, _ in found:
        check_header(group, path, header)
    return found


# Headers that otherwise good tests must not have, or must not lack.
WRONG = [
    ("envelopes", {"expect": ["expired"], "payload-sha256": ["00"]}),
    ("envelopes", {"expect": ["expired"], "sender-after": ["pcs1"]}),
    ("envelopes", {"expect": ["malformed-envelope"], "bucket": ["256"]}),
    ("envelopes", {"expect": ["opened"]}),
    ("pushes", {"expect": ["not-encrypted"], "told": ["rotation-conflict"]}),
    ("statements", {"expect": ["weak-key", "weak-key"], "sender-after": ["pcs1"]}),
    ("keys", {"expect": ["wrong-checksum"], "bytes": ["00"]}),
    ("keys", {"expect": ["weak-key"], "key-id": ["00"]}),
    ("attachments", {"expect": ["wrong-hash"], "plain-size": ["1"]}),
    ("references", {"expect": ["malformed-reference"], "url": ["https://a"]}),
    ("payloads", {"expect": ["refused"], "clear": ["{}"]}),
    ("records", {"expect": ["malformed-record"], "generation": ["1"]}),
    ("replies", {"expect": ["accepted"]}),
    ("reserved", {"expect": ["opened"], "withdrawn": ["00"]}),
    ("contexts", {"expect": ["accepted"], "tmie": ["1"]}),
    ("contexts", {"expect": ["shut"]}),
    ("contexts", {"expect": ["accepted", "accepted"]}),
    ("contexts", {}),
]


def check_reader():
    """A reader that accepted any header anywhere would prove nothing."""
    for group, header in WRONG:
        try:
            check_header(group, "a wrong test", header)
        except Failure:
            continue
        raise Failure(f"{group}: the headers {header} pass, and are wrong")
    for group, header in [("keys", {"expect": ["weak-key"], "bytes": ["00"]}), ("envelopes", {"expect": ["expired"], "bucket": ["256"]})]:
        check_header(group, "a right test", header)
