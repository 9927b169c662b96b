# Where a form diverges: a minimized module, its command, values, references and the smallest evidence.
rule packet:
    input:
        workload=workload_file,
        comparisons=lambda wildcards: [
            stage_file(wildcards.workload, "compare", rung)
            for rung in rungs(wildcards.workload)[: rungs(wildcards.workload).index(wildcards.form) + 1]
        ],
        oracle=f"{RESULTS}/workloads/{{workload}}/oracle.json",
    output:
        f"{RESULTS}/workloads/{{workload}}/forms/{{form}}/packet.json",
    log:
        f"{RESULTS}/log/{{workload}}/{{form}}/packet.log",
    conda:
        "../envs/loom.yaml"
    params:
        stage=STAGE,
        sources=SOURCES,
    resources:
        gpu=GPUS,
    shell:
        "{params.stage} run {wildcards.workload} packet --form={wildcards.form} 2>&1 | tee {log} >&2"
