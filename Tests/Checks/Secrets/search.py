"""Searches for secrets where none may be: see run.sh, which calls this, as root.

    search.py PROGRAM TRANSCRIPTS
"""

import os, pathlib, subprocess, sys, tempfile, time

import forms, memory, scenes, transcripts, watching


def check_itself(scene: scenes.Scene) -> None:
    """Control: a process with all secrets in ordinary memory, in every form; they must be found."""
    needles = forms.needles(scene.secrets)
    keeper = "import os, sys; kept = os.read(0, 1 << 20); print(len(kept), flush=True); os.read(0, 1)"
    process = subprocess.Popen([sys.executable, "-c", keeper], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        process.stdin.write(b"\n".join(needle for _, needle in needles))
        process.stdin.flush()
        process.stdout.readline()
        found = memory.snapshot(process.pid).search(needles)
    finally:
        process.communicate()
    missing = {name for name, _ in needles} - {name for name, mapping, _ in found if not mapping.is_guarded}
    if missing:
        raise watching.Fault(f"the search does not find {sorted(missing)}")


def main() -> None:
    program, folder = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    if os.getuid() != 0:
        sys.exit("secrets: error: only root may read the memory of a process that is not dumpable")
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as directory:
        scene = scenes.Scene(program, os.path.realpath(directory))
        check_itself(scene)
        calls = 0
        for command in scenes.COMMANDS:
            count, guarded = watching.trace(scene, command)
            calls += count
            print(f"pushcrypt {command.line}: {count} system calls, {guarded} secrets in guarded memory only", flush=True)
            scene.collect()
        calls += watching.wait_for_lock(scene)
        scene.collect()
        for line, kind, expected in watching.BATCHES:
            guarded = watching.wait_in_batch(scene, line, kind, expected)
            print(f"pushcrypt {line}: waits, {guarded} secrets in guarded memory only", flush=True)
        watching.check_dumpable(scene)
        known = len(scene.secrets)
    said, looked_for = transcripts.search(program, folder)
    print(f"{said} commands of the transcripts wrote none of {looked_for} secrets")
    print(
        f"figure: secrets commands={len(scenes.COMMANDS)} system-calls={calls} batches={len(watching.BATCHES)}"
        f" secrets={known} transcript-commands={said} transcript-secrets={looked_for}"
        f" seconds={round(time.monotonic() - start)}"
    )


if __name__ == "__main__":
    try:
        main()
    except watching.Fault as fault:
        sys.exit(f"secrets: error: {fault}")
