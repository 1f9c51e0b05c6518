"""Calls libpushcrypt.so from Python, with libpushcrypt.py: against the command, with invalid input, with the test kit, and with random bytes.
Certificates, credentials and what refusals leave behind have Swift tests.

Usage: calls.py ROOT PUSHCRYPT; COUNT and SEED are of the random part.
"""
import hashlib, json, os, random, subprocess, sys, tempfile, time

import libpushcrypt
from libpushcrypt import Refused, open_push, seal

ROOT, PUSHCRYPT = sys.argv[1:3]
TOPIC = b"com.example.app"
PAYLOAD = b'{"aps":{"alert":{"title":"Table for two","body":"See you at 8"},"sound":"default"},"chat":"c41"}'
DONE, MISUSE, REFUSED = 0, 64, 65


def run(*arguments, input=b""):
    done = subprocess.run([PUSHCRYPT, *arguments], input=input, capture_output=True)
    assert done.returncode == 0, (arguments, done.returncode, done.stderr)
    return done.stdout


def key_pair(kind, name):
    """The secret and the public text of a new key, whose file is of this name."""
    public = run("key", "new", kind, "-o", name)
    with open(name, "rb") as file:
        return file.read().strip(), public.strip()


def refused(code, result, call):
    try:
        call()
    except Refused as refusal:
        assert refusal.result == result and str(refusal).startswith(code + ": "), (code, refusal.result, str(refusal))
        return str(refusal)
    raise AssertionError(f"{code}: not refused")


