# One folder that opens in a browser without a network.
rule report:
    input:
        evidence_files(),
        [f"{config['workloads']['folder']}/{workload}/workload.yaml" for workload in WORKLOADS],
    output:
        f"{RESULTS}/report/index.html",
    log:
        f"{RESULTS}/log/report.log",
    conda:
        "../envs/loom.yaml"
    params:
        stage=STAGE,
        sources=SOURCES,
    shell:
        "{params.stage} report 2>&1 | tee {log} >&2"
