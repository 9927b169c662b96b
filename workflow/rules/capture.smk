# The native kernel as it is: identity, resources, listing, and what it computes on every shape.
rule capture:
    input:
        workload=workload_file,
        native=native_file,
    output:
        f"{RESULTS}/workloads/{{workload}}/capture.json",
    log:
        f"{RESULTS}/log/{{workload}}/capture.log",
    conda:
        "../envs/loom.yaml"
    params:
        stage=STAGE,
        sources=SOURCES,
        device=PLAN["device"],
    resources:
        gpu=GPUS,
    shell:
        "{params.stage} run {wildcards.workload} capture 2>&1 | tee {log} >&2"
