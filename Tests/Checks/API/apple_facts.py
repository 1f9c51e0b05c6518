#!/usr/bin/env python3
"""Writes Tests/Data/Apple/declarations.tsv: what two public projects say of the declarations that the stand-ins have.

    apple_facts.py MODULES PAGES BINDINGS

MODULES   where a build has put its .swiftmodule files: which declarations the stand-ins have
PAGES     a clone of github.com/tmc/appledocs: the pages of Apple's developer documentation, as its server sent them
BINDINGS  a clone of github.com/madsmtm/objc2-generated: Rust's bindings, generated from the headers of Apple's SDK

A bare clone will do. Only facts are taken: names, types, versions, numbers; no sentence of a page and no line of code.
A declaration that is in neither has a row with nothing but its name, and `apple.py` counts it as unverified.
"""

import collections
import dataclasses
import io
import json
import pathlib
import re
import subprocess
import sys
import tarfile

import apple
from declarations import IMPLIED, Declaration, closing, split

PAGES, BINDINGS = "tmc/appledocs", "madsmtm/objc2-generated"
ROOT = "output/tutorials/data/documentation"
# Members that Foundation's pages have, because UserNotifications extends its classes.
EXTENDED = {"nsextensioncontext": "NSExtensionContext", "nsstring": "NSString"}
SYSTEMS = {"Mac Catalyst": "macCatalyst", **{name: name for name in ("iOS", "macOS", "tvOS", "visionOS", "watchOS")}}


def git(clone, *command):
    return subprocess.run(["git", "-C", clone, *command], check=True, capture_output=True).stdout


def files(clone, *paths):
    """The names and texts below `paths` of the newest commit."""
    with tarfile.open(fileobj=io.BytesIO(git(clone, "archive", "HEAD", *paths))) as archive:
        for member in archive:
            if member.isfile():
                yield pathlib.PurePath(member.name), archive.extractfile(member).read().decode()


# --- The pages --------------------------------------------------------------------------------------------------------


class Page:
    """What a page says of one declaration."""

    def __init__(self, declaration, page):
        metadata = page["metadata"]
        self.declaration = declaration
        self.identifier = metadata.get("externalID", "")
        systems = {SYSTEMS[item["name"]]: (item.get("introducedAt") or "").removesuffix(".0")
                   for item in metadata.get("platforms", []) if item["name"] in SYSTEMS}
        self.systems = ", ".join(f"{name} {version}".strip() for name, version in sorted(systems.items()))
        titles = {name: item["title"].split(".")[-1] for name, item in page["references"].items() if "title" in item}
        self.relations = {
            section["title"]: {titles[name] for name in section["identifiers"] if name in titles}
            for section in page.get("relationshipsSections", [])}

    @property
    def conforms(self):
        return self.relations.get("Conforms To", set())

    @property
    def superclass(self):
        return next(iter(self.relations.get("Inherits From", [])), "")


def owner(path):
    """The type that has the member on this page. A name that two pages would share has a suffix."""
    return [re.sub(r"-(swift\.\w+|\w{4,6})$", "", part) for part in path.relative_to(ROOT).parts[1:-1]]


def read_pages(clone, modules):
    """The pages, by the symbol's name; a name may be overloaded."""
    found = collections.defaultdict(list)
    extensions = [f"{ROOT}/foundation/{name}{ending}" for name in EXTENDED for ending in ("", ".json")]
    for path, text in files(clone, *[f"{ROOT}/{module}" for module in modules], *extensions):
        page = json.loads(text)
        if page["metadata"].get("role") != "symbol":
            continue
        above = [EXTENDED.get(name, name) for name in owner(path)]
        for section in page.get("primaryContentSections", []):
            for item in section.get("declarations", []):
                if item["languages"] != ["swift"] or item.get("platforms") == ["macOS"]:
                    continue
                try:
                    declaration = Declaration("".join(token["text"] for token in item["tokens"]))
                except ValueError:
                    # An operator, a subscript or a macro.
                    continue
                found[".".join([*above, declaration.name])].append(Page(declaration, page))
    return found


# --- The bindings -----------------------------------------------------------------------------------------------------


TYPES = {
    "NSString": "String", "NSData": "Data", "NSURL": "URL", "NSDate": "Date", "NSUUID": "UUID", "NSError": "Error",
    "NSPersonNameComponents": "PersonNameComponents", "NSInteger": "Int", "NSUInteger": "UInt", "bool": "Bool",
    "c_float": "Float", "c_double": "Double", "AnyObject": "Any", "NSArray": "[Any]",
    "NSDictionary": "[AnyHashable: Any]",
}


