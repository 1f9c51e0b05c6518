"""Runs the sessions of Tests/Data/Transcripts and searches the output for every secret of their stores and key files.
"""

import concurrent.futures, os, pathlib, re, subprocess, tempfile

import forms
from watching import Fault

KEY = re.compile(rb"PC([RSK])-SECRET-1[0-9A-Z]{58}")
# Commands that write a secret to standard output on request.
ASKS_FOR_A_SECRET = re.compile(r"--secret|--output -|-o -|(cat|sed|cut|tee|head|strings) ")

MAKES_A_SECRET = re.compile(r"init|key |open|demo|sh ")
# Its stores lie on disks of their own, which nobody outside the session sees.
LEFT_OUT = {"full-disk.txt"}


def sessions(folder: pathlib.Path) -> list[tuple[str, list[str], list[str], dict[str, str]]]:
    """Name, needs, commands and files of each."""
    found = []
    for path in sorted(path for path in folder.glob("*.txt") if path.name not in LEFT_OUT):
        needs, commands, files, name = [], [], {}, None
        for line in path.read_text().split("\n"):
            if line.startswith("-- ") and line.endswith(" --") and len(line) > 6:
                name = line[3:-3]
                files[name] = ""
            elif name is not None:
                files[name] += line + "\n"
            elif line.startswith("? "):
                needs.append(line[2:])
            elif line.startswith("$ "):
                commands.append(line[2:])
        found.append((path.name, needs, commands, files))
    return found


def secrets_below(directory: str) -> dict[str, bytes]:
    """The secrets of every intact store with a key file, and of every key file."""
    secrets = {}
    for folder, _, names in os.walk(directory):
        if "keystore.db" in names and "store.key" in names:
            try:
                secrets |= forms.in_store(folder, os.path.relpath(folder, directory))
            except Exception:
                # Sessions damage stores on purpose; their keys are still searched for.
                with open(os.path.join(folder, "store.key"), "rb") as file:
                    secrets |= forms.of_store(file.read().ljust(32, b"\0")[:32], os.path.relpath(folder, directory))
        for name in names:
            path = os.path.join(folder, name)
            if not os.path.isfile(path) or os.path.getsize(path) > 1 << 20:
                continue
            with open(path, "rb") as file:
                for match in KEY.finditer(file.read()):
                    key = forms.key_of_text(match[0].decode())
                    secrets |= forms.of_device(key, name) if match[1] == b"R" else forms.of_provider(key, name)
    return secrets


def search(program: str, folder: pathlib.Path) -> tuple[int, int]:
    """Returns the number of commands and of secrets searched for."""
    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        counts = list(threads.map(lambda session: search_session(program, *session), sessions(folder)))
    return sum(commands for commands, _ in counts), sum(secrets for _, secrets in counts)


def search_session(
    program: str, name: str, needs: list[str], commands: list[str], files: dict[str, str]
) -> tuple[int, int]:
    def run(command: str, directory: str) -> subprocess.CompletedProcess:
        environment = {"PATH": f"{os.path.dirname(program)}:/usr/bin:/bin", "HOME": directory, "LC_ALL": "C.UTF-8"}
        return subprocess.run(
            ["/bin/sh", "-c", command], cwd=directory, env=environment, stdin=subprocess.DEVNULL, capture_output=True)

    # Separate, because a requirement may leave files that disturb the session.
    with tempfile.TemporaryDirectory() as directory:
        if any(run(need, directory).returncode != 0 for need in needs):
            print(f"SKIPPED: {name} needs what is not here")
            return 0, 0
    with tempfile.TemporaryDirectory() as directory:
        for file, content in files.items():
            path = os.path.join(directory, file)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as output:
                output.write(content)
        said, secrets = [], {}
        for command in commands:
            result = run(command, directory)
            said.append((command, result.stderr))
            if not ASKS_FOR_A_SECRET.search(command):
                said.append((command, result.stdout))
            # A later command may destroy what this one created.
            if MAKES_A_SECRET.search(command):
                secrets |= secrets_below(directory)
        needles = forms.needles(secrets)
        for command, text in said:
            for secret, needle in needles:
                if needle in text:
                    raise Fault(f"{name}: {command}: wrote {secret}")
        return len(commands), len(secrets)
