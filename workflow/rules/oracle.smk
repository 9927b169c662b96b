# The kernel lifted to prepared Low: the same bytes, then with its allocation and its schedule freed.
rule oracle:
    input:
        workload=workload_file,
        native=native_file,
        oracle=oracle_file,
        capture=f"{RESULTS}/workloads/{{workload}}/capture.json",
    output:
        f"{RESULTS}/workloads/{{workload}}/oracle.json",
    log:
        f"{RESULTS}/log/{{workload}}/oracle.log",
    conda:
        "../envs/loom.yaml"
    params:
        stage=STAGE,
        sources=SOURCES,
        device=PLAN["device"],
    resources:
        gpu=GPUS,
    shell:
        "{params.stage} run {wildcards.workload} oracle 2>&1 | tee {log} >&2"


rule relaxed:
    input:
        workload=workload_file,
        native=native_file,
        capture=f"{RESULTS}/workloads/{{workload}}/capture.json",
    output:
        f"{RESULTS}/workloads/{{workload}}/relaxed.json",
    log:
        f"{RESULTS}/log/{{workload}}/relaxed.log",
    conda:
        "../envs/loom.yaml"
    params:
        stage=STAGE,
        sources=SOURCES,
        device=PLAN["device"],
    resources:
        gpu=GPUS,
    shell:
        "{params.stage} run {wildcards.workload} relaxed 2>&1 | tee {log} >&2"
