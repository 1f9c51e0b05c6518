#!/usr/bin/env python3
"""Compares the stand-ins with what others have found in Apple's headers.

    compare.py                fails where a stand-in contradicts apple.tsv
    compare.py record FOLDER  writes apple.tsv from a copy of objc2's generated bindings (github.com/madsmtm/objc2-generated)

apple.tsv has facts, one a line: the owner, the name and

    property  whether it may be nil
    method    its arguments and result, each `?` if it may be nil, otherwise `.`; `optional` for a requirement that is
    value     the number of a case or an option

What is compared: the properties of classes, the values of enumerations and options, and methods whose Swift name is that of the
selector. A name without a fact is counted as unverified. Availability, isolation and `Sendable` are in no source that was read.
"""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
FACTS = HERE / "apple.tsv"
STAND_INS = HERE.parents[2] / "Sources" / "AppleStandIns"
FRAMEWORKS = ["UserNotifications", "UserNotificationsUI", "Intents", "CallKit", "PushKit", "UIKit"]
# Of `NSObject`, or no declaration of Apple's.
IGNORED = {"isEqual", "hash", "copy", "mutableCopy", "encode", "frozen", "ContentFields"}
# Names that Swift's importer is told of, or a stand-in spells otherwise.
RENAMED = {("UNNotificationAttachment", "url"): "URL"}


def owners():
    """The types that stand-ins declare."""
    text = "\n".join(path.read_text() for path in sorted(STAND_INS.glob("*/*.swift")))
    return set(re.findall(r"^(?:open|public) (?:final )?(?:class|enum|struct|protocol) (\w+)", text, re.M))


# --- Recording ----------------------------------------------------------------------------------------------------------------


def arguments(text):
    """The types of a Rust function's arguments, without the receiver."""
    parts, depth, part = [], 0, ""
    for character in text:
        depth += (character in "(<[") - (character in ")>]")
        if character == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += character
    types = [part.split(":", 1)[1].strip() for part in parts + [part] if ":" in part]
    return [kind for kind in types if not kind.startswith("Allocated<")]


def facts_of(text, wanted):
    owner = None
    block = re.compile(
        r"extern_protocol!\(.*?trait (?P<trait>\w+)|^impl (?P<type>\w+) \{|pub struct (?P<enum>\w+)\(pub \w+\)|"
        r"pub const (?P<constant>\w+): Self = Self\((?P<number>-?\w+)\)|^        const (?P<option>\w+) = (?P<shift>[^;_][^;]*);|"
        r"(?P<optional>#\[optional\]\s+)?#\[unsafe\(method\((?P<selector>[\w:]+)\)\)\](?P<attributes>(?:\s+#\[[^\]]*\])*)"
        r"\s+(?:pub )?(?:unsafe )?fn \w+\((?P<arguments>.*?)\)\s*(?:-> (?P<result>[^;]+?))?;",
        re.M | re.S)
    for found in block.finditer(text):
        owner = found["trait"] or found["type"] or found["enum"] or owner
        if owner not in wanted:
            continue
        if found["constant"] or found["option"]:
            name = found["constant"] or found["option"]
            number = found["number"] or found["shift"]
            if re.fullmatch(r"-?(0x[0-9A-Fa-f]+|\d+)(<<\d+)?", number):
                yield owner, "value", name[0].lower() + name[1:], str(eval(number))  # digits and a shift
        elif found["selector"]:
            result = found["result"] or ""
            marks = "".join("?" if kind.startswith("Option<") else "." for kind in arguments(found["arguments"]))
            marks += "" if not result else ">?" if result.startswith("Option<") else ">."
            selector = found["selector"]
            if ":" not in selector and result and not found["optional"] and "&self" in found["arguments"]:
                yield owner, "property", selector, "nil" if result.startswith("Option<") else "never nil"
            else:
                yield owner, "method", selector, marks + (" optional" if found["optional"] else "")


