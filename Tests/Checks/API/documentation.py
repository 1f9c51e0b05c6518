#!/usr/bin/env python3
"""The API documentation: a DocC catalogue for each library product that Package.swift declares by name.

    documentation.py check MODULES          MODULES is where a build has put its .swiftmodule files, and is newer than the sources.
                                            Fails where a public symbol has no doc comment or does not stand in its catalogue's
                                            topics, and where what a comment or a page cites of Docs is not there.
    documentation.py pages FOLDER           builds the products, checks them, and writes the pages, which must pass docc without a
                                            complaint: a link that leads nowhere, or a parameter that is left out.
                                            CommandLine.md, made of what help says, stands beside them
"""

import html
import json
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
WORK = ROOT / ".build" / "documentation"
# With the C libraries' module maps, without which the modules cannot be loaded.
C_MODULES = [ROOT / "Sources" / "C" / "CSodium", ROOT / "Sources" / "C" / "CSQLite", ROOT / "Sources" / "C" / "CXWing" / "include"]
LIBRARIES = ["libsodium", "sqlite3"]

PRODUCT = re.compile(r'\.library\(name: "(\w+)", targets: \["\1"\]\)')
TOPIC = re.compile(r"^- (?:``([^`]+)``|<doc:([^>]+)>)$", re.M)
CITED = re.compile(r"`(Docs/[\w/]+\.md)`(?:,\s+([^).;:]*))?")
RULE = re.compile(r"(?:rules? )?[A-Z]-\d+(?:\.\d+)?(?: to [A-Z]-\d+(?:\.\d+)?)?")


def topics(page):
    """The symbols and articles in a page's topics; a suffix distinguishes two symbols with one name."""
    _, _, rest = page.partition("\n## Topics\n")
    return {re.sub(r"-[\w()\->,.]+$", "", symbol) or article for symbol, article in TOPIC.findall(rest)}


class Catalogue:
    """The folder of a product, and the pages in it."""

    def __init__(self, product):
        self.product = product
        found = [*ROOT.glob(f"Sources/*/{product}.docc"), *ROOT.glob(f"*/{product}.docc")]
        self.folder = found[0] if found else None
        self.pages = {}
        if self.folder:
            self.pages = {path: path.read_text() for path in sorted(self.folder.glob("*.md"))}
        self.landing = self.pages.get(self.folder / f"{product}.md", "") if self.folder else ""

    @property
    def abstract(self):
        return self.landing.split("\n\n")[1].replace("\n", " ")

    def complaints(self):
        if not self.folder:
            return [f"{self.product} has no catalogue: make {self.product}.docc beside its sources"]
        where = (self.folder / f"{self.product}.md").relative_to(ROOT)
        if not self.landing.startswith(f"# ``{self.product}``\n\n"):
            return [f"{where}: the landing page begins with '# ``{self.product}``', an empty line and one sentence"]
        found = []
        if "\n```swift\n" not in self.landing:
            found.append(f"{where}: no worked example")
        if not topics(self.landing):
            found.append(f"{where}: no topics")
        articles = [path.stem for path in self.pages if not self.pages[path].startswith("# ``")]
        found += [f"{where}: the article {name} stands in no topic" for name in articles if name not in topics(self.landing)]
        return found


def catalogues():
    # PushcryptApp is the others with one import, and has no symbols.
    products = PRODUCT.findall((ROOT / "Package.swift").read_text())
    return [Catalogue(product) for product in products if product != "PushcryptApp"]


def run(*command):
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}documentation: error: {pathlib.Path(command[0]).name} failed")


# --- Checks -------------------------------------------------------------------------------------------------------------------


