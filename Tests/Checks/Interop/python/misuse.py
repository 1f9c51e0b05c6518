"""Misuse by a caller that no file of the kit can express: each call must be refused, or do no harm."""
import enum
import io
import json
import math
import os
import pickle
import time
from decimal import Decimal

from pushcrypt import (
    AnnouncedStatements, Code, DeviceKey, DevicePublicKey, DeviceRecord, FileOpener, HeldDevice, Person, Pins, Placeholder, PushcryptError,
    RecoveryKey, RecoveryPublicKey, Reference, Reply, SealedFile, Sealer, Sender, SenderKey, SenderPublicKey, SenderRecord, Superseded, Trust,
    _json, apply_reply, check_full_body, check_registration, fingerprint, open_push, recovery_statement,
    rotation_statement, seal_file, seal_full_body, statement_line,
)

HALF = "\ud800"


def refused(code, function, *arguments, **named):
    """Whether the call is refused with the code, in a text that quotes nothing of what was given."""
    try:
        function(*arguments, **named)
    except PushcryptError as error:
        return error.code == code and "secret-word" not in str(error) and pickle.loads(pickle.dumps(error)).code is error.code
    return False


def wrong_type(function, *arguments, **named):
    try:
        function(*arguments, **named)
    except TypeError:
        return True
    return False


class Stranger:
    """A signer that signs with another key than it names."""

    def __init__(self, sender):
        self.public_key, self.other = sender.public_key, SenderKey.generate()

    def sign(self, message):
        return self.other.sign(message)


class Forgetful(Stranger):
    """The same, but not the first time."""

    def __init__(self, sender):
        super().__init__(sender)
        self.keys = [sender]

    def sign(self, message):
        return (self.keys.pop() if self.keys else self.other).sign(message)


