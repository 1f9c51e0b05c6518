"""Reads the test kit, Tests/Data/Vectors/kit, for the receivers. What is not looked at must not pass: a folder, a header or an `expect`
that is not known here is a failure, and so are a header that says nothing of the file's outcome and a folder without files.
"""
import os

from drivers import ROOT, Failure

KIT = os.path.join(ROOT, "Tests/Data/Vectors/kit")
COMMON = {"expect", "rule", "comment", "encoding"}
TRUST = {"sender", "superseded", "recovery", "last-recovery"}
SITUATION = {"time", "context", "device"} | TRUST
OPENED = {"payload-sha256", "message-id", "sent-at", "time-to-live", "signed-by"}
AFTER = {"sender-after", "superseded-after", "last-recovery-after"}
# Headers of the question, allowed in any file.
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
# Headers required in each file with a good outcome, and allowed in no other.
WHEN_GOOD = {
    "envelopes": OPENED,
    "pushes": OPENED,
    "attachments": {"plain-size", "plain-sha256"},
    "references": {"url", "key", "size", "sha256", "type", "name"},
    "payloads": {"bucket", "payload-sha256", "clear", "length", "widest-length"},
    "records": {"key", "generation"},
    "replies": {"confirms"},
}
# Headers allowed only in files with a good outcome.
IF_GOOD = {
    "envelopes": AFTER | {"told"},
    "pushes": AFTER | {"told"},
    "statements": AFTER,
    "keys": {"bytes", "key-id", "public-key"},
    "suite-2-keys": {"bytes", "key-id", "public-key"},
    "attachment-lists": {"attachment", "full-body", "dropped"},
    "records": {"device", "suites", "topic", "created", "sender", "recovery", "app-version", "foreign"},
    "replies": {"acknowledged", "refused", "sender", "recovery", "foreign", "pinned-after", "recovery-after"},
    "reserved": {"withdraws", "drop", "name", "handle", "conversation", "recipient", "avatar", "dropped"},
}
GOOD = {folder: {"opened"} for folder in ("envelopes", "pushes", "attachments", "attachment-lists", "reserved")}
GOOD |= {"statements": {"accepted", "unchanged"}}
# Further headers of a refused input, by its outcome.
KNOWN = {(folder, "weak-key"): {"bytes"} for folder in ("keys", "suite-2-keys")}
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


def read(path):
    head, separator, body = open(path, "rb").read().partition(b"\n\n")
    if not separator or not body.endswith(b"\n"):
        raise Failure(f"{path}: no file of the kit")
    header, body = {}, body[:-1]
    for line in head.decode().split("\n"):
        name, _, value = line.partition(": ")
        header.setdefault(name, []).append(value)
    if header.get("encoding", ["pieces"]) != ["pieces"] or any(not value for values in header.values() for value in values):
        raise Failure(f"{path}: a header that is not known")
    if "encoding" in header:
        pieces = [piece.partition("*") for piece in body.decode().split()]
        body = b"".join(bytes.fromhex(digits) * int(count or 1) for digits, _, count in pieces)
    return header, body


def check_header(folder, path, header):
    """Refuses a file with a header that does not apply to its outcome, because it would not be checked."""
    names, expected = set(header), set(header.get("expect", []))
    good = GOOD.get(folder, {"accepted"})
    if not expected or expected - good - CODES[folder]:
        raise Failure(f"{path}: {sorted(expected)} is not known here")
    if len(header["expect"]) != 1 and folder != "statements":
        raise Failure(f"{path}: more than one `expect`")
    allowed = COMMON | HEADERS[folder] | set().union(*(KNOWN.get((folder, code), set()) for code in expected))
    if expected & good:
        needed = WHEN_GOOD.get(folder, set())
        if needed - names:
            raise Failure(f"{path}: {sorted(needed - names)} is missing")
        allowed |= needed | IF_GOOD.get(folder, set())
    if names - allowed:
        raise Failure(f"{path}: {sorted(names - allowed)} is not known here, or says nothing of {sorted(expected)}")


def files():
    """All of the kit: folder, path, header and body."""
    folders = sorted(entry.name for entry in os.scandir(KIT) if entry.is_dir())
    if folders != sorted(set(HEADERS) | NOT_ASKED):
        raise Failure(f"{KIT}: other folders than are known here: {folders}")
    for folder in sorted(HEADERS):
        names = sorted(os.listdir(os.path.join(KIT, folder)))
        if not names:
            raise Failure(f"{folder}: no files")
        for name in names:
            path = os.path.join(folder, name)
            header, body = read(os.path.join(KIT, path))
            check_header(folder, path, header)
            yield folder, path, header, body


# Headers that otherwise good files must not have, or must not lack.
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
    for folder, header in WRONG:
        try:
            check_header(folder, "a wrong file", header)
        except Failure:
            continue
        raise Failure(f"{folder}: the headers {header} pass, and are wrong")
    for folder, header in [("keys", {"expect": ["weak-key"], "bytes": ["00"]}), ("envelopes", {"expect": ["expired"], "bucket": ["256"]})]:
        check_header(folder, "a right file", header)
