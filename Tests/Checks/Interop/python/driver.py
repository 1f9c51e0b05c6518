"""Reads questions from standard input, one per line, and answers them with the installed Python package. README.md describes the
language."""
import functools
import hashlib
import io
import sys

sys.dont_write_bytecode = True

import misuse
from pushcrypt import (
    AnnouncedStatements, DeviceKey, DevicePublicKey, DeviceRecord, FileOpener, HeldDevice, HeldKey, Person, Pins, Placeholder, PushcryptError,
    RecoveryKey, RecoveryPublicKey, Reference, Reply, Sealer, Sender, SenderKey, SenderPublicKey, SenderRecord, SealedFile, Superseded,
    Trust, _envelope, _json, apply_reply, attachments, check_full_body, check_registration, fingerprint, messages, open_push, opening,
    recovery_statement, rotation_statement, signing, statement_line,
)

KINDS = {
    "pcr": DevicePublicKey, "pcs": SenderPublicKey, "pcv": RecoveryPublicKey, "pcr-secret-": DeviceKey, "pcs-secret-": SenderKey,
    "pcv-secret-": RecoveryKey,
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
def read_trust(text):
    return Trust([read_sender(sender) for sender in text.split("/") if sender != "-"])


def read_sender(text):
    name, pinned, superseded, recovery, last = text.split(";")
    pairs = [old.split(":") for old in several(superseded)]
    return Sender(
        name,
        None if pinned == "-" else key(pinned, "pcs"),
        tuple(Superseded(key(old, "pcs"), data(by) or None) for old, by in pairs),
        tuple(key(own, "pcv") for own in several(recovery)),
        data(last),
    )


def write_trust(trust):
    return "/".join(write_sender(sender) for sender in trust.senders) or "-"


def write_sender(sender):
    superseded = [f"{old.key}:{word(old.statement or b'')}" for old in sender.superseded]
    recovery = [str(own) for own in sender.recovery]
    return ";".join([sender.name, str(sender.pinned or "-"), ",".join(superseded) or "-", ",".join(recovery) or "-", word(sender.last_recovery)])


def answer_key(kind, text):
    text = data(text).decode("utf-8", "surrogateescape")
    found = KINDS[kind].parse(text)
    secret = kind.endswith("-")
    if (found.secret_text() if secret else str(found)) != text.removesuffix("\n"):
        return "the text of the key is another one"
    raw = found._bytes
    return f"ok {raw.hex()} - {bytes(found.public_key).hex()}" if secret else f"ok {raw.hex()} {found.key_id} -"


def answer_check(kind, public_key):
    KINDS[kind](data(public_key))
    return "ok"


def answer_context(text):
    Sealer(SenderKey(bytes(32)), topic=data(text).decode())
    return "ok"


def answer_text(text):
    decoded = _envelope.decode(data(text).decode())
    if _envelope.encode(decoded) != data(text).decode():
        return "encodes as another text"
    return f"ok {decoded[1:5].hex()} {len(decoded) - _envelope.OUTSIDE}"


def answer_fingerprint(text):
    return f"ok {fingerprint(data(text).decode())}"


def answer_open(context, device_keys, trust, now, what, open=open_push):
    opened = open(what, topic=context, devices=devices(device_keys), trust=read_trust(trust), at=int(now))
    after = read_trust(trust).copy()
    if after.follow(opened.statements, context, int(now))[0] != opened.statements:
        return "broken the statements are not accepted again"
    return (
        f"opened {word(opened.payload)} {opened.message_id.hex()} {opened.sent_at} {opened.time_to_live} "
        f"{opened.sender} {write_trust(after)} {','.join(opened.told) or '-'}"
    )


def answer_statement(trust, context, now, statement):
    after = read_trust(trust).copy()
    changed, told = after.evaluate(data(statement), context, int(now))
    return f"{'accepted' if changed else 'unchanged'} {write_trust(after)} {told or '-'}"


class Elsewhere:
    """A key in a service, whose signature over the hedge's label is given."""

    def __init__(self, sender, hedge_signature):
        self.sender, self.hedge_signature, self.public_key = sender, hedge_signature, sender.public_key

    def sign(self, message):
        return self.hedge_signature if message.startswith(b"pushcrypt/1 hedge") else self.sender.sign(message)


@functools.cache
def sealer(context, secret, hedge_signature, title, sound, kept):
    sender = key(secret, "pcs-secret-")
    placeholder = Placeholder(title=title, sound={"": None, None: "matching"}.get(sound, sound), clear=kept)
    return Sealer(sender if hedge_signature is None else Elsewhere(sender, hedge_signature), topic=context, placeholder=placeholder)


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
        "at": int(sent_at), "attachments": references, "announcing": options.list("statement"),
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
            named["announcing"], named["sent_exactly"], *drawn, int(life))
    request = sealing.request(push, device_name=device_name, collapse_name=collapse_name)
    return f"sealed {push.payload.hex()}" + write_options(
        message_id=push.message_id.hex(), time_to_live=(push.expires_at - int(sent_at)) // 1000, widest_length=push.widest,
        expiration=request.headers["apns-expiration"], collapse_id=request.collapse_id,
    )


