"""envelopes.json, "open", steps 1 to 4: what is refused before anything of the message is known."""

from reference.envelope import BUCKETS, is_topic, to_text
from reference.opening import Receiver

from .forge import flip, forge, open_case, put, received_case
from .hpke_cases import zero_result_points
from .material import COLLIDING_DEVICES, PHONE, STRANGERS_PHONE, TABLET, TOPIC, TRUST, Case

MALFORMED, FAILED = "malformed-envelope", "authentication-failed"


def topic_cases() -> list[Case]:
    """What both ends take, and what they refuse before they do anything with it."""
    valid = [
        ("one letter", "a"),
        ("one digit", "0"),
        ("a bundle id", TOPIC),
        ("capitals, digits and hyphens", "Com.Example-2.App-01"),
        ("255 characters", "x" * 255),
    ]
    invalid = [
        ("empty", ""),
        ("256 characters", "x" * 256),
        ("a space", "com.example app"),
        ("a low line", "com.example_app"),
        ("a slash", "com/example"),
        ("a trailing newline", "com.example.app\n"),
        ("a NUL at the end", "com.example.app\x00"),
        ("a letter outside ASCII", "com.example.äpp"),
        ("a digit outside ASCII", "com.example.\uff11"),
    ]
    assert all(is_topic(topic) for _, topic in valid) and not any(is_topic(topic) for _, topic in invalid)
    return [
        *({"name": name, "topic": topic, "valid": True} for name, topic in valid),
        *({"name": name, "topic": topic, "valid": False} for name, topic in invalid),
    ]


def received_cases() -> list[Case]:
    """Step 1, on the whole payload as it came from the system."""
    genuine = to_text(forge())
    placeholder = '{"aps":{"mutable-content":1,"alert":{"title":"New message","body":"(Encrypted)"}}%s}'
    members = [
        ("a genuine envelope", "opened", f',"ENCRYPTED_DATA":"{genuine}"'),
        ("no ENCRYPTED_DATA", "not-encrypted", ""),
        ("ENCRYPTED_DATA in the wrong case", "not-encrypted", f',"encrypted_data":"{genuine}"'),
        ("ENCRYPTED_DATA one level down", "not-encrypted", f',"data":{{"ENCRYPTED_DATA":"{genuine}"}}'),
        ("ENCRYPTED_DATA is null", "not-encrypted", ',"ENCRYPTED_DATA":null'),
        ("ENCRYPTED_DATA is true", "not-encrypted", ',"ENCRYPTED_DATA":true'),
        ("ENCRYPTED_DATA is a number", "not-encrypted", ',"ENCRYPTED_DATA":1'),
        ("ENCRYPTED_DATA is an object", "not-encrypted", ',"ENCRYPTED_DATA":{}'),
        ("ENCRYPTED_DATA is an array of a string", "not-encrypted", f',"ENCRYPTED_DATA":["{genuine}"]'),
        ("ENCRYPTED_DATA is an empty string", MALFORMED, ',"ENCRYPTED_DATA":""'),
        ("ENCRYPTED_DATA is no base64url", MALFORMED, ',"ENCRYPTED_DATA":"Salted__·öîQÊ$UDì"'),
    ]
    return [received_case(name, expected, placeholder % member) for name, expected, member in members]


def text_cases() -> list[Case]:
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
        ("an empty text", ""),
        ("one character", "A"),
        ("a length of 1 modulo 4", text + "A"),
        ("a text one character short", text[:-1]),
        ("padding where padding belongs", four + "=="),
        ("padding of one where one belongs", two + "="),
        ("padding where none belongs", text + "="),
        ("a trailing newline", text + "\n"),
        ("a newline after 76 characters", text[:76] + "\n" + text[76:]),
        ("a carriage return and a newline at the end", text + "\r\n"),
        ("a leading space", " " + text),
        ("a space in place of a character", text[:100] + " " + text[101:]),
        ("a NUL at the end", text + "\x00"),
        ("the standard alphabet, '+' in place of '-'", standard.replace("-", "+")),
        ("the standard alphabet, '/' in place of '_'", standard.replace("_", "/")),
        ("a percent escape", text[:100] + "%2D" + text[103:]),
        ("a letter outside ASCII", text[:100] + "é" + text[101:]),
        ("a full-width digit", text[:100] + "\uff11" + text[101:]),
        ("the highest of four unused bits set", raised(four, 8)),
        ("the lowest of four unused bits set", raised(four, 1)),
        ("the highest of two unused bits set", raised(two, 2)),
        ("the lowest of two unused bits set", raised(two, 1)),
        ("4851 characters", long + "A"),
        ("5000 characters", "A" * 5000),
    ]
    return [open_case(name, MALFORMED, fault) for name, fault in faults]


