"""Runs a receiver against the test kit: each test determines questions and the required answers."""
import base64
import hashlib
import json
import os
import random

from drivers import VECTORS, Failure, data, options, read_options, word
from kit_files import NOT_ASKED, RESULTS, check_reader, tests, tests_of
from reference.keys import Kind, text_form

# The worked example's keys.
DEVICE_SECRET = "PCR-SECRET-145HAW2SRDFRXKJRZVU33YCGGHHFLEELAGG52A3VC6HWZJ2L5HJ0SADFV30"
DEVICE_PUBLIC = "pcr159pzcec20fm5ve6e0ypku9z6u8drmmweeuknsfguj73r5e2ungxs6smkrx"
PROVIDER_SECRET = "PCS-SECRET-1E5QLJK9AQ39DDTLF8ZW3VHSKTL59Q07DGAS5GFPKGVKT4F9YVNNQLKFTVZ"
PROVIDER_PUBLIC = "pcs1rqc3xgvzk2wqcguwxtkf62wj2w8lxk2ev8rvs88qnj8zsjtftrkst37dvk"


class Case:
    """A test and the receiver that is asked about it. Each group is a method."""

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

    def trust(self):
        """The words of the pins, and of what is known of provider keys."""
        learned = [line.replace(" ", ":") for line in self.header.get("learned", [])]
        return f"{','.join(self.header.get('pin', [])) or '-'} {','.join(learned) or '-'}"

    def check_learned(self, found):
        """What is known afterwards of pins, and of other keys as before."""
        lines = {line.split(" ")[0]: line for line in self.header.get("learned", [])}
        if found != "-":
            lines |= {line.split(":")[0]: line.replace(":", " ") for line in found.split(",")}
        self.check("what is known", sorted(lines.values()), self.header.get("learned-after", sorted(self.header.get("learned", []))))

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
        push_type = self.header.get("push-type", ["alert"])[0]
        answer = self.ask(
            verb, self.one("context"), ",".join(devices) or "-", self.trust(), push_type, self.one("time"), word(self.body)
        )
        if self.expect != "opened":
            self.check("the outcome", answer, ["refused", self.expect])
            return
        self.check("the outcome", answer[0], "opened")
        self.check("the payload", hashlib.sha256(data(answer[1])).hexdigest(), self.one("payload-sha256"))
        names = ["message-id", "sent-at", "time-to-live", "provider", "epoch"]
        self.check(names, answer[2:7], [self.one(name) for name in names])
        self.check_learned(answer[7])
        self.check("what the app is told", answer[8], ",".join(self.header.get("told", [])) or "-")

    def certificates(self):
        trust, lines = self.trust(), self.body.split(b"\n")
        self.check("the number of certificates", len(lines), len(self.header["expect"]))
        for line, expected in zip(lines, self.header["expect"]):
            answer = self.ask("certificate", self.one("context"), trust, word(base64url(line.decode())))
            if answer[0] == "refused":
                self.check("the outcome", answer, ["refused", expected])
            else:
                self.check("the outcome", answer[0], expected)
                trust = f"{trust.split(' ')[0]} {answer[1]}"
        self.check_learned(trust.split(" ")[1])

    def plans(self):
        known = {name: self.header[name] for name in ("time", "kind", "certificate", "proven", "lifetime") if name in self.header}
        past = [line.split(" ") for line in self.header.get("past", [])]
        known["past"] = [f"{0 if certificate == '-' else epoch_of(certificate)} {at}" for certificate, at in past]
        self.of_package("plans", "plan" + options(known))

    def contexts(self):
        # The code for a topic is not part of the format.
        outcome = {"ok": "accepted", "refused": "refused"}.get(self.ask("context", word(self.body))[0])
        self.check("the outcome", outcome, self.expect)

    def keys(self):
        kind = Kind(self.one("kind")).prefix
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

    def suite_2_keys(self):
        """A package reads public keys, which a provider may hold. Others are read as texts, and no more: also a good one is of a suite that is not known."""
        if self.one("kind") == "device-public":
            self.keys()
            return
        expected = "unsupported-suite" if self.expect in ("accepted", "weak-key") else self.expect
        self.check("the outcome", self.ask("key", Kind(self.one("kind")).prefix, word(self.body)), ["refused", expected])

    def attachments(self):
        """In several pieces each, because the outcome must not depend on them."""
        length, some = len(self.body), random.Random(self.path)
        for size in {max(length, 1), 65552, 1 if length < 3000 else 4099, some.randrange(1, length + 2)}:
            pieces = [self.body[start : start + size].hex() for start in range(0, length, size)]
            answer = self.ask("file", self.one("key"), self.one("size"), self.one("sha256"), ",".join(pieces) or "-")
            if self.expect == "opened":
                self.check("the file", answer, ["opened", self.one("plain-size"), self.one("plain-sha256")])
            else:
                self.check("the outcome", answer, ["refused", self.expect])

    def references(self):
        answer = self.ask("reference", word(self.body))
        if self.expect == "accepted":
            texts = [word(self.one(name).encode()) for name in ("url", "type", "file-name")]
            self.check("the reference", answer, ["ok", *texts, self.one("key"), self.one("sha256"), self.one("size")])
        else:
            self.check("the outcome", answer, ["refused", self.expect])

    def attachment_lists(self):
        names = ",".join(word(name.encode()) for name in self.header.get("attachment", [])) or "-"
        body = word(self.one("full-body").encode()) if "full-body" in self.header else "-"
        dropped = ",".join(self.header.get("dropped", [])) or "-"
        self.check("the outcome", self.expect, "opened")
        self.check("the list", self.ask("attachments", word(self.body)), ["ok", names, body, dropped])


    def full_bodies(self):
        expected = ["ok"] if self.expect == "accepted" else ["refused", self.expect]
        self.check("the outcome", self.ask("fullbody", word(self.body)), expected)

    def of_package(self, group, *question):
        """Asks a package, and compares every header that says what comes of it."""
        answer = self.ask(*question)
        if self.expect not in ("accepted", "opened"):
            self.check("the outcome", answer, ["refused", self.expect])
            return
        self.check("the outcome", answer[0], "ok")
        found = read_options(answer[1:])
        if group == "replies":
            self.check_learned(found.pop("learned")[0])
            pins, before = found.pop("pins")[0], self.trust().split(" ")[0]
            self.check("the pins", pins, ",".join(self.header.get("pin-after", [])) or before)
            self.header.setdefault("suites", ["1"])
        compared = RESULTS[group] - {"pin-after", "learned-after"}
        self.check("what is read", found, {name: self.header[name] for name in self.header if name in compared})

    def records(self):
        known = {name: values for name, values in self.header.items() if name.startswith("held-") or name in (
            "user", "elsewhere", "replace", "removed", "provider-has", "issued")}
        # A test of a device that is held leaves out a user who is not known, and then means the one who has the device.
        if "user" not in known and "held-user" in known and "removed" not in known:
            known["user"] = known["held-user"]
        # Without anything of a provider's, it is only read.
        if not known and self.expect == "accepted" and self.one("kind") == "device":
            known = {"replace": ["yes"]}
        self.of_package("records", "record", self.one("kind"), word(self.body) + options(known))

    def replies(self):
        pins, learned = self.trust().split(" ")
        known = {name: self.header[name] for name in ("context", "built-in") if name in self.header} | {"pins": [pins], "learned": [learned]}
        self.of_package("replies", "reply", self.one("device"), word(self.body) + options(known))

    def reserved(self):
        self.of_package("reserved", "reserved", word(self.body))

    def credential(self):
        """The signing key file of a key that the worked example's provider certified, as a word."""
        secret = text_form(Kind("signing-secret"), bytes([7]) * 32)
        made = self.ask("certify", "com.example.app", PROVIDER_SECRET, "1", "0", "1", str(2**64 - 1), secret)
        self.check("the certificate", made[0], "ok")
        return f"{secret},{made[2]},{PROVIDER_PUBLIC}"

    def sealed_payload(self):
        """Seals the file's payload; the answer, whose second word is the push."""
        wanted = {name: self.header.get(name, []) for name in ("push-type", "time-to-live", "title", "kept", "attachment", "sent-exactly")}
        wanted["sound"] = ["" if sound == "none" else sound for sound in self.header.get("clear-sound", [])]
        key = self.credential() if self.header.get("certificate") == ["yes"] else PROVIDER_SECRET
        return self.ask("message", "com.example.app", DEVICE_PUBLIC, key, self.one("time"), word(self.body) + options(wanted))

    def payloads(self):
        answer = self.sealed_payload()
        self.check("the outcome", answer[0], "sealed" if self.expect == "accepted" else "refused")
        if self.expect == "refused":
            return
        push = data(answer[1])
        members = json.loads(push)
        envelope = members.pop("ENCRYPTED_DATA")
        self.check("the clear part", members, json.loads(self.one("clear")))
        self.check("the length", len(push), int(self.one("length")))
        self.check("the widest length", read_options(answer[2:])["widest-length"], [self.one("widest-length")])
        self.check("the bucket", self.ask("text", word(envelope.encode()))[2:], [self.one("bucket")])
        pin = f"{PROVIDER_PUBLIC} -"
        push_type = self.header.get("push-type", ["alert"])[0]
        answer = self.ask("push", "com.example.app", DEVICE_SECRET, pin, push_type, self.one("time"), word(push))
        self.check("the outcome", answer[0], "opened")
        self.check("the payload", hashlib.sha256(data(answer[1])).hexdigest(), self.one("payload-sha256"))


