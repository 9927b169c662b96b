# Shared by all rules. The plan of the run, the command line of a stage, and where results lie.
import json
import os
import shlex
import subprocess
import sys

# Rules call tools and nothing else; this one checks the configuration and lists workloads and forms.
STAGE_COMMAND = [sys.executable, "-m", "loom.tools.loom_stage"]
STAGE = shlex.join(STAGE_COMMAND)
# Through the environment, so that the rules' commands do not depend on which workloads were chosen.
os.environ.update(LOOM_CONFIG_JSON=json.dumps(dict(config)))

_plan = subprocess.run([*STAGE_COMMAND, "plan"], stdout=subprocess.PIPE)
if _plan.returncode:
    # The tool has said what is wrong.
    sys.stderr.flush()
    os._exit(_plan.returncode)
PLAN = json.loads(_plan.stdout)

RESULTS = PLAN["results"]
WORKLOADS = PLAN["workloads"]
LOW_RUNGS = PLAN["low_rungs"]
# A change in any source of the package may make any result stale; the action cache knows which.
SOURCES = PLAN["sources"]
GPUS = 0 if PLAN["device"].endswith("-sim") else 1


wildcard_constraints:
    workload="[a-z][a-z0-9_]*",
    form="[a-z0-9][a-z0-9_]*",


def workload_file(wildcards):
    return f"{config['workloads']['folder']}/{wildcards.workload}/workload.yaml"


def native_file(wildcards):
    return WORKLOADS[wildcards.workload]["native"]


def source_file(wildcards):
    return WORKLOADS[wildcards.workload]["forms"][wildcards.form]


def oracle_file(wildcards):
    """The kept oracle; where it is absent the stage says how to make it."""
    path = workload_file(wildcards).replace("workload.yaml", "oracle.loom")
    return [path] if os.path.exists(path) else []


def rungs(workload):
    return [*LOW_RUNGS, *WORKLOADS[workload]["forms"]]


def stage_file(workload, stage, form=None):
    middle = f"forms/{form}/" if form else ""
    return f"{RESULTS}/workloads/{workload}/{middle}{stage}.json"


def evidence_of(workload, rung):
    """The stage that runs a rung."""
    if rung == "oracle":
        return stage_file(workload, "oracle")
    if rung in LOW_RUNGS:
        return stage_file(workload, "relaxed")
    return stage_file(workload, "raise", rung)


def compared_files(wildcards):
    """What a comparison reads: the native kernel, the rung, the rung before it."""
    ladder = rungs(wildcards.workload)
    position = ladder.index(wildcards.form)
    files = [stage_file(wildcards.workload, "capture"), evidence_of(wildcards.workload, wildcards.form)]
    if position:
        files.append(evidence_of(wildcards.workload, ladder[position - 1]))
    return files


def judged_files(wildcards):
    """What acceptance reads: the last form and its comparison."""
    forms = list(WORKLOADS[wildcards.workload]["forms"])
    if not forms:
        return [stage_file(wildcards.workload, "capture")]
    return [stage_file(wildcards.workload, stage, forms[-1]) for stage in ("raise", "compare")]


def evidence_files():
    """Every result that the report and the verdict read."""
    files = []
    for workload in WORKLOADS:
        files.append(stage_file(workload, "accept"))
        for rung in rungs(workload):
            files.append(stage_file(workload, "compare", rung))
        for form in WORKLOADS[workload]["forms"]:
            files.append(stage_file(workload, "packet", form))
            files.append(stage_file(workload, "benchmark", form))
    return files
