"""Swift declarations in one normal form, and the stand-ins' own, read from the compiler's symbol graphs."""

import json
import pathlib
import re

# Not part of what a caller has to write, or given in another way.
DROPPED = {"public", "open", "final", "convenience", "required", "override", "dynamic", "nonisolated", "mutating"}
# What Objective-C's name is in Swift.
ALIASES = {"dispatch_queue_t": "DispatchQueue"}
# What protocols of Foundation and Swift require, and NSObject has, is on no page of the type.
REQUIRED = {"rawValue", "isEqual(_:)", "hash", "copy(with:)", "mutableCopy(with:)", "supportsSecureCoding",
            "init(coder:)", "encode(with:)"}
# Every class or enumeration has these, or the compiler adds them.
IMPLIED = {"NSObjectProtocol", "NSObject", "CVarArg", "CustomStringConvertible", "CustomDebugStringConvertible",
           "Copyable", "Escapable", "BitwiseCopyable", "SendableMetatype", "Equatable", "Hashable", "RawRepresentable",
           "NSCoding"}

OPEN, CLOSED = "([{<", ")]}>"
LEADING = re.compile(r"(@\w+(?:\([^)]*\))?|\w+) ")
KEYWORD = re.compile(r"(func|var|let|init|case|class|struct|enum|protocol|typealias|extension)\b[?!]?")


def closing(text, start):
    """The index of the bracket that closes the one at `start`."""
    depth = 0
    for index in range(start, len(text)):
        # The head of an arrow is no bracket.
        if text[index] in OPEN:
            depth += 1
        elif text[index] in CLOSED and text[index - 1:index + 1] != "->":
            depth -= 1
            if depth == 0:
                return index
    raise ValueError(f"unbalanced: {text}")


def split(text, mark):
    """The parts of `text` between marks that are in no bracket."""
    parts, start, index = [], 0, 0
    while index < len(text):
        if text[index] in OPEN:
            index = closing(text, index)
        elif text[index] == mark:
            parts.append(text[start:index])
            start = index + 1
        index += 1
    return [part.strip() for part in parts + [text[start:]] if part.strip()]


def plain_type(text):
    text = re.sub(r"\b[A-Z]\w*\.(?=[A-Z])", "", text.replace("`", "").strip())
    text = re.sub(r"\s*:\s*", ": ", text)
    text = re.sub(r"\b\w+\b", lambda word: ALIASES.get(word[0], word[0]), text)
    return text.replace("@Sendable @escaping", "@escaping @Sendable")


class Declaration:
    """One declaration: `name` has the labels, `text` what a caller sees, which the names inside a function are not."""

    def __init__(self, text):
        rest = " ".join(text.replace("`", "").split())
        marks = []
        while not (keyword := KEYWORD.match(rest)) or re.match(r"class (func|var|let) ", rest):
            leading = LEADING.match(rest)
            if not leading:
                raise ValueError(f"no declaration: {text}")
            word = {"static": "class"}.get(leading[1], leading[1])
            if word in ("@MainActor", "optional", "weak", "class"):
                marks.append(word)
            elif not word.startswith("@") and word not in DROPPED:
                raise ValueError(f"unknown word '{word}': {text}")
            rest = rest[leading.end():]
        self.keyword = keyword[1]
        self.marks, self.parameters, self.result = marks, None, ""
        rest = rest[keyword.end():].strip()
        if self.keyword in ("func", "init"):
            shown = self.read_function(keyword[0], rest)
        elif self.keyword in ("var", "let"):
            shown = self.read_property(rest)
        elif self.keyword in ("class", "struct", "enum", "protocol", "typealias"):
            self.name = re.match(r"[\w.]+", rest)[0].split(".")[-1]
            rest = re.sub(r" where .*", "", rest[rest.index(self.name) + len(self.name):])
            # The type of `typealias`; what a type inherits comes from elsewhere.
            shown = f"{self.keyword} {self.name}" + (plain_type(rest) if self.keyword == "typealias" else "")
        else:
            self.name = re.match(r"[\w.]+", rest)[0].split(".")[-1]
            shown = f"{self.keyword} {self.name}"
        self.shown = shown

    def read_function(self, keyword, rest):
        base = re.match(r"\w*", rest)[0]
        start = rest.index("(")
        end = closing(rest, start)
        self.parameters = []
        for part in split(rest[start + 1:end], ","):
            names, value = part.split(":", 1)
            kind, *default = re.split(r" = ", value, maxsplit=1)
            self.parameters.append((names.split()[0], plain_type(kind), default[0].strip() if default else ""))
        tail = re.sub(r" where .*", "", rest[end + 1:]).strip()
        effects, _, result = tail.partition("->")
        self.result = plain_type(result)
        self.name = f"{base or 'init'}({''.join(label + ':' for label, _, _ in self.parameters)})"
        inside = [f"{label}: {kind}{' = ' + default if default else ''}" for label, kind, default in self.parameters]
        shown = " ".join(f"{f'{keyword} {base}'.strip()}({', '.join(inside)}) {effects}".split())
        return shown + (f" -> {self.result}" if self.result else "")

    def read_property(self, rest):
        self.name, kind = (part.strip() for part in rest.split(":", 1))
        kind, _, accessors = kind.partition(" {")
        self.result = plain_type(kind.partition(" = ")[0])
        accessors = accessors.rstrip(" }").split() or (["get"] if self.keyword == "let" else ["get", "set"])
        self.is_settable = "set" in accessors
        # A reader does not notice.
        if not self.is_settable and "weak" in self.marks:
            self.marks.remove("weak")
        return f"var {self.name}: {self.result} {{ {'get set' if self.is_settable else 'get'} }}"

    @property
    def text(self):
        """All of it in one order, without @Sendable: Apple's pages do not say that of every closure."""
        marks = [word for word in ("@MainActor", "optional", "weak", "class") if word in self.marks]
        return " ".join([*marks, self.shown]).replace("@Sendable ", "")

    @property
    def inside(self):
        """The types of the parameters."""
        return ", ".join(kind for _, kind, _ in self.parameters or [])

    @property
    def shape(self):
        """What Objective-C has of it too: the types, which may be nil, which closures are @Sendable."""
        def plain(kind):
            kind = kind.replace("@escaping ", "").replace("any ", "").replace("!", "?")
            return re.sub(r"\((\w+)\)(?! ->)", r"\1", kind)

        if self.parameters is None:
            return plain(self.result) + (" set" if getattr(self, "is_settable", False) else "")
        result = "" if self.result in ("", "Void") or self.keyword == "init" else f" -> {plain(self.result)}"
        return f"({', '.join(plain(kind) for _, kind, _ in self.parameters)}){result}"