def secret_word(case):
    """What signs in a vector: the provider's secret key, or the lines of a signing key file."""
    if case.get("epoch", 0) == 0:
        return text_form(Kind("provider-secret"), data(case.get("providerSeed") or case["signingSeed"]))
    secret, certificate = text_form(Kind("signing-secret"), data(case["signingSeed"])), base64.urlsafe_b64encode(data(case["certificate"])).decode()
    return f"{secret},{certificate.rstrip('=')},{text_form(Kind('provider-public'), data(case['providerPublic']))}"


def epoch_of(certificate):
    return int.from_bytes(base64url(certificate)[1:5], "big")


def base64url(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def is_asked(header):
    """Not what is accepted if the provider seals to suite 2, which no package does."""
    return header.get("seals") != ["1 2"] or header["expect"] != ["accepted"]


def vectors(name):
    with open(os.path.join(VECTORS, name)) as file:
        return json.load(file)


def seals(driver):
    """The seals of envelopes.json: the same push, byte for byte."""
    for case in vectors("envelopes.json")["seal"]:
        seal_hedged(driver, case)


def seal_hedged(driver, case):
    """A seal from the random bytes of a vector: everything that comes of them."""
    given = {"push-type": "pushType", "title": "title", "sound": "clearSound", "id": "callerID", "device": "device", "collapse-name": "collapseName"}
    wanted = {name: [case[member]] for name, member in given.items() if member in case}
    wanted |= {"sealed-life": [str(case["ttl"])], "kept": case.get("kept", [])}
    drawn = {"r-message-id": "rMessageID", "r-ephemeral": "rEphemeral", "hedge-signature": "hedgeSignature"}
    wanted |= {name: [data(case[member])] for name, member in drawn.items() if member in case}
    answer = message(driver, case, case["sentAt"], case["payload"], wanted)
    expected = {"message-id": case["messageID"], "widest-length": str(case["widestLength"]), "collapse-id": case["collapseID"]}
    found = read_options(answer[2:]) if answer[0] == "sealed" else {}
    if not found or data(answer[1]).decode() != case["push"] or {name: found[name][0] for name in expected} != expected:
        raise Failure(f"{driver.language}: the seal {case['name']}: {str(answer)[:2000]}")


def message(driver, case, sent_at, payload, wanted):
    """Asks a package to seal for the device, provider and topic of a vector."""
    device = text_form(Kind("device-public"), data(case["devicePublic"]))
    return driver.ask([f"message {case['topic']} {device} {secret_word(case)} {sent_at} {word(payload.encode())}{options(wanted)}"])[0]


def requests(driver):
    """The collapse ids and expirations of requests.json."""
    cases = vectors("requests.json")
    for case in cases["collapse"]:
        given = {"id": "callerID", "device": "device", "collapse-name": "collapseName"}
        wanted = {name: [case[member]] for name, member in given.items() if member in case}
        wanted |= {"hedge-signature": [data(case["hedgeSignature"])]} if "hedgeSignature" in case else {}
        answer = message(driver, case, 1767225600000, '{"aps":{"alert":"a"}}', wanted)
        if answer[0] != "sealed" or read_options(answer[2:])["collapse-id"] != [case["collapseID"]]:
            raise Failure(f"{driver.language}: the collapse id {case['name']}: {answer}")
    some = cases["collapse"][0]
    for case in cases["expiration"]:
        wanted = {"push-type": [case["pushType"]], "time-to-live": [str(case["requested"])]}
        answer = message(driver, some, case["sentAt"], '{"aps":{"alert":"a"}}', wanted)
        found = read_options(answer[2:]) if answer[0] == "sealed" else {}
        if (found.get("expiration"), found.get("time-to-live")) != ([str(case["expiration"])], [str(case["ttl"])]):
            raise Failure(f"{driver.language}: the expiration {case['name']}: {answer[0]} {found}")


def made(driver):
    """The certificates of trust.json, and the sealed files of attachments.json, byte for byte."""
    for case in vectors("trust.json")["certificates"]:
        provider, signing = text_form(Kind("provider-secret"), data(case["providerSeed"])), text_form(Kind("signing-secret"), data(case["signingSeed"]))
        times = " ".join(str(case[name]) for name in ("epoch", "floor", "graceUntil", "expiresAt"))
        check_made(driver, case, f"certify {case['topic']} {provider} {times} {signing}", ["ok", case["certificate"], case["text"]])
    for case in vectors("attachments.json")["seal"]:
        pieces = [piece.partition("*") for piece in case["plain"]]
        plain = b"".join(bytes.fromhex(digits) * int(count or 1) for digits, _, count in pieces)
        question = f"hedgedfile {secret_word(case)} {case['r']} {word(plain)}"
        check_made(driver, case, question, ["ok", case["key"], str(case["size"]), case["sha256"]])


def suite_2_records(driver):
    """Records of a key of suite 2, by [D-3], [D-9], [D-14] and [D-23], and replies with suites."""
    key = next(body.decode() for _, path, _, body in tests_of("suite-2-keys") if path == "suite-2-keys/the-phones-public-key")
    held = {"held-key": [key], "held-generation": ["1"]}
    for expected, members, known in (
        ("unsupported-suite", {"public_key": key, "suite": 2, "suites": [1, 2]}, {}),
        ("unsupported-suite", {"public_key": key}, {}),
        ("unsupported-suite", {"public_key": key, "key_id": "0be3735d", "suites": [2]}, {}),
        ("malformed-key", {"public_key": key, "suites": [2], "provider": "pcs1"}, {}),
        ("malformed-record", {"public_key": key, "key_id": "0be3735e"}, {}),
        ("user-mismatch", {"public_key": key, "generation": 2}, held | {"held-user": ["alice"], "user": ["bob"]}),
        ("topic-mismatch", {"public_key": key, "topic": "a"}, held | {"held-topic": ["b"]}),
        ("key-taken", {"public_key": key}, held | {"elsewhere": ["bob"]}),
        ("ok", {"public_key": key}, held),
        ("malformed-record", {"public_key": key, "suite": 1}, {}),
        ("malformed-record", {"public_key": key, "suites": [1]}, {}),
        ("malformed-record", {"public_key": DEVICE_PUBLIC, "suite": 2}, {}),
        ("malformed-record", {"public_key": DEVICE_PUBLIC, "suites": [2]}, {}),
        ("malformed-record", {"public_key": DEVICE_PUBLIC, "device": "pcrx1abc"}, {}),
        ("generation-rollback", {"public_key": DEVICE_PUBLIC, "generation": 1, "suites": [1, 2]}, held),
        ("suite-downgrade", {"public_key": DEVICE_PUBLIC, "generation": 2}, held),
        ("suite-downgrade", {"public_key": DEVICE_PUBLIC, "generation": 2, "topic": "a"}, held | {"held-topic": ["b"]}),
        ("ok", {"public_key": DEVICE_PUBLIC, "generation": 1}, held | {"replace": ["yes"]}),
    ):
        check_code(driver, f"a record of {members}", f"record device {word(json.dumps(members).encode())}{options(known)}", expected)
    for expected, suites in (("ok", [1]), ("ok", [2]), ("malformed-record", []), ("malformed-record", [2, 1]), ("malformed-record", "1")):
        members = {"version": 1, "acknowledged": DEVICE_PUBLIC, "suites": suites}
        check_code(driver, f"a reply of {suites}", f"reply {DEVICE_SECRET} {word(json.dumps(members).encode())}", expected)
    members = {"version": 1, "acknowledged": key}
    answer = driver.ask([f"reply {DEVICE_SECRET} {word(json.dumps(members).encode())}"])[0]
    expected = {"acknowledged": [key], "suites": ["1"], "confirms": ["no"], "pins": ["-"], "learned": ["-"]}
    if answer[0] != "ok" or read_options(answer[1:]) != expected:
        raise Failure(f"{driver.language}: a reply to a key of suite 2: {str(answer)[:300]}")
    payload = json.dumps({"aps": {"alert": "a"}}).encode()
    sealing = f"message com.example.app {key} {PROVIDER_SECRET} 1000 {word(payload)}"
    check_code(driver, "a message to a key of suite 2", sealing, "unsupported-suite")


def check_code(driver, name, question, expected):
    answer = driver.ask([question])[0]
    if (answer[1] if answer[0] == "refused" else answer[0]) != expected:
        raise Failure(f"{driver.language}: {name[:300]}: {str(answer)[:300]}, and not {expected}")


def check_made(driver, case, question, expected):
    answer = driver.ask([question])[0]
    if answer != expected:
        raise Failure(f"{driver.language}: {case['name']}: {str(answer)[:300]}")


def misuse(driver):
    """Misuse by a caller: the receiver's driver misuses it."""
    answer = driver.ask([f"misuse {DEVICE_PUBLIC} {PROVIDER_SECRET}"])[0]
    if answer != ["ok"]:
        raise Failure(f"{driver.language}: misuse: {' '.join(answer)}")


# What is asked beside the kit.
CHECKS = [
    ("seals", seals), ("requests", requests), ("certificates and files", made),
    ("records of suite 2", suite_2_records), ("misuse", misuse),
]


def outcomes(driver):
    """Each test asked about, with the `Failure` if its outcome is not the claimed one; a test that opens comes first."""
    check_reader()
    asked = [test for test in tests() if is_asked(test[2])]
    first = next(test for test in asked if test[0] == "envelopes" and test[2]["expect"] == ["opened"])
    for group, path, header, body in [first, *(test for test in asked if test is not first)]:
        try:
            getattr(Case(driver, path, header, body), group.replace("-", "_"))()
            yield path, None
        except Failure as failure:
            yield path, failure
    for name, check in CHECKS:
        try:
            check(driver)
            yield name, None
        except Failure as failure:
            yield name, failure


def run(driver):
    """The number of tests with the claimed outcome, and of tests not asked about. Raises a `Failure` that names all
    others."""
    found = [failure for _, failure in outcomes(driver)]
    failures, count = [str(failure) for failure in found if failure], len(found) - len(CHECKS)
    if failures:
        raise Failure("\n".join([*failures, f"{driver.language}: {len(failures)} of {count} tests have another outcome"]))
    not_asked = sum(len(tests_of(group)) for group in NOT_ASKED)
    return count, not_asked + sum(not is_asked(header) for _, _, header, _ in tests())
