"""Steps 2 to 4 of opening: what is refused before anything of the message is known."""

from dataclasses import replace

from reference.envelope import BUCKETS, to_text
from reference.opening import Receiver

from .forge import flip, forge, open_case, put
from .hpke_cases import zero_result_points
from .material import COLLIDING_DEVICES, NOW, PAYLOAD, PHONE, PROVIDER, STRANGERS_PHONE, TABLET, TOPIC, pinned
from .vector import Vector

MALFORMED, FAILED, UNKNOWN = "malformed-envelope", "authentication-failed", "unknown-recipient-key"


def text_cases() -> list[Vector]:
    """Step 2, the text form. A 512 bucket leaves four unused bits at the end of its text, a 1536 bucket two."""
    text = to_text(forge())
    four, two = to_text(forge(bucket=512)), to_text(forge(bucket=1536))
    assert len(four) % 4 == 2 and len(two) % 4 == 3
    long = to_text(forge(bucket=3584))
    assert len(long) == 4850

    def raised(ending: str, by: int) -> str:
        alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        return ending[:-1] + alphabet[alphabet.index(ending[-1]) + by]

    # A text with both of the characters in which the two alphabets differ.
    standard = next(
        text for text in (to_text(forge(b'{"aps":{},"n":%d}' % n)) for n in range(100)) if "-" in text and "_" in text
    )
    faults = [
        ("an empty text", "O-2.1", ""),
        ("a text of one character", "O-2.2", "A"),
        ("a length of 1 modulo 4", "O-2.2", text + "A"),
        ("a text one character short", "O-2.5", text[:-1]),
        ("padding where padding belongs", "O-2.2", four + "=="),
        ("padding of one where one belongs", "O-2.2", two + "="),
        ("padding where none belongs", "O-2.2", text + "="),
        ("a trailing newline", "O-2.2", text + "\n"),
        ("a newline after 76 characters", "O-2.2", text[:76] + "\n" + text[76:]),
        ("a carriage return and a newline at the end", "O-2.2", text + "\r\n"),
        ("a leading space", "O-2.2", " " + text),
        ("a space in place of a character", "O-2.2", text[:100] + " " + text[101:]),
        ("a NUL at the end", "O-2.2", text + "\x00"),
        ("the standard alphabet, a plus in place of a hyphen", "O-2.2", standard.replace("-", "+")),
        ("the standard alphabet, a slash in place of a low line", "O-2.2", standard.replace("_", "/")),
        ("a percent escape", "O-2.2", text[:100] + "%2D" + text[103:]),
        ("a letter outside ASCII", "O-2.2", text[:100] + "é" + text[101:]),
        ("a full-width digit", "O-2.2", text[:100] + "\uff11" + text[101:]),
        ("the highest of four unused bits set", "O-2.3", raised(four, 8)),
        ("the lowest of four unused bits set", "O-2.3", raised(four, 1)),
        ("the highest of two unused bits set", "O-2.3", raised(two, 2)),
        ("the lowest of two unused bits set", "O-2.3", raised(two, 1)),
        ("a text of 4851 characters", "O-2.1", long + "A"),
        ("a text of 5000 characters", "O-2.1", "A" * 5000),
    ]
    comment = "An envelope has exactly one text. No cryptography runs before this is checked."
    return [open_case(name, MALFORMED, rule, fault, comment) for name, rule, fault in faults]


def header_cases() -> list[Vector]:
    """Steps 2 and 3: suite, length, recipient key id."""
    envelope = forge()
    suite_comment = "The suite is checked before the length: a later version may have other lengths."
    cases = [
        open_case(
            f"suite 0x{suite:02x} is unknown",
            "unsupported-suite",
            "O-2.4",
            put(0, bytes([suite]))(envelope),
            suite_comment,
        )
        for suite in (0x00, 0x03, 0x04, 0x81, 0xFF)
    ]
    cases += [
        open_case("an unknown suite alone", "unsupported-suite", "O-2.4", b"\x04", suite_comment),
        open_case(
            "an unknown suite is reported before its length",
            "unsupported-suite",
            "O-2.4",
            b"\x04" + envelope[1:100],
            suite_comment,
        ),
    ]
    lengths = "The decoded length minus 53 is one of the buckets."
    for size in (1, 5, 36, 37, 52, 53, 53 + 1, 53 + 99, 53 + 255, 53 + 257, 53 + 768, 53 + 3583):
        cases.append(open_case(f"a decoded length of {size}", MALFORMED, "O-2.5", (envelope * 12)[:size], lengths))
    longest = forge(bucket=BUCKETS[-1])
    key_id = "The key id selects one key, and only the next steps authenticate it."
    return [
        *cases,
        open_case("the last byte cut off", MALFORMED, "O-2.5", longest[:-1], lengths),
        open_case("one byte appended", MALFORMED, "O-2.5", envelope + b"\x00", lengths),
        *(
            open_case(
                f"a recipient key id with byte {position} changed", UNKNOWN, "O-3.1", flip(position)(envelope), key_id
            )
            for position in (1, 4)
        ),
        open_case("sealed to a device that is not here", UNKNOWN, "O-3.1", forge(device=STRANGERS_PHONE), key_id),
        open_case(
            "a receiver without a device key", UNKNOWN, "O-3.1", envelope, key_id, receiver=pinned(PROVIDER, devices=())
        ),
    ]


