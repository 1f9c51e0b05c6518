"""Runs a receiver against the test kit, Tests/Vectors/kit: each file gives questions, and what has to be answered.

A folder, a header or an `expect` that is not known here is a failure, and so is a folder without files.
"""
import base64
import hashlib
import os
import random

from drivers import ROOT, Failure, data, word

KIT = os.path.join(ROOT, "Tests/Vectors/kit")
COMMON = {"expect", "rule", "comment", "encoding"}
SITUATION = {"time", "context", "device", "sender", "superseded"}
OPENED = {"payload-sha256", "message-id", "sent-at", "time-to-live", "signed-by", "sender-after", "superseded-after", "told"}
HEADERS = {
    "envelopes": SITUATION | OPENED | {"fingerprint", "recipient-key-id", "bucket"},
    "pushes": SITUATION | OPENED,
    "statements": {"time", "sender", "superseded", "sender-after", "superseded-after"},
    "contexts": set(),
    "keys": {"kind", "bytes", "key-id", "public-key"},
    "attachments": {"key", "size", "sha256", "plain-size", "plain-sha256"},
    "references": {"url", "key", "size", "sha256", "type", "name"},
    "attachment-lists": {"attachment", "full-body", "dropped"},
}
CODES = {
    "envelopes": {
        "malformed-envelope", "unsupported-suite", "unknown-recipient-key", "authentication-failed", "rotation-conflict",
        "unsupported-message", "expired", "not-yet-valid", "malformed-payload",
    },
    "statements": {
        "malformed-statement", "untrusted-old-key", "bad-statement-signature", "weak-key", "rotation-conflict", "superseded-new-key",
        "overlap-too-long", "statement-not-yet-valid", "statement-expired",
    },
    "contexts": set(),
    "keys": {"malformed-key", "wrong-checksum", "wrong-kind-of-key", "weak-key"},
    "attachments": {"not-a-sealed-file", "authentication-failed", "malformed-file", "wrong-size", "truncated-file", "wrong-hash"},
    "references": {"malformed-reference"},
    "attachment-lists": set(),
}
CODES["pushes"] = CODES["envelopes"] | {"malformed-notification", "not-encrypted"}
KINDS = {"device-public": "pcr", "sender-public": "pcs", "device-secret": "pcr-secret-", "sender-secret": "pcs-secret-"}


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


def files():
    """All of the kit: folder, path, header and body."""
    folders = sorted(entry.name for entry in os.scandir(KIT) if entry.is_dir())
    if folders != sorted(HEADERS):
        raise Failure(f"{KIT}: other folders than are known here: {folders}")
    for folder in folders:
        names = sorted(os.listdir(os.path.join(KIT, folder)))
        if not names:
            raise Failure(f"{folder}: no files")
        for name in names:
            path = os.path.join(folder, name)
            header, body = read(os.path.join(KIT, path))
            unknown = set(header) - COMMON - HEADERS[folder]
            expected = header.get("expect", [])
            good = {"envelopes": {"opened"}, "pushes": {"opened"}, "attachments": {"opened"}, "attachment-lists": {"opened"}}
            good |= {"statements": {"accepted", "unchanged"}, "contexts": {"accepted", "refused"}}
            if unknown or not expected or set(expected) - good.get(folder, {"accepted"}) - CODES[folder]:
                raise Failure(f"{path}: {unknown or expected} is not known here")
            if len(expected) != 1 and folder != "statements":
                raise Failure(f"{path}: more than one `expect`")
            yield folder, path, header, body


