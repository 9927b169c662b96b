# The gates of the last form: numerical, compiler, physical.
def judged_files(wildcards):
    forms = list(WORKLOADS[wildcards.workload]["forms"])
    if not forms:
        return [stage_file(wildcards.workload, "capture")]
    return [stage_file(wildcards.workload, stage, forms[-1]) for stage in ("raise", "compare")]


rule accept:
    input:
        workload=workload_file,
        judged=judged_files,
    output:
        f"{RESULTS}/workloads/{{workload}}/accept.json",
    log:
        f"{RESULTS}/log/{{workload}}/accept.log",
    conda:
        "../envs/loom.yaml"
    params:
        stage=STAGE,
        sources=SOURCES,
    shell:
        "{params.stage} run {wildcards.workload} accept > {log} 2>&1"
