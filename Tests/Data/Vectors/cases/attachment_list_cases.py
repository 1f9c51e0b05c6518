"""The member `pushcrypt` of a payload, which contains references to sealed files."""

import json

from reference import attachments

from .reference_cases import GOOD, REFUSED
from .vector import Header, Vector, vector

def list_case(
    name: str, rules: str, reserved: str, accepted: list[str], dropped: list[str], full_body: str | None = None
) -> Vector:
    payload = '{"aps":{"alert":{"title":"Hello"}}' + (f',"pushcrypt":{reserved}' if reserved else "") + "}"
    references, body, codes = attachments.read_reserved(json.loads(payload))
    assert ([reference.name for reference in references], codes) == (accepted, dropped), name
    assert (body and body.url) == full_body, name
    lines: list[Header] = [
        *(("attachment", reference) for reference in accepted),
        ("full-body", full_body),
        *(("dropped", code) for code in dropped),
    ]
    comment = "The references in the member pushcrypt of a payload. The text is always shown."
    return vector("attachment-lists", name, "opened", rules, comment, lines, payload.encode())


def list_cases() -> list[Vector]:
    def named(*names: str) -> str:
        return json.dumps({"attachments": [GOOD | {"name": name} for name in names]})

    def mixed(*elements: object) -> str:
        return json.dumps(
            {"attachments": [GOOD | {"name": item} if isinstance(item, str) else item for item in elements]}
        )

    nine = [f"{number}.jpg" for number in range(1, 10)]
    insecure = GOOD | {"url": "http://files.example.com/a"}
    return [
        list_case("no reserved member", "A-16 A-23", "", [], []),
        list_case("a reserved member that is null", "A-16 A-23", "null", [], []),
        list_case("a reserved member without attachments", "A-16 A-23", "{}", [], []),
        list_case("a reserved member with what a later version may put there", "A-16", '{"later":[1]}', [], []),
        list_case("attachments that are null", "A-16", '{"attachments":null}', [], []),
        list_case("an empty list", "A-16", '{"attachments":[]}', [], []),
        list_case("one attachment is taken", "A-14", named("1.jpg"), ["1.jpg"], []),
        list_case("eight attachments, in their order", "A-13 A-14", named(*reversed(nine[:8])), nine[7::-1], []),
        list_case(
            "nine attachments: the first eight are taken", "A-13 A-14", named(*nine), nine[:8], ["too-many-attachments"]
        ),
        list_case("two attachments of one name", "A-14", named("1.jpg", "1.jpg"), ["1.jpg", "1.jpg"], []),
        list_case(
            "a bad attachment between two good ones",
            "A-15",
            mixed("1.jpg", insecure, "3.jpg"),
            ["1.jpg", "3.jpg"],
            [REFUSED],
        ),
        list_case("nothing but bad ones", "A-15", mixed(insecure, None, 1, [], {}), [], [REFUSED] * 5),
        list_case(
            "a bad one among the first eight makes no room for the ninth",
            "A-14 A-15",
            mixed(insecure, *nine[1:]),
            nine[1:8],
            [REFUSED, "too-many-attachments"],
        ),
        list_case("attachments that are an object", "A-16", json.dumps({"attachments": GOOD}), [], [REFUSED]),
        list_case("attachments that are a string", "A-16", '{"attachments":"1.jpg"}', [], [REFUSED]),
        list_case("a reserved member that is a list", "A-16", json.dumps([GOOD]), [], [REFUSED]),
        list_case("a reserved member that is a string", "A-16", '"x"', [], [REFUSED]),
        *(list_case(*case) for case in full_bodies()),
    ]


def full_bodies() -> list[tuple[str, str, str, list[str], list[str], str | None]]:
    text = GOOD | {"type": "public.plain-text", "name": "body"}
    url = str(GOOD["url"])

    def reserved(value: object, **members: object) -> str:
        return json.dumps({"body": value} | members)

    return [
        ("a full body", "A-20", reserved(text), [], [], url),
        ("the smallest full body", "A-20", reserved(text | {"size": attachments.SMALLEST_SIZE + 1}), [], [], url),
        ("the largest full body", "A-20", reserved(text | {"size": 65_557}), [], [], url),
        ("a full body that is too large", "A-20", reserved(text | {"size": 65_574}), [], [REFUSED], None),
        ("a full body of the size of an empty file", "A-20", reserved(text | {"size": attachments.SMALLEST_SIZE}), [], [REFUSED], None),
        ("a full body with a slash in its name", "A-8 A-20", reserved(text | {"name": "a/b"}), [], [REFUSED], None),
        ("a full body with an empty name", "A-8 A-20", reserved(text | {"name": ""}), [], [REFUSED], None),
        ("a full body without a name", "A-20 A-12", reserved({key: value for key, value in text.items() if key != "name"}), [], [REFUSED], None),
        ("a full body of another type", "A-20", reserved(text | {"type": "public.html"}), [], [REFUSED], None),
        (
            "a full body that is fetched without encryption",
            "A-6 A-20 A-23",
            reserved(text | {"url": "http://a/b"}),
            [],
            [REFUSED],
            None,
        ),
        ("a full body that is no reference", "A-20", reserved("text"), [], [REFUSED], None),
        ("a full body that is null", "A-23", reserved(None), [], [], None),
        (
            "a full body is none of the eight attachments",
            "A-14 A-23",
            reserved(text, attachments=[GOOD | {"name": f"{number}.jpg"} for number in range(1, 9)]),
            [f"{number}.jpg" for number in range(1, 9)],
            [],
            url,
        ),
        (
            "a full body beside nine attachments",
            "A-14 A-23",
            reserved(text, attachments=[GOOD | {"name": f"{number}.jpg"} for number in range(1, 10)]),
            [f"{number}.jpg" for number in range(1, 9)],
            ["too-many-attachments"],
            url,
        ),
        (
            "a bad full body leaves the attachments",
            "A-15 A-23",
            reserved(1, attachments=[GOOD | {"name": "1.jpg"}]),
            ["1.jpg"],
            [REFUSED],
            None,
        ),
        (
            "a full body beside attachments that are no array",
            "A-16 A-23",
            reserved(text, attachments=7),
            [],
            [REFUSED],
            url,
        ),
    ]
