"""Tests what operators use: metrics and alerts as Prometheus reads them, the units, and the Kubernetes manifest. Called by
`make nightly PART=operations`, which builds the programs, with the Python that reads manifests.

Usage: operations.py [metrics|units|manifest]...
"""
import json, os, pathlib, re, subprocess, sys, tempfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[3]
PUSHCRYPT, RECIPES, PACKAGING = ROOT / ".build/release/pushcrypt", ROOT / "Sources/Pipelines", ROOT / "Sources/Packaging"
# Beside the samples of pushcrypt: node_exporter's.
OTHERS = {"node_textfile_mtime_seconds"}


def expect(condition, what):
    if not condition:
        sys.exit(f"operations: error: {what}")


def run(*words, code=0, **options):
    """What a command prints, both ways. `code` is its exit code, or None for any."""
    done = subprocess.run(list(map(str, words)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    expect(code in (done.returncode, None) and "FAILED" not in done.stdout, f"{words[:3]}: {done.stdout}")
    return done.stdout


def metrics():
    """What `seal` and `send` write passes promtool without a warning, and has all that Docs/Operations.md, the alerts and the dashboard name."""
    with tempfile.TemporaryDirectory() as work:
        phone = run(PUSHCRYPT, "key", "new", "device", "-o", "phone.key", cwd=work).strip()
        run(PUSHCRYPT, "key", "new", "provider", "-o", "provider.key", cwd=work)
        lines = [json.dumps({"to": to, "token": f"{1:064}", "payload": {"aps": {"alert": "Hello"}}}) for to in (phone, phone, "nobody")]
        seal = [PUSHCRYPT, "seal", "--batch", "--emit", "request", "--topic", "com.example.app", "--signing-key-file", "provider.key"]
        run(*seal, "--metrics", "seal.prom", "-o", "sealed", code=None, input="\n".join(lines), cwd=work)
        send = '"$0" send --host "$APNS_HOST" --ca-file apns/authority.pem --key apns/AuthKey_*.p8 --team TEAM123456 --metrics send.prom sealed'
        run("/usr/bin/python3", "-B", ROOT / "Tests/Checks/Send/serve.py", "apns", "--", "bash", "-c", send, PUSHCRYPT, code=None, cwd=work)
        written = {name: pathlib.Path(work, f"{name}.prom").read_text() for name in ("seal", "send")}
    for name, text in written.items():
        said = run("promtool", "check", "metrics", input=text)
        expect(not said and len(re.findall("^pushcrypt_", text, re.M)) > 5, f"the metrics of {name}: {said}")
    names = {name: set(re.findall(r"^# TYPE (\S+)", text, re.M)) for name, text in written.items()}
    page = (ROOT / "Docs/Operations.md").read_text()
    missing = set(re.findall("pushcrypt_[a-z_]*", page)) - names["seal"] - names["send"]
    expect(not missing, f"Docs/Operations.md has {missing}, which no program writes")

    folder = PACKAGING / "monitoring"
    run("promtool", "check", "rules", "pushcrypt-send.rules.yml", cwd=folder)
    run("promtool", "test", "rules", "pushcrypt-send.test.yml", cwd=folder)
    rules, panels = (folder / "pushcrypt-send.rules.yml").read_text(), json.loads((folder / "pushcrypt-send.dashboard.json").read_text())["panels"]
    for kind in "id", "title":
        expect(len({panel[kind] for panel in panels}) == len(panels), f"two panels with one {kind}")
    for panel in panels:
        place = panel["gridPos"]
        expect(panel["type"] in ("timeseries", "stat") and panel["targets"] and place["x"] + place["w"] <= 24, f"the panel {panel['title']!r}")
    expressions = [target["expr"] for panel in panels for target in panel["targets"]]
    records = [{"record": f"panel:{number}", "expr": text} for number, text in enumerate(expressions)]
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        file.write(json.dumps({"groups": [{"name": "dashboard", "rules": records}]}))
        file.flush()
        run("promtool", "check", "rules", file.name)
    used = set(re.findall(r"\b(?:pushcrypt|node)_[a-z_]+", rules + " ".join(expressions)))
    missing = used - names["send"] - {name + "_bucket" for name in names["send"]} - OTHERS
    expect(not missing, f"no program writes {missing}")
    headings, alerts = {text.lower() for text in re.findall(r"^#+ (.*)$", page, re.M)}, re.findall(r"alert: (\w+)", rules)
    missing = [name for name in alerts if name.lower() not in headings or f"#{name.lower()}\n" not in rules]
    expect(alerts and not missing, f"Docs/Operations.md has no section {missing}")
    print(f"operations: {len(alerts)} alerts and {len(panels)} panels use {len(used)} metrics")


def units():
    """Every unit is well-formed, sandboxed, and limited in memory. The programs need not be installed here."""
    for unit in [*RECIPES.glob("*.service"), *PACKAGING.glob("systemd/*.service")]:
        said = run("systemd-analyze", "verify", "--man=no", unit, code=None, env={**os.environ, "SYSTEMD_LOG_LEVEL": "warning"})
        said = [line for line in said.splitlines() if "is not executable" not in line]
        expect(not said, f"systemd does not take {unit.name}: {said}")
        said = run("systemd-analyze", "security", "--offline=true", "--threshold=20", "--no-pager", unit)
        expect("\nMemoryMax=" in unit.read_text(), f"{unit.name} has no MemoryMax=")
        print(f"operations: {unit.name}: {said.splitlines()[-1]}")


def manifest():
    """By the schemas of two versions of Kubernetes, and what a schema cannot say."""
    path, count = RECIPES / "kubernetes.yaml", 0
    for version in "1.29.0", "1.37.0":
        run(sys.executable, "-W", "ignore", "-m", "kubernetes_validate", "--quiet", "--strict", "-k", version, path)
    for document in yaml.safe_load_all(path.read_text()):
        pod = document["spec"]["template"]["spec"]
        assert pod["securityContext"]["runAsNonRoot"] and pod["automountServiceAccountToken"] is False
        for container in pod["containers"]:
            count += 1
            assert {"cpu", "memory"} <= container["resources"]["limits"].keys() & container["resources"]["requests"].keys()
            rights = container["securityContext"]
            assert rights["readOnlyRootFilesystem"] and rights["allowPrivilegeEscalation"] is False and rights["capabilities"] == {"drop": ["ALL"]}
            places = {mount["mountPath"]: mount for mount in container["volumeMounts"]}
            options = dict(argument.partition("=")[::2] for argument in container["args"])
            assert places[options["--alive"].rsplit("/", 1)[0]].get("readOnly") is not True
            health = [options["--health-file"]] if "--health-file" in options else []
            assert [container[name]["exec"]["command"][-1] for name in ("readinessProbe",) if name in container] == health
            for name in ("startupProbe", "livenessProbe"):
                assert options["--alive"] in " ".join(container[name]["exec"]["command"]), name
            # Every other file that it names is in a volume.
            for value in options.values():
                assert not value.startswith("/") or value.rsplit("/", 1)[0] in places, value
    assert count == 2, count
    print(f"operations: {count} containers of the manifest have limits, probes and no rights")


for part in sys.argv[1:] or ("metrics", "units", "manifest"):
    {"metrics": metrics, "units": units, "manifest": manifest}[part]()
