"""The member `pushcrypt` of a payload, but for files: what is withdrawn, what is dropped, and the sender."""

import json

from reference import reserved

from .reference_cases import GOOD, REFUSED
from .vector import Header, Vector, vector

AVATAR = GOOD | {"type": "public.jpeg", "name": "anna.jpg"}
COMMENT = "The text is shown whatever the member contains."


def case(name: str, rules: str, member: object) -> Vector:
    payload = json.dumps({"aps": {"alert": {"title": "Hello"}}, "pushcrypt": member}, ensure_ascii=False)
    members = json.loads(payload)
    sender, dropped = reserved.sender(members)
    withdrawn = reserved.withdrawals(members, b"")
    avatar = sender.avatar if sender else None
    lines: list[Header] = [
        *(("withdraws", one.hex()) for one in withdrawn),
        ("drop", "yes" if reserved.is_dropped(members) else None),
        ("sender-name", sender and sender.name),
        ("handle", sender and sender.handle),
        ("conversation", sender and sender.conversation),
        *(("recipient", one) for one in (sender.recipients if sender else ())),
        ("avatar", avatar and avatar.url),
        *(("dropped", code) for code in dropped),
    ]
    return vector("reserved", name, "opened", rules, COMMENT, lines, payload.encode())


def reserved_cases() -> list[Vector]:
    def sender(**members: object) -> object:
        return {"sender": {"name": "Anna"} | members}

    many = [str(number) for number in range(66)]
    cases = [
        case("a withdrawal of two messages", "O-8.12", {"withdraw": ["table-17", "Tisch 18 – é"]}),
        case("a withdrawal of one message twice", "O-8.12", {"withdraw": ["a", "a"]}),
        case("sixty-five names", "O-8.12", {"withdraw": many[:65]}),
        case("names among other values", "O-8.12", {"withdraw": [1, "a", "", None, ["b"], {"c": 1}, True]}),
        case("a withdrawal that is a string", "O-8.12", {"withdraw": "a"}),
        case("a withdrawal that is null", "O-8.12", {"withdraw": None}),
        case("a withdrawal that is an object", "O-8.12", {"withdraw": {"0": "a"}}),
        case("a drop", "O-8.16", {"drop": True}),
        case("a drop beside a withdrawal", "O-8.12 O-8.16", {"withdraw": ["a"], "drop": True}),
        case("a drop that is false", "O-8.16", {"drop": False}),
        case("a drop that is 1", "O-8.16", {"drop": 1}),
        case("a drop that is a string", "O-8.16", {"drop": "true"}),
        case("a sender", "N-9", sender()),
        case("a sender with everything", "N-9 A-24", sender(handle="u17", conversation="c41", recipients=["Ben", "Cem"], avatar=AVATAR)),
        case("a sender whose members are null", "N-9 A-24", sender(handle=None, conversation=None, recipients=None, avatar=None)),
        case("a sender with what a later version may add", "N-9", sender(later=[1])),
        case("a sender without a name", "N-9", {"sender": {"handle": "u17"}}),
        case("a sender that is a string", "N-9", {"sender": "Anna"}),
        case("a name of 255 bytes", "N-9", sender(name="é" * 127 + "e")),
        case("a name of 256 bytes", "N-9", sender(name="é" * 128)),
        case("an empty name", "N-9", sender(name="")),
        case("a name of two lines", "N-9", sender(name="Bank\nAnna")),
        case("a name that is a number", "N-9", sender(name=7)),
        case("an empty handle", "N-9", sender(handle="")),
        case("a handle that is a number", "N-9", sender(handle=17)),
        case("a conversation with a control character", "N-9", sender(conversation="c\x9f")),
        case("eight recipients", "N-9", sender(recipients=many[:8])),
        case("nine recipients", "N-9", sender(recipients=many[:9])),
        case("a recipient that is no string", "N-9", sender(recipients=["Ben", 7])),
        case("recipients that are a string", "N-9", sender(recipients="Ben")),
        case("an avatar", "A-24", sender(avatar=AVATAR)),
        case("an avatar that is a PNG", "A-24", sender(avatar=AVATAR | {"type": "public.png"})),
        case("an avatar that is a film", "A-24", sender(avatar=AVATAR | {"type": "public.mpeg-4"})),
        case("the largest avatar", "A-24", sender(avatar=AVATAR | {"size": 1_000_000})),
        case("an avatar that is too large", "A-24", sender(avatar=AVATAR | {"size": 1_000_001})),
        case("an avatar that is no reference", "A-24", sender(avatar="anna.jpg")),
        case("an avatar that is fetched without encryption", "A-6 A-24", sender(avatar=AVATAR | {"url": "http://a/b"})),
        case("a bad avatar of nobody", "N-9 A-24", {"sender": {"avatar": 1}}),
        case("a name and recipients with characters that nobody sees", "N-4 N-9", sender(name="\u202eannA\u202c\u200b", recipients=["\u2066Ben\u2069", "C\u2060em\ufeff"])),
        case("a handle and a conversation with characters that nobody sees", "N-4 N-9", sender(handle="u\u200b17", conversation="c\u200e41")),
        case("a name without a handle, with a character that nobody sees", "N-4 N-9", sender(name="Anna\u200f")),
        case("a name of Persian letters and a family", "N-4 N-9", sender(name="می\u200cخواهم", recipients=["👨\u200d👩\u200d👧"])),
        case("a name of nothing that anybody sees", "N-4 N-9", sender(name="\u200b\ufeff")),
        case("a recipient of nothing that anybody sees", "N-4 N-9", sender(recipients=["Ben", "\u061c"])),
        case("an answer, which is reserved", "N-9", {"answer": {"url": "https://a/b"}, "sender": {"name": "Anna"}}),
    ]
    assert any(REFUSED in one.values("dropped") for one in cases)
    return cases