def end(sent_at, seconds=2_592_000):
    """The end of a message, which lies at a multiple of ten minutes."""
    asked = sent_at + 1000 * seconds
    for rounded in -(-asked // 600_000) * 600_000, asked // 600_000 * 600_000:
        seconds = -((sent_at - rounded) // 1000)
        if seconds <= 2_592_000:
            return sent_at + 1000 * seconds


folder = tempfile.TemporaryDirectory()
os.chdir(folder.name)
SIGNING, PROVIDER = key_pair("provider", "provider.key")
SECRET, DEVICE = key_pair("device", "phone.key")
other_secret, _ = key_pair("device", "other.key")
_, other_provider = key_pair("provider", "another.key")
now = int(time.time() * 1000)


def sealed_by_command(*options):
    return run("seal", "--signing-key-file", "provider.key", "--to", DEVICE.decode(), "--topic", TOPIC.decode(), *options, input=PAYLOAD)


# --- Against the command ------------------------------------------------------------------------------------------------------------

push = seal(PAYLOAD, DEVICE, SIGNING, TOPIC, now)
report = json.loads(run(
    "open", "--json", "--device-key-file", "phone.key", "--provider", PROVIDER.decode(), "--topic", TOPIC.decode(), input=push))
assert report["outcome"] == "opened" and report["payload"] == json.loads(PAYLOAD), report
assert (report["title"], report["body"], report["sound"]) == ("Table for two", "See you at 8", True)
opened, payload = open_push(push, SECRET, PROVIDER, TOPIC, now)
assert payload == PAYLOAD
assert report["message_id"] == opened.message_id.decode() and report["provider"] == opened.provider.decode()
assert (report["sent_at"], report["expires_at"]) == (opened.sent_at, opened.expires_at) == (now, end(now))

opened, payload = open_push(sealed_by_command(), SECRET, PROVIDER, TOPIC, now)
assert payload == PAYLOAD and opened.provider == PROVIDER and opened.device_key == DEVICE and opened.file_count == 0

# A newline after each key, as in key files, and empty lines.
open_push(push, b"\n" + SECRET + b"\n\n", PROVIDER + b"\n", TOPIC, now)
seal(PAYLOAD, DEVICE + b"\n", SIGNING + b"\n", TOPIC, now)

# References to files contain keys, which no caller gets.
with open("cat.jpg", "wb") as file:
    file.write(b"not much of a picture")
run("attach", "seal", "--signing-key-file", "provider.key", "--url", "https://files.example.com/1", "--reference", "reference",
    "-o", "sealed", "cat.jpg")
opened, payload = open_push(sealed_by_command("--attachment", "reference"), SECRET, PROVIDER, TOPIC, now)
assert opened.file_count == 1 and json.loads(payload) == json.loads(PAYLOAD), payload

# --- Options ------------------------------------------------------------------------------------------------------------------------

names = [open_push(seal(PAYLOAD, DEVICE, SIGNING, TOPIC, now, message_name=name), SECRET, PROVIDER, TOPIC, now)[0].message_id
         for name in (b"table-17", b"table-17", b"table-18", None, None)]
assert names[0] == names[1] and len(set(names)) == 4, names
named_by_command = open_push(sealed_by_command("--id", "table-17"), SECRET, PROVIDER, TOPIC, now)[0]
assert named_by_command.message_id == names[0]
short = seal(PAYLOAD, DEVICE, SIGNING, TOPIC, now, time_to_live=60)
assert open_push(short, SECRET, PROVIDER, TOPIC, end(now, 60))[0].expires_at == end(now, 60)
refused("expired", REFUSED, lambda: open_push(short, SECRET, PROVIDER, TOPIC, end(now, 60) + 1))
assert json.loads(seal(PAYLOAD, DEVICE, SIGNING, TOPIC, now, title="Neues".encode()))["aps"]["alert"]["title"] == "Neues"
silent = json.loads(seal(b'{"aps":{"content-available":1},"a":1}', DEVICE, SIGNING, TOPIC, now, push_type=b"background"))
assert silent["aps"] == {"content-available": 1}, silent
call = seal(b'{"aps":{},"a":"%s"}' % (b"a" * 3000), DEVICE, SIGNING, TOPIC, now, push_type=b"voip")
assert 4096 < len(call) <= libpushcrypt.PUSH_MAX
long_title = dict(title=("\u00e9" * 80).encode())
nearly = b'{"aps":{"alert":{"body":"%s"}}}' % (b"a" * 2560)
refused("push-too-large", REFUSED, lambda: seal(nearly, DEVICE, SIGNING, TOPIC, now, **long_title))
assert len(seal(nearly, DEVICE, SIGNING, TOPIC, now, flags=1, **long_title)) <= 4096

# --- What is refused ----------------------------------------------------------------------------------------------------------------


def sealing(payload=PAYLOAD, device=DEVICE, signing=SIGNING, topic=TOPIC, at=now, **options):
    return lambda: seal(payload, device, signing, topic, at, **options)


def opening(push=push, secret=SECRET, provider=PROVIDER, topic=TOPIC, at=now, push_type=None):
    return lambda: open_push(push, secret, provider, topic, at, push_type)


for code, result, call in [
    ("malformed-payload", REFUSED, sealing(b'{"aps":"\xff"}')), ("reserved-key", REFUSED, sealing(push)),
    ("wrong-kind-of-key", REFUSED, sealing(device=PROVIDER)), ("invalid-call", MISUSE, sealing(device=b"pcr1\xff")),
    ("wrong-kind-of-key", MISUSE, sealing(signing=SECRET)), ("malformed-key", MISUSE, sealing(signing=b"")),
    ("wrong-checksum", MISUSE, sealing(signing=SIGNING[:-1] + (b"Q" if SIGNING[-1:] != b"Q" else b"P"))),
    ("invalid-call", MISUSE, sealing(topic=b"")), ("invalid-call", MISUSE, sealing(topic=b"\xff\xfe")),
    ("invalid-time", MISUSE, sealing(at=1 << 53)), ("invalid-time", MISUSE, sealing(time_to_live=2_592_001)),
    ("push-type-not-sealable", MISUSE, sealing(push_type=b"mdm")), ("invalid-placeholder", MISUSE, sealing(title=b" ")),
    ("invalid-request", MISUSE, sealing(message_name=b"")), ("invalid-call", MISUSE, sealing(message_name=b"\xc3")),
    ("not-encrypted", REFUSED, opening(PAYLOAD)), ("unknown-recipient-key", REFUSED, opening(secret=other_secret)),
    ("authentication-failed", REFUSED, opening(provider=other_provider)), ("expired", REFUSED, opening(at=now + 31 * 86_400_000)),
    ("invalid-call", MISUSE, opening(secret=b"")), ("wrong-kind-of-key", MISUSE, opening(secret=SIGNING)),
    ("invalid-call", MISUSE, opening(provider=b"\n\n")), ("wrong-kind-of-key", MISUSE, opening(provider=DEVICE)),
    ("malformed-key", MISUSE, opening(provider=PROVIDER + b"\r\n")), ("invalid-call", MISUSE, opening(provider=PROVIDER + b" 12 ")),
]:
    said = refused(code, result, call)
    for secret in (SIGNING, SECRET):
        assert secret[12:24].decode() not in said, said

# Keys with an end: the last millisecond is included.
both = other_secret + b"\n" + SECRET
open_push(push, both + b" %d" % now, PROVIDER, TOPIC, now)
refused("unknown-recipient-key", REFUSED, lambda: open_push(push, both + b" %d" % (now - 1), PROVIDER, TOPIC, now))

print("library: Python: the command, options, refusals")

# --- The test kit -------------------------------------------------------------------------------------------------------------------


def tests_of(group):
    """The tests of a group: the name, the other members as lists of texts, and the body."""
    with open(os.path.join(ROOT, f"Tests/Data/Vectors/kit/{group}.json"), encoding="utf-8") as file:
        document = json.load(file)
    for test in document["tests"]:
        members = document["shared"] | test
        name, body, pieces = members.pop("name"), members.pop("body", None), members.pop("pieces", [])
        runs = [piece.partition("*") for piece in pieces]
        text = body if isinstance(body, str) or body is None else "\n".join(body)
        bytes_ = b"".join(bytes.fromhex(digits) * int(times or 1) for digits, _, times in runs) if body is None else text.encode()
        yield name, {member: value if isinstance(value, list) else [value] for member, value in members.items() if value != []}, bytes_


counted = 0
for group in ("envelopes", "pushes"):
    for name, texts, body in tests_of(group):
        header = {member: [text.encode() for text in values] for member, values in texts.items()}
        expected = header["expect"][0].decode()
        learned = dict(line.split(b" ", 1) for line in header.get("learned", []))
        pins = header.get("pin", [])
        providers = b"".join(pin + (b" " + learned[pin] if pin in learned else b"") + b"\n" for pin in pins) or other_provider
        if group == "envelopes":
            body = json.dumps({"aps": {"mutable-content": 1}, "ENCRYPTED_DATA": body.decode()}).encode()
        devices = b"\n".join(header.get("device", [])) or other_secret
        at = int(header["time"][0])
        try:
            opened, payload = open_push(body, devices, providers, header["context"][0], at, header.get("push-type", [None])[0])
        except Refused as refusal:
            assert str(refusal).startswith(expected + ": ") and refusal.result == REFUSED, (name, expected, str(refusal))
        else:
            assert expected == "opened", (name, expected)
            kept = json.loads(payload)
            assert "pushcrypt" not in kept, name
            if opened.file_count == 0:
                assert hashlib.sha256(payload).hexdigest().encode() == header["payload-sha256"][0], name
            assert opened.message_id == header["message-id"][0] and opened.provider == header["provider"][0], name
            assert opened.epoch == int(header["epoch"][0]), name
            assert opened.sent_at == int(header["sent-at"][0]), name
            assert opened.expires_at == opened.sent_at + 1000 * int(header["time-to-live"][0]), name
            assert bool(opened.certificate_conflict) == (b"certificate-conflict" in header.get("told", [])), name
            after = dict(line.split(b" ", 1) for line in header.get("learned-after", header.get("learned", [])))
            assert (opened.learned or learned.get(opened.provider)) == after.get(opened.provider), name
        counted += 1
assert counted > 350, counted
print(f"library: the test kit: {counted} tests")

# --- Random bytes -------------------------------------------------------------------------------------------------------------------

count, seed = int(os.environ.get("COUNT", 10_000)), int(os.environ.get("SEED", random.randrange(1 << 32)))
print(f"library: random: SEED={seed}")
generator = random.Random(seed)
results = {}


def spoilt(text):
    """Random bytes, or the text with some bytes changed, removed, doubled or inserted."""
    at = generator.randrange(len(text))
    return generator.choice([
        generator.randbytes(generator.choice([0, 1, 31, 62, 63, 70, 200, 4000, 70_000])),
        text[:at] + bytes([text[at] ^ 1 << generator.randrange(8)]) + text[at + 1:], text[:at], text[:at] + b"\n" + text,
        text[:at] + generator.randbytes(generator.randrange(1, 9)) + text[at:]])


def tried(function, *arguments):
    """A call with one of its arguments spoilt; what it returns must be one of the results."""
    which, given = generator.randrange(4), list(arguments)
    given[which] = spoilt(given[which])
    try:
        made, result = function(*given, now), DONE
    except Refused as refusal:
        made, result = None, refusal.result
    assert result in (DONE, MISUSE, REFUSED), result
    results[function.__name__, result] = results.get((function.__name__, result), 0) + 1
    return made


for _ in range(count // 2):
    tried(seal, PAYLOAD, DEVICE, SIGNING, TOPIC)
    opened = tried(open_push, push, SECRET, PROVIDER, TOPIC)
    assert opened is None or opened[1] == PAYLOAD, opened
assert all(results[name, result] for name in ("seal", "open_push") for result in (MISUSE, REFUSED))
print("library: random:", ", ".join(f"{name} {result}: {number}" for (name, result), number in sorted(results.items())))
