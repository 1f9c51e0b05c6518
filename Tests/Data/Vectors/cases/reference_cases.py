"""References to sealed files."""

import json
from typing import Any

from reference import attachments
from reference.attachments import Refused
from reference.payload import integer

from .attachment_cases import KEY
from .material import seed
from .vector import Header, Vector, vector

REFUSED = "malformed-reference"

GOOD: dict[str, Any] = {
    "url": "https://files.example.com/7f3a",
    "key": attachments.to_base64url(KEY),
    "size": 1234,
    "sha256": attachments.to_base64url(seed("attachment hash")),
    "type": "public.jpeg",
    "name": "photo.jpg",
}
# 43 characters stand for 258 bits; the last two must be zero.
UNUSED_BITS = GOOD["key"][:-1] + chr(ord(GOOD["key"][-1]) + 1)


def reference_case(name: str, expected: str, rules: str, text: str) -> Vector:
    comment = "The requirements for a reference."
    if expected != "accepted":
        comment = "A reference with one fault. Only this attachment is dropped."
    lines: list[Header] = []
    try:
        reference = attachments.read_reference(json.loads(text, parse_int=integer))
    except Refused as error:
        assert error.args == (expected,), (name, error.args)
    else:
        assert expected == "accepted", name
        lines = [
            ("url", reference.url),
            ("key", reference.file.key.hex()),
            ("size", reference.file.size),
            ("sha256", reference.file.sha256.hex()),
            ("type", reference.type),
            ("file-name", reference.name),
        ]
    return vector("references", name, expected, rules, comment, lines, text.encode())


# The rule of each member.
RULES = {"url": "A-6", "type": "A-7", "name": "A-8", "size": "A-9", "sha256": "A-10", "key": "A-11"}


def with_member(name: str, expected: str, member: str, value: object) -> Vector:
    return reference_case(name, expected, RULES[member], json.dumps(GOOD | {member: value}, ensure_ascii=False))


def accepted_references() -> list[Vector]:
    good, every = "accepted", " ".join(RULES.values())
    return [
        reference_case("a reference with every member", good, f"A-12 {every}", json.dumps(GOOD)),
        reference_case(
            "white space, another order, escapes",
            good,
            "A-12",
            json.dumps(dict(reversed(GOOD.items())), indent=1).replace("photo", "\\u0070hoto"),
        ),
        reference_case(
            "a member that is not known", good, "A-12", json.dumps(GOOD | {"thumbnail": {"a": [1]}, "later": None})
        ),
        with_member("a url of a host alone", good, "url", "https://a"),
        with_member(
            "a url with port, path and query", good, "url", "https://files.example.com:8443/a/b-c_d~e.f?x=1&y=%2F/@:;,"
        ),
        with_member("a url with a query and no path", good, "url", "https://files.example.com?x"),
        *(
            with_member(f"a url with {what}", good, "url", url)
            for what, url in [
                ("an address as host", "https://192.0.2.1/a"),
                ("an address and a port", "https://255.0.10.249:443"),
                ("a low line in its host", "https://my_files.example.com/a"),
                ("hyphens around a label", "https://-a-.example.com/a"),
                ("digits in its host", "https://1.2.3.4.5.x6-/a"),
                ("capitals in its host", "https://FILES.Example.com/a"),
                ("a port of one digit", "https://files.example.com:1/a"),
                ("the largest port", "https://files.example.com:65535/a"),
                ("a port with leading zeros", "https://files.example.com:00443/a"),
                ("a port and a query", "https://files.example.com:443?x"),
                ("a slash and no path", "https://files.example.com/"),
                ("every character of a path", "https://a/-._~!$&'()*+,;=:@%2f%2F"),
                ("every character of a query", "https://a?-._~!$&'()*+,;=:@/?%00"),
                ("a label of 63 characters", f"https://{'a' * 63}.example.com/a"),
                ("a last label of 63 characters", f"https://{'a' * 63}/a"),
                ("a host of 253 characters", f"https://{'abc.' * 63}a/a"),
            ]
        ),
        with_member("the smallest size", good, "size", attachments.SMALLEST_SIZE),
        with_member("the size of a file of one byte", good, "size", 22),
        with_member("the size of one whole chunk", good, "size", 5 + 65_552),
        with_member("the size of one byte more than a chunk", good, "size", 5 + 65_552 + 17),
        with_member("the size of three whole chunks", good, "size", 5 + 3 * 65_552),
        with_member("the largest size", good, "size", attachments.LARGEST_SIZE),
        with_member("a type of two short labels", good, "type", "a.b"),
        with_member("a type with capitals, digits and hyphens", good, "type", "com.Example.type-2"),
        with_member("a type of 255 characters", good, "type", "public." + "x" * 248),
        with_member("a name of one character", good, "name", "a"),
        with_member("a name of 255 bytes", good, "name", "한" * 85),
        with_member("a name with spaces, dots and a backslash", good, "name", "... my photo\\1.jpg "),
        with_member("a name that is not ASCII", good, "name", "사진 🚲.jpg"),
    ]