class Toolchain:
    """The toolchain behind the `swift` in the path, which may be a version manager's proxy."""

    def __init__(self):
        information = json.loads(subprocess.check_output(["swift", "-print-target-info"]))
        self.binaries = pathlib.Path(information["paths"]["runtimeResourcePath"]).parents[1] / "bin"
        self.triple = information["target"]["triple"]

    def tool(self, name):
        path = self.binaries / name
        if not path.exists():
            sys.exit(f"documentation: error: there is no {name} in {self.binaries}: use a toolchain from swift.org")
        return path

    def write_symbols(self, product, modules, folder):
        folder.mkdir(parents=True)
        found = subprocess.check_output(["pkg-config", "--cflags-only-I", *LIBRARIES], text=True).split()
        includes = [word for path in [modules, *C_MODULES] for word in ["-I", path]] + found
        run(self.tool("swift-symbolgraph-extract"), "-module-name", product, *includes, "-target", self.triple,
            "-minimum-access-level", "public", "-skip-inherited-docs", "-emit-extension-block-symbols", "-output-dir", folder)


class Symbol:
    def __init__(self, graph, fields, defaults):
        self.path = "/".join(fields["pathComponents"])
        # The page whose topics should list it, and its name there.
        *self.owner, _ = fields["pathComponents"]
        self.topic = self.path
        # A member of another module's type is found through that type, on the first page.
        if "@" in graph.name:
            extended = graph.name.removesuffix(".symbols.json").split("@")[1]
            self.owner, self.topic = [], f"{extended}/{fields['pathComponents'][0]}"
        # Symbols generated by the compiler are not listed, and an extension itself has no comment.
        location = fields.get("location")
        self.is_written = (
            location is not None and "::SYNTHESIZED::" not in fields["identifier"]["precise"]
            and fields["kind"]["identifier"] != "swift.extension")
        self.is_default = fields["identifier"]["precise"] in defaults
        self.comment = " ".join(line["text"] for line in fields.get("docComment", {}).get("lines", []))
        if location:
            file = pathlib.Path(location["uri"].removeprefix("file://"))
            self.place = f"{file.relative_to(ROOT)}:{location['position']['line'] + 1}"


def symbols(folder):
    found = []
    for path in sorted(folder.glob("*.symbols.json")):
        graph = json.loads(path.read_text())
        # These appear with the requirements that they implement, not in topics.
        defaults = {relation["source"] for relation in graph["relationships"] if relation["kind"] == "defaultImplementationOf"}
        found += [Symbol(path, fields, defaults) for fields in graph["symbols"]]
    return [symbol for symbol in found if symbol.is_written]


def without_topic(catalogue, symbols):
    """The symbols in no topic: of the module, and of each type whose page has topics."""
    lists = {}
    for page in catalogue.pages.values():
        title = re.match(r"# ``\w+/?([^`]*)``", page)
        if title and topics(page):
            lists[title[1]] = {f"{title[1]}/{name}".removeprefix("/") for name in topics(page)}
    for symbol in symbols:
        owner = "/".join(symbol.owner)
        if owner in lists and symbol.topic not in lists[owner] and not symbol.is_default:
            yield symbol


class Documents:
    """The headings and the text of the documents, read once."""

    def __init__(self):
        self.known = {}

    def complaint(self, name, rest):
        """The error in a citation of a file, and optionally of its headings or rules."""
        if name not in self.known:
            path = ROOT / name
            text = path.read_text() if path.exists() else None
            headings = re.findall(r"^#+ (.*)$", text or "", re.M)
            self.known[name] = text, sorted(headings, key=len, reverse=True)
        text, headings = self.known[name]
        if text is None:
            return f"there is no {name}"
        while rest and (rest[0].isupper() or rest.startswith("rule")):
            part = next((heading for heading in headings if rest.startswith(heading)), None)
            rule = RULE.match(rest)
            if part is None and rule and re.findall(r"[A-Z]-\d+", rule[0])[-1] in text:
                part = rule[0]
            if part is None:
                return f"{name} has no heading '{rest.strip()}'"
            rest = re.sub(r"^(,| and) ", "", rest[len(part):])
        return None