def swift(kind):
    """What Swift makes of a type in a binding; `*` follows one that may be nil or not."""
    kind = re.sub(r"^&(mut )?", "", " ".join(kind.split()))
    if kind.startswith("*"):
        return swift(kind.split(" ", 1)[1]) + "*"
    # The lifetime of a block, and a comma at the end of a line.
    name, _, inside = kind.removesuffix(">").partition("<")
    inside = re.sub(r"^'static, ", "", inside.strip().removesuffix(","))
    if name == "Option":
        inside = swift(inside)
        return f"({inside})?" if "->" in inside else f"{inside}?"
    if name in ("Retained", "NonNull", "ProtocolObject"):
        return swift(inside.removeprefix("dyn "))
    if name.startswith("block2::"):
        start = inside.index("(")
        end = closing(inside, start)
        result = inside[end + 1:].removeprefix(" -> ")
        parameters = ", ".join(map(swift, split(inside[start + 1:end], ",")))
        return f"{'@Sendable ' if 'Sendable' in name else ''}({parameters}) -> {swift(result) if result else 'Void'}"
    parts = [swift(part) for part in split(inside, ",")]
    if name == "NSArray" and parts:
        return f"[{parts[0]}]"
    if name == "NSDictionary" and parts:
        return f"[{': '.join(parts)}]"
    name = "Set" if name == "NSSet" else name
    return TYPES.get(name) or name + (f"<{', '.join(parts)}>" if parts else "")


class Method:
    """What a binding says of a method."""

    def __init__(self, parameters, result, is_optional):
        parameters = [part for part in parameters if not re.match(r"&(mut )?self$|this\b|mtm: |_cls\b", part)]
        self.parameters = [swift(part.split(":", 1)[1].strip()) for part in parameters]
        throws = re.match(r"Result<(.*), Retained<NSError>>$", result)
        result = throws[1] if throws else result
        self.result = "" if result in ("", "()") else swift(result)
        self.is_optional = is_optional

    @property
    def shape(self):
        """As `Declaration.shape`."""
        return f"({', '.join(self.parameters)})" + (f" -> {self.result}" if self.result else "")


ATTRIBUTES = r"(?:\s*#\[[^\n]*\])*\s*"
METHOD = re.compile(rf"#\[unsafe\(method\(([\w:]+?)(?::_)?\)\)\]{ATTRIBUTES}(?:pub )?(?:unsafe )?fn \w+(?:<[^(]*>)?\(")
VALUE = re.compile(rf'#\[doc\(alias = "(\w+)"\)\]{ATTRIBUTES}(?:pub )?const \w+(?:: Self)? = (?:Self\()?([\d <x]+)\)?;')
OWNER = re.compile(r"^\s*(?:impl(?:<[^{]*?>)?\s+(\w+)(?:<[^{]*?>)?|pub (?:unsafe )?trait (\w+)[^{]*?)\s*\{", re.M)


def read_bindings(clone, modules):
    """Methods by class and selector, raw values by Objective-C's name, classes with their superclass and protocols."""
    methods, values, classes = collections.defaultdict(dict), {}, collections.defaultdict(set)
    for path, text in files(clone, *modules):
        text = re.sub(r"^\s*///.*\n", "", text, flags=re.M)
        owners = [(match.start(), match[1] or match[2]) for match in OWNER.finditer(text) if match[1] or match[2]]
        categories = dict(re.findall(r"^unsafe impl (\w+) for (\w+) \{\}", text, re.M))
        for above, name in re.findall(r"#\[unsafe\(super\((\w+).*?\)\)\][^;]*?pub struct (\w+);", text):
            classes[name].add(f"{above}:")
        for protocol, name in re.findall(r"^\s*unsafe impl (\w+) for (\w+)", text, re.M):
            classes[name].add({"Send": "Sendable"}.get(protocol, protocol))
        for match in METHOD.finditer(text):
            name = [name for start, name in owners if start < match.start()][-1]
            before = re.split(r"[;{]", text[:match.start()])[-1]
            if 'target_os = "macos"' in before and "not(" not in before:
                continue
            end = closing(text, match.end() - 1)
            inside = text[match.end():end]
            result = re.match(r"\s*(?:->\s*([^;]*?))?\s*(?:where[^;]*)?;", text[end + 1:])
            method = Method(split(inside, ","), " ".join((result[1] or "").split()), "#[optional]" in before)
            methods[categories.get(name, name)][match[1]] = method
        for name, value in VALUE.findall(text):
            values[name] = str(eval(value, {}))
    return methods, values, classes


def selector_of(stand_in, selectors):
    """The selector that Swift would import under this name; None if there is none, or no shortest one."""
    base, labels = re.match(r"(\w+)\((.*)\)", stand_in.declaration.name).groups()
    first, *others = labels.split(":")[:-1] or [""]
    first = first.replace("_", "")
    # An initialiser is `initWithFrame:`, or a method of the class like `imageNamed:`.
    made = f"(init(With)?|{stand_in.owner[-1][2:]}(With)?){first}$" if base == "init" else f"{base}.*{first}"

    def fits(selector):
        pieces = selector.split(":")
        return selector.count(":") == labels.count(":") and re.match(made, pieces[0], re.I) and all(
            label == "_" or piece.lower().startswith(label.lower()) for label, piece in zip(others, pieces[1:]))
    # Longer ones say more: `setTitle:forState:`, `setTitleColor:forState:`.
    fitting = sorted(filter(fits, selectors), key=lambda each: (not each.startswith("init"), len(each)))
    return fitting[0] if fitting else None


