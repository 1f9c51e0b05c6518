#!/usr/bin/env python3
"""Makes the manual from the command's own help, with pandoc.

    pushcrypt help --json | manual.py pages FOLDER      a page for each command
    pushcrypt help --json | manual.py document FILE     all of it as one document in Markdown
"""
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys


def plain(text):
    return re.sub(r"([\\`*_{}\[\]<>()#$^~|@!])", r"\\\1", text)


def terms(rows):
    return "".join(f"{term}\n:   {plain(text)}\n\n" for term, text in rows)


def options(options):
    for option in options:
        names = ", ".join(f"**{plain(option[name])}**" for name in ("short", "name") if name in option)
        yield names + (f" *{plain(option['value'])}*" if "value" in option else ""), option["help"]


def examples(examples):
    comments = (f"{plain(one['comment'])}:\n\n" if "comment" in one else "" for one in examples)
    return "".join(f"{comment}    {one['line']}\n\n" for comment, one in zip(comments, examples))


def sections(entry):
    """The titles and the Markdown of a command, a group, or the program itself."""
    yield "Synopsis", f"**{plain(entry['usage'])}**"
    yield "Description", "\n\n".join(map(plain, entry["about"]))
    yield "Commands", terms((f"**{plain(one['name'])}**", one["help"]) for one in entry.get("commands", []))
    yield "Operands", terms((f"*{plain(one['name'])}*", one["help"]) for one in entry.get("operands", []))
    yield "Options", terms(options(entry["options"]))
    for title, rows in entry.get("topics", {}).items():
        yield title.replace("-", " ").capitalize(), terms((f"**{plain(one['name'])}**", one["help"]) for one in rows)
    yield "Examples", examples(entry["examples"])


def markdown(entry, heading):
    return "".join(f"{heading} {title}\n\n{text}\n\n" for title, text in sections(entry) if text)


def pandoc(text, *arguments):
    subprocess.run(["pandoc", "--from", "markdown-smart", *arguments], input=text, text=True, check=True)


def write_page(folder, version, entry):
    name = entry["name"].replace(" ", "-")
    text = f"# Name\n\n{name} - {plain(entry['summary'])}\n\n" + markdown(entry, "#")
    about = [f"--metadata={key}={value}" for key, value in (("title", name), ("section", 1), ("footer", version))]
    pandoc(re.sub("(?m)^# .*", lambda title: title[0].upper(), text), "--standalone", "--to", "man", *about, "--output", folder / f"{name}.1")


def main(form, target):
    help = json.load(sys.stdin)
    entries = [help["program"], *help["groups"], *help["commands"]]
    if form == "pages":
        with concurrent.futures.ThreadPoolExecutor() as workers:
            list(workers.map(lambda entry: write_page(pathlib.Path(target), help["version"], entry), entries))
    else:
        texts = [f"## {entry['name']}\n\n{plain(entry['summary'])}\n\n" + markdown(entry, "###") for entry in entries]
        pandoc("# Command line\n\n" + "".join(texts), "--to", "gfm", "--output", target)


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("pages", "document"):
        sys.exit(__doc__)
    main(*sys.argv[1:])