def check(modules):
    """The folder with the symbols of each product. Ends the program if something is missing."""
    shutil.rmtree(WORK, ignore_errors=True)
    toolchain, documents, found, count = Toolchain(), Documents(), [], 0
    if not catalogues():
        found.append("Package.swift declares no library product that this finds")
    for catalogue in catalogues():
        wrong = catalogue.complaints()
        found += wrong
        folder = WORK / "symbols" / catalogue.product
        toolchain.write_symbols(catalogue.product, modules, folder)
        written = symbols(folder)
        if not written:
            found.append(f"{catalogue.product} has no public symbol")
        count += len(written)
        found += [f"{symbol.place}: {symbol.path} has no doc comment" for symbol in written
                  if not symbol.comment]
        if not wrong:
            found += [f"{symbol.place}: {symbol.path} stands in no topic of {catalogue.product}.docc"
                      for symbol in without_topic(catalogue, written)]
        cited = [(symbol.place, symbol.comment) for symbol in written]
        cited += [(path.relative_to(ROOT), re.sub(r"\n *", " ", text)) for path, text in catalogue.pages.items()]
        for place, text in cited:
            wrong = [documents.complaint(name, rest) for name, rest in CITED.findall(text)]
            found += [f"{place}: {complaint}" for complaint in wrong if complaint]
    for complaint in found:
        print(f"documentation: error: {complaint}", file=sys.stderr)
    if found:
        sys.exit(65)
    print(f"documentation: {count} public symbols of {len(catalogues())} products have a comment and a place")
    return toolchain


# --- Pages --------------------------------------------------------------------------------------------------------------------

INDEX = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>pushcrypt</title>
<style>body { font: 17px/1.5 system-ui, sans-serif; max-width: 42em; margin: 3em auto; padding: 0 1em } dd { margin: 0 0 1em }</style>
<h1>pushcrypt</h1>
<dl>
%s
</dl>
<p>The pages need a web server: <code>python3 -m http.server --directory .build/docs</code></p>
"""


def write_pages(pages):
    for catalogue in catalogues():
        run("swift", "build", "--quiet", "--target", catalogue.product)
    binaries = subprocess.check_output(["swift", "build", "--show-bin-path"], text=True).strip()
    toolchain = check(pathlib.Path(binaries) / "Modules")
    archives = []
    for catalogue in catalogues():
        archive = WORK / f"{catalogue.product}.doccarchive"
        # Links that start with two slashes are looked up in the earlier archives: the manifest lists the products in
        # this order.
        known = [word for earlier in archives for word in ["--dependency", earlier]]
        run(toolchain.tool("docc"), "convert", catalogue.folder,
            "--additional-symbol-graph-dir", WORK / "symbols" / catalogue.product,
            "--fallback-display-name", catalogue.product, "--fallback-default-module-kind", "Library",
            "--warnings-as-errors", "--transform-for-static-hosting", "--enable-experimental-external-link-support", *known,
            "--output-path", archive)
        archives.append(archive)
    shutil.rmtree(pages, ignore_errors=True)
    run(toolchain.tool("docc"), "merge", *archives, "--synthesized-landing-page-name", "pushcrypt",
        "--synthesized-landing-page-kind", "Package", "--output-path", pages)
    entries = "\n".join(
        f'<dt><a href="documentation/{catalogue.product.lower()}/">{catalogue.product}</a>'
        f"<dd>{html.escape(catalogue.abstract)}" for catalogue in catalogues())
    run("swift", "build", "--quiet", "--product", "pushcrypt")
    said = subprocess.check_output([pathlib.Path(binaries) / "pushcrypt", "help", "--json"])
    subprocess.run([ROOT / "Sources/Packaging/manual.py", "document", pages / "CommandLine.md"], input=said, check=True)
    entries += '\n<dt><a href="CommandLine.md">CommandLine.md</a><dd>the commands'
    (pages / "index.html").write_text(INDEX % entries)
    print(f"The pages are in {pages}: `python3 -m http.server --directory {pages}`, then http://localhost:8000")


def main(arguments):
    match arguments:
        case ["check", modules]:
            check(pathlib.Path(modules))
        case ["pages", folder]:
            write_pages(pathlib.Path(folder))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
