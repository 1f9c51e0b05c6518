#!/usr/bin/python3
"""Removes one rule after another from a copy of Sources/Relay, and expects the tests of this folder to notice: `make nightly PART=relay-mutants`.

    mutants.py [NAME …]     all, or those with one of these texts in their names; with `=` before it, of this name
    mutants.py --check      only looks whether mutants.txt fits the sources

mutants.txt has the mutants: a name, lines with `- ` that occur once in the two files, and lines with `+ ` in their place. `by` names the rules that take
longer and have to notice it, `equivalent` says why no test can notice a mutant.
"""
import concurrent.futures, pathlib, shutil, subprocess, sys, tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import conformance, own_rules  # noqa: E402
from relay_test import newer_node, units  # noqa: E402
from world import Place  # noqa: E402

SOURCES = HERE.parents[2] / "Sources/Relay"
SMOKE = ["it_says_who_it_is"]


class Mutant:
    name = by = equivalent = None

    def __init__(self, block):
        self.before, self.after = ("\n".join(line[2:] for line in block if line[:2].rstrip(" ") == sign) for sign in "-+")
        for line in block:
            key, colon, value = line.partition(": ")
            if line[:1] in "-+":
                continue
            if not colon or key not in ("mutant", "by", "equivalent"):
                sys.exit(f"mutants: error: this is not a line of a mutant: {line}")
            setattr(self, "name" if key == "mutant" else key, value)

    def files(self):
        texts = {name: (SOURCES / name).read_text() for name in ("relay.mjs", "serve.mjs")}
        return {name: text.replace(self.before, self.after) for name, text in texts.items() if text.count(self.before) == 1}


def table():
    blocks = [[line for line in block.split("\n") if line and not line.startswith("# ")] for block in (HERE / "mutants.txt").read_text().split("\n\n")]
    mutants = [Mutant(block) for block in blocks if block]
    wrong = [f"{one.name}: its text is not there once" for one in mutants if len(one.files()) != 1]
    if len({one.name for one in mutants}) != len(mutants):
        wrong.append("two mutants have one name")
    if wrong:
        sys.exit("\n".join(f"mutants: error: {one}" for one in wrong))
    return mutants


def failures(sources, mutant, node):
    """What the tests notice, or nothing."""
    names = mutant.by.split() if mutant.by else ()
    with Place() as place:

        def conforms(wanted=(), with_slow=False):
            relay = place.relay(node, sources=str(sources))
            try:
                if not relay.start():
                    return [f"it does not start: {relay.logged()[-300:]}"]
                return conformance.run(relay.world(place.mock), with_slow, wanted)[1]
            finally:
                relay.stop(kill=True)
                place.mock.fault = lambda number, request: None

        if names:
            return conforms(names, True) if any(one.__name__ in names for one in conformance.rules) else own_rules.run(place, node, str(sources), True, names)[1]
        return units(node, str(sources / "relay.mjs"))[1] or conforms() or own_rules.run(place, node, str(sources), False)[1]


def outcome(mutant, node):
    with tempfile.TemporaryDirectory() as temporary:
        sources = pathlib.Path(temporary, "Relay")
        shutil.copytree(SOURCES, sources)
        for name, text in mutant.files().items():
            (sources / name).write_text(text)
            if subprocess.run([node, "--check", str(sources / name)], capture_output=True).returncode:
                return "it is no program"
        try:
            with Place() as place, place.relay(node, sources=str(sources)) as relay:
                found = conformance.run(relay.world(place.mock), False, SMOKE)[1]
        except AssertionError as error:
            found = [str(error)]
        if found:
            return f"it is broken altogether: {found}"
        found = failures(sources, mutant, node)
    print(f"mutants: relay: {mutant.name}: {'noticed: ' + found[0][:150] if found else 'the tests pass'}", flush=True)
    if bool(found) == bool(mutant.equivalent):
        return f"noticed, so it is not equivalent: {found[0]}" if found else "the tests pass"


def main():
    mutants, texts = table(), [argument for argument in sys.argv[1:] if argument != "--check"] or [""]
    if "--check" in sys.argv:
        return
    # The oldest: a newer one refuses some signatures on its own.
    node = shutil.which("node") or newer_node()
    chosen = [one for one in mutants if any(text[1:] == one.name if text.startswith("=") else text in one.name for text in texts)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        wrong = [f"{one.name}: {found}" for one, found in zip(chosen, pool.map(lambda one: outcome(one, node), chosen)) if found]
    if wrong:
        sys.exit("\n".join(f"mutants: error: relay: {one}" for one in wrong))
    print(f"figure: relay-mutants noticed={sum(not one.equivalent for one in chosen)} equivalent={sum(bool(one.equivalent) for one in chosen)} unnoticed=0")


if __name__ == "__main__":
    main()