def refused_references() -> list[Vector]:
    members = [
        reference_case(
            f"a reference without {member}",
            REFUSED,
            f"A-12 {RULES[member]}",
            json.dumps({name: value for name, value in GOOD.items() if name != member}),
        )
        for member in GOOD
    ]
    nulls = [
        reference_case(f"{member} is null", REFUSED, f"A-12 {RULES[member]}", json.dumps(GOOD | {member: None}))
        for member in GOOD
    ]
    kinds = [with_member(f"{member} is a number", REFUSED, member, 7) for member in GOOD if member != "size"]
    faults = [
        ("a url without encryption", "url", "http://files.example.com/a"),
        ("a url of another scheme", "url", "file:///etc/passwd"),
        ("a url with the scheme in capitals", "url", "HTTPS://files.example.com/a"),
        ("a url without a scheme", "url", "//files.example.com/a"),
        ("a url with white space before it", "url", " https://files.example.com/a"),
        ("an empty url", "url", ""),
        ("a url without a host", "url", "https:///a"),
        ("a url with a port and no host", "url", "https://:443/a"),
        ("a url with a user name", "url", "https://user@files.example.com/a"),
        ("a url with a password", "url", "https://user:word@files.example.com/a"),
        ("a url with a fragment", "url", "https://files.example.com/a#b"),
        ("a url with a space", "url", "https://files.example.com/a b"),
        ("a url with a newline at the end", "url", "https://files.example.com/a\n"),
        ("a url with a NUL", "url", "https://files.example.com/a\x00"),
        ("a url with a backslash", "url", "https://files.example.com\\@evil.example/a"),
        ("a url with a character outside ASCII", "url", "https://files.example.com/사진"),
        ("a url with a host outside ASCII", "url", "https://fïles.example.com/a"),
        ("a url with a percent sign alone", "url", "https://files.example.com/100%"),
        ("a url with one hexadecimal digit after a percent sign", "url", "https://files.example.com/%2"),
        ("a url with other characters after a percent sign", "url", "https://files.example.com/%2g"),
        ("a url with brackets in its path", "url", "https://files.example.com/a[1]"),
        *(
            (f"a url with {what}", "url", url)
            for what, url in [
                ("a port of letters", "https://e.com:x/"),
                ("a colon and no port", "https://e.com:/"),
                ("a colon, no port and no path", "https://e.com:"),
                ("a port above 65535", "https://e.com:65536/a"),
                ("a port of six digits", "https://e.com:000443/a"),
                ("two ports", "https://e.com:1:2/a"),
                ("a sign before its port", "https://e.com:+443/a"),
                ("a digit outside ASCII in its port", "https://e.com:44\uff13/a"),
                ("a bracket inside its host", "https://a[b/"),
                ("a closing bracket in its host", "https://a]/"),
                ("an address in brackets", "https://[2001:db8::1]/a"),
                ("nothing in brackets", "https://[]/a"),
                ("brackets in its query", "https://a/?b[]=1"),
                ("a dot as host", "https://./a"),
                ("a dot before its host", "https://.example.com/a"),
                ("a dot behind its host", "https://example.com./a"),
                ("an empty label", "https://example..com/a"),
                ("a last label that begins with a digit", "https://example.1com/a"),
                ("a last label of digits", "https://example.1/a"),
                ("a last label that is a hexadecimal number", "https://example.0x1f/a"),
                ("a last label that begins with a hyphen", "https://example.-com/a"),
                ("a number as host", "https://3232235777/a"),
                ("an address of three numbers", "https://192.0.2/a"),
                ("an address of five numbers", "https://192.0.2.1.1/a"),
                ("an address with a number above 255", "https://192.0.2.256/a"),
                ("an address with a leading zero", "https://192.0.02.1/a"),
                ("a percent escape in its host", "https://ex%61mple.com/a"),
                ("an exclamation mark in its host", "https://example!.com/a"),
                ("a label of 64 characters", f"https://{'a' * 64}.example.com/a"),
                ("a last label of 64 characters", f"https://{'a' * 64}/a"),
                ("a host of 254 characters", f"https://{'abc.' * 63}ab/a"),
                ("an at sign in its host", "https://@example.com/a"),
                ("a quotation mark in its path", 'https://a/"'),
                ("a bar in its path", "https://a/b|c"),
                ("a circumflex in its query", "https://a?b^c"),
            ]
        ),
        ("a key of 31 bytes", "key", attachments.to_base64url(KEY[:31])),
        ("a key of 33 bytes", "key", attachments.to_base64url(KEY + b"\x00")),
        ("a key with padding", "key", GOOD["key"] + "="),
        ("a key whose unused bits are not zero", "key", UNUSED_BITS),
        ("a key with a character of the other base64", "key", "+" + GOOD["key"][1:]),
        ("an empty key", "key", ""),
        ("a key in hexadecimal digits", "key", KEY.hex()),
        ("a hash of 31 bytes", "sha256", GOOD["sha256"][:42]),
        ("a hash in hexadecimal digits", "sha256", seed("attachment hash").hex()),
        ("a size below that of the empty file", "size", attachments.SMALLEST_SIZE - 1),
        ("a size of zero", "size", 0),
        *(
            (f"a size that no file has: a whole chunk and {more} bytes", "size", 5 + 65_552 + more)
            for more in (1, 15, 16)
        ),
        ("a size that no file has: three whole chunks and an empty one", "size", 5 + 3 * 65_552 + 16),
        ("a size that no file has: the first five bytes and an unfinished chunk", "size", 20),
        ("a size that no file has: the first five bytes", "size", 5),
        ("a negative size", "size", -1234),
        ("a size with a fraction", "size", 1234.0),
        ("a size that is a string", "size", "1234"),
        ("a size that is true", "size", True),
        ("an empty type", "type", ""),
        ("a type of 256 characters", "type", "public." + "x" * 249),
        ("a media type", "type", "image/jpeg"),
        ("a file name extension as type", "type", "jpg"),
        ("a type with an empty label", "type", "public..jpeg"),
        ("a type that begins with a dot", "type", ".jpeg"),
        ("a type that ends with a dot", "type", "public.jpeg."),
        ("a type with a low line", "type", "public.my_type"),
        ("a type with a character outside ASCII", "type", "public.jpég"),
        ("an empty name", "name", ""),
        ("a name of 256 bytes", "name", "한" * 85 + "a"),
        ("a name of one dot", "name", "."),
        ("a name of two dots", "name", ".."),
        ("a name with a slash", "name", "../photo.jpg"),
        ("a name with a slash at the end", "name", "photo/"),
        ("a name with a NUL", "name", "photo.jpg\x00.txt"),
        ("a name with a newline", "name", "photo\n.jpg"),
        ("a name with DEL", "name", "photo\x7f.jpg"),
        ("a name with a control character above ASCII", "name", "photo\x85.jpg"),
    ]
    large = json.dumps(GOOD).replace("1234", str(attachments.LARGEST_SIZE + 1))
    return [
        *members,
        *nulls,
        *kinds,
        *(with_member(name, REFUSED, member, value) for name, member, value in faults),
        reference_case("a size above 2^53 - 1", REFUSED, "A-9", large),
        reference_case("a size beyond 64 bits", REFUSED, "A-9", json.dumps(GOOD).replace("1234", "1" + "0" * 30)),
        reference_case("a size of -0", REFUSED, "A-9", json.dumps(GOOD).replace("1234", "-0")),
        reference_case("a size of 5,000 digits", REFUSED, "A-9", json.dumps(GOOD).replace("1234", "9" * 5000)),
        reference_case("a size with an exponent", REFUSED, "A-9", json.dumps(GOOD).replace("1234", "1234e0")),
        reference_case("a reference that is an array", REFUSED, "A-12", json.dumps([GOOD])),
        reference_case("a reference that is its url", REFUSED, "A-12", json.dumps(GOOD["url"])),
        reference_case("a reference that is null", REFUSED, "A-12", "null"),
    ]


def reference_cases() -> list[Vector]:
    return [*accepted_references(), *refused_references()]