def value_of(stand_in, identifier, values):
    """The raw value of a case, by its name in Objective-C: its type's and its own."""
    if identifier.startswith("c:@E@"):
        return values.get(identifier.split("@")[-1], "")
    if identifier or not stand_in.owner or not stand_in.value:
        return ""
    above, name = stand_in.owner[-1], stand_in.declaration.name
    # Nested types repeat a word, as in `UIButton.ButtonType` for UIButtonType.
    outer = stand_in.owner[-2] if len(stand_in.owner) > 1 else ""
    kinds = {outer + above, outer + re.sub(f"^{outer[2:]}", "", above)} if outer else {above}
    kinds |= {kind.removesuffix("s") for kind in kinds}
    found = {values.get(f"{kind}{name[0].upper()}{name[1:]}") for kind in kinds} - {None}
    return found.pop() if len(found) == 1 else ""


def binding_of(stand_in, identifier, methods):
    """The selector of a declaration and its shape in Objective-C."""
    known, declaration = methods.get(stand_in.owner[-1] if stand_in.owner else "", {}), stand_in.declaration
    named = re.match(r"c:objc\(\w+\)\w+\((?:im|cm|py|cpy)\)([\w:]+)$", identifier)
    if declaration.keyword in ("var", "let"):
        name = named[1] if named else declaration.name
        # Swift leaves out the type's name: `black` is `blackColor`.
        names = (name, f"is{name[0].upper()}{name[1:]}", declaration.name, name + declaration.result.rstrip("?!")[2:])
        selector = next((each for each in names if each in known), None)
        if not selector:
            return named[1] if named else "", ""
        plain = re.sub(r"^is(?=[A-Z])", "", selector)
        setter = " set" if f"set{plain[0].upper()}{plain[1:]}:" in known else ""
        shape = known[selector].result + setter
    elif declaration.parameters is not None and "async" not in declaration.shown:
        selector = named[1] if named else selector_of(stand_in, known)
        if selector not in known:
            return selector or "", ""
        shape = known[selector].shape if declaration.keyword == "func" else f"({', '.join(known[selector].parameters)})"
    else:
        return named[1] if named else "", ""
    return selector, ("optional " if known[selector].is_optional else "") + shape


# --- The table --------------------------------------------------------------------------------------------------------

HEAD = f"""\
# Facts about the declarations of Apple's that the stand-ins have, written by Tests/Checks/API/apple_facts.py.
# declaration, systems, conforms: Apple's developer documentation in github.com/{PAGES}, commit %s
# shape, value: github.com/{BINDINGS}, commit %s
# shape: types, which may be nil (?), of which that is not known (*); which closures are @Sendable.
"""


def rows_of(found, pages, bindings):
    methods, values, classes = bindings
    cases = collections.defaultdict(set)
    for name, known in pages.items():
        if known[0].declaration.keyword == "case" and "iOS" in known[0].systems:
            cases[name.rpartition(".")[0]].add(known[0].declaration.name)
    used = set()
    for stand_in in sorted(found, key=lambda each: (each.module, each.symbol, each.declaration.text)):
        row = apple.Row(stand_in.module, stand_in.symbol)
        known = [page for page in pages.get(stand_in.symbol, []) if id(page) not in used]
        same = [page for page in known if page.declaration.text == stand_in.declaration.text]
        page = next(iter(same + known), None)
        if page:
            used.add(id(page))
            row.declaration, row.systems = page.declaration.text, page.systems
        identifier = page.identifier if page else ""
        row.value = value_of(stand_in, identifier, values)
        # Where a page is missing, others may be too.
        if page and set(stand_in.cases) <= cases[stand_in.symbol]:
            row.value = row.value or " ".join(sorted(cases[stand_in.symbol]))
        row.selector, row.shape = binding_of(stand_in, identifier, methods)
        bound = classes.get(stand_in.symbol, set())
        if page and page.declaration.keyword in ("class", "struct", "enum"):
            # The bindings are of a later SDK, which has more that is Sendable.
            conforms = page.conforms | (bound & {"Sendable"})
            row.conforms = " ".join([f"{page.superclass}:", *sorted(conforms - IMPLIED)])
        elif above := [name for name in bound if name.endswith(":")]:
            row.conforms = " ".join([above[0], *sorted(bound - IMPLIED - set(above))])
        yield row


def main(arguments):
    if len(arguments) != 3:
        sys.exit(__doc__)
    found = apple.symbols(pathlib.Path(arguments[0]))
    clones = arguments[1:]
    commits = tuple(git(clone, "rev-parse", "HEAD").decode().strip() for clone in clones)
    pages, bindings = read_pages(clones[0], apple.MODULES), read_bindings(clones[1], apple.MODULES)
    names = [field.name for field in dataclasses.fields(apple.Row)]
    rows = ["\t".join(cell or "-" for cell in dataclasses.astuple(row)) for row in rows_of(found, pages, bindings)]
    apple.TABLE.write_text(HEAD % commits + "\n".join(["\t".join(names), *rows]) + "\n")
    print(f"apple: {len(rows)} rows")


if __name__ == "__main__":
    main(sys.argv[1:])
