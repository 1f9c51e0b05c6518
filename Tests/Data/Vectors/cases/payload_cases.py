"""Step 7 of opening: bodies of genuine messages, good and bad as JSON and as payloads."""

from .forge import forge, open_case
from .vector import Vector


def nested(opening: bytes, closing: bytes, levels: int) -> bytes:
    """A payload whose deepest value is at depth `levels`, the outermost object being at depth 1."""
    return b'{"aps":{},"d":' + opening * (levels - 1) + b"0" + closing * (levels - 1) + b"}"


def many(count: int) -> bytes:
    """A payload with so many members, aps among them."""
    return b'{"aps":{}' + b"".join(b',"n%d":%d' % (number, number) for number in range(count - 1)) + b"}"


def opened_cases() -> list[Vector]:
    bodies = [
        ("the smallest payload", "J-7", b'{"aps":{}}'),
        (
            "white space of all four kinds between tokens",
            "J-2 S-7",
            b' \t\r\n{ "aps" :\t{ "alert" :\r\n"hi" } ,\n"n" : [ 1 , 2 ] } \n',
        ),
        ("keys in another order", "J-2", b'{"z":1,"a":{"b":2},"aps":{"alert":"hi"}}'),
        ("aps written with an escape", "J-5 J-7", b'{"\\u0061ps":{"alert":"hi"}}'),
        ("arrays to depth 32", "J-4", nested(b"[", b"]", 32)),
        ("objects to depth 32", "J-4", nested(b'{"":', b"}", 32)),
        ("Korean and an emoji", "J-1", '{"aps":{"alert":{"title":"내일 봐","body":"🚲"}}}'.encode()),
        ("a surrogate pair as escapes", "J-6", rb'{"aps":{"alert":"\ud83d\udeb2"}}'),
        ("every escape", "J-2", rb'{"aps":{"alert":"\"\\\/\b\f\n\r\t\u0000\uFFFF"}}'),
        (
            "DEL, line separator and a non-character as they are",
            "J-1 J-2",
            '{"aps":{"alert":"\x7f\u2028\uffff"}}'.encode(),
        ),
        (
            "numbers of every form",
            "J-2",
            b'{"aps":{"badge":0},"n":[-0,0.0,1e5,1E+5,1.25e-7,123456789012345678901234567890,1e999]}',
        ),
        ("two names that differ in case", "J-5", b'{"aps":{},"id":1,"ID":2}'),
        (
            "two names that are equal only after Unicode normalization",
            "J-5",
            '{"aps":{},"\u00e9":1,"e\u0301":2}'.encode(),
        ),
        ("a name twice in different objects", "J-5", b'{"aps":{"id":1},"a":{"id":2},"b":[{"id":3},{"id":4}]}'),
        ("a name inside its own value", "J-5", b'{"aps":{"aps":{"aps":{}}}}'),
        ("a hundred names", "J-5", many(100)),
        ("an empty name", "J-5", b'{"aps":{},"":0}'),
    ]
    comment = "Strict only where JSON readers disagree."
    return [
        open_case(f"payload: {name}", "opened", f"{rules} O-7.1", forge(body), comment) for name, rules, body in bodies
    ]


