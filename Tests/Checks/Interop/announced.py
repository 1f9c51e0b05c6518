"""The text of the statements that messages announce: the packages and the command read and write it alike.

    announced.py PROGRAM    asks the command, `seal --statement`, and both about what `rotate signer` prints; kit.py asks the packages
"""
import base64
import hashlib
import os
import subprocess
import sys
import tempfile
import time

from nacl.signing import SigningKey

from drivers import COMMANDS, Driver, Failure, data, word
from reference.keys import Kind, text_form

DAY = 86_400
TIME = 1_767_225_600_000
# A millisecond, in days.
LATER = 1 / (1000 * DAY)
KEYS = [SigningKey(hashlib.sha256(b"announced %d" % number).digest()) for number in range(6)]
MALFORMED, FOREIGN, FORGED = "malformed-statement", "untrusted-old-key", "bad-statement-signature"
FULL, SUPERSEDED = "too-many-announcements", "superseded-new-key"


def public(number):
    return text_form(Kind.SENDER_PUBLIC, KEYS[number].verify_key.encode())


def statement(old, new, days=0, added=None, forged=()):
    """A rotation, issued some days after TIME. `added` is another new key, `forged` names bytes to change."""
    key, key_id = KEYS[old], hashlib.sha256(b"pushcrypt/1 key id\0\x02" + KEYS[old].verify_key.encode()).digest()[:4]
    times = (TIME + 1000 * DAY * days).to_bytes(8, "big") + (400 * DAY).to_bytes(4, "big") + (31 * DAY).to_bytes(4, "big")
    claim = b"\x01" + key_id + (added or KEYS[new].verify_key.encode()) + times
    for role, signer in ((1, key), (2, KEYS[new])):
        claim += signer.sign(b"pushcrypt/1 rotation\0" + bytes([role]) + key.verify_key.encode() + claim[:53]).signature
    return bytes(byte ^ (place in forged) for place, byte in enumerate(claim))


def recovery(new, serial=1, added=None):
    """A recovery, whose signatures nobody can check who does not have the recovery key."""
    key = added or KEYS[new].verify_key.encode()
    return b"\x02" + bytes(4) + key + TIME.to_bytes(8, "big") + b"\xff" * 4 + serial.to_bytes(4, "big") + bytes(128)


def line(made, name):
    return f"{name} {base64.urlsafe_b64encode(made).decode().rstrip('=')}\n"


def rotated(old, new, *more, **options):
    return line(statement(old, new, *more, **options), public(old))


def recovered(new, key=None, **options):
    """The line of a recovery, which leads to its new key, or to another if rotations after it are missing."""
    return line(recovery(new, **options), public(new if key is None else key))


