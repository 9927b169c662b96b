# The gates of the last form: numerical, compiler, physical.
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
        "{params.stage} run {wildcards.workload} accept 2>&1 | tee {log} >&2"