def device_key_cases() -> list[Vector]:
    """Step 3 with more than one key: a pending and a retiring key open like the active one."""
    several = pinned(PROVIDER, devices=(PHONE, TABLET, STRANGERS_PHONE))
    twin, other = COLLIDING_DEVICES

    def retiring(end: int) -> Receiver:
        return replace(pinned(PROVIDER, devices=(PHONE, TABLET)), ends={TABLET.secret: end})

    to_tablet = forge(device=TABLET)
    return [
        *(
            open_case(
                f"sealed to key {number} of three that the receiver holds",
                "opened",
                "O-3.1",
                forge(device=device),
                "Every key of the device opens, in any order.",
                receiver=several,
            )
            for number, device in enumerate((PHONE, TABLET, STRANGERS_PHONE), 1)
        ),
        open_case(
            "sealed to a retiring key at the last millisecond before its end",
            "opened",
            "O-3.1",
            to_tablet,
            "The end date itself still opens.",
            receiver=retiring(NOW),
        ),
        open_case(
            "sealed to a retiring key one millisecond after its end",
            UNKNOWN,
            "O-3.1",
            to_tablet,
            "The key still exists, but is past its end date.",
            receiver=retiring(NOW - 1),
        ),
        open_case(
            "sealed to a key whose id another key has too",
            "opened",
            "O-3.2 K-1",
            forge(device=twin),
            "A key id is a hint: two keys of two devices share this one.",
            receiver=pinned(PROVIDER, devices=(twin,)),
        ),
        open_case(
            "sealed to another key with the same id",
            FAILED,
            "O-3.2 K-1",
            forge(device=other),
            "The id selects the receiver's key, and that key does not open it.",
            receiver=pinned(PROVIDER, devices=(twin,)),
        ),
        open_case(
            "sealed to one of the receiver's keys under the key id of another",
            FAILED,
            "O-3.2",
            forge(device=TABLET, stated_id=PHONE.key_id),
            "A receiver that tries all of its keys opens this.",
            receiver=several,
        ),
    ]


def decryption_cases() -> list[Vector]:
    """Step 4."""
    envelope = forge()
    elsewhere = [
        ("sealed for another context", "com.example.other"),
        ("sealed for the context in another case", "com.Example.app"),
        ("sealed for the context without its last character", TOPIC[:-1]),
        ("sealed for the context with a character more", TOPIC + "s"),
        ("sealed for the context with a push type suffix", TOPIC + ".voip"),
    ]
    tampered = [
        ("the first byte of enc changed", "O-4.1", flip(5)),
        ("the last byte of enc changed", "O-4.1", flip(36)),
        ("bit 255 of enc changed, which X25519 ignores and the KEM context does not", "O-4.1", flip(36, 7)),
        ("the first byte of the ciphertext changed", "O-4.3", flip(37)),
        ("the last byte of the ciphertext changed", "O-4.3", flip(-17)),
        ("the first byte of the tag changed", "O-4.3", flip(-16)),
        ("the last bit of the tag changed", "O-4.3", flip(-1)),
        ("a tag of zeros", "O-4.3", put(len(envelope) - 16, bytes(16))),
        ("enc of another message", "O-4.1", put(5, forge(ttl=1)[5:37])),
        (
            "two blocks of the ciphertext exchanged",
            "O-4.3",
            lambda data: data[:37] + data[101:165] + data[37:101] + data[165:],
        ),
    ]
    return [
        *(
            open_case(name, FAILED, "O-0.2 O-4.3", forge(topic=topic), "The context is in info, byte for byte.")
            for name, topic in elsewhere
        ),
        *(
            open_case(name, FAILED, rule, edit(envelope), "One change of a genuine envelope, which decryption notices.")
            for name, rule, edit in tampered
        ),
        *(
            open_case(
                f"forged with a share that gives zero: {name}",
                FAILED,
                "O-4.2",
                forge(zero_share=share),
                "Anyone can make this without a key; a receiver that does not check the Diffie-Hellman result decrypts it.",
            )
            for name, share in zero_result_points()
        ),
    ]


def plain_cases() -> list[Vector]:
    """What nothing is wrong with."""
    return [
        open_case(
            "a genuine envelope", "opened", "O-4.1 O-4.3 O-5.4 O-7.1", forge(), "One device key, one pin."
        ),
        open_case(
            "the longest context",
            "opened",
            "K-2 O-4.3",
            forge(PAYLOAD, topic="x" * 255),
            "lp16 counts 255 bytes.",
            receiver=replace(pinned(PROVIDER), topic="x" * 255),
        ),
        open_case(
            "the shortest context",
            "opened",
            "K-2 O-4.3",
            forge(PAYLOAD, topic="a"),
            "lp16 counts one byte.",
            receiver=replace(pinned(PROVIDER), topic="a"),
        ),
    ]
