#!/usr/bin/env python3
"""Finds phrases that WORDS replaces by better ones.

Checks all tracked text below Sources, KeyStore and Docs, README.md, Package.swift and the Makefile, and the comments and test names
of the Swift files below Tests. A phrase matches in any case, on word boundaries, and across the end of a line; `…` in a phrase stands
for one word. Before that, each phrase and the sentences below are planted in a temporary folder, and each has to be found.

    wording.py          prints FILE:LINE: "phrase": better
    wording.py FILE …   checks these files only
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

# Where everything is checked, and where only Swift comments and test names are.
WHOLE = ("Sources/", "KeyStore/", "Docs/", "README.md", "Package.swift", "Makefile")
COMMENTS = "Tests/"
SKIPPED = ("Tests/Data/Vectors/kit/", "Tests/Data/Corpus/")

# Phrases separated by `; `, and what to write instead.
WORDS = [
    ("whoever", "anyone who; the caller; provider operators"),
    ("anew", "again; recreated"),
    ("passed over", "ignored"),
    ("of its own", "own; a separate message"),
    ("how it went", "the outcome"),
    ("MARK: What", "MARK: Defaults"),
    ("library of C", "C library"),
    ("nobody says", "no recipient given"),
    ("argument of the call", "invalid argument"),
    ("Takes … bytes", "Creates a key from 32 bytes"),
    ("Gives nil", "Returns nil if"),
    ("this is no", "not a valid import line"),
    ("whatever the bytes are; Total: whatever the bytes are, it ends", "Terminates on any input"),
    ("told apart", "distinguished"),
    ("looked at", "checked"),
    ("thrown away", "discarded"),
    ("put back", "restored"),
    ("from outside", "external; untrusted"),
    ("is taken for", "is treated as"),
    ("asked for", "requested"),
    ("in the place of", "instead of"),
    ("for good", "permanently"),
    ("by itself", "automatically; alone"),
    ("and the like; in the like", "similar"),
    ("what mends it; mend; mends; mended", "how to fix it; fix; fixes; fixed"),
]

# The rows may not lose what finds these.
SENTENCES = [
    "Gives nil when no key is pending", "Takes 32 bytes", "made anew", "passed over", "a message of its own", "how it went",
    "MARK: What is usual", "nobody says for whom it is", "an argument of the call cannot be",
    "this is no line of an import", "whoever runs a provider", "Total: whatever the bytes are, it ends", "what mends it",
    "Calling the library of C",
]

# White space inside a phrase: also the end of a line, with the comment or quotation mark of the next.
GAP = r"(?:[ \t]+|[ \t]*\n[ \t]*(?:///?|//!|#|\*|>)?[ \t]*)"


class Row:
    def __init__(self, texts: str, better: str):
        self.texts, self.better = texts.split("; "), better
        # The longest first: the rest of a row is often its start.
        patterns = map(self._pattern, sorted(self.texts, key=len, reverse=True))
        self.pattern = re.compile("|".join(patterns), re.IGNORECASE)

    @staticmethod
    def _pattern(text: str) -> str:
        words = [r"\S+" if word == "…" else re.escape(word) for word in text.split()]
        start = r"\b" if text[0].isalnum() else ""
        end = r"\b" if text[-1].isalnum() else ""
        return start + GAP.join(words) + end


TOKEN = re.compile(
    r'(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<test>@(?:Test|Suite)\(\s*"(?:\\.|[^"\\\n])*")'
    r'|#*"""(?:.*?)"""#*|#+".*?"#+|"(?:\\.|[^"\\\n])*"', re.DOTALL)


def comments_and_names(source: str) -> str:
    """Blanks what is neither a comment nor the name of a test. Keeps every line where it is."""
    kept, end = [], 0
    for token in TOKEN.finditer(source):
        if token.lastgroup:
            kept.append(re.sub(r"[^\n]", " ", source[end : token.start()]) + token.group())
            end = token.end()
    return "".join(kept) + re.sub(r"[^\n]", " ", source[end:])


def text_of(root: Path, path: str) -> str | None:
    """What of a file is checked; nil for pictures and other files without text."""
    try:
        text = (root / path).read_text(encoding="utf-8")
    except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
        return None
    return comments_and_names(text) if path.startswith(COMMENTS) else text


def findings(root: Path, paths: list[str], table: list[Row]) -> list[str]:
    found = []
    for path in paths:
        text = text_of(root, path)
        if text is None:
            continue
        for row in table:
            for match in row.pattern.finditer(text):
                line = text.count("\n", 0, match.start()) + 1
                phrase = re.sub(GAP, " ", match.group())
                found.append((path, line, f'{path}:{line}: "{phrase}": {row.better}'))
    return [text for _, _, text in sorted(found)]


def tracked() -> list[str]:
    names = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-z"], check=True, capture_output=True, encoding="utf-8").stdout.split("\0")
    return [
        name for name in names
        if not name.startswith(SKIPPED)
        and (name.startswith(WHOLE) or name.startswith(COMMENTS) and name.endswith(".swift"))
    ]


def self_test(table: list[Row]) -> None:
    """Plants what has to be found, and what must not be."""
    planted = [text.replace("…", "seven") for row in table for text in row.texts] + SENTENCES
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name in ("Sources", "Docs", "Tests"):
            (root / name).mkdir()
        for text in planted:
            # In a document across the end of a line, in a source in a string, in a test in a comment and in a name.
            (root / "Docs/a.md").write_text("Some text.\n" + text.replace(" ", "\n", 1) + "\n", encoding="utf-8")
            (root / "Sources/a.swift").write_text(f'let text = "{text}"\n', encoding="utf-8")
            comment = text if text.startswith("//") else f"// {text}"
            (root / "Tests/a.swift").write_text(f"func test() {{}}  {comment}\n", encoding="utf-8")
            (root / "Tests/b.swift").write_text(f'@Test("{text}") func test() {{}}\n', encoding="utf-8")
            for path in ("Docs/a.md", "Sources/a.swift", "Tests/a.swift", "Tests/b.swift"):
                if not findings(root, [path], table):
                    sys.exit(f"wording: error: self-test: {text!r} was not found in {path}")
        (root / "Tests/a.swift").write_text("let anew = \"https://whoever\"  // renewed, amended\n", encoding="utf-8")
        if found := findings(root, ["Tests/a.swift"], table):
            sys.exit(f"wording: error: self-test: found {found} where there is nothing")


def main() -> int:
    table = [Row(*row) for row in WORDS]
    self_test(table)
    found = findings(ROOT, sys.argv[1:] or tracked(), table)
    print("\n".join(found), end="\n" if found else "")
    if found:
        print(f"wording: error: {len(found)} phrases of the word list in this script", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
