"""Reads questions from standard input, one per line, and answers them with the installed Python package. README.md describes the
language."""
import functools
import hashlib
import io
import sys

sys.dont_write_bytecode = True

import misuse
from pushcrypt import (
    Certificate, Change, Credential, DeviceKey, DevicePublicKey, DeviceRecord, FileOpener, HeldDevice, HeldKey, Learned, Person, Placeholder,
    ProviderKey, ProviderPublicKey, ProviderRecord, PushcryptError, Reference, Reply, Sealer, SealedFile, SigningKey, Trust, _envelope, _json,
    apply_reply, attachments, certificates, check_full_body, check_registration, fingerprint, messages, open_push, opening,
    seal_file, shows_stale_store, signing,
)

KINDS = {
    "pcr": DevicePublicKey, "pcs": ProviderPublicKey, "pcr-secret-": DeviceKey, "pcs-secret-": ProviderKey, "pck-secret-": SigningKey,
}


def data(word):
    return b"" if word == "-" else bytes.fromhex(word)


def word(data):
    return data.hex() or "-"


def several(text):
    return [] if text == "-" else text.split(",")


def read_options(words):
    """Names, each with its values in order."""
    values = {}
    for each in words:
        name, _, value = each.partition("=")
        values.setdefault(name, []).append(bytes.fromhex(value))
    return values


def write_options(**values):
    """The same, of texts; `None` and empty lists are left out."""
    pairs = [(name, value) for name, all_ in values.items() for value in (all_ if isinstance(all_, (list, tuple)) else [all_])]
    return "".join(f" {name.replace('_', '-')}={str(value).encode().hex()}" for name, value in pairs if value is not None)


class Options:
    """Every option has to be read."""

    def __init__(self, words):
        self.values = read_options(words)

    def list(self, name):
        return self.values.pop(name, [])

    def one(self, name, default=None):
        values = self.list(name) or [default]
        assert len(values) == 1, name
        return values[0]

    def text(self, name, default=None):
        value = self.one(name)
        return default if value is None else value.decode()

    def end(self):
        assert not self.values, self.values


@functools.cache
def key(text, kind):
    return KINDS[kind].parse(text)


@functools.cache
def devices(text):
    pairs = [device.partition("@") for device in several(text)]
    return [HeldKey(key(secret, "pcr-secret-"), int(end)) if end else key(secret, "pcr-secret-") for secret, _, end in pairs]


@functools.cache
def read_learned(text):
    lines = [line.split(":") for line in several(text)]
    return {key(own, "pcs"): Learned(Certificate.parse(certificate), int(floor)) for own, certificate, floor in lines}


def read_trust(pins, learned):
    return Trust([key(pin, "pcs") for pin in several(pins)], read_learned(learned))


def write_learned(trust):
    lines = [(pin, trust.learned(pin)) for pin in trust.pins]
    return ",".join(f"{pin}:{known.certificate}:{known.floor}" for pin, known in lines if known.certificate) or "-"


def signing_key(text):
    """A provider's secret key, or the three lines of a signing key file."""
    lines = several(text)
    return key(text, "pcs-secret-") if len(lines) == 1 else Credential.parse("\n".join(lines))


def answer_key(kind, text):
    text = data(text).decode("utf-8", "surrogateescape")
    found = KINDS[kind].parse(text)
    secret = kind.endswith("-")
    if (found.secret_text() if secret else str(found)) != text.removesuffix("\n"):
        return "the text of the key is another one"
    raw = found._bytes
    if not secret:
        return f"ok {raw.hex()} {found.key_id} -"
    return f"ok {raw.hex()} - {(found.public_bytes() if kind == 'pck-secret-' else bytes(found.public_key)).hex()}"


def answer_check(kind, public_key):
    KINDS[kind](data(public_key))
    return "ok"


def answer_context(text):
    Sealer(ProviderKey(bytes(32)), topic=data(text).decode())
    return "ok"


def answer_text(text):
    decoded = _envelope.decode(data(text).decode())
    if _envelope.encode(decoded) != data(text).decode():
        return "encodes as another text"
    return f"ok {decoded[1:5].hex()} {len(decoded) - _envelope.OUTSIDE}"


def answer_fingerprint(text):
    return f"ok {fingerprint(data(text).decode())}"


def answer_open(context, device_keys, pins, learned, push_type, now, what, open=open_push):
    trust = read_trust(pins, learned)
    opened = open(what, topic=context, devices=devices(device_keys), trust=trust, push_type=push_type, at=int(now))
    trust.learn(opened.provider, opened.learned)
    return (
        f"opened {word(opened.payload)} {opened.message_id.hex()} {opened.sent_at} {opened.time_to_live} "
        f"{opened.provider} {opened.epoch} {write_learned(trust)} {'certificate-conflict' if opened.has_certificate_conflict else '-'}"
    )


def answer_certificate(context, pins, learned, certificate):
    trust = read_trust(pins, learned)
    change = trust.accept(Certificate(data(certificate)), topic=context)
    outcome = {Change.RAISED: "accepted", Change.UNCHANGED: "unchanged", Change.CONFLICT: "certificate-conflict"}[change]
    return f"{outcome} {write_learned(trust)}"


