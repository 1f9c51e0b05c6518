"""What comes before the text of an envelope: the context, and step 1 of opening."""

from reference.envelope import is_topic, to_text

from .forge import forge, push_case
from .material import TOPIC
from .outer_cases import MALFORMED
from .vector import Vector, vector

# The clear part of a push, with room for more members.
PLACEHOLDER = '{"aps":{"mutable-content":1,"alert":{"title":"New message","body":"(Encrypted)"}}%s}'


def context_cases() -> list[Vector]:
    """What both ends take as a context, and what they refuse before they do anything with it."""
    valid = [
        ("a context of one letter", "a"),
        ("a context of one digit", "0"),
        ("a bundle id as context", TOPIC),
        ("a context of capitals, digits and hyphens", "Com.Example-2.App-01"),
        ("a context of 255 characters", "x" * 255),
    ]
    invalid = [
        ("an empty context", ""),
        ("a context of 256 characters", "x" * 256),
        ("a context with a space", "com.example app"),
        ("a context with a low line", "com.example_app"),
        ("a context with a slash", "com/example"),
        ("a context with a newline at the end", "com.example.app\n"),
        ("a context with a NUL at the end", "com.example.app\x00"),
        ("a context with a letter outside ASCII", "com.example.äpp"),
        ("a context with a digit outside ASCII", "com.example.\uff11"),
    ]
    assert all(is_topic(topic) for _, topic in valid) and not any(is_topic(topic) for _, topic in invalid)
    comment = "A context has 1 to 255 of the ASCII letters, digits, '.' and '-'."
    return [
        vector("contexts", name, expect, "K-2", comment, [], topic.encode())
        for expect, topics in (("accepted", valid), ("refused", invalid))
        for name, topic in topics
    ]


def push_cases() -> list[Vector]:
    """Step 1, on the whole push as it came."""
    genuine = to_text(forge())
    members = [
        ("a genuine envelope", "opened", "O-1.2", f',"ENCRYPTED_DATA":"{genuine}"'),
        ("no ENCRYPTED_DATA", "not-encrypted", "O-1.2", ""),
        ("ENCRYPTED_DATA in the wrong case", "not-encrypted", "O-1.2", f',"encrypted_data":"{genuine}"'),
        ("ENCRYPTED_DATA one level down", "not-encrypted", "O-1.2", f',"data":{{"ENCRYPTED_DATA":"{genuine}"}}'),
        ("ENCRYPTED_DATA is null", "not-encrypted", "O-1.2", ',"ENCRYPTED_DATA":null'),
        ("ENCRYPTED_DATA is true", "not-encrypted", "O-1.2", ',"ENCRYPTED_DATA":true'),
        ("ENCRYPTED_DATA is a number", "not-encrypted", "O-1.2", ',"ENCRYPTED_DATA":1'),
        ("ENCRYPTED_DATA is an object", "not-encrypted", "O-1.2", ',"ENCRYPTED_DATA":{}'),
        ("ENCRYPTED_DATA is an array of a string", "not-encrypted", "O-1.2", f',"ENCRYPTED_DATA":["{genuine}"]'),
        ("ENCRYPTED_DATA is an empty string", MALFORMED, "O-2.1", ',"ENCRYPTED_DATA":""'),
        ("ENCRYPTED_DATA is no base64url", MALFORMED, "O-2.2", ',"ENCRYPTED_DATA":"Salted__·öîQÊ$UDì"'),
        ("the envelope with an escaped NUL behind it", MALFORMED, "O-2.2", f',"ENCRYPTED_DATA":"{genuine}\\u0000"'),
        ("the envelope with an escaped slash in front", MALFORMED, "O-2.2", f',"ENCRYPTED_DATA":"\\/{genuine[1:]}"'),
        ("the name of the member with an escape", "opened", "O-1.2", f',"\\u0045NCRYPTED_DATA":"{genuine}"'),
        ("the text of the envelope with an escape", "opened", "O-1.2", f',"ENCRYPTED_DATA":"\\u0041{genuine[1:]}"'),
        ("members that nobody knows", "opened", "O-1.2", f',"ENCRYPTED_DATA":"{genuine}","later":[1,{{}}]'),
        (
            "white space around the push",
            "opened",
            "O-1.1",
            f' ,\r\n\t"ENCRYPTED_DATA" : "{genuine}" ',
        ),
    ]
    assert genuine[0] == "A"
    good = f'"ENCRYPTED_DATA":"{genuine}"'.encode()
    malformed = [
        ("an empty push", "O-1.1 J-2", b""),
        ("a push that is no JSON", "O-1.1 J-2", b"hello"),
        ("a push that is the envelope alone", "O-1.1 J-2", genuine.encode()),
        ("a push that is a string", "O-1.1 J-3", f'"{genuine}"'.encode()),
        ("a push that is an array", "O-1.1 J-3", b"[{" + good + b"}]"),
        ("a push with a byte order mark", "O-1.1 J-1", b"\xef\xbb\xbf{" + good + b"}"),
        ("a push with a byte that is never UTF-8", "O-1.1 J-1", b'{"a":"\xff",' + good + b"}"),
        ("a push with ENCRYPTED_DATA twice", "O-1.1 J-5", b"{" + good + b"," + good + b"}"),
        ("a push with a name twice inside aps", "O-1.1 J-5", b'{"aps":{"badge":1,"badge":1},' + good + b"}"),
        ("a push with an escaped surrogate alone", "O-1.1 J-6", rb'{"a":"\ud83d",' + good + b"}"),
        ("a push of depth 33", "O-1.1 J-4", b"{" + good + b',"a":' + b"[" * 32 + b"]" * 32 + b"}"),
        ("a push with more text behind it", "O-1.1 J-2", b"{" + good + b"}{}"),
        ("a push that ends too early", "O-1.1 J-2", b"{" + good),
    ]
    largest = b"{" + good + b"}"
    return [
        *(
            push_case(name, expected, rules, PLACEHOLDER % member, "The place and the type of ENCRYPTED_DATA.")
            for name, expected, rules, member in members
        ),
        *(
            push_case(name, "malformed-notification", rules, push, "A push that is not one JSON object of this format.")
            for name, rules, push in malformed
        ),
        push_case(
            "a push of 5120 bytes",
            "opened",
            "O-1.1",
            largest + b" " * (5120 - len(largest)),
            "Every receiver accepts as many bytes as APNs delivers.",
        ),
        push_case(
            "a push of depth 32",
            "opened",
            "O-1.1 J-4",
            b"{" + good + b',"a":' + b"[" * 31 + b"]" * 31 + b"}",
            "The outermost object is the first level.",
        ),
    ]
