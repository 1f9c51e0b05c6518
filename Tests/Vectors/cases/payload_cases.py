"""envelopes.json, "open", step 7: bodies of genuine messages, good and bad as JSON and as payloads."""

from .forge import forge, open_case
from .material import Case


def nested(opening: bytes, closing: bytes, levels: int) -> bytes:
    """A payload whose deepest value is at depth `levels`, the outermost object being at depth 1."""
    return b'{"aps":{},"d":' + opening * (levels - 1) + b"0" + closing * (levels - 1) + b"}"


def opened_cases() -> list[Case]:
    bodies = [
        ("the smallest payload", b'{"aps":{}}'),
        (
            "white space of all four kinds between tokens",
            b' \t\r\n{ "aps" :\t{ "alert" :\r\n"hi" } ,\n"n" : [ 1 , 2 ] } \n',
        ),
        ("keys in another order", b'{"z":1,"a":{"b":2},"aps":{"alert":"hi"}}'),
        ("aps written with an escape", b'{"\\u0061ps":{"alert":"hi"}}'),
        ("arrays to depth 32", nested(b"[", b"]", 32)),
        ("objects to depth 32", nested(b'{"":', b"}", 32)),
        ("Korean and an emoji", '{"aps":{"alert":{"title":"내일 봐","body":"🚲"}}}'.encode()),
        ("a surrogate pair as escapes", rb'{"aps":{"alert":"\ud83d\udeb2"}}'),
        ("every escape", rb'{"aps":{"alert":"\"\\\/\b\f\n\r\t\u0000\uFFFF"}}'),
        ("DEL, line separator and a non-character as they are", '{"aps":{"alert":"\x7f\u2028\uffff"}}'.encode()),
        (
            "numbers of every form",
            b'{"aps":{"badge":0},"n":[-0,0.0,1e5,1E+5,1.25e-7,123456789012345678901234567890,1e999]}',
        ),
        ("two names that differ in case", b'{"aps":{},"id":1,"ID":2}'),
        ("two names that are equal only after Unicode normalization", '{"aps":{},"\u00e9":1,"e\u0301":2}'.encode()),
        ("a name twice in different objects", b'{"aps":{"id":1},"a":{"id":2},"b":[{"id":3},{"id":4}]}'),
        ("a name inside its own value", b'{"aps":{"aps":{"aps":{}}}}'),
        ("an empty name", b'{"aps":{},"":0}'),
    ]
    return [open_case(name, "opened", forge(body)) for name, body in bodies]