def answer_plan(*words):
    options = Options(words)
    known = {name: options.text(name) for name in ("certificate", "proven", "lifetime")}
    past = [tuple(map(int, line.decode().split(" "))) for line in options.list("past")]
    now, kind = int(options.text("time")), options.text("kind")
    options.end()
    current, proven = (known[name] and Certificate.parse(known[name]) for name in ("certificate", "proven"))
    lifetime = None if known["lifetime"] is None else int(known["lifetime"])
    epoch, floor, grace, expires_at = certificates.plan(current, past, proven, now, kind == "stolen", lifetime)
    return "ok" + write_options(epoch=epoch, floor=floor, grace_until=grace, expires_at=expires_at)


def answer_certify(context, provider, epoch, floor, grace_until, expires_at, signing):
    times = [int(number) for number in (epoch, floor, grace_until, expires_at)]
    made = certificates.certify(key(provider, "pcs-secret-"), context, *times, key(signing, "pck-secret-").public_bytes())
    return f"ok {made.data.hex()} {made}"


class Elsewhere:
    """A key in a service, whose signature over the hedge's label is given."""

    def __init__(self, key, hedge_signature):
        self.key, self.hedge_signature, self.public_key = key, hedge_signature, key.public_bytes()

    def sign(self, message):
        return self.hedge_signature if message.startswith(b"pushcrypt/1 hedge") else self.key.sign(message)


@functools.cache
def sealer(context, secret, hedge_signature, title, sound, kept):
    own, others = signing_key(secret), {}
    placeholder = Placeholder(title=title, sound={"": None, None: "matching"}.get(sound, sound), clear=kept)
    if hedge_signature is not None and isinstance(own, Credential):
        own, others = Elsewhere(own.key, hedge_signature), {"provider": own.provider, "certificate": own.certificate}
    elif hedge_signature is not None:
        own = Elsewhere(own, hedge_signature)
    return Sealer(own, topic=context, placeholder=placeholder, **others)


def answer_message(context, device, secret, sent_at, payload, *words):
    options = Options(words)
    sealing = sealer(
        context, secret, options.one("hedge-signature"), options.text("title", "New message"), options.text("sound"),
        tuple(name.decode() for name in options.list("kept")),
    )
    references = [attachments.parse_reference(_json.parse_object(text, "malformed-reference")) for text in options.list("attachment")]
    name = options.text("id")
    named = {
        "push_type": options.text("push-type", "alert"), "message_name": name, "time_to_live": int(options.text("time-to-live", "2592000")),
        "at": int(sent_at), "attachments": references,
        "sent_exactly": options.text("sent-exactly") == "yes",
    }
    life, drawn = options.text("sealed-life"), [options.one("r-message-id", bytes(32)), options.one("r-ephemeral")]
    device_name, collapse_name = options.text("device"), options.text("collapse-name")
    options.end()
    if life is None:
        push = sealing.seal(data(payload), key(device, "pcr"), **named)
    else:
        push = sealing._seal(
            data(payload), key(device, "pcr"), named["push_type"], name, int(life), int(sent_at), references, None, None, (), False,
            named["sent_exactly"], *drawn, int(life))
    request = sealing.request(push, device_name=device_name, collapse_name=collapse_name)
    return f"sealed {push.payload.hex()}" + write_options(
        message_id=push.message_id.hex(), time_to_live=(push.expires_at - int(sent_at)) // 1000, widest_length=push.widest,
        expiration=request.headers["apns-expiration"], collapse_id=request.collapse_id,
    )


def answer_record(kind, text, *words):
    if kind == "provider":
        record = ProviderRecord.parse(data(text))
        return "ok" + write_options(
            key=record.public_key, topic=record.topic, generation=record.generation, created=record.created, certificate=record.certificate)
    record, options = DeviceRecord.parse(data(text)), Options(words)
    if DeviceRecord.parse(record.to_json()) != record:
        return "broken another record is written"
    held_key, held_generation = options.text("held-key"), options.text("held-generation")
    held = None
    held_topic, held_user, is_removed = options.text("held-topic"), options.text("held-user"), options.text("removed") == "yes"
    if held_key is not None:
        held = HeldDevice(public_key=held_key, generation=int(held_generation), topic=held_topic, user=held_user, is_removed=is_removed)
    user, elsewhere = options.text("user"), options.text("elsewhere")
    if elsewhere is not None:
        other = None if elsewhere == "-" else elsewhere
        elsewhere = HeldDevice(public_key=record.public_key, generation=1, user=other)
    replace, own = options.text("replace") == "yes", [text.decode() for text in options.list("provider-has")]
    issued = [Certificate.parse(text.decode()) for text in options.list("issued")]
    context = options.text("context")
    options.end()
    own = [key(text, "pcs") for text in own]
    foreign = check_registration(record, held, user=user, elsewhere=elsewhere, replace=replace, own_keys=own or None)
    topic = record.topic or (None if is_removed else held_topic)
    is_stale = own and shows_stale_store(record, own[0], topic=context or topic, issued=issued)
    return "ok" + write_options(
        key=record.public_key, device=record.device, suites=" ".join(map(str, record.suites)), topic=topic,
        generation=record.generation, created=record.created, provider=record.provider, certificate=record.certificate,
        app_version=record.app_version, token=record.token, environment=record.environment, withdrawal=record.withdrawal, grant=record.grant,
        foreign=foreign, stale="yes" if is_stale else None)


