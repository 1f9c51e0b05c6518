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
    Certificate, Change, Code, Credential, DeviceKey, DevicePublicKey, DeviceRecord, FileOpener, HeldDevice, Learned, Person, Placeholder,
    ProviderKey, ProviderPublicKey, ProviderRecord, PushcryptError, Reference, Reply, SealedFile, Sealer, SigningKey, Trust, _json, apply_reply,
    check_full_body, check_registration, fingerprint, issue_certificate, open_push, seal_file, seal_full_body, shows_stale_store,
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

    def __init__(self, provider):
        self.public_key, self.other = provider.public_bytes(), ProviderKey.generate()

    def sign(self, message):
        return self.other.sign(message)


class Forgetful(Stranger):
    """The same, but not the first time."""

    def __init__(self, provider):
        super().__init__(provider)
        self.keys = [provider]

    def sign(self, message):
        return (self.keys.pop() if self.keys else self.other).sign(message)


def sealing(device, provider):
    """Options and payloads of a sealer."""
    sealer, payload = Sealer(provider, topic="a"), b'{"aps":{"alert":"a","sound":"b"}}'

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
    yield "a provider's key to seal to", wrong_type(sealer.seal, payload, provider.public_key)
    yield "a key as text of bytes", wrong_type(DevicePublicKey.parse, str(device).encode())
    yield "a topic that is None", wrong_type(Sealer, provider, topic=None)
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
    yield "another key's signature at the start", refused("wrong-signature", Sealer, Stranger(provider), topic="a")
    yield "another key's signature later", refused("wrong-signature", Sealer(Forgetful(provider), topic="a").seal, payload, device)


class Name(enum.Enum):
    APS = "aps"


def objects(device, provider):
    """Payloads as objects: what JSON would change is refused, and all else comes back."""
    receiver = DeviceKey.generate()
    sealer, trust = Sealer(provider, topic="a"), Trust([provider.public_key])

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


def registering(device, provider):
    """Records, replies and registrations of wrong types: a text in the place of a key, of a flag or of a number."""
    record, key = DeviceRecord(public_key=device, provider=provider.public_key), provider.public_key
    yield "a reply with a number", wrong_type(Reply, acknowledged=device, provider=7)
    yield "a reply with a key as text", wrong_type(Reply, acknowledged=str(device))
    yield "a reply with a certificate as text", wrong_type(Reply, acknowledged=device, certificate="AWgK")
    yield "a reply with half a key", refused("malformed-record", Reply, acknowledged=device, push_key=bytes(31))
    yield "a record with a number as text", wrong_type(DeviceRecord, public_key=device, generation="5")
    yield "a record that is true", wrong_type(DeviceRecord, public_key=device, generation=True)
    yield "a record of bytes", wrong_type(DeviceRecord, public_key=device, topic=b"a")
    yield "a record of a provider's key", wrong_type(DeviceRecord, public_key=key) and wrong_type(ProviderRecord, public_key=device)
    yield "a device of spaces", refused("malformed-record", DeviceRecord, public_key=device, device=" ")
    yield "a device with an invisible character", refused("malformed-record", DeviceRecord, public_key=device, device="a\u200b")
    yield "a token of one digit", refused("malformed-record", DeviceRecord, public_key=device, token="a")
    yield "another environment", refused("malformed-record", DeviceRecord, public_key=device, environment="sandbox")
    yield "a grant that is printed", "secret-word" not in repr(DeviceRecord(public_key=device, grant="secret-word"))
    yield "suites in another order", refused("malformed-record", DeviceRecord, public_key=device, suites=[2, 1])
    yield "a generation below 0", refused("malformed-record", DeviceRecord, public_key=device, generation=-1)
    yield "a user that is a number", wrong_type(check_registration, record, None, user=5)
    yield "a flag that is a text", wrong_type(check_registration, record, None, user=None, replace="false")
    yield "own keys as texts", wrong_type(check_registration, record, None, user=None, own_keys=[str(key)])
    yield "a held topic of bytes", wrong_type(HeldDevice, public_key=device, generation=1, topic=b"a")
    yield "a refusal for no key", wrong_type(
        apply_reply, Reply(refused="key-taken"), None, Trust(), topic="a", is_built_in=False)
    sealer = Sealer(provider, topic="a")
    yield "a placeholder that is a text", wrong_type(Sealer, provider, topic="a", placeholder="New message")
    yield "a provider that is a text", wrong_type(Sealer, provider.secret_text(), topic="a")
    yield "a payload dropped as text", wrong_type(sealer.seal, b'{"aps":{"alert":"a"}}', device, dropped="false")
    yield "an attachment as JSON", wrong_type(sealer.seal, b'{"aps":{"alert":"a"}}', device, attachments=[{"url": "https://a"}])
    yield "a person as text", wrong_type(sealer.seal, b'{"aps":{"alert":"a"}}', device, person="Anna")


