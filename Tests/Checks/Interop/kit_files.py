"""Reads the test kit, Tests/Data/Vectors/kit, for the receivers. What is not looked at must not pass: a group, a header or an `expect`
that is not known here is a failure, and so are a header that says nothing of the test's outcome and a group without tests.
"""
import functools
import json
import os

from drivers import VECTORS, Failure

KIT = os.path.join(VECTORS, "kit")
COMMON = {"expect", "rules", "comment"}
TRUST = {"pin", "learned"}
SITUATION = {"time", "context", "device", "push-type"} | TRUST
AFTER = {"learned-after"}
OPENED = AFTER | {"payload-sha256", "message-id", "sent-at", "time-to-live", "provider", "epoch", "told"}
# Headers that any test of a group may have.
HEADERS = {
    "envelopes": SITUATION | {"fingerprint", "recipient-key-id", "bucket"},
    "pushes": SITUATION,
    "certificates": {"context"} | TRUST,
    "plans": {"time", "kind", "certificate", "past", "proven", "lifetime"},
    "contexts": set(),
    "keys": {"kind", "bytes"},
    "suite-2-keys": {"kind", "bytes"},
    "attachments": {"key", "size", "sha256"},
    "references": set(),
    "attachment-lists": set(),
    "full-bodies": set(),
    "records": {
        "kind", "held-key", "held-generation", "held-topic", "held-user", "user", "elsewhere", "replace", "removed", "provider-has", "issued", "seals",
    },
    "replies": {"device", "context", "built-in"} | TRUST,
    "reserved": set(),
    "payloads": {"push-type", "time", "time-to-live", "title", "clear-sound", "kept", "attachment", "certificate", "sent-exactly"},
}
# Headers of the result, allowed only in tests with a good outcome.
RESULTS = {
    "envelopes": OPENED,
    "pushes": OPENED,
    "certificates": AFTER,
    "plans": {"epoch", "floor", "grace-until", "expires-at"},
    "contexts": set(),
    "keys": {"key-id", "public-key"},
    "suite-2-keys": {"key-id", "public-key"},
    "attachments": {"plain-size", "plain-sha256"},
    "references": {"url", "key", "size", "sha256", "type", "file-name"},
    "attachment-lists": {"attachment", "full-body", "dropped"},
    "full-bodies": set(),
    "records": {
        "key", "generation", "device", "suites", "topic", "created", "provider", "certificate", "app-version", "token", "environment", "withdrawal",
        "grant", "foreign", "stale",
    },
    "replies": {"confirms", "acknowledged", "refused", "provider", "certificate", "push-key", "suites", "foreign", "pin-after", "learned-after", "told"},
    "reserved": {"withdraws", "drop", "sender-name", "handle", "conversation", "recipient", "avatar", "dropped"},
    "payloads": {"bucket", "payload-sha256", "clear", "length", "widest-length"},
}
GOOD = {"accepted", "opened", "unchanged", "certificate-conflict"}
# Parts that no package has: it has no store, shows nothing, and does not seal or open with the suite that needs ML-KEM.
NOT_ASKED = {"notifications", "sequences", "stores", "suite-2-envelopes"}


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
    """Refuses a header that does not apply to the outcome, because it would not be checked. A wrong outcome is noticed by who asks."""
    expected = set(header.get("expect", []))
    if not expected or len(header["expect"]) != 1 and group != "certificates":
        raise Failure(f"{path}: not one `expect`")
    allowed = COMMON | HEADERS[group] | (RESULTS[group] if expected & GOOD else set())
    if header.keys() - allowed:
        raise Failure(f"{path}: {sorted(header.keys() - allowed)} is not known here, or says nothing of {sorted(expected)}")


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
    ("pushes", {"expect": ["not-encrypted"], "told": ["certificate-conflict"]}),
    ("certificates", {"expect": ["weak-key", "weak-key"], "learned-after": ["pcs1"]}),
    ("keys", {"expect": ["weak-key"], "key-id": ["00"]}),
    ("records", {"expect": ["malformed-record"], "generation": ["1"]}),
    ("reserved", {"expect": ["opened"], "withdrawn": ["00"]}),
    ("contexts", {"expect": ["accepted"], "tmie": ["1"]}),
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
    check_header("keys", "a right test", {"expect": ["weak-key"], "bytes": ["00"]})
