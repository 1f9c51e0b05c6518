"""Checks what a schema cannot about the Kubernetes manifest: manifest.py FILE"""
import sys

import yaml

with open(sys.argv[1]) as file:
    documents = list(yaml.safe_load_all(file))
count = 0
for document in documents:
    pod = document["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] and pod["automountServiceAccountToken"] is False
    for container in pod["containers"]:
        count += 1
        assert {"cpu", "memory"} <= container["resources"]["limits"].keys() & container["resources"]["requests"].keys()
        rights = container["securityContext"]
        assert rights["readOnlyRootFilesystem"] and rights["allowPrivilegeEscalation"] is False and rights["capabilities"] == {"drop": ["ALL"]}
        places = {mount["mountPath"]: mount for mount in container["volumeMounts"]}
        alive = next(argument.removeprefix("--alive=") for argument in container["args"] if argument.startswith("--alive="))
        assert places[alive.rsplit("/", 1)[0]].get("readOnly") is not True
        health = [argument.removeprefix("--health-file=") for argument in container["args"] if argument.startswith("--health-file=")]
        assert [container[name]["exec"]["command"][-1] for name in ("readinessProbe",) if name in container] == health
        for name in ("startupProbe", "livenessProbe"):
            assert alive in " ".join(container[name]["exec"]["command"]), name
        # Every other file that it names is in a volume.
        for argument in container["args"]:
            path = argument.partition("=")[2]
            assert not path.startswith("/") or path.rsplit("/", 1)[0] in places, argument
assert count == 2, count
print(f"operations: {count} containers of the manifest have limits, probes and no rights")