def uses(provider):
    """What no vector has: a message with everything, and files."""
    phone, now = DeviceKey.generate(), 1_767_225_600_000
    plain, sealed = os.urandom(200_000), io.BytesIO()
    reference = seal_file(io.BytesIO(plain), sealed, provider).reference(url="https://a", type="public.jpeg", name="a")
    pieces = [sealed.getvalue()[start : start + 1000] for start in range(0, len(sealed.getvalue()), 1000)]
    yield "a file", FileOpener(reference).open(pieces) == plain
    yield "a file that changes", refused("changed-file", seal_file, Changing(b"abc"), io.BytesIO(), provider)
    body = seal_full_body("Long…", url="https://b", key=provider)
    yield "a full body", check_full_body(FileOpener(body.reference).open([body.sealed])) == "Long…"
    yield "a full body that is too long", refused("body-too-long", seal_full_body, "a" * 65_537, url="https://b", key=provider)
    yield "an empty full body", refused("malformed-file", seal_full_body, "", url="https://b", key=provider)
    yield "a full body with half of a pair", refused("malformed-file", seal_full_body, HALF, url="https://b", key=provider)

    trust = Trust([provider.public_key])
    person = Person(name="Anna", handle="u17", conversation="c", recipients=("Ben",), avatar=reference)
    push = Sealer(provider, topic="a").seal(
        {"aps": {"alert": "a"}}, phone.public_key, at=now, attachments=[reference] * 2, full_body=body, person=person,
        withdrawing=["x", "y"], dropped=True)
    opened = open_push(push.payload.decode(), topic="a", devices=[phone], trust=trust, at=now)
    yield "attachments", opened.attachments == ([reference] * 2, []) and opened.full_body() == body.reference
    yield "a person", opened.person == person
    names = [Sealer(provider, topic="a").seal(b'{"aps":{"alert":"a"}}', phone.public_key, message_name=name) for name in "xy"]
    yield "withdrawals", opened.withdraws == [earlier.message_id for earlier in names] and opened.is_dropped
    yield "times", (opened.sent_at, opened.expires_at) == (now, push.expires_at)