def sealing(device, sender):
    """Options and payloads of a sealer."""
    sealer, payload = Sealer(sender, topic="a"), b'{"aps":{"alert":"a","sound":"b"}}'

    def seals(code, given=payload, **named):
        return refused(code, sealer.seal, given, device, **named)

    yield "a title with half of a pair", refused("invalid-placeholder", Placeholder, title=HALF)
    yield "a sound with half of a pair", refused("invalid-placeholder", Placeholder, sound=HALF)
    yield "a title of spaces", refused("invalid-placeholder", Placeholder, title=" \t")
    yield "a title of 4,097 bytes", refused("invalid-placeholder", Placeholder, title="é" * 2049)
    yield "a title that is a number", wrong_type(Placeholder, title=7)
    yield "a field that stays sealed", refused("invalid-placeholder", Placeholder, clear=("alert",))
    yield "a misspelt option", wrong_type(sealer.seal, payload, device, tll=60)
    yield "a misspelt option of the placeholder", wrong_type(Placeholder, tilte="a")
    yield "a statement of 180 bytes", seals("invalid-request", announcing=[bytes(180)])
    yield "five statements", seals("invalid-request", announcing=[bytes(181)] * 5)
    yield "a statement alone", wrong_type(sealer.seal, payload, device, announcing=bytes(181))
    yield "the text of statements", wrong_type(sealer.seal, payload, device, announcing=f"{sender.public_key} AgAA\n")
    yield "a statement that is a number", wrong_type(sealer.seal, payload, device, announcing=[7])
    yield "a text of statements as bytes", wrong_type(AnnouncedStatements.parse, b"", sender.public_key)
    yield "statements to a key as text", wrong_type(AnnouncedStatements.parse, "", str(sender.public_key))
    yield "a time to live with a fraction", seals("invalid-time", time_to_live=1.5)
    yield "a time to live that is true", seals("invalid-time", time_to_live=True)
    yield "a time before 1970", seals("invalid-time", at=-1)
    yield "an empty name of a message", seals("invalid-request", message_name="")
    yield "a name with half of a pair", seals("invalid-request", message_name=HALF)
    yield "a name that is a number", wrong_type(sealer.seal, payload, device, message_name=17)
    yield "65 withdrawals", seals("invalid-request", withdrawing=[str(number) for number in range(65)])
    yield "an empty withdrawal", seals("invalid-request", withdrawing=[""])
    yield "a withdrawal of itself", seals("invalid-request", withdrawing=["a"], message_name="a")
    yield "a withdrawal with half of a pair", seals("invalid-request", withdrawing=[HALF])
    yield "a withdrawal that is a text", wrong_type(sealer.seal, payload, device, withdrawing="table-17")
    yield "a person of two lines", refused("invalid-request", Person, name="a\nb")
    yield "nine recipients", refused("invalid-request", Person, name="a", recipients=["b"] * 9)
    reference = Reference(url="https://a", key=bytes(32), size=1_000_001, sha256=bytes(32), type="public.png", name="a")
    yield "an avatar that is too large", refused("malformed-reference", Person, name="a", avatar=reference)
    yield "a full body that is a picture", seals("malformed-reference", full_body=reference)
    yield "a key as text", wrong_type(sealer.seal, payload, str(device))
    yield "a sender's key to seal to", wrong_type(sealer.seal, payload, sender.public_key)
    yield "a key as text of bytes", wrong_type(DevicePublicKey.parse, str(device).encode())
    yield "a topic that is None", wrong_type(Sealer, sender, topic=None)
    woken = sealer.seal(b'{"aps":{"alert":"a","content-available":1}}', device)
    yield "content-available in the clear", b'"content-available":1' in woken.payload
    yield "a string that looks like the number 1", seals("invalid-field", b'{"aps":{"alert":"a","content-available":"1"}}')
    yield "a badge that is a string", seals("invalid-field", b'{"aps":{"alert":"a","badge":"1"}}')
    yield "a volume beyond any double", seals("invalid-field", b'{"aps":{"alert":"a","sound":{"volume":1e400}}}')
    yield "an alert without a text", seals("nothing-to-show", b'{"aps":{"alert":{"title":""},"badge":1}}')
    yield "no aps", seals("missing-aps", b'{"alert":"secret-word"}')
    yield "a payload in quotes", seals("malformed-payload", b'"secret-word"')
    yield "a payload that is not JSON", seals("malformed-payload", b"secret-word")
    yield "a background push with priority 10", refused(
        "invalid-request", sealer.request, sealer.seal(b'{"aps":{}}', device, push_type="background"), priority=10)
    yield "an expiration in milliseconds", refused("invalid-request", sealer.request, woken, expiration=1_767_225_600_000)
    yield "an empty collapse name", refused("invalid-request", sealer.request, woken, collapse_name="")
    yield "a device name of 256 bytes", refused("invalid-request", sealer.request, woken, device_name="é" * 128)
    yield "another key's signature at the start", refused("wrong-signature", Sealer, Stranger(sender), topic="a")
    yield "another key's signature later", refused("wrong-signature", Sealer(Forgetful(sender), topic="a").seal, payload, device)


class Name(enum.Enum):
    APS = "aps"


def objects(device, sender):
    """Payloads as objects: what JSON would change is refused, and all else comes back."""
    receiver = DeviceKey.generate()
    sealer, trust = Sealer(sender, topic="a"), Trust([Sender("a", sender.public_key)])

    def comes_back(value):
        push = sealer.seal({"aps": {"alert": "a"}, "own": value}, receiver.public_key)
        opened = open_push(push.payload, topic="a", devices=[receiver], trust=trust)
        return json.loads(opened.payload)["own"]

    def is_refused(value):
        return refused("malformed-payload", sealer.seal, value, device)

    big = 2**70 + 1
    yield "a big integer", comes_back(big) == big
    yield "a float", comes_back(0.1) == 0.1 and comes_back(1e22) == 1e22 and math.copysign(1, comes_back(-0.0)) == -1
    yield "a tuple", comes_back((1, (2,))) == [1, [2]]
    yield "a text of every plane", comes_back("é예🚲\x00\x7f\u2028") == "é예🚲\x00\x7f\u2028"
    yield "not a number", is_refused({"aps": {}, "own": math.nan}) and is_refused({"aps": {}, "own": [math.inf]})
    yield "half of a pair", is_refused({"aps": {}, "own": HALF}) and is_refused({"aps": {}, HALF: 1})
    yield "names that JSON makes equal", is_refused({"aps": {}, 1: "a", "1": "b"})
    yield "a name that is None", is_refused({"aps": {}, None: 1})
    yield "bytes in an object", is_refused({"aps": {}, "own": b"secret-word"})
    yield "a decimal", is_refused({"aps": {}, "own": Decimal("1.10")})
    yield "an object in itself", is_refused((lambda value: value.update(own=value) or value)({"aps": {}}))
    yield "a number of 5,000 digits", is_refused({"aps": {"alert": "a"}, "own": 10**5000})
    yield "a name that is another type", is_refused({Name.APS: {}})
    yield "no payload", wrong_type(sealer.seal, None, device) and wrong_type(sealer.seal, [], device)
    spaced = b' {"aps" : {"alert":"a"}, "own": [1.50, 1E400, "\\u00e9\\/"]} '
    push = sealer.seal(spaced, receiver.public_key)
    kept = open_push(push.payload, topic="a", devices=[receiver], trust=trust).payload
    yield "bytes that stay", kept == b'{"aps":{"alert":"a"},"own":[1.50,1E400,"\\u00e9\\/"]}'
    yield "a text that stays", sealer.seal(spaced.decode(), receiver.public_key).widest == push.widest
    again = [sealer.seal(spaced, receiver.public_key, message_name="a") for _ in range(2)]
    yield "a retry", again[0].message_id == again[1].message_id and again[0].envelope != again[1].envelope