def malformed_cases() -> list[Vector]:
    payloads = [
        ("an empty body", "J-2", b""),
        ("no aps", "J-7", b'{"alert":"hi"}'),
        ("aps in another case", "J-7", b'{"APS":{}}'),
        ("aps one level down", "J-7", b'{"data":{"aps":{}}}'),
        ("aps is null", "J-7", b'{"aps":null}'),
        ("aps is a string", "J-7", b'{"aps":"hi"}'),
        ("aps is an array", "J-7", b'{"aps":[{}]}'),
        ("aps is a number", "J-7", b'{"aps":1}'),
        ("an array around the payload", "J-3", b'[{"aps":{}}]'),
        ("a string", "J-3", b'"aps"'),
        ("null", "J-3", b"null"),
        ("a name twice at the top", "J-5", b'{"aps":{},"a":1,"a":1}'),
        ("aps twice", "J-5", b'{"aps":{},"aps":{}}'),
        ("aps twice, once with an escape", "J-5", b'{"aps":{},"\\u0061ps":{}}'),
        ("a name twice in aps", "J-5", b'{"aps":{"badge":1,"badge":1}}'),
        ("a name twice, deep inside", "J-5", b'{"aps":{},"a":[[{"b":{"c":0,"d":0,"c":0}}]]}'),
        ("a name twice, once with an escaped slash", "J-5", rb'{"aps":{},"a/b":1,"a\/b":2}'),
        ("a name twice, once as a surrogate pair", "J-5", '{"aps":{},"🚲":1,"\\ud83d\\udeb2":2}'.encode()),
        ("an empty name twice", "J-5", b'{"aps":{},"":1,"":2}'),
        ("a name twice among nine", "J-5", many(8)[:-1] + b',"n0":0}'),
        ("a name twice among a hundred", "J-5", many(99)[:-1] + b',"n97":0}'),
        ("arrays to depth 33", "J-4", nested(b"[", b"]", 33)),
        ("objects to depth 33", "J-4", nested(b'{"":', b"}", 33)),
        ("arrays to depth 1500", "J-4", nested(b"[", b"]", 1500)),
    ]
    encodings = [
        ("a byte order mark", "J-1", b'\xef\xbb\xbf{"aps":{}}'),
        ("UTF-16", "J-1", '{"aps":{}}'.encode("utf-16-be")),
        ("a byte that is never UTF-8", "J-1", b'{"aps":{"alert":"\xff"}}'),
        ("a continuation byte alone", "J-1", b'{"aps":{"alert":"\x80"}}'),
        ("a character cut off", "J-1", b'{"aps":{"alert":"\xf0\x9f\x9a"}}'),
        ("a character of two bytes cut off", "J-1", b'{"aps":{"alert":"\xc3"}}'),
        ("a character of three bytes cut off", "J-1", b'{"aps":{"alert":"\xe2\x82"}}'),
        ("an overlong form", "J-1", b'{"aps":{"alert":"\xc0\xaf"}}'),
        ("an overlong form of three bytes", "J-1", b'{"aps":{"alert":"\xe0\x80\xaf"}}'),
        ("the last overlong form of three bytes", "J-1", b'{"aps":{"alert":"\xe0\x9f\xbf"}}'),
        ("an overlong form of four bytes", "J-1", b'{"aps":{"alert":"\xf0\x80\x80\xaf"}}'),
        ("the last overlong form of four bytes", "J-1", b'{"aps":{"alert":"\xf0\x8f\xbf\xbf"}}'),
        ("a form of five bytes", "J-1", b'{"aps":{"alert":"\xf8\x88\x80\x80\x80"}}'),
        ("a surrogate in UTF-8", "J-1", b'{"aps":{"alert":"\xed\xa0\xbd"}}'),
        ("a surrogate pair in UTF-8", "J-1", b'{"aps":{"alert":"\xed\xa0\xbd\xed\xba\xb2"}}'),
        ("a code point above U+10FFFF", "J-1", b'{"aps":{"alert":"\xf4\x90\x80\x80"}}'),
        ("a code point far above U+10FFFF", "J-1", b'{"aps":{"alert":"\xf5\x80\x80\x80"}}'),
        ("invalid UTF-8 in a name", "J-1", b'{"aps":{},"\xff":0}'),
        ("an escaped high surrogate alone", "J-6", rb'{"aps":{"alert":"\ud83d"}}'),
        ("an escaped low surrogate alone", "J-6", rb'{"aps":{"alert":"\udeb2"}}'),
        ("an escaped surrogate pair in the wrong order", "J-6", rb'{"aps":{"alert":"\udeb2\ud83d"}}'),
        ("an escaped high surrogate before a letter", "J-6", rb'{"aps":{"alert":"\ud83da"}}'),
        ("an escaped high surrogate before an escaped letter", "J-6", rb'{"aps":{"alert":"\ud83d\u0061"}}'),
        ("an escaped high surrogate before another escape", "J-6", rb'{"aps":{"alert":"\ud83d\n"}}'),
        ("an escaped high surrogate before an escape above the surrogates", "J-6", rb'{"aps":{"alert":"\ud800\ue000"}}'),
        ("an escaped high surrogate before an escape below the surrogates", "J-6", rb'{"aps":{"alert":"\udbff\ud7ff"}}'),
        ("an escaped high surrogate before the last high one", "J-6", rb'{"aps":{"alert":"\ud800\udbff"}}'),
        ("two escaped high surrogates", "J-6", rb'{"aps":{"alert":"\ud83d\ud83d\udeb2"}}'),
        ("an escaped surrogate alone in a name", "J-6", rb'{"aps":{},"\ud83d":0}'),
    ]
    grammar = [
        ("no JSON", "J-2", b"hello"),
        ("an object that does not end", "J-2", b'{"aps":{}'),
        ("a string that does not end", "J-2", b'{"aps":{},"a":"b}'),
        ("a second object behind the first", "J-2", b'{"aps":{}}{}'),
        ("a NUL behind the object", "J-2", b'{"aps":{}}\x00'),
        ("a comma behind the last member", "J-2", b'{"aps":{},}'),
        ("a comma behind the last element", "J-2", b'{"aps":{},"a":[1,]}'),
        ("a missing comma", "J-2", b'{"aps":{} "a":1}'),
        ("a missing colon", "J-2", b'{"aps" {}}'),
        ("a name without quotes", "J-2", b"{aps:{}}"),
        ("single quotes", "J-2", b"{'aps':{}}"),
        ("a comment", "J-2", b'{"aps":{}/* none */}'),
        ("a newline inside a string", "J-2", b'{"aps":{"alert":"a\nb"}}'),
        ("a tab inside a string", "J-2", b'{"aps":{"alert":"a\tb"}}'),
        ("a NUL inside a string", "J-2", b'{"aps":{"alert":"a\x00b"}}'),
        ("an escape that does not exist", "J-2", rb'{"aps":{"alert":"\x41"}}'),
        ("an escape with three digits", "J-2", rb'{"aps":{"alert":"\u041"}}'),
        ("an escape with a digit outside ASCII", "J-2", '{"aps":{"alert":"\\u004\uff11"}}'.encode()),
        ("a no-break space between tokens", "J-2", '{"aps":\u00a0{}}'.encode()),
        ("a form feed between tokens", "J-2", b'{"aps":\x0c{}}'),
        ("a number with a leading zero", "J-2", b'{"aps":{},"n":01}'),
        ("a number with a plus sign", "J-2", b'{"aps":{},"n":+1}'),
        ("a number that ends with a point", "J-2", b'{"aps":{},"n":1.}'),
        ("a number that begins with a point", "J-2", b'{"aps":{},"n":.1}'),
        ("a number with an empty exponent", "J-2", b'{"aps":{},"n":1e}'),
        ("a hexadecimal number", "J-2", b'{"aps":{},"n":0x10}'),
        ("a digit outside ASCII", "J-2", '{"aps":{},"n":\uff11}'.encode()),
        ("NaN", "J-2", b'{"aps":{},"n":NaN}'),
        ("an infinity", "J-2", b'{"aps":{},"n":-Infinity}'),
        ("True with a capital", "J-2", b'{"aps":{},"n":True}'),
    ]
    comment = "A genuine message with a payload that is refused because readers could disagree about it."
    return [
        open_case(f"malformed payload: {name}", "malformed-payload", f"{rule} O-7.1", forge(body), comment)
        for name, rule, body in (*payloads, *encodings, *grammar)
    ]