class Case:
    """The files of one folder for one receiver."""

    def __init__(self, driver, path, header, body):
        self.driver, self.path, self.header, self.body = driver, path, header, body
        self.expect = header["expect"][0]

    def one(self, name):
        values = self.header.get(name, [])
        if len(values) != 1:
            raise Failure(f"{self.path}: {len(values)} times {name}")
        return values[0]

    def ask(self, *words):
        return self.driver.ask([" ".join(words)])[0]

    def check(self, question, found, expected):
        if found != expected:
            raise Failure(f"{self.driver.language}: {self.path}: {question} is {str(found)[:300]}, and not {str(expected)[:300]}")

    def trust(self, suffix=""):
        superseded = [line.split(" ") for line in self.header.get("superseded" + suffix, [])]
        superseded = [old + ":" + (word(base64url(by[0])) if by else "-") for old, *by in superseded]
        return ",".join(self.header.get("sender" + suffix, [])) or "-", ",".join(superseded) or "-"

    def check_trust(self, found):
        expected = self.trust("-after" if "sender-after" in self.header else "")
        found = tuple(sorted(part.split(",")) for part in found.split(";"))
        self.check("trust", found, tuple(sorted(part.split(",")) for part in expected))

    def envelopes(self):
        self.check("the fingerprint", self.ask("fingerprint", word(self.body)), ["ok", self.one("fingerprint")])
        outside = self.ask("text", word(self.body))
        if "bucket" in self.header:
            self.check("the outside", outside, ["ok", self.one("recipient-key-id"), self.one("bucket")])
        else:
            self.check("the outside", outside, ["refused", self.expect])
        self.opening("open")

    def pushes(self):
        self.opening("push")

    def opening(self, verb):
        devices = [line.replace(" ", "@") for line in self.header.get("device", [])]
        trust = ";".join(self.trust())
        answer = self.ask(verb, self.one("context"), ",".join(devices) or "-", trust, self.one("time"), word(self.body))
        if self.expect != "opened":
            self.check("the outcome", answer, ["refused", self.expect])
            return
        self.check("the outcome", answer[0], "opened")
        self.check("the payload", hashlib.sha256(data(answer[1])).hexdigest(), self.one("payload-sha256"))
        names = ["message-id", "sent-at", "time-to-live", "signed-by"]
        self.check(names, answer[2:6], [self.one(name) for name in names])
        self.check_trust(answer[6])
        self.check("what the app is told", answer[7], self.one("told") if "told" in self.header else "-")

    def statements(self):
        trust, lines = ";".join(self.trust()), self.body.split(b"\n")
        self.check("the number of statements", len(lines), len(self.header["expect"]))
        for line, expected in zip(lines, self.header["expect"]):
            answer = self.ask("statement", trust, self.one("time"), word(base64url(line.decode())))
            if answer[0] == "refused":
                self.check("the outcome", answer, ["refused", expected])
            else:
                self.check("the outcome", answer[0], expected)
                trust = answer[1]
        self.check_trust(trust)

    def contexts(self):
        answer = self.ask("context", word(self.body))
        self.check("the outcome", answer, ["ok"] if self.expect == "accepted" else ["refused", "malformed-context"])

    def keys(self):
        kind = KINDS[self.one("kind")]
        answer = self.ask("key", kind, word(self.body))
        if self.expect == "accepted":
            extra = [self.header.get(name, ["-"])[0] for name in ("key-id", "public-key")]
            self.check("the key", answer, ["ok", self.one("bytes"), *extra])
            self.check("extra headers", extra.count("-"), 1)
        else:
            self.check("the outcome", answer, ["refused", self.expect])
        if kind in ("pcr", "pcs") and "bytes" in self.header:
            expected = ["ok"] if self.expect == "accepted" else ["refused", self.expect]
            self.check("the bytes alone", self.ask("check", kind, self.one("bytes")), expected)

    def attachments(self):
        """In several pieces each, because the outcome must not depend on them."""
        length, some = len(self.body), random.Random(self.path)
        for size in {max(length, 1), 65553, 1 if length < 3000 else 4099, some.randrange(1, length + 2)}:
            pieces = [self.body[start : start + size].hex() for start in range(0, length, size)]
            answer = self.ask("file", self.one("key"), self.one("size"), self.one("sha256"), ",".join(pieces) or "-")
            if self.expect == "opened":
                self.check("the file", answer, ["opened", self.one("plain-size"), self.one("plain-sha256")])
            else:
                self.check("the outcome", answer, ["refused", self.expect])

    def references(self):
        answer = self.ask("reference", word(self.body))
        if self.expect == "accepted":
            texts = [word(self.one(name).encode()) for name in ("url", "type", "name")]
            self.check("the reference", answer, ["ok", *texts, self.one("key"), self.one("sha256"), self.one("size")])
        else:
            self.check("the outcome", answer, ["refused", self.expect])

    def attachment_lists(self):
        names = ",".join(word(name.encode()) for name in self.header.get("attachment", [])) or "-"
        body = word(self.one("full-body").encode()) if "full-body" in self.header else "-"
        dropped = ",".join(self.header.get("dropped", [])) or "-"
        self.check("the list", self.ask("attachments", word(self.body)), ["ok", names, body, dropped])


def base64url(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def run(driver):
    """The number of files, each with the outcome that it claims. Raises a `Failure` that names those with another one."""
    count, failures = 0, []
    for folder, path, header, body in files():
        count += 1
        try:
            getattr(Case(driver, path, header, body), folder.replace("-", "_"))()
        except Failure as failure:
            failures.append(str(failure))
    if failures:
        raise Failure("\n".join([*failures, f"{driver.language}: {len(failures)} of {count} files have another outcome"]))
    return count