def cases():
    """A name, the text, the number of the key that signs, and the code; or the statements that count some days later, and a millisecond."""
    one, chain = rotated(0, 1), [statement(0, 1), statement(1, 2, 300), statement(2, 3, 350)]
    lines, back, old_form = [line(made, public(number)) for number, made in enumerate(chain)], recovered(0), line(recovery(0), "recovery")
    yield "a rotation", one, 1, {0: chain[:1], 400: chain[:1], 400 + LATER: []}
    yield "three", "".join(lines), 3, {0: chain, 400: chain, 400 + LATER: chain[1:], 700 + LATER: chain[2:], 750 + LATER: []}
    yield "a recovery", back, 0, {0: [recovery(0)], 100_000: [recovery(0)]}
    yield "a recovery before rotations", back + "".join(lines), 3, {0: [recovery(0), *chain], 701: [recovery(0), chain[2]], 751: [recovery(0)]}
    # Rotations that are announced no longer are missing, here the one behind the recovery; or all.
    yield "a recovery before later rotations", recovered(0, 1) + "".join(lines[1:]), 3, {0: [recovery(0), *chain[1:]]}
    yield "a recovery alone whose key is not its new key", recovered(0, 3), 3, {0: [recovery(0)]}
    yield "a recovery to another key, alone", back, 1, FOREIGN
    yield "a recovery to another key than its new key, which signs", recovered(0, 3), 0, FOREIGN
    yield "a recovery whose key is not the next line's", back + lines[1], 2, FOREIGN
    yield "a recovery whose key is the last line's", recovered(0, 2) + lines[0] + lines[1], 2, FOREIGN
    yield "a line of the old form", old_form, 0, FOREIGN
    yield "a line of the old form before a rotation", old_form + one, 1, FOREIGN
    yield "a recovery behind nothing", line(recovery(0), ""), 0, FOREIGN
    yield "a recovery behind a mistyped key", line(recovery(0), public(0)[:-1] + "q"), 0, FOREIGN
    yield "a recovery behind a key in upper case", line(recovery(0), public(0).upper()), 0, FOREIGN
    yield "a recovery behind a weak key", line(recovery(0), text_form(Kind.SENDER_PUBLIC, bytes(32))), 0, FOREIGN
    yield "a recovery before a gap", back + lines[0] + lines[2], 3, FOREIGN
    yield "a recovery before rotations to another end", back + lines[0], 3, FOREIGN
    # A rotation that ends earlier than the one before it: what it led on from counts no longer either.
    brief = [statement(0, 1, 300), statement(1, 2)]
    yield "an expired one behind another", line(brief[0], public(0)) + line(brief[1], public(1)), 2, {400: brief, 400 + LATER: []}
    yield "empty lines", f"\n\n{lines[0]}\n{lines[1].rstrip()}", 2, {0: chain[:2]}
    yield "nothing", "", 0, MALFORMED
    yield "empty lines alone", "\n\n", 0, MALFORMED
    yield "another end", one, 2, FOREIGN
    yield "another order", lines[1] + lines[0], 2, FOREIGN
    yield "a gap", lines[0] + lines[2], 3, FOREIGN
    yield "the same line twice", one + one, 1, FOREIGN
    yield "five", "".join(rotated(number, number + 1) for number in range(5)), 5, MALFORMED
    yield "a rotation behind another key", line(statement(0, 1), public(2)), 1, FOREIGN
    yield "a rotation behind 'recovery'", line(statement(0, 1), "recovery"), 1, FOREIGN
    yield "a rotation behind nothing", line(statement(0, 1), ""), 1, FOREIGN
    yield "a rotation behind a mistyped key", line(statement(0, 1), public(0)[:-1] + "q"), 1, FOREIGN
    yield "a rotation behind a key in upper case", line(statement(0, 1), public(0).upper()), 1, FOREIGN
    yield "a recovery behind a rotation", one + recovered(1), 1, MALFORMED
    yield "a recovery of the old form behind a rotation", one + old_form, 0, MALFORMED
    yield "two recoveries", back + back, 0, MALFORMED
    yield "a recovery to a weak key", recovered(0, added=bytes(32)), 0, MALFORMED
    yield "a recovery without a serial", recovered(0, serial=0), 0, MALFORMED
    yield "a weak key", line(statement(0, 1, added=bytes(32)), public(0)), 1, "weak-key"
    for place in (40, 61, 125, 180):
        yield f"byte {place} changed", line(statement(0, 1, forged=[place]), public(0)), 1, FORGED
    yield "another key's id", line(statement(0, 1, forged=[2]), public(0)), 1, FOREIGN
    yield "another version", line(statement(0, 1, forged=[0, 1]), public(0)), 1, MALFORMED
    for count in (1, 62, 63, 64, 100, len(one) - 2):
        yield f"{count} bytes of a line", one[:count], 1, MALFORMED
    yield "a longer line", one.rstrip() + "A\n", 1, MALFORMED
    yield "bits after the end", one[:-2] + "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"[
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".index(one[-2]) ^ 1] + "\n", 1, MALFORMED
    yield "padding", one.rstrip() + "==\n", 1, MALFORMED
    yield "the other base64", line(statement(0, 1), public(0)).replace("-", "+").replace("_", "/"), 1, MALFORMED
    yield "a carriage return", one.replace("\n", "\r\n"), 1, MALFORMED
    yield "a carriage return within", one[:100] + "\r" + one[100:], 1, MALFORMED
    yield "two spaces", one.replace(" ", "  "), 1, MALFORMED
    yield "a space at the end", one.replace("\n", " \n"), 1, MALFORMED
    yield "a tab", one.replace(" ", "\t"), 1, MALFORMED
    yield "a byte order mark", "\ufeff" + one, 1, FOREIGN
    yield "another space", one.replace(" ", "\u00a0"), 1, MALFORMED


def additions():
    """A name, the text, the number of the key that signs, the day, the announcing days, the rotation, and the code or the text then."""
    made = [statement(number, number + 1, 10 * number) for number in range(5)]
    lines, back = [line(one, public(number)) for number, one in enumerate(made)], recovered(0)
    for count in (1, 2, 3):
        yield f"to {count}", "".join(lines[:count]), count, 50, 60, made[count], "".join(lines[: count + 1])
    yield "to a recovery", back, 0, 0, 60, made[0], back + lines[0]
    for count in (1, 2):
        text = "".join(lines[:count])
        yield f"to a recovery and {count}", back + text, count, 50, 60, made[count], back + text + lines[count]
    yield "years after a recovery", back, 0, 5000, 60, made[0], back + lines[0]
    for name, day, count in ("at the end of the first", 60, 0), ("after the first", 60 + LATER, 1), ("after the second", 70 + LATER, 2), ("after all", 81, 3):
        yield name, "".join(lines[:3]), 3, day, 60, made[3], "".join(lines[count:4])
        if count:
            yield f"{name}, behind a recovery", back + "".join(lines[:3]), 3, day, 60, made[3], recovered(0, count) + "".join(lines[count:4])
    # What leads on from a recovery stays while phones accept it and there is room.
    yield "for no days, behind a recovery", back + lines[0], 1, LATER, 0, made[1], back + lines[0] + lines[1]
    yield "to two for no days, behind a recovery", back + lines[0] + lines[1], 2, 400, 0, made[2], back + "".join(lines[:3])
    yield "to two of which phones accept one, behind a recovery", back + lines[0] + lines[1], 2, 400 + LATER, 391, made[2], recovered(0, 1) + lines[1] + lines[2]
    yield "for no days, behind a recovery that misses one", recovered(3, 0) + lines[0], 1, LATER, 0, made[1], recovered(3, 1) + lines[1]
    yield "for no days, to two", lines[0] + lines[1], 2, 11, 0, made[2], lines[2]
    yield "behind a recovery before missing ones", recovered(0, 2) + lines[2], 3, 30, 60, made[3], recovered(0, 2) + lines[2] + lines[3]
    # One that ends before an older one ends that one too.
    early, late = statement(0, 1, 30), statement(1, 2)
    yield "after a later one", line(early, public(0)) + line(late, public(1)), 2, 70, 60, made[2], lines[2]
    yield "of five", "".join(lines[:4]), 4, 60, 60, made[4], FULL
    yield "of five without the first", "".join(lines[:4]), 4, 60 + LATER, 60, made[4], "".join(lines[1:])
    yield "of five, with a recovery", back + "".join(lines[:3]), 3, 60, 60, made[3], FULL
    yield "of five, with a shorter announcement", "".join(lines[:4]), 4, 60, 50, made[4], "".join(lines[1:])
    yield "of another key", lines[0], 1, 0, 60, made[2], FOREIGN
    yield "of the key before", lines[0], 1, 0, 60, statement(0, 2), FOREIGN
    yield "of another key, which would be too many", "".join(lines[:4]), 4, 60, 60, made[3], FOREIGN
    yield "of a recovery", lines[0], 1, 0, 60, recovery(2), MALFORMED
    yield "of a recovery behind another", back, 0, 0, 60, recovery(2, serial=2), MALFORMED
    yield "of 180 bytes", lines[0], 1, 0, 60, made[1][:180], MALFORMED
    yield "of another version", lines[0], 1, 0, 60, statement(1, 2, forged=[0, 1]), MALFORMED
    yield "of a weak key", lines[0], 1, 0, 60, statement(1, 2, added=bytes(32)), "weak-key"
    yield "to a key that was replaced", lines[0] + lines[1], 2, 0, 60, statement(2, 0), SUPERSEDED
    yield "to a recovered key that was replaced", back + lines[0], 1, 0, 60, statement(1, 0), SUPERSEDED
    yield "to the same key", lines[0], 1, 0, 60, statement(1, 1), SUPERSEDED
    for place in (61, 125):
        yield f"with byte {place} changed", lines[0], 1, 0, 60, statement(1, 2, forged=[place]), FORGED


def adding(driver, text, end, at, announced_for, made):
    """The key that signs then and the text, of a package, or the code."""
    answer = driver.ask([f"adding {public(end)} {at} {announced_for} {word(text.encode())} {word(made)}"])[0]
    if answer[0] == "refused":
        return answer[1]
    if answer[0] != "ok":
        raise Failure(f"{driver.language}: announced: {str(answer)[:300]}")
    return answer[1], data(answer[2]).decode()


def ask(driver):
    """Each case of a package, and each line as it writes it."""
    def check(name, question, expected):
        answer = driver.ask([question])[0]
        if answer != expected:
            raise Failure(f"{driver.language}: announced: {name}: {str(answer)[:300]}, and not {str(expected)[:300]}")

    for name, text, end, expected in cases():
        if isinstance(expected, str):
            check(name, f"announced {public(end)} {TIME} {word(text.encode())}", ["refused", expected])
            continue
        for days, statements in expected.items():
            wanted = ["ok", ",".join(map(word, statements)) or "-"]
            check(name, f"announced {public(end)} {TIME + round(1000 * DAY * days)} {word(text.encode())}", wanted)
    rotation, lost = statement(0, 1), recovery(1)
    check("the line of a rotation", f"line {public(0)} {word(rotation)}", ["ok", word(rotated(0, 1).encode())])
    for key in (1, 2):
        check(f"the line of a recovery, key {key}", f"line {public(key)} {word(lost)}", ["ok", word(recovered(1, key).encode())])
    for name, key, made, code in (
        ("a rotation behind another key", 2, rotation, FOREIGN), ("a rotation of 180 bytes", 0, rotation[:180], MALFORMED),
        ("a recovery of 180 bytes", 1, lost[:180], MALFORMED), ("a recovery without a serial", 1, recovery(1, serial=0), MALFORMED),
    ):
        check(f"the line of {name}", f"line {public(key)} {word(made)}", ["refused", code])
    for name, text, end, days, announced_days, made, expected in additions():
        found = adding(driver, text, end, TIME + round(1000 * DAY * days), DAY * announced_days, made)
        wanted = (public(end + 1), expected) if "\n" in expected else expected
        if found != wanted:
            raise Failure(f"{driver.language}: announced: a rotation {name}: {str(found)[:300]}, and not {str(wanted)[:300]}")
        if isinstance(found, tuple):
            # The package itself reads it, for the new key.
            answer = driver.ask([f"announced {found[0]} {TIME} {word(found[1].encode())}"])[0]
            if answer[0] != "ok":
                raise Failure(f"{driver.language}: announced: a rotation {name} is not read: {answer}")


def compare(program):
    """What `rotate signer` prints after some texts is what each package writes with its rotation. The keys' files are in the folder."""
    today = (time.time_ns() // 1_000_000 - TIME) // (1000 * DAY)

    def aged(*ages):
        return "".join(line(statement(number, number + 1, today - age), public(number)) for number, age in enumerate(ages))

    drivers, count = [Driver(language) for language in os.environ.get("LANGUAGES", " ".join(sorted(COMMANDS))).split()], 0
    for ages in ((30,), (30, 20, 10), (70, 20), (70, 65, 61), (20, 70, 10), (40, 30, 20, 10), (61, 30, 20, 10)):
        for before in ("", recovered(0), recovered(5, 0)):
            text, end = before + aged(*ages[: 3 if before else 4]), len(ages[: 3 if before else 4])
            with open("statements", "w") as file:
                file.write(text)
            ran = subprocess.run(
                [program, "rotate", "signer", "--sender-key-file", f"{end}.key", "--new-sender-key-file", f"{end + 1}.key", "--statement", "statements"],
                capture_output=True, text=True)
            made, wanted, now = statement(end, end + 1, today), FULL, TIME + 1000 * DAY * (today + 1)
            if ran.returncode == 0:
                made = base64.urlsafe_b64decode(ran.stdout.split()[-1] + "==")
                wanted, now = (public(end + 1), ran.stdout), int.from_bytes(made[37:45], "big")
            elif f": {FULL}: " not in ran.stderr:
                sys.exit(f"interop: announced: rotate signer ends with {ran.returncode}: {ran.stderr}")
            for driver in drivers:
                found = adding(driver, text, end, now, 60 * DAY, made)
                if found != wanted:
                    sys.exit(f"interop: announced: {driver.language}: {ages} days ago: {found}, and the command: {wanted}")
            count += 1
    for driver in drivers:
        driver.end()
    print(f"interop: {len(drivers)} packages add a rotation to {count} texts as the command does")


def main():
    program, count = os.path.abspath(sys.argv[1]), 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for number, key in enumerate(KEYS):
            with open(os.open(f"{number}.key", os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
                file.write(text_form(Kind.SENDER_SECRET, key.encode()) + "\n")
        device = subprocess.run([program, "keygen", "device", "-o", "phone.key"], check=True, capture_output=True, text=True).stdout.strip()
        for name, statements, end, expected in cases():
            with open("statements", "w", newline="") as file:
                file.write(statements)
            sealed = subprocess.run(
                [program, "seal", "--sender-key-file", f"{end}.key", "--statement", "statements", "--to", device, "--topic", "com.example.app"],
                input='{"aps":{"alert":"a"}}', capture_output=True, text=True)
            said = sealed.stderr.split(": ")[3:4] or [""]
            if (sealed.returncode, said[0] if sealed.returncode else "") != ((64, expected) if isinstance(expected, str) else (0, "")):
                sys.exit(f"interop: announced: {name}: the command ends with {sealed.returncode}, not with {expected}: {sealed.stderr}")
            count += 1
        compare(program)
    print(f"interop: the command reads {count} texts of statements as the packages do")


if __name__ == "__main__":
    main()