def malformed_cases() -> list[Case]:
    payloads = [
        ("an empty body", b""),
        ("no aps", b'{"alert":"hi"}'),
        ("aps in another case", b'{"APS":{}}'),
        ("aps one level down", b'{"data":{"aps":{}}}'),
        ("aps is null", b'{"aps":null}'),
        ("aps is a string", b'{"aps":"hi"}'),
        ("aps is an array", b'{"aps":[{}]}'),
        ("aps is a number", b'{"aps":1}'),
        ("an array around the payload", b'[{"aps":{}}]'),
        ("a string", b'"aps"'),
        ("null", b"null"),
        ("a name twice at the top", b'{"aps":{},"a":1,"a":1}'),
        ("aps twice", b'{"aps":{},"aps":{}}'),
        ("aps twice, once with an escape", b'{"aps":{},"\\u0061ps":{}}'),
        ("a name twice in aps", b'{"aps":{"badge":1,"badge":1}}'),
        ("a name twice, deep inside", b'{"aps":{},"a":[[{"b":{"c":0,"d":0,"c":0}}]]}'),
        ("a name twice, once with an escaped slash", rb'{"aps":{},"a/b":1,"a\/b":2}'),
        ("a name twice, once as a surrogate pair", '{"aps":{},"🚲":1,"\\ud83d\\udeb2":2}'.encode()),
        ("an empty name twice", b'{"aps":{},"":1,"":2}'),
        ("arrays to depth 33", nested(b"[", b"]", 33)),
        ("objects to depth 33", nested(b'{"":', b"}", 33)),
        ("arrays to depth 1500", nested(b"[", b"]", 1500)),
    ]
    encodings = [
        ("a byte order mark", b'\xef\xbb\xbf{"aps":{}}'),
        ("UTF-16", '{"aps":{}}'.encode("utf-16-be")),
        ("a byte that is never UTF-8", b'{"aps":{"alert":"\xff"}}'),
        ("a continuation byte alone", b'{"aps":{"alert":"\x80"}}'),
        ("a character cut off", b'{"aps":{"alert":"\xf0\x9f\x9a"}}'),
        ("an overlong form", b'{"aps":{"alert":"\xc0\xaf"}}'),
        ("a surrogate in UTF-8", b'{"aps":{"alert":"\xed\xa0\xbd"}}'),
        ("a surrogate pair in UTF-8", b'{"aps":{"alert":"\xed\xa0\xbd\xed\xba\xb2"}}'),
        ("a code point above U+10FFFF", b'{"aps":{"alert":"\xf4\x90\x80\x80"}}'),
        ("invalid UTF-8 in a name", b'{"aps":{},"\xff":0}'),
        ("an escaped high surrogate alone", rb'{"aps":{"alert":"\ud83d"}}'),
        ("an escaped low surrogate alone", rb'{"aps":{"alert":"\udeb2"}}'),
        ("an escaped surrogate pair in the wrong order", rb'{"aps":{"alert":"\udeb2\ud83d"}}'),
        ("an escaped high surrogate before a letter", rb'{"aps":{"alert":"\ud83da"}}'),
        ("an escaped surrogate alone in a name", rb'{"aps":{},"\ud83d":0}'),
    ]
    grammar = [
        ("no JSON", b"hello"),
        ("an object that does not end", b'{"aps":{}'),
        ("a string that does not end", b'{"aps":{},"a":"b}'),
        ("a second object behind the first", b'{"aps":{}}{}'),
        ("a NUL behind the object", b'{"aps":{}}\x00'),
        ("a comma behind the last member", b'{"aps":{},}'),
        ("a comma behind the last element", b'{"aps":{},"a":[1,]}'),
        ("a missing comma", b'{"aps":{} "a":1}'),
        ("a missing colon", b'{"aps" {}}'),
        ("a name without quotes", b"{aps:{}}"),
        ("single quotes", b"{'aps':{}}"),
        ("a comment", b'{"aps":{}/* none */}'),
        ("a newline inside a string", b'{"aps":{"alert":"a\nb"}}'),
        ("a tab inside a string", b'{"aps":{"alert":"a\tb"}}'),
        ("a NUL inside a string", b'{"aps":{"alert":"a\x00b"}}'),
        ("an escape that does not exist", rb'{"aps":{"alert":"\x41"}}'),
        ("an escape with three digits", rb'{"aps":{"alert":"\u041"}}'),
        ("an escape with a digit outside ASCII", '{"aps":{"alert":"\\u004\uff11"}}'.encode()),
        ("a no-break space between tokens", '{"aps":\u00a0{}}'.encode()),
        ("a form feed between tokens", b'{"aps":\x0c{}}'),
        ("a number with a leading zero", b'{"aps":{},"n":01}'),
        ("a number with a plus sign", b'{"aps":{},"n":+1}'),
        ("a number that ends with a point", b'{"aps":{},"n":1.}'),
        ("a number that begins with a point", b'{"aps":{},"n":.1}'),
        ("a number with an empty exponent", b'{"aps":{},"n":1e}'),
        ("a hexadecimal number", b'{"aps":{},"n":0x10}'),
        ("a digit outside ASCII", '{"aps":{},"n":\uff11}'.encode()),
        ("NaN", b'{"aps":{},"n":NaN}'),
        ("an infinity", b'{"aps":{},"n":-Infinity}'),
        ("True with a capital", b'{"aps":{},"n":True}'),
    ]
    return [
        open_case(f"malformed payload: {name}", "malformed-payload", forge(body))
        for name, body in (*payloads, *encodings, *grammar)
    ]
