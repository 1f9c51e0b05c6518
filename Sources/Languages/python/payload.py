"""The strict JSON of payloads: Docs/Format.md, "Body", rules [J-1] to [J-7].

It is built on CPython's reader, which alone accepts more than RFC 8259: duplicate names, NaN and lone surrogates. That of
interpreters without its part in C takes more still: other digits than those of ASCII, and odd escapes.
"""
import json
import json.scanner
import re

from keys import Refused

if json.scanner.c_make_scanner is None:
    raise ImportError("json has no scanner in C here, and the other is not strict enough")

DEPTH = 32
# A string. An unterminated one includes the rest of the text, so that no quotation mark is read twice.
STRING = r'"(?:[^"\\]|\\.)*"?'


class Number(str):
    """A number as written, so that none is rounded and none is too long."""

    def is_integer(self):
        """Whether it is written with digits alone, as every integer that the format reads."""
        return self.isascii() and self.isdigit()


def parse_object(data, code):
    """Parses a JSON object by [J-1] to [J-6]; strings are `str`, numbers `Number`. Refuses anything else with the code.
    """

    def refuse(_):
        raise Refused(code)

    def members(pairs):
        object = dict(pairs)
        return object if len(object) == len(pairs) else refuse(pairs)

    try:
        text = data.decode("utf-8")
        if depth(text) > DEPTH:
            refuse(text)
        value = json.loads(
            text, object_pairs_hook=members, parse_int=Number, parse_float=Number, parse_constant=refuse
        )
        if not isinstance(value, dict):
            refuse(value)
        check_surrogates(value)
    except ValueError:
        raise Refused(code) from None
    return value


def check_payload(data):
    """Parses a payload by [J-1] to [J-7]. Returns its members."""
    members = parse_object(data, "malformed-payload")
    if not isinstance(members.get("aps"), dict):
        raise Refused("malformed-payload")
    return members


def depth(text):
    """The nesting depth of objects and arrays. Checked before the text is parsed, to limit the stack."""
    deepest = level = 0
    for bracket in re.findall(r"[\[\]{}]", re.sub(STRING, "", text, flags=re.DOTALL)):
        level += 1 if bracket in "[{" else -1
        deepest = max(deepest, level)
    return deepest


def check_surrogates(value):
    """Raises a `ValueError` if a name or a string has a lone surrogate [J-6]."""
    if isinstance(value, str):
        value.encode("utf-8")
    elif isinstance(value, dict):
        for name, member in value.items():
            check_surrogates(name)
            check_surrogates(member)
    elif isinstance(value, list):
        for element in value:
            check_surrogates(element)


def minify(data):
    """Removes the white space between the tokens of a JSON text; strings and numbers keep their bytes [S-7]."""
    return re.sub(rb"(%b)|[ \t\n\r]+" % STRING.encode(), lambda match: match[1] or b"", data)
