# A rung against the native kernel and against the rung before it. A divergence is a result, not a failed job.
rule compare:
    input:
        workload=workload_file,
        evidence=compared_files,
    output:
        f"{RESULTS}/workloads/{{workload}}/forms/{{form}}/compare.json",
    log:
        f"{RESULTS}/log/{{workload}}/{{form}}/compare.log",
    conda:
        "../envs/loom.yaml"
    params:
        stage=STAGE,
        sources=SOURCES,
        tolerance=config["compiler"]["tolerance"],
    shell:
        "{params.stage} run {wildcards.workload} compare --form={wildcards.form} 2>&1 | tee {log} >&2"