class Changing(io.BytesIO):
    """A file that is another one when it is read again."""

    def seek(self, *place):
        self.getbuffer()[-1] ^= 1
        return super().seek(*place)


def registering(device, sender):
    """Records, replies and registrations of wrong types: a text in the place of a key, of a flag or of a number."""
    record, key = DeviceRecord(public_key=device, sender=sender.public_key), sender.public_key
    yield "a reply with a number", wrong_type(Reply, acknowledged=device, sender=7)
    yield "a reply with a key as text", wrong_type(Reply, acknowledged=str(device))
    yield "a reply with texts as keys", wrong_type(Reply, acknowledged=device, recovery="pcv1")
    yield "a record with a number as text", wrong_type(DeviceRecord, public_key=device, generation="5")
    yield "a record that is true", wrong_type(DeviceRecord, public_key=device, generation=True)
    yield "a record of bytes", wrong_type(DeviceRecord, public_key=device, topic=b"a")
    yield "a record of a sender's key", wrong_type(DeviceRecord, public_key=key) and wrong_type(SenderRecord, public_key=device)
    yield "a device of spaces", refused("malformed-record", DeviceRecord, public_key=device, device=" ")
    yield "suites in another order", refused("malformed-record", DeviceRecord, public_key=device, suites=[2, 1])
    yield "a generation below 0", refused("malformed-record", DeviceRecord, public_key=device, generation=-1)
    yield "a user that is a number", wrong_type(check_registration, record, None, user=5)
    yield "a flag that is a text", wrong_type(check_registration, record, None, user=None, replace="false")
    yield "own keys as texts", wrong_type(check_registration, record, None, user=None, own_keys=[str(key)])
    yield "a held topic of bytes", wrong_type(HeldDevice, public_key=device, generation=1, topic=b"a")
    yield "a refusal for no key", wrong_type(
        apply_reply, Reply(refused="key-taken"), None, Pins(), sender_built_in=False, recovery_built_in=False)
    sealer = Sealer(sender, topic="a")
    yield "a placeholder that is a text", wrong_type(Sealer, sender, topic="a", placeholder="New message")
    yield "a sender that is a text", wrong_type(Sealer, sender.secret_text(), topic="a")
    yield "a payload dropped as text", wrong_type(sealer.seal, b'{"aps":{"alert":"a"}}', device, dropped="false")
    yield "an attachment as JSON", wrong_type(sealer.seal, b'{"aps":{"alert":"a"}}', device, attachments=[{"url": "https://a"}])
    yield "a person as text", wrong_type(sealer.seal, b'{"aps":{"alert":"a"}}', device, person="Anna")
    yield "a rotation of public keys", wrong_type(rotation_statement, key, key)
    yield "an overlap with a fraction", wrong_type(rotation_statement, sender, SenderKey.generate(), overlap=1.5)
    yield "the line of a key as text", wrong_type(statement_line, rotation_statement(sender, SenderKey.generate()), str(key))


