"""Calls libpushcrypt.so from Python, with libpushcrypt.py: against the command, with invalid
input, with the test kit, and with random bytes.

Usage: calls.py ROOT PUSHCRYPT; COUNT and SEED are of the random part.
"""
import base64, ctypes, hashlib, json, os, random, shutil, subprocess, sys, tempfile, time

import libpushcrypt
from libpushcrypt import Refused, changed, library, open_push, seal

ROOT, PUSHCRYPT = sys.argv[1:3]
sys.path.append(os.path.join(ROOT, "Tests/Checks/Interop"))
from kit_files import tests_of  # noqa: E402

TOPIC = b"com.example.app"
PAYLOAD = b'{"aps":{"alert":{"title":"Table for two","body":"See you at 8"},"sound":"default"},"chat":"c41"}'
DONE, TOO_SMALL, MISUSE, REFUSED = 0, 2, 64, 65


def run(*arguments, input=b"", exit=0):
    done = subprocess.run([PUSHCRYPT, *arguments], input=input, capture_output=True)
    assert done.returncode == exit, (arguments, done.returncode, done.stderr)
    return done.stdout


def key_pair(kind):
    """The secret and the public text of a new key."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "key")
        public = run("keygen", kind, "-o", path)
        with open(path, "rb") as file:
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


SIGNING, SENDER = key_pair("sender")
SECRET, DEVICE = key_pair("device")
now = int(time.time() * 1000)


def opened_by_command(push):
    with tempfile.TemporaryDirectory() as folder:
        key = os.path.join(folder, "key")
        with open(os.open(key, os.O_CREAT | os.O_WRONLY, 0o600), "wb") as file:
            file.write(SECRET)
        return json.loads(run(
            "open", "--json", "--device-key-file", key, "--sender", SENDER.decode(), "--topic", TOPIC.decode(), input=push))


def sealed_by_command(*options, payload=PAYLOAD, store=None):
    if store is not None:
        return run("--store", store, "seal", "--to", DEVICE.decode(), "--topic", TOPIC.decode(), *options, input=payload)
    with tempfile.TemporaryDirectory() as folder:
        key = os.path.join(folder, "key")
        with open(os.open(key, os.O_CREAT | os.O_WRONLY, 0o600), "wb") as file:
            file.write(SIGNING)
        return run(
            "seal", "--sender-key-file", key, "--to", DEVICE.decode(), "--topic", TOPIC.decode(), *options, input=payload)


# --- Against the command ------------------------------------------------------------------------------------------------------------

push = seal(PAYLOAD, DEVICE, SIGNING, TOPIC, now)
report = opened_by_command(push)
assert report["outcome"] == "opened" and report["payload"] == json.loads(PAYLOAD), report
assert (report["title"], report["body"], report["sound"]) == ("Table for two", "See you at 8", True)
opened, payload = open_push(push, SECRET, SENDER, TOPIC, now)
assert payload == PAYLOAD
assert report["message_id"] == opened.message_id.decode() and report["sender"] == opened.sender.decode()
assert (report["sent_at"], report["expires_at"]) == (opened.sent_at, opened.expires_at) == (now, end(now))

opened, payload = open_push(sealed_by_command(), SECRET, SENDER, TOPIC, now)
assert payload == PAYLOAD and opened.sender == SENDER and opened.device_key == DEVICE and opened.file_count == 0

# A newline after each key, as in key files, and empty lines.
open_push(push, b"\n" + SECRET + b"\n\n", SENDER + b"\n", TOPIC, now)
seal(PAYLOAD, DEVICE + b"\n", SIGNING + b"\n", TOPIC, now)

# References to files contain keys, which no caller gets.
with tempfile.TemporaryDirectory() as folder:
    plain, sealed, reference, key = (os.path.join(folder, name) for name in ("cat.jpg", "cat.sealed", "cat.reference", "key"))
    with open(plain, "wb") as file:
        file.write(b"not much of a picture")
    with open(os.open(key, os.O_CREAT | os.O_WRONLY, 0o600), "wb") as file:
        file.write(SIGNING)
    run("attach", "seal", "--sender-key-file", key, "--url", "https://files.example.com/1", "--reference", reference, "-o", sealed, plain)
    opened, payload = open_push(sealed_by_command("--attachment", reference), SECRET, SENDER, TOPIC, now)
assert opened.file_count == 1 and json.loads(payload) == json.loads(PAYLOAD), payload

# --- Options ------------------------------------------------------------------------------------------------------------------------

names = [open_push(seal(PAYLOAD, DEVICE, SIGNING, TOPIC, now, message_name=name), SECRET, SENDER, TOPIC, now)[0].message_id
         for name in (b"table-17", b"table-17", b"table-18", None, None)]
assert names[0] == names[1] and len(set(names)) == 4, names
named_by_command = open_push(sealed_by_command("--id", "table-17"), SECRET, SENDER, TOPIC, now)[0]
assert named_by_command.message_id == names[0]
short = seal(PAYLOAD, DEVICE, SIGNING, TOPIC, now, time_to_live=60)
assert open_push(short, SECRET, SENDER, TOPIC, end(now, 60))[0].expires_at == end(now, 60)
refused("expired", REFUSED, lambda: open_push(short, SECRET, SENDER, TOPIC, end(now, 60) + 1))
assert json.loads(seal(PAYLOAD, DEVICE, SIGNING, TOPIC, now, title="Neues".encode()))["aps"]["alert"]["title"] == "Neues"
silent = json.loads(seal(b'{"aps":{"content-available":1},"a":1}', DEVICE, SIGNING, TOPIC, now, push_type=b"background"))
assert silent["aps"] == {"content-available": 1}, silent
call = seal(b'{"aps":{},"a":"%s"}' % (b"a" * 3000), DEVICE, SIGNING, TOPIC, now, push_type=b"voip")
assert 4096 < len(call) <= libpushcrypt.PUSH_MAX
long_title = dict(title=("\u00e9" * 80).encode())
nearly = b'{"aps":{"alert":{"body":"%s"}}}' % (b"a" * 2600)
refused("push-too-large", REFUSED, lambda: seal(nearly, DEVICE, SIGNING, TOPIC, now, **long_title))
assert len(seal(nearly, DEVICE, SIGNING, TOPIC, now, flags=1, **long_title)) <= 4096

# --- What is refused ----------------------------------------------------------------------------------------------------------------


def sealing(payload=PAYLOAD, device=DEVICE, signing=SIGNING, topic=TOPIC, at=now, **options):
    return lambda: seal(payload, device, signing, topic, at, **options)


def opening(push=push, secret=SECRET, sender=SENDER, topic=TOPIC, at=now):
    return lambda: open_push(push, secret, sender, topic, at)


other_secret, other_device = key_pair("device")
_, other_sender = key_pair("sender")
envelope = json.loads(push)["ENCRYPTED_DATA"]
spoilt_push = json.loads(push) | {"ENCRYPTED_DATA": envelope[:-9] + ("A" if envelope[-9] != "A" else "B") + envelope[-8:]}
for code, result, call in [
    ("malformed-payload", REFUSED, sealing(b"{")), ("malformed-payload", REFUSED, sealing(b'{"aps":"\xff"}')),
    ("missing-aps", REFUSED, sealing(b"{}")), ("nothing-to-show", REFUSED, sealing(b'{"aps":{}}')),
    ("payload-too-large", REFUSED, sealing(b'{"aps":{"alert":"%s"}}' % (b"a" * 4000))),
    ("reserved-key", REFUSED, sealing(push)), ("malformed-key", REFUSED, sealing(device=b"pcr1")),
    ("wrong-checksum", REFUSED, sealing(device=DEVICE[:-1] + (b"q" if DEVICE[-1:] != b"q" else b"p"))),
    ("wrong-kind-of-key", REFUSED, sealing(device=SENDER)), ("invalid-call", MISUSE, sealing(device=b"pcr1\xff")),
    ("wrong-kind-of-key", MISUSE, sealing(signing=SECRET)), ("malformed-key", MISUSE, sealing(signing=b"")),
    ("wrong-checksum", MISUSE, sealing(signing=SIGNING[:-1] + (b"Q" if SIGNING[-1:] != b"Q" else b"P"))),
    ("invalid-call", MISUSE, sealing(topic=b"")), ("invalid-call", MISUSE, sealing(topic=b"a b")),
    ("invalid-call", MISUSE, sealing(topic=b"\xff\xfe")), ("invalid-call", MISUSE, sealing(at=now // 1000)),
    ("invalid-time", MISUSE, sealing(at=1 << 53)), ("invalid-time", MISUSE, sealing(time_to_live=2_592_001)),
    ("push-type-not-sealable", MISUSE, sealing(push_type=b"mdm")), ("invalid-placeholder", MISUSE, sealing(title=b" ")),
    ("invalid-request", MISUSE, sealing(message_name=b"")), ("invalid-call", MISUSE, sealing(message_name=b"\xc3")),
    ("malformed-notification", REFUSED, opening(b"[]")), ("not-encrypted", REFUSED, opening(PAYLOAD)),
    ("malformed-envelope", REFUSED, opening(push[:-3] + b'"}')), ("unknown-recipient-key", REFUSED, opening(secret=other_secret)),
    ("authentication-failed", REFUSED, opening(sender=other_sender)), ("authentication-failed", REFUSED, opening(topic=b"com.example.b")),
    ("authentication-failed", REFUSED, opening(json.dumps(spoilt_push).encode())), ("expired", REFUSED, opening(at=now + 31 * 86_400_000)),
    ("not-yet-valid", REFUSED, opening(at=now - 86_400_001)), ("invalid-call", MISUSE, opening(secret=b"")),
    ("invalid-call", MISUSE, opening(sender=b"\n\n")), ("wrong-kind-of-key", MISUSE, opening(secret=SIGNING)),
    ("wrong-kind-of-key", MISUSE, opening(sender=DEVICE)), ("malformed-key", MISUSE, opening(sender=SENDER + b"\r\n")),
    ("invalid-call", MISUSE, opening(sender=SENDER + b" ")), ("invalid-call", MISUSE, opening(sender=SENDER + b" 12 ")),
    ("invalid-call", MISUSE, opening(sender=SENDER + b" -1")), ("invalid-call", MISUSE, opening(sender=SENDER + b" 99999999999999999999")),
]:
    said = refused(code, result, call)
    for secret in (SIGNING, SECRET):
        assert secret[12:24].decode() not in said, said

# Any change by the relay gives exactly the same answer.
said = {refused("authentication-failed", REFUSED, opening(sender=other_sender)),
        refused("authentication-failed", REFUSED, opening(json.dumps(spoilt_push).encode()))}
assert len(said) == 1, said

# Keys with an end: the last millisecond is included.
both = other_secret + b"\n" + SECRET
open_push(push, both + b" %d" % now, SENDER + b" %d" % now, TOPIC, now)
refused("unknown-recipient-key", REFUSED, lambda: open_push(push, both + b" %d" % (now - 1), SENDER, TOPIC, now))
refused("authentication-failed", REFUSED, lambda: open_push(push, both, SENDER + b" %d" % (now - 1), TOPIC, now))

# --- Rotation -----------------------------------------------------------------------------------------------------------------------

with tempfile.TemporaryDirectory() as folder:
    store = os.path.join(folder, "store")
    run("--store", store, "init")
    old = run("--store", store, "keygen", "sender", "--topic", TOPIC.decode()).strip()
    before = sealed_by_command(store=store)
    run("--store", store, "rotate", "sender", "--overlap", "1d")
    once = sealed_by_command(store=store)
    run("--store", store, "rotate", "sender", "--overlap", "1d")
    twice = sealed_by_command(store=store)
opened, _ = open_push(once, SECRET, old, TOPIC, now)
assert opened.rotation_count == 1 and opened.rotations[0].old_sender == old and opened.sender == opened.rotations[0].new_sender
assert abs(opened.rotations[0].old_until - now - 86_400_000) < 3_600_000
senders = changed(old, opened)
# It reports a known statement only once, and the old key's messages open until its end.
assert open_push(once, SECRET, senders, TOPIC, now)[0].rotation_count == 0
until = opened.rotations[0].old_until
open_push(before, SECRET, senders, TOPIC, until)
refused("authentication-failed", REFUSED, lambda: open_push(before, SECRET, senders, TOPIC, until + 1))
# Two at a time and one after another have the same result.
opened, _ = open_push(twice, SECRET, old, TOPIC, now)
assert opened.rotation_count == 2
assert sorted(changed(old, opened).split()) == sorted(changed(senders, open_push(twice, SECRET, senders, TOPIC, now)[0]).split())
# A key with an end cannot name its successor.
refused("authentication-failed", REFUSED, lambda: open_push(once, SECRET, old + b" %d" % (now + 86_400_000), TOPIC, now))

# --- Recovery -----------------------------------------------------------------------------------------------------------------------

with tempfile.TemporaryDirectory() as folder:
    store, thiefs, key, request = (os.path.join(folder, name) for name in ("store", "thief", "key", "request"))
    run("--store", store, "init")
    stolen = run("--store", store, "keygen", "sender", "--topic", TOPIC.decode()).strip()
    recovery = run("keygen", "recovery", "-o", key).strip()
    with open(key, "rb") as file:
        secret = file.read()
    shutil.copytree(store, thiefs)
    thief = run("--store", thiefs, "rotate", "sender").strip()
    theft = sealed_by_command(store=thiefs)

    def recover(*options):
        run("--store", store, "rotate", "sender", "--recover", "prepare", "--recovery-key", recovery.decode(), "--force", "-o", request, *options)
        signed = run("recover", "sign", "--recovery-key-file", key, request)
        return run("--store", store, "rotate", "sender", "--recover", "finish", input=signed).strip()

    first = recover()
    recovered = sealed_by_command(store=store)
    second = recover()
    again = sealed_by_command(store=store)
    run("--store", store, "rotate", "sender", "--overlap", "1d")
    onward = sealed_by_command(store=store)
start = stolen + b"\n" + recovery + b"\n"
misled = changed(start, open_push(theft, SECRET, start, TOPIC, now)[0])
assert open_push(theft, SECRET, misled, TOPIC, now)[0].sender == thief
for senders in (start, misled):
    opened, _ = open_push(recovered, SECRET, senders, TOPIC, now)
    assert opened.rotation_count == 1 and opened.sender == opened.rotations[0].new_sender == first
    assert opened.rotations[0].old_sender == b"" and opened.rotations[0].old_until == 0 and not opened.recovery_conflict
    assert len(opened.recovered) == libpushcrypt.RECOVERY - 1
    after = changed(senders, opened)
    assert first + b"\n" in after and stolen + b" 0\n" in after and recovery + b"\n" in after, after
    refused("authentication-failed", REFUSED, lambda: open_push(theft, SECRET, after, TOPIC, now))
    # It is announced permanently, and says nothing new.
    assert open_push(recovered, SECRET, after, TOPIC, now)[0].rotation_count == 0
    # The second has a higher serial; then the first changes nothing, and nobody is a candidate for its message.
    later = changed(after, open_push(again, SECRET, after, TOPIC, now)[0])
    assert second + b"\n" in later and first + b" 0\n" in later and later.count(b"recovered ") == 1
    refused("authentication-failed", REFUSED, lambda: open_push(recovered, SECRET, later, TOPIC, now))
    opened, _ = open_push(onward, SECRET, after, TOPIC, now)
    assert [bool(rotation.old_sender) for rotation in opened.rotations[:2]] == [False, True] and opened.rotation_count == 2
    assert sorted(changed(after, opened).split()) == sorted(changed(later, open_push(onward, SECRET, later, TOPIC, now)[0]).split())
# Without the recovery key nothing replaces the thief; nor with that of somebody else.
_, strangers = key_pair("recovery")
refused("authentication-failed", REFUSED, lambda: open_push(recovered, SECRET, stolen, TOPIC, now))
refused("authentication-failed", REFUSED, lambda: open_push(recovered, SECRET, stolen + b"\n" + strangers, TOPIC, now))
open_push(recovered, SECRET, start + strangers, TOPIC, now)
line = b"recovered " + open_push(recovered, SECRET, start, TOPIC, now)[0].recovered + b"\n"
for code, senders in [
    ("invalid-call", recovery), ("invalid-call", recovery + b"\n" + line), ("invalid-call", line), ("invalid-call", start + line + line),
    ("invalid-call", start + b"recovered \n"), ("invalid-call", start + line[:-2]), ("invalid-call", start + line[:-1] + b" 0"),
    ("invalid-call", start + b"recovered " + b"A" * 71), ("invalid-call", stolen + b"\n" + recovery + b" 12"),
    ("invalid-call", start + strangers + b"\n" + strangers), ("malformed-key", start[:-2] + b"\n"), ("malformed-key", start.upper()), ("malformed-key", stolen + b"\n" + recovery.upper()),
    ("wrong-checksum", start[:-3] + (b"qq" if start[-3:-1] != b"qq" else b"pp")), ("wrong-kind-of-key", start + secret),
]:
    refused(code, MISUSE, lambda: open_push(recovered, SECRET, senders, TOPIC, now))
print("library: Python: the command, options, refusals, rotation, recovery")

# --- The test kit -------------------------------------------------------------------------------------------------------------------


def by_name(header, field):
    values = {}
    for value in header.get(field, []):
        name, _, rest = value.partition(b" ")
        values.setdefault(name, []).append(rest)
    return values


def trusted(header):
    """The list of senders, or None if it cannot be expressed: one list has one set of recovery keys, and one last recovery."""
    senders, superseded, recovery, last = (
        by_name(header, field) for field in ("sender", "superseded", "recovery", "last-recovery"))
    for values in recovery, last:
        if len({tuple(values.get(name, ())) for name in senders}) > 1:
            return None
    if len(senders) > 1 and superseded:
        return None
    lines = [key for keys in senders.values() for key in keys if key != b"-"]
    for key, _, statement in (value.partition(b" ") for values in superseded.values() for value in values):
        data = base64.urlsafe_b64decode(statement + b"=" * (-len(statement) % 4))
        until = int.from_bytes(data[37:45], "big") + 1000 * int.from_bytes(data[49:53], "big") if data else 0
        lines.append(b"%s %d" % (key, min(until, (1 << 64) - 1)))
    if senders:
        first = next(iter(senders))
        lines += recovery.get(first, []) + [b"recovered " + text for text in last.get(first, [])]
    return b"\n".join(lines) or other_sender


counted, left_out = 0, 0
for group in ("envelopes", "pushes"):
    for _, name, texts, body in tests_of(group):
        header = {member: [text.encode() for text in values] for member, values in texts.items()}
        expected = header["expect"][0].decode()
        # A list of keys cannot express that a superseded key signed another statement.
        told = header.get("told", [])
        senders = trusted(header)
        if expected == "rotation-conflict" or b"rotation-conflict" in told or senders is None:
            left_out += 1
            continue
        if group == "envelopes":
            try:
                body = json.dumps({"aps": {"mutable-content": 1}, "ENCRYPTED_DATA": body.decode()}).encode()
            except UnicodeDecodeError:
                left_out += 1
                continue
        devices = b"\n".join(header.get("device", [])) or other_secret
        at = int(header["time"][0])
        try:
            opened, payload = open_push(body, devices, senders, header["context"][0], at)
        except Refused as refusal:
            assert str(refusal).startswith(expected + ": ") and refusal.result == REFUSED, (name, expected, str(refusal))
        else:
            assert expected == "opened", (name, expected)
            kept = json.loads(payload)
            assert "pushcrypt" not in kept, name
            if opened.file_count == 0:
                assert hashlib.sha256(payload).hexdigest().encode() == header["payload-sha256"][0], name
            assert opened.message_id == header["message-id"][0] and opened.sender == header["signed-by"][0], name
            assert opened.sent_at == int(header["sent-at"][0]), name
            assert opened.expires_at == opened.sent_at + 1000 * int(header["time-to-live"][0]), name
            assert bool(opened.recovery_conflict) == (b"recovery-conflict" in told), name
            if "sender-after" in header:
                after = {line for line in changed(senders, opened).split(b"\n") if line.startswith(b"pcs1") and b" " not in line}
                assert after == {value.split(b" ")[1] for value in header["sender-after"]}, (name, after)
                assert opened.recovered in header.get("last-recovery-after", [b"a "])[0], name
            else:
                assert opened.rotation_count == 0, name
        counted += 1
assert counted > 350, counted
print(f"library: the test kit: {counted} tests, {left_out} left out")

# --- Random bytes -------------------------------------------------------------------------------------------------------------------

count, seed = int(os.environ.get("COUNT", 10_000)), int(os.environ.get("SEED", random.randrange(1 << 32)))
print(f"library: random: SEED={seed}")
generator = random.Random(seed)
results = {}


def spoilt(text):
    """Different input: random bytes, or the text with some bytes changed, removed, doubled or inserted."""
    kind = generator.randrange(5)
    if kind == 0:
        return generator.randbytes(generator.choice([0, 1, 31, 62, 63, 70, 200, 4000, 70_000]))
    text = bytearray(text)
    at = generator.randrange(len(text))
    if kind == 1:
        text[at] ^= 1 << generator.randrange(8)
    elif kind == 2:
        del text[at:]
    elif kind == 3:
        text[at:at] = text[:at] + b"\n" + text[at:]
    else:
        text[at:at] = generator.randbytes(generator.randrange(1, 9))
    return bytes(text)


def tally(function, call):
    try:
        call()
        result = DONE
    except Refused as refusal:
        result = refusal.result
    assert result in (DONE, MISUSE, REFUSED), result
    results[function, result] = results.get((function, result), 0) + 1
    return result


for _ in range(count // 2):
    arguments = [PAYLOAD, DEVICE, SIGNING, TOPIC]
    which = generator.randrange(4)
    arguments[which] = spoilt(arguments[which])
    tally("seal", lambda: seal(*arguments, now))
    arguments = [push, SECRET, SENDER, TOPIC]
    which = generator.randrange(4)
    arguments[which] = spoilt(arguments[which])
    if tally("open", lambda: open_push(*arguments, now)) == DONE:
        assert open_push(*arguments, now)[1] == PAYLOAD, arguments
assert results["seal", REFUSED] and results["seal", MISUSE] and results["open", REFUSED] and results["open", MISUSE]
print("library: random:", ", ".join(f"{name} {result}: {number}" for (name, result), number in sorted(results.items())))