class StandIn:
    """A declaration of a stand-in: where it is, what it says, and on which systems."""

    def __init__(self, module, owner, symbol, root):
        self.module, self.owner = module, owner
        fragments = "".join(part["spelling"] for part in symbol["declarationFragments"])
        self.declaration = Declaration(fragments)
        self.symbol = ".".join([*owner, self.declaration.name])
        path = pathlib.Path(symbol["location"]["uri"].removeprefix("file://"))
        self.place = path.relative_to(root) if path.is_relative_to(root) else path
        self.line = symbol["location"]["position"]["line"] + 1
        self.path = path
        self.systems, self.missing = {}, set()
        for item in symbol.get("availability", []):
            if item.get("isUnconditionallyUnavailable"):
                self.missing.add(item["domain"])
            elif "introduced" in item:
                version = item["introduced"]
                self.systems[item["domain"]] = (version["major"], version.get("minor", 0))
        self.conforms, self.inherits, self.cases = set(), "", []

    @property
    def shape(self):
        optional = "optional " if "optional" in self.declaration.marks else ""
        return optional + self.declaration.shape

    @property
    def value(self):
        """The raw value of a case or of a member of an option set, from the source: symbol graphs have none.
        An enumeration's cases."""
        if self.declaration.keyword == "enum":
            return " ".join(sorted(self.cases))
        lines = self.path.read_text().splitlines()[:self.line]
        if self.declaration.keyword != "case":
            found = re.search(r"Self\((?:rawValue: ([\d <]+)|\[\])\)", lines[-1])
            return str(eval(found[1] or "0", {})) if found else None
        head = max(index for index, line in enumerate(lines) if re.search(r"\benum \w+", line))
        if not re.search(r": U?Int\b", lines[head]):
            return None
        value = -1
        for line in lines[head + 1:]:
            if case := re.match(r"\s*case \S+(?: = (\d+))?$", line):
                value = int(case[1]) if case[1] else value + 1
        return str(value)


def stand_ins(symbols, root):
    """The written declarations below `symbols`, which has a folder of symbol graphs for each module."""
    found = {}
    for path in sorted(symbols.glob("*/*.symbols.json")):
        graph = json.loads(path.read_text())
        relations = graph["relationships"]
        defaults = {relation["source"]: relation["target"] for relation in relations
                    if relation["kind"] == "defaultImplementationOf"}
        names = {symbol["identifier"]["precise"]: symbol["pathComponents"][-1] for symbol in graph["symbols"]}
        here = {}
        for symbol in graph["symbols"]:
            identifier = symbol["identifier"]["precise"]
            written = "location" in symbol and "::SYNTHESIZED::" not in identifier
            if not written or identifier in defaults or symbol["kind"]["identifier"] == "swift.extension":
                continue
            owner = symbol["pathComponents"][:-1]
            if symbol["pathComponents"][-1] in REQUIRED and owner:
                continue
            here[identifier] = StandIn(path.parent.name, owner, symbol, root)
        # A requirement that has a default here is an optional one of Objective-C.
        for target in defaults.values():
            if target in here:
                here[target].declaration.marks.append("optional")
        for relation in relations:
            if relation["source"] not in here or relation["kind"] not in ("conformsTo", "inheritsFrom"):
                continue
            target = names.get(relation["target"]) or relation["targetFallback"].split(".")[-1]
            if relation["kind"] == "inheritsFrom":
                here[relation["source"]].inherits = target
            else:
                here[relation["source"]].conforms.add(target)
        enumerations = {each.symbol: each for each in here.values() if each.declaration.keyword == "enum"}
        for each in here.values():
            if each.declaration.keyword == "case":
                enumerations[".".join(each.owner)].cases.append(each.declaration.name)
        found.update(here)
    return list(found.values())