def answer_reply(device, text, *words):
    reply, options = Reply.parse(data(text)), Options(words)
    if Reply.parse(reply.to_json()) != reply:
        return "broken another reply is written"
    trust = read_trust(options.text("pins", "-"), options.text("learned", "-"))
    is_built_in, context = options.text("built-in") == "yes", options.text("context", "a")
    options.end()
    confirms, told = apply_reply(reply, key(device, "pcr-secret-").public_key, trust, topic=context, is_built_in=is_built_in)
    return "ok" + write_options(
        acknowledged=reply.acknowledged, refused=reply.refused, provider=reply.provider, certificate=reply.certificate,
        push_key=reply.push_key and reply.push_key.hex(), suites=" ".join(map(str, reply.suites)), foreign=reply.foreign, confirms="yes" if confirms else "no",
        pins=",".join(map(str, trust.pins)) or "-", learned=write_learned(trust), told=told)


def answer_reserved(text):
    """As an app reads an opened message."""
    opened = opening.Opened(data(text), bytes(16), 0, 1, None, 0, Learned(), False, None)
    person, dropped = messages.person_in(opened._members)
    if person != opened.person:
        return "broken another person"
    avatar = person and person.avatar and person.avatar.url
    return "ok" + write_options(
        withdraws=[id.hex() for id in opened.withdraws], drop="yes" if opened.is_dropped else None, sender_name=person and person.name,
        handle=person and person.handle, conversation=person and person.conversation, recipient=person.recipients if person else [],
        avatar=avatar, dropped=dropped)


def answer_reference(text):
    return "ok " + reference_text(attachments.parse_reference(_json.parse_object(data(text), "malformed-reference")))


def reference_text(reference):
    texts = [text.encode() for text in (reference.url, reference.type, reference.name)]
    return " ".join(word(text) for text in [*texts, reference.key, reference.sha256]) + f" {reference.size}"


def answer_attachments(text):
    opened = opening.Opened(data(text), bytes(16), 0, 1, None, 0, Learned(), False, None)
    references, dropped = opened.attachments
    names, body, dropped = [word(reference.name.encode()) for reference in references], None, list(dropped)
    try:
        body = opened.full_body()
    except PushcryptError as refused:
        dropped.append(refused.code)
    return f"ok {','.join(names) or '-'} {word(body.url.encode()) if body else '-'} {','.join(dropped) or '-'}"


def answer_fullbody(plain):
    check_full_body(data(plain))
    return "ok"


def answer_file(file_key, size, sha256, pieces):
    opener, plain = FileOpener(SealedFile(data(file_key), int(size), data(sha256))), b""
    for piece in several(pieces):
        plain += opener.update(data(piece))
    plain += opener.finish()
    return f"opened {len(plain)} {hashlib.sha256(plain).hexdigest()}"


def answer_sealfile(secret, plain):
    sealed = io.BytesIO()
    file = seal_file(io.BytesIO(data(plain)), sealed, signing_key(secret))
    return f"sealed {file.key.hex()} {sealed.getvalue().hex()}"


def answer_hedgedfile(secret, r, plain):
    hedge, sealed = signing.Hedge(signing_key(secret)), io.BytesIO()
    file = attachments.seal_chunks(io.BytesIO(data(plain)), sealed, hedge, data(r))
    return f"ok {file.key.hex()} {file.size} {file.sha256.hex()}"


def answer_misuse(device, secret):
    wrong = [name for name, good in misuse.answers(key(device, "pcr"), key(secret, "pcs-secret-")) if not good]
    return f"broken {', '.join(wrong)}" if wrong else "ok"


ANSWERS = {
    "key": answer_key,
    "check": answer_check,
    "context": answer_context,
    "text": answer_text,
    "fingerprint": answer_fingerprint,
    "open": lambda *words: answer_open(*words[:6], data(words[6]).decode(), opening.open_envelope),
    "push": lambda *words: answer_open(*words[:6], data(words[6])),
    "certificate": answer_certificate,
    "plan": answer_plan,
    "certify": answer_certify,
    "message": answer_message,
    "record": answer_record,
    "reply": answer_reply,
    "reserved": answer_reserved,
    "reference": answer_reference,
    "attachments": answer_attachments,
    "fullbody": answer_fullbody,
    "file": answer_file,
    "sealfile": answer_sealfile,
    "hedgedfile": answer_hedgedfile,
    "misuse": answer_misuse,
}

for line in sys.stdin:
    words = line.split()
    try:
        print(ANSWERS[words[0]](*words[1:]), flush=True)
    except PushcryptError as refused:
        print("refused", refused.code, flush=True)
    except Exception as error:
        print("broken", repr(error), flush=True)