def header_cases() -> list[Case]:
    """Steps 2 and 3: suite, length, recipient key id."""
    envelope = forge()
    cases = [
        open_case(f"suite 0x{suite:02x}", "unsupported-suite", put(0, bytes([suite]))(envelope))
        for suite in (0x00, 0x02, 0x03, 0x81, 0xFF)
    ]
    cases.append(open_case("an unknown suite alone", "unsupported-suite", b"\x02"))
    cases.append(
        open_case("an unknown suite is reported before its length", "unsupported-suite", b"\x02" + envelope[1:100])
    )
    for size in (1, 5, 36, 37, 52, 53, 53 + 1, 53 + 99, 53 + 255, 53 + 257, 53 + 768, 53 + 3583):
        cases.append(open_case(f"a decoded length of {size}", MALFORMED, (envelope * 12)[:size]))
    longest = forge(bucket=BUCKETS[-1])
    cases.append(open_case("the last byte cut off", MALFORMED, longest[:-1]))
    cases.append(open_case("one byte appended", MALFORMED, envelope + b"\x00"))
    for position in (1, 4):
        fault = flip(position)(envelope)
        cases.append(open_case(f"a recipient key id with byte {position} changed", "unknown-recipient-key", fault))
    cases.append(
        open_case("sealed to a device that is not here", "unknown-recipient-key", forge(device=STRANGERS_PHONE))
    )
    cases.append(
        open_case(
            "a receiver without a device key", "unknown-recipient-key", envelope, receiver=Receiver(TOPIC, (), TRUST)
        )
    )
    return cases


def device_key_cases() -> list[Case]:
    """Step 3 with more than one key: a pending and a retiring key open like the active one."""
    several = Receiver(TOPIC, (PHONE.secret, TABLET.secret, STRANGERS_PHONE.secret), TRUST)
    twin, other = COLLIDING_DEVICES
    return [
        *(
            open_case(
                f"sealed to key {number} of three that the receiver holds",
                "opened",
                forge(device=device),
                receiver=several,
            )
            for number, device in enumerate((PHONE, TABLET, STRANGERS_PHONE), 1)
        ),
        open_case(
            "sealed to a key whose id another key has too",
            "opened",
            forge(device=twin),
            receiver=Receiver(TOPIC, (twin.secret,), TRUST),
        ),
        open_case(
            "sealed to another key with the same id",
            FAILED,
            forge(device=other),
            receiver=Receiver(TOPIC, (twin.secret,), TRUST),
        ),
    ]


def decryption_cases() -> list[Case]:
    """Step 4."""
    envelope = forge()
    elsewhere = [
        ("sealed for another topic", "com.example.other"),
        ("sealed for the topic in another case", "com.Example.app"),
        ("sealed for the topic without its last character", TOPIC[:-1]),
        ("sealed for the topic with a character more", TOPIC + "s"),
        ("sealed for the topic with a push type suffix", TOPIC + ".voip"),
    ]
    tampered = [
        ("the first byte of enc changed", flip(5)),
        ("the last byte of enc changed", flip(36)),
        ("bit 255 of enc changed, which X25519 ignores and the KEM context does not", flip(36, 7)),
        ("the first byte of the ciphertext changed", flip(37)),
        ("the last byte of the ciphertext changed", flip(-17)),
        ("the first byte of the tag changed", flip(-16)),
        ("the last bit of the tag changed", flip(-1)),
        ("a tag of zeros", put(len(envelope) - 16, bytes(16))),
        ("enc of another message", put(5, forge(ttl=1)[5:37])),
        ("two blocks of the ciphertext exchanged", lambda data: data[:37] + data[101:165] + data[37:101] + data[165:]),
    ]
    return [
        *(open_case(name, FAILED, forge(topic=topic)) for name, topic in elsewhere),
        *(open_case(name, FAILED, edit(envelope)) for name, edit in tampered),
        *(
            open_case(f"forged with a share that gives zero: {name}", FAILED, forge(zero_share=share))
            for name, share in zero_result_points()
        ),
    ]
