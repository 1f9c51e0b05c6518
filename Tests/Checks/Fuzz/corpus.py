#!/usr/bin/env python3
"""The seeds of a fuzz target: Tests/Data/Corpus/TARGET.txt has one a line, in base64, with a name if it must stay. libFuzzer wants a
file for each.

Usage: corpus.py unpack TARGET FOLDER    writes the files, named by content or by the seed's name
       corpus.py pack TARGET FOLDER      writes the lines; what the corpus names stays, even if the folder lacks it
"""
import base64, hashlib, pathlib, sys

CORPUS = pathlib.Path(__file__).parents[2] / "Data/Corpus"


def seeds(path):
    """The name of each seed, or an empty one, by content."""
    lines = path.read_text().splitlines() if path.exists() else []
    return {base64.b64decode(text, validate=True): name for text, _, name in (line.partition(" ") for line in lines)}


def main(task, target, folder):
    path, folder = CORPUS / f"{target}.txt", pathlib.Path(folder)
    known = seeds(path)
    if task == "unpack":
        folder.mkdir(parents=True, exist_ok=True)
        for content, name in known.items():
            (folder / (name or hashlib.sha1(content).hexdigest())).write_bytes(content)
        return
    # An empty line would be no seed; libFuzzer tries the empty input anyway.
    kept = {content: known.get(content, "") for file in folder.iterdir() if (content := file.read_bytes())}
    kept |= {content: name for content, name in known.items() if name}
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in sorted(
        f"{base64.b64encode(content).decode()} {name}".rstrip() for content, name in kept.items())))
    print(f"{target}: {len(kept)} inputs")


if __name__ == "__main__":
    main(*sys.argv[1:])
