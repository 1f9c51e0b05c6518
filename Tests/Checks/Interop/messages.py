"""Random messages: payloads of every bucket, with every kind of JSON and of character in them, and what else is said of a message."""
import bisect
import itertools
import json
import random
import re

BUCKETS = (256, 512, 1024, 1536, 2048, 2560, 2816, 3584)
INNER, CERTIFICATE = 99, 121
# The largest bucket of a push that is no call.
LARGEST = 2816
PUSH_TYPES = ("alert", "alert", "alert", "background", "voip")
TITLES = ("New message", "Сообщение", "新着", "🙂🙃", 'a "quoted" \\ one', "<&'+=`/>", "a/b")
SOUNDS = ("default", "bell.caf")
# White space between tokens, most often none.
SPACES = ("",) * 12 + (" ", "\n", "\t", "\r", "\r\n", "  ")


class Pool:
    """A long text of random characters, each in one of its JSON forms, from which strings are cut."""

    def __init__(self, seed, length=60_000):
        some, characters = random.Random(seed), []
        while len(characters) < length:
            kind = some.randrange(12)
            if kind < 5:
                point = some.randrange(0x20, 0x7F)
            elif kind < 6:
                point = some.randrange(0x20)
            elif kind < 8:
                point = some.randrange(0x7F, 0x800)
            elif kind < 10:
                point = some.randrange(0x800, 0x10000)
            else:
                point = some.randrange(0x10000, 0x110000)
            if not 0xD800 <= point < 0xE000:
                characters.append(form(point, some))
        self.characters = characters
        self.ends = list(itertools.accumulate(len(character.encode()) for character in characters))

    def part(self, length, some):
        """About as many bytes, but not more."""
        start = some.randrange(len(self.characters) // 2)
        before = self.ends[start - 1] if start else 0
        return "".join(self.characters[start : bisect.bisect_right(self.ends, before + length)])


def form(point, some):
    """A character of a JSON string: literal, or one of its escapes."""
    short = {0x22: '\\"', 0x5C: "\\\\", 0x2F: "\\/", 8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r"}
    if point in short and (point in (0x22, 0x5C) or some.random() < 0.5):
        return short[point]
    if point >= 0x20 and some.random() < 0.8:
        return chr(point)
    units = [point] if point < 0x10000 else [0xD800 + (point - 0x10000 >> 10), 0xDC00 + (point - 0x10000 & 0x3FF)]
    return "".join(some.choice(("\\u%04x", "\\u%04X")) % unit for unit in units)


ESCAPES = re.compile(r"(?:\\(?:u....|[^u]))+")


def minimal(token):
    """A token with the fewest bytes in its strings, as it is sealed."""
    return ESCAPES.sub(lambda escapes: json.dumps(json.loads(f'"{escapes[0]}"'), ensure_ascii=False)[1:-1], token)


def size_of(tokens):
    return sum(len(minimal(token).encode()) for token in tokens)


class Payloads:
    """Payloads as lists of tokens: joined they are one text, and with white space between them another of the same."""

    def __init__(self, seed):
        self.pool, self.some = Pool(seed), random.Random(seed)

    def string(self, longest=24):
        return '"' + self.pool.part(self.some.randrange(longest), self.some) + '"'

    def number(self):
        some = self.some
        digits = "".join(some.choice("0123456789") for _ in range(some.choice((1, 1, 3, 17, 40))))
        text = some.choice(("", "-")) + (digits.lstrip("0") or "0")
        text += some.choice(("", "", "." + digits))
        return text + some.choice(("", "", "", "e" + digits[:3], "E+7", "e-400"))

    def value(self, depth):
        some = self.some
        kind = some.randrange(8 if depth < 28 else 5)
        if kind < 2:
            return [self.string()]
        if kind < 4:
            return [self.number()]
        if kind < 5:
            return [some.choice(("true", "false", "null"))]
        tokens, count = [], some.choice((0, 1, 1, 2, 3))
        for index in range(count):
            tokens += [","] if index else []
            # A name never occurs twice, because it contains its number.
            tokens += [self.string(9)[:-1] + f'{index}"', ":"] if kind < 7 else []
            tokens += self.value(depth + 1)
        return ["{", *tokens, "}"] if kind < 7 else ["[", *tokens, "]"]

    def aps(self, push_type):
        some, members = self.some, []
        if push_type == "alert":
            title, body = '"title":' + self.string(40)[:-1] + '!"', '"body":' + self.string(60)[:-1] + '."'
            members.append(["alert", ":", *some.choice(([body[7:]], ["{", title, ",", body, "}"], ["{", body, "}"]))])
            if some.random() < 0.5:
                sounds = ('"default"', '"b\\u0065ll.caf"', '{"critical":1,"name":"x","volume":0.50}')
                members.append(["sound", ":", some.choice(sounds)])
            if some.random() < 0.3:
                members.append(["badge", ":", str(some.randrange(1000))])
            if some.random() < 0.3:
                members.append(["thread-id", ":", self.string()])
        if some.random() < 0.2 or push_type == "background":
            members.append(["content-available", ":", "1"])
        some.shuffle(members)
        return members

    def tokens(self, push_type, length):
        """A payload of about as many bytes. A string between the random members fills it up."""
        some, tokens = self.some, ["{", '"aps"', ":", "{"]
        for index, (name, *rest) in enumerate(self.aps(push_type)):
            tokens += [","] * (index > 0) + [f'"{name}"', *rest]
        tokens += ["}"]
        count, size = 0, size_of(tokens) + 1
        while some.random() < 0.6:
            value = [",", f'"{count}:' + self.pool.part(8, some) + '"', ":", *self.value(2)]
            count, added = count + 1, size_of(value)
            if size + added > length:
                break
            tokens, size = tokens + value, size + added
        if length - size > 12:
            filler = self.pool.part(length - size - 10, some)
            tokens += [",", '"fill"', ":", '"' + filler + '"']
            if some.random() < 0.7:
                # Up to the last byte of the bucket.
                missing = length - size_of(tokens) - 1
                tokens[-1] = tokens[-1][:-1] + "x" * max(missing, 0) + '"'
        return [*tokens, "}"]

    def spaced(self, tokens):
        return "".join(token + self.some.choice(SPACES) for token in tokens)

    def message(self, is_certified):
        """The parameters of one message, with its payload as it is sealed and in another form."""
        some = self.some
        push_type = some.choice(PUSH_TYPES)
        room = CERTIFICATE if is_certified else 0
        buckets = [bucket for bucket in BUCKETS if bucket - INNER - room > 200 or not room]
        bucket = some.choice([bucket for bucket in buckets if push_type == "voip" or bucket <= LARGEST])
        largest = (BUCKETS[-1] if push_type == "voip" else LARGEST) - INNER - CERTIFICATE
        tokens = self.tokens(push_type, min(bucket - INNER - room, largest) - some.choice((0, 0, 1, some.randrange(100))))
        return {
            "push-type": push_type,
            "shown": "".join(map(minimal, tokens)),
            "spaced": self.spaced(tokens),
            "title": some.choice(TITLES[:1] * 4 + TITLES),
            "sound": some.choice(SOUNDS),
            "ttl": some.choice((2_592_000, 2_592_000, some.randrange(7200, 2_592_001))),
        }


def sealed_life(record, sent_at):
    """The time to live that pushcrypt seals: it ends at ten minutes, unless it is a call. (Docs/Format.md, Expiration)"""
    if record["push-type"] == "voip":
        return record["ttl"]
    end = sent_at + 1000 * record["ttl"]
    for rounded in (-(-end // 600_000), end // 600_000):
        life = -(-(rounded * 600_000 - sent_at) // 1000)
        if life <= 2_592_000:
            return life