def uses(sender):
    """What no vector has: a message with everything, files, and keys after a rotation."""
    phone, new, now = DeviceKey.generate(), SenderKey.generate(), 1_767_225_600_000
    plain, sealed = os.urandom(200_000), io.BytesIO()
    reference = seal_file(io.BytesIO(plain), sealed, sender).reference(url="https://a", type="public.jpeg", name="a")
    pieces = [sealed.getvalue()[start : start + 1000] for start in range(0, len(sealed.getvalue()), 1000)]
    yield "a file", FileOpener(reference).open(pieces) == plain
    yield "a file that changes", refused("changed-file", seal_file, Changing(b"abc"), io.BytesIO(), sender)
    body = seal_full_body("Long…", url="https://b", sender=sender)
    yield "a full body", check_full_body(FileOpener(body.reference).open([body.sealed])) == "Long…"
    yield "a full body that is too long", refused("body-too-long", seal_full_body, "a" * 65_537, url="https://b", sender=sender)
    yield "an empty full body", refused("malformed-file", seal_full_body, "", url="https://b", sender=sender)
    yield "a full body with half of a pair", refused("malformed-file", seal_full_body, HALF, url="https://b", sender=sender)

    statement = rotation_statement(sender, new, at=now, overlap=60)
    trust = Trust([Sender("a", sender.public_key)])
    person = Person(name="Anna", handle="u17", conversation="c", recipients=("Ben",), avatar=reference)
    push = Sealer(new, topic="a").seal(
        {"aps": {"alert": "a"}}, phone.public_key, at=now, attachments=[reference] * 2, full_body=body, person=person,
        withdrawing=["x", "y"], dropped=True, announcing=[statement])
    opened = open_push(push.payload.decode(), topic="a", devices=[phone], trust=trust, at=now)
    yield "attachments", opened.attachments == ([reference] * 2, []) and opened.full_body() == body.reference
    yield "a person", opened.person == person
    names = [Sealer(sender, topic="a").seal(b'{"aps":{"alert":"a"}}', phone.public_key, message_name=name) for name in "xy"]
    yield "withdrawals", opened.withdraws == [earlier.message_id for earlier in names] and opened.is_dropped
    yield "times", (opened.sent_at, opened.expires_at) == (now, push.expires_at)
    accepted, told = trust.follow(opened.statements, "a", now)
    yield "a rotation", (accepted, told, trust.senders[0].pinned) == ([statement], [], new.public_key)
    announced = AnnouncedStatements.parse(statement_line(statement, sender.public_key), new.public_key)
    for when, wanted in ((now, [statement]), (now + 34_560_000_001, [])):
        push = Sealer(new, topic="a").seal({"aps": {"alert": "a"}}, phone.public_key, at=when, announcing=announced)
        fresh = Trust([Sender("a", new.public_key if when > now else sender.public_key)])
        again = open_push(push.payload, topic="a", devices=[phone], trust=fresh, at=when)
        yield f"{len(wanted)} statements of a text", again.statements == wanted
    yield "statements to another key", refused(
        "untrusted-old-key", Sealer(sender, topic="a").seal, b'{"aps":{"alert":"a"}}', phone.public_key, announcing=announced)
    yield from added(announced, sender, new)
    both = [new.public_key, sender.public_key]
    yield "keys that a sender had", trust.had_before(new.public_key, now + 60_000) == both
    yield "keys after their overlap", trust.had_before(new.public_key, now + 60_001) == both[:1]
    yield "keys before a rotation", trust.had_before(sender.public_key, now) == both[1:]
    yield "a rotation to itself", refused("superseded-new-key", rotation_statement, new, new)
    yield "an overlap of 61 days", refused("overlap-too-long", rotation_statement, sender, new, overlap=61 * 86_400)
    recovery = RecoveryKey.generate()
    lost = recovery_statement(recovery, new, topic="a", serial=1)
    yield "the line of a recovery without a key", wrong_type(statement_line, lost, None) and wrong_type(statement_line, lost)
    yield "a recovery without a serial", refused("malformed-statement", recovery_statement, recovery, new, topic="a", serial=0)
    replaced = Trust([Sender("a", sender.public_key, recovery=(recovery.public_key,))])
    after = replaced.follow([recovery_statement(recovery, new, topic="a", serial=1)], "a")
    yield "a recovery", len(after[0]) == 1 and replaced.revoked() == {sender.public_key} and replaced.had_before(new.public_key, now) == both[:1]