def record(folder):
    wanted, facts = owners(), set()
    for framework in FRAMEWORKS:
        for path in sorted((folder / framework).glob("*.rs")):
            facts.update(facts_of(path.read_text(), wanted))
    # Only those that a declaration of a stand-in can have.
    names = {(owner, name.lower().removeprefix("is")) for owner, _, name, _ in declarations()}
    facts = {fact for fact in facts if any(
        owner == fact[0] and fact[2].lower().removeprefix("is").startswith(name) for owner, name in names)}
    FACTS.write_text("".join("\t".join(fact) + "\n" for fact in sorted(facts)))
    print(f"stand-ins: {len(facts)} facts")


# --- Comparing ----------------------------------------------------------------------------------------------------------------


def declarations():
    """What the stand-ins declare publicly: owner, kind, name, form."""
    for path in sorted(STAND_INS.glob("*/*.swift")):
        owner, number, kind = None, 0, None
        text = re.sub(r"\(\n\s+", "(", path.read_text())
        text = re.sub(r",\n\s+(?=\w+[^\n]*[:)])", ", ", text)
        for line in text.splitlines():
            start = re.match(r"(?:@\w+(?:\(.*?\))? )*(?:open|public|extension)(?: final)? ?(class|enum|struct|protocol)? ?(\w+)", line)
            if start and not line.startswith(" "):
                owner, kind, number = start[2], start[1], 0
                continue
            if line and not line.startswith(" "):
                continue
            if case := re.match(r"    case ([\w`, =0-9]+)$", line):
                if kind != "enum":
                    continue
                for part in case[1].split(","):
                    name, _, value = (piece.strip() for piece in part.partition("="))
                    number = int(value) if value else number
                    yield owner, "value", name.strip("`"), str(number)
                    number += 1
            elif option := re.match(r"    public static let (`?\w+`?) = (?:Self|\w+)\(rawValue: ([\d <]+)\)", line):
                yield owner, "value", option[1].strip("`"), str(eval(option[2]))  # digits and a shift
            elif found := re.match(r"    (?:open|public) (?:private\(set\) |internal\(set\) |package\(set\) |weak |override )*var (\w+): ([^={]+?)\s*(?:[={]|$)", line):
                yield owner, "property", found[1], "nil" if found[2].rstrip().endswith(("?", "!")) else "never nil"
            elif found := re.match(r"    (?:open |public )?(?:class |override )*func (\w+)\((.*?)\)(?: async| throws)*(?: -> (.+?))? ?\{?", line):
                if " async" not in line:
                    yield owner, "method", found[1], tuple(re.findall(r"(?:^|, )(\w+)(?: \w+)?: ", found[2]))


def compare():
    facts = {}
    for line in FACTS.read_text().splitlines():
        owner, kind, name, form = line.split("\t")
        facts.setdefault((owner, kind), {})[name] = form
    wrong, verified, unverified = [], 0, []
    for owner, kind, name, form in declarations():
        known = facts.get((owner, kind), {})
        if name in IGNORED or owner in IGNORED:
            continue
        if kind == "method":
            # The importer leaves words at the end of a part out.
            parts = [name if not form or form[0] == "_" else name + "With" + form[0][0].upper() + form[0][1:], *form[1:]]
            names = [selector.rstrip(":").split(":") for selector in known if selector.count(":") == len(form)]
            fits = any(all(theirs.lower().startswith(ours.lower()) for ours, theirs in zip(parts, names)) for names in names)
            verified += fits
            if not fits:
                unverified.append(f"{owner}.{name}({' '.join(form)})")
            continue
        name = RENAMED.get((owner, name), name)
        fact = known.get(name) or (known.get(name[2].lower() + name[3:]) if name.startswith("is") else None)
        if fact is None:
            unverified.append(f"{owner}.{name}")
        elif fact != form:
            wrong.append(f"{owner}.{name} is {form}, and Apple's {fact}")
        else:
            verified += 1
    for line in wrong:
        print(f"stand-ins: error: {line}", file=sys.stderr)
    if "--unverified" in sys.argv:
        print("\n".join(unverified))
    print(f"stand-ins: {verified} declarations are as in Apple's headers, {len(unverified)} are in no source that was read")
    sys.exit(1 if wrong or verified < 200 else 0)


if sys.argv[1:2] == ["record"]:
    record(pathlib.Path(sys.argv[2]))
else:
    compare()