def trusting(provider):
    """Certificates and trust: what a phone stores comes back, and what a provider mixes up is refused."""
    now, key, pin = 1_767_225_600_000, SigningKey.generate(), provider.public_key

    def issued(**more):
        return issue_certificate(provider, key.public_bytes(), **{"topic": "a", "at": now} | more)

    first = issued()
    second = issued(current=first, stolen=True)
    yield "three pins", refused("too-many-pins", Trust, [ProviderKey.generate().public_key for _ in range(3)])
    yield "one pin twice", refused("too-many-pins", Trust, [pin, pin])
    yield "a pin as text", wrong_type(Trust, [str(pin)]) and wrong_type(Trust, str(pin))
    yield "a certificate as text", wrong_type(Trust([pin]).accept, str(first), topic="a") and wrong_type(Certificate, str(first))
    yield "a certificate for nobody", refused("bad-certificate-signature", Trust().accept, first, topic="a")
    trust = Trust([pin])
    yield "a certificate", trust.accept(first, topic="a") is Change.RAISED and trust.accept(first, topic="a") is Change.UNCHANGED
    stored = trust.learned(pin)
    stored = Learned(Certificate.parse(str(stored.certificate)), stored.floor)
    yield "what was stored", stored == trust.learned(pin)
    trust.accept(second, topic="a")
    trust.learn(pin, stored)
    yield "an older state that is merged", trust.learned(pin) == Learned(second, second.epoch)
    yield "an epoch of the day after tomorrow", refused("implausible-epoch", issued, current=second, at=now - 86_400_001)
    same = SigningKey(bytes([7]) * 32).public_bytes()
    yield "the provider key as signing key", refused("weak-key", issue_certificate, ProviderKey(bytes([7]) * 32), same, topic="a", at=now)
    yield "the certificate of another key", refused("wrong-certificate", Credential, SigningKey.generate(), first, pin)
    credential = Credential(key, first, pin)
    yield "the certificate of another app", refused("bad-certificate-signature", Sealer, credential, topic="b")
    yield "a signing key without its certificate", wrong_type(Sealer, key, topic="a")
    yield "a certificate without its provider", wrong_type(Sealer, Stranger(provider), topic="a", certificate=first)
    yield "a signing key file", Credential.parse(credential.secret_text()).secret_text() == credential.secret_text()
    yield "a signing key file of two lines", refused("malformed-key", Credential.parse, credential.secret_text().rsplit("\n", 2)[0])
    yield "a signing key that is printed", key.secret_text() not in f"{credential!r} {Sealer(credential, topic='a')!r}"
    record = DeviceRecord(public_key=DeviceKey.generate().public_key, certificate=first)
    yield "a certificate that was never issued", shows_stale_store(record, pin, topic="a", issued=[second])
    yield "one that was", not shows_stale_store(record, pin, topic="a", issued=[first, second])


def answers(device, provider):
    """A name for each, and whether it passed. The keys are valid."""
    key = os.urandom(32)
    yield from sealing(device, provider)
    yield from objects(device, provider)
    yield from registering(device, provider)
    yield from uses(provider)
    yield from trusting(provider)
    yield "a pin of zeros", refused("weak-key", ProviderPublicKey, bytes(32))
    yield "a key of 31 bytes", refused("malformed-key", DeviceKey, bytes(31))
    opener = FileOpener(SealedFile(key, 22, bytes(32)))
    first, then = refused("not-a-sealed-file", opener.update, bytes(22)), refused("malformed-file", opener.update, b"")
    yield "a file after it was refused", first and then and refused("malformed-file", opener.finish)
    reference = Reference(url="https://a", key=key, size=22, sha256=bytes(32), type="a.b", name="a")
    yield "a key that is printed", repr(key) not in repr(reference) and repr(key) not in repr(SealedFile(key, 22, bytes(32)))
    secret = ProviderKey(key)
    shown = f"{secret!r} {secret} {Sealer(secret, topic='a')!r}"
    yield "a secret key that is printed", secret.secret_text() not in shown and key.hex() not in shown and repr(key) not in shown
    yield "the fingerprint of half of a pair", len(fingerprint(HALF)) == 8
    start = time.process_time()
    hard = refused("malformed-payload", _json.parse_object, b"[" * 33 + b'"' + b'\\"' * 8_000, Code.MALFORMED_PAYLOAD)
    hard = hard and time.process_time() - start < 0.1
    wide = b'{"aps":{"alert":"' + b'a\\"' * 15_000 + b'" }, "own":"' + b"b" * 15_000 + b'" }'
    refused_wide = refused("payload-too-large", Sealer(provider, topic="a").seal, wide, device)
    yield "white space behind long texts", refused_wide and time.process_time() - start < 0.3
    yield "an unterminated string", hard
