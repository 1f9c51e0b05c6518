#!/usr/bin/env python3
"""Checks Sources/Packaging/monitoring: the alerts with promtool, and that they and the dashboard use metrics that `send` writes.

Usage: monitoring.py METRICS      METRICS: what `send --metrics` has written
"""
import json, re, subprocess, sys, tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "Sources/Packaging/monitoring"
# Beside the samples of pushcrypt: node_exporter's.
OTHERS = {"node_textfile_mtime_seconds"}


def promtool(*words):
    done = subprocess.run(["promtool", *words], capture_output=True, text=True, cwd=FOLDER)
    if done.returncode or "FAILED" in done.stdout:
        sys.exit(f"monitoring: error: promtool {words[0]}: {done.stdout}{done.stderr}")


def main():
    promtool("check", "rules", "pushcrypt-send.rules.yml")
    promtool("test", "rules", "pushcrypt-send.test.yml")
    rules = (FOLDER / "pushcrypt-send.rules.yml").read_text()
    dashboard = json.loads((FOLDER / "pushcrypt-send.dashboard.json").read_text())
    panels = dashboard["panels"]
    for names, kind in (([panel["id"] for panel in panels], "id"), ([panel["title"] for panel in panels], "title")):
        if len(set(names)) != len(names):
            sys.exit(f"monitoring: error: two panels with one {kind}")
    for panel in panels:
        place = panel["gridPos"]
        if not (panel["type"] in ("timeseries", "stat") and panel["targets"] and place["x"] + place["w"] <= 24):
            sys.exit(f"monitoring: error: the panel {panel['title']!r} is not as Grafana reads it")
    expressions = [target["expr"] for panel in panels for target in panel["targets"]]
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        file.write(json.dumps({"groups": [{"name": "dashboard", "rules": [
            {"record": f"panel:{number}", "expr": text} for number, text in enumerate(expressions)]}]}))
        file.flush()
        promtool("check", "rules", file.name)
    written = set(re.findall(r"^# TYPE (\S+)", Path(sys.argv[1]).read_text(), re.M))
    written |= {name + "_bucket" for name in written} | OTHERS
    used = set(re.findall(r"\b(?:pushcrypt|node)_[a-z_]+", rules + " ".join(expressions)))
    if used - written:
        sys.exit(f"monitoring: error: no program writes {', '.join(sorted(used - written))}")
    headings = {text.lower() for text in re.findall(r"^#+ (.*)$", (ROOT / "Docs/Monitoring.md").read_text(), re.M)}
    alerts = re.findall(r"alert: (\w+)", rules)
    missing = [name for name in alerts if name.lower() not in headings or f"#{name.lower()}\n" not in rules]
    if missing or not alerts:
        sys.exit(f"monitoring: error: Docs/Monitoring.md has no section {missing}")
    print(f"monitoring: {len(alerts)} alerts and {len(panels)} panels use {len(used)} metrics")


if __name__ == "__main__":
    main()
