#!/usr/bin/env python3
"""Compares two builds of the command, for a change that should change nothing: runs the commands of all transcripts, and
`seal --batch | open --batch` on a thousand lines, with both, and prints where their outputs or exit codes differ.

Usage: old-new.py OLD NEW [WORD]      only the transcripts with the word in their names

Envelopes, keys, times and ids, which differ in every run, are masked.
"""
import difflib, json, os, pathlib, re, subprocess, sys, tempfile

TRANSCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "Data" / "Transcripts"
MASKS = [
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?", "TIME"), (r"\b(pc[rsk]x?1|pcp-|pca)[0-9a-z]{6,}", "KEY"), (r"[A-Za-z0-9_+/-]{22,}=*", "TEXT"),
    (r"\b[0-9a-f]{8,}\b", "ID"), (r"\b\d+\.\d+\b|\b\d{4,}\b|rate[=:\" ]+\d+", "N"), (r"/tmp/[\w./-]+", "PATH"),
]
LINES = "".join(
    json.dumps({"to": f"d{n % 2}", "id": n, "payload": {"aps": {"alert": {"title": "Table for two", "body": f"See you at {n}"}}}}) + "\n"
    for n in range(1000))
PIPELINE = [
    "pushcrypt --store P init && pushcrypt --store P key new provider --topic com.example.app > p",
    "pushcrypt --store D init && pushcrypt --store D key new device --topic com.example.app > d && pushcrypt --store D provider pin $(cat p)",
    "pushcrypt --store P device add d0 $(cat d); pushcrypt --store P device add d1 $(pushcrypt key new device -o k)",
    "pushcrypt --store P seal --batch --log text --jobs 2 lines | pushcrypt --store D open --batch",
]


def masked(text):
    for pattern, word in MASKS:
        text = re.sub(pattern, word, text)
    return text


def session(program, files, commands):
    """The masked results of commands that run one after the other in a new folder."""
    with tempfile.TemporaryDirectory() as folder:
        bin = pathlib.Path(folder, ".bin")
        bin.mkdir()
        for name in pathlib.Path(program).parent.glob("pushcrypt*"):
            if name.is_file() and os.access(name, os.X_OK):
                (bin / name.name).symlink_to(name)
        (bin / "pushcrypt").unlink(missing_ok=True)
        (bin / "pushcrypt").symlink_to(pathlib.Path(program).resolve())
        for name, text in files.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        environment = {"PATH": f"{bin}:/usr/bin:/bin", "HOME": folder, "LC_ALL": "C.UTF-8", "SWIFT_BACKTRACE": "enable=no"}
        for command in commands:
            run = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True)
            yield masked("\n".join([str(run.returncode), run.stdout.decode("utf-8", "replace"), run.stderr.decode("utf-8", "replace")]))


def parts(text):
    text, *rest = re.split(r"^-- (.+) --$", text, flags=re.M)
    files = {name: body[1:] for name, body in zip(rest[::2], rest[1::2])}
    return files, [line[2:] for line in text.split("\n") if line.startswith("$ ")]


def main(old, new, word=".txt"):
    sessions = [(path.name, *parts(path.read_text())) for path in sorted(TRANSCRIPTS.glob("*.txt")) if word in path.name]
    sessions.append(("pipeline", {"lines": LINES}, PIPELINE))
    count = different = 0
    for name, files, commands in sessions:
        for command, before, after in zip(commands, session(old, files, commands), session(new, files, commands)):
            count += 1
            if before != after:
                different += 1
                print(f"{name}: {command}")
                print("\n".join(line for line in difflib.unified_diff(before.split("\n"), after.split("\n"), "old", "new", n=0, lineterm="")))
    print(f"{count} commands, {different} differ")
    return different != 0


sys.exit(main(*sys.argv[1:]))