def added(announced, sender, new):
    """A rotation is added to others, now and for the usual time."""
    third, now = SenderKey.generate(), time.time_ns() // 1_000_000
    second = rotation_statement(new, third)
    for days, count in ((59, 2), (61, 1)):
        first = rotation_statement(sender, new, at=now - 86_400_000 * days)
        text = AnnouncedStatements.parse(statement_line(first, sender.public_key), new.public_key).adding(second).text
        again = AnnouncedStatements.parse(text, third.public_key)
        yield f"a rotation {days} days after another", again.accepted() == [first, second][-count:] and again.text == text
        trust = Trust([Sender("a", sender.public_key if count == 2 else new.public_key)])
        yield f"phones {days} days later", trust.follow(again.accepted(), "a") == ([first, second][-count:], []) and trust.senders[0].pinned == third.public_key
    yield "a rotation as text", wrong_type(announced.adding, text)
    yield "an announcement of half a second", wrong_type(announced.adding, second, announced_for=0.5)
    yield "an announcement before a rotation", refused("invalid-time", announced.adding, second, announced_for=-1)
    yield "a rotation at a time with a fraction", wrong_type(announced.adding, second, at=1.5)


def answers(device, sender):
    """A name for each, and whether it passed. The keys are valid."""
    public, key = sender.public_key, os.urandom(32)
    yield from sealing(device, sender)
    yield from objects(device, sender)
    yield from registering(device, sender)
    yield from uses(sender)
    old = Superseded(public)
    yield "a pin of zeros", refused("weak-key", SenderPublicKey, bytes(32))
    yield "a recovery key of zeros", refused("weak-key", RecoveryPublicKey, bytes(32))
    yield "a key of 31 bytes", refused("malformed-key", DeviceKey, bytes(31))
    yield "a key that is pinned and superseded", refused("sender-superseded", Trust, [Sender("a", public, (old,))])
    two_uses = [Sender("a", public), Sender("b", None, (), (RecoveryPublicKey(bytes(public)),))]
    yield "a key that is a sender's and a recovery key", refused("sender-superseded", Trust, two_uses)
    yield "a last recovery of 52 bytes", refused("corrupt-store", Trust, [Sender("a", public, (), (), bytes(52))])
    yield "a statement of 180 bytes that is kept", refused("corrupt-store", Trust, [Sender("a", None, (Superseded(public, bytes(180)),))])
    statement = bytes([1]) + bytes(180)
    same = Trust([Sender("a", None, (Superseded(public, statement),))])
    yield "the same statement of a sender without a pin", same.evaluate(statement, "a", 0) == (False, None)
    opener = FileOpener(SealedFile(key, 46, bytes(32)))
    first, then = refused("not-a-sealed-file", opener.update, bytes(46)), refused("malformed-file", opener.update, b"")
    yield "a file after it was refused", first and then and refused("malformed-file", opener.finish)
    reference = Reference(url="https://a", key=key, size=46, sha256=bytes(32), type="a.b", name="a")
    yield "a key that is printed", repr(key) not in repr(reference) and repr(key) not in repr(SealedFile(key, 46, bytes(32)))
    secret = SenderKey(key)
    shown = f"{secret!r} {secret} {Sealer(secret, topic='a')!r}"
    yield "a secret key that is printed", secret.secret_text() not in shown and key.hex() not in shown and repr(key) not in shown
    yield "the fingerprint of half of a pair", len(fingerprint(HALF)) == 8
    start = time.process_time()
    hard = refused("malformed-payload", _json.parse_object, b"[" * 33 + b'"' + b'\\"' * 8_000, Code.MALFORMED_PAYLOAD)
    hard = hard and time.process_time() - start < 0.1
    wide = b'{"aps":{"alert":"' + b'a\\"' * 15_000 + b'" }, "own":"' + b"b" * 15_000 + b'" }'
    refused_wide = refused("payload-too-large", Sealer(sender, topic="a").seal, wide, device)
    yield "white space behind long texts", refused_wide and time.process_time() - start < 0.3
    yield "an unterminated string", hard