def answer_rotation(old, new, issued_at, accept_for, overlap):
    statement = rotation_statement(
        key(old, "pcs-secret-"), key(new, "pcs-secret-"), at=int(issued_at), accept_for=int(accept_for), overlap=int(overlap))
    return f"ok {statement.hex()}"


def answer_recovery(context, recovery, new, issued_at, serial):
    statement = recovery_statement(
        key(recovery, "pcv-secret-"), key(new, "pcs-secret-"), topic=context, serial=int(serial), at=int(issued_at))
    return f"ok {statement.hex()}"


def answer_announced(sender, at, text):
    announced = AnnouncedStatements.parse(data(text).decode(), SenderPublicKey.parse(sender))
    return f"ok {','.join(statement.hex() for statement in announced.accepted(int(at))) or '-'}"


def answer_adding(sender, at, announced_for, text, statement):
    announced = AnnouncedStatements.parse(data(text).decode(), SenderPublicKey.parse(sender))
    if announced.text.strip() != data(text).decode().strip():
        return "broken another text is written"
    added = announced.adding(data(statement), announced_for=int(announced_for), at=int(at))
    return f"ok {added.sender} {added.text.encode().hex()}"


def answer_line(key, statement):
    return f"ok {statement_line(data(statement), SenderPublicKey.parse(key)).encode().hex()}"


def answer_record(kind, text, *words):
    if kind == "sender":
        record = SenderRecord.parse(data(text))
        return "ok" + write_options(
            key=record.public_key, topic=record.topic, generation=record.generation, created=record.created, recovery=record.recovery)
    record, options = DeviceRecord.parse(data(text)), Options(words)
    if DeviceRecord.parse(record.to_json()) != record:
        return "broken another record is written"
    held_key, held_generation = options.text("held-key"), options.text("held-generation")
    held = None
    held_topic, held_user = options.text("held-topic"), options.text("held-user")
    if held_key is not None:
        held = HeldDevice(public_key=held_key, generation=int(held_generation), topic=held_topic, user=held_user)
    user, elsewhere = options.text("user", held_user), options.text("elsewhere")
    if elsewhere is not None:
        other = None if elsewhere == "-" else elsewhere
        elsewhere = HeldDevice(public_key=record.public_key, generation=1, user=other)
    replace, own = options.text("replace") == "yes", [text.decode() for text in options.list("provider-has")]
    options.end()
    own = {key(text, text[:3]) for text in own}
    foreign = check_registration(record, held, user=user, elsewhere=elsewhere, replace=replace, own_keys=own or None)
    return "ok" + write_options(
        key=record.public_key, device=record.device, suites=" ".join(map(str, record.suites)), topic=record.topic or held_topic,
        generation=record.generation, created=record.created, sender=record.sender, recovery=record.recovery,
        app_version=record.app_version, foreign=foreign)


def answer_reply(device, text, *words):
    reply, options = Reply.parse(data(text)), Options(words)
    if Reply.parse(reply.to_json()) != reply:
        return "broken another reply is written"
    pinned = options.text("pinned")
    pins = Pins(
        sender=None if pinned is None else key(pinned, "pcs"),
        recovery=tuple(key(text.decode(), "pcv") for text in options.list("held-recovery")))
    built_in = options.list("built-in")
    options.end()
    confirms, after = apply_reply(
        reply, key(device, "pcr-secret-").public_key, pins, sender_built_in=b"sender" in built_in,
        recovery_built_in=b"recovery" in built_in)
    return "ok" + write_options(
        acknowledged=reply.acknowledged, refused=reply.refused, sender=reply.sender, recovery=reply.recovery, foreign=reply.foreign,
        confirms="yes" if confirms else "no", pinned_after=after.sender, recovery_after=after.recovery)


def answer_reserved(text):
    """As an app reads an opened message."""
    opened = opening.Opened(data(text), bytes(16), 0, 1, None, None, [], [])
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
    opened = opening.Opened(data(text), bytes(16), 0, 1, None, None, [], [])
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


class FixedKey:
    def __init__(self, key):
        self.key = key

    def digest(self, _):
        return self.key


def answer_sealfile(file_key, plain):
    sealed = io.BytesIO()
    attachments.seal_chunks(io.BytesIO(data(plain)), sealed, FixedKey(data(file_key)), bytes(32), hashlib.sha256(data(file_key)).digest()[:24])
    return f"sealed {sealed.getvalue().hex()}"


def answer_hedgedfile(secret, r, header, plain):
    hedge, sealed = signing.Hedge(key(secret, "pcs-secret-")), io.BytesIO()
    file = attachments.seal_chunks(io.BytesIO(data(plain)), sealed, hedge, data(r), data(header))
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
    "open": lambda *words: answer_open(*words[:4], data(words[4]).decode(), opening.open_envelope),
    "push": lambda *words: answer_open(*words[:4], data(words[4])),
    "statement": answer_statement,
    "message": answer_message,
    "rotation": answer_rotation,
    "recovery": answer_recovery,
    "announced": answer_announced,
    "adding": answer_adding,
    "line": answer_line,
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
