# A form that someone wrote: compiled by the default pipeline, run on every shape, tested by the cases beside it.
rule raise_form:
    input:
        workload=workload_file,
        source=source_file,
    output:
        f"{RESULTS}/workloads/{{workload}}/forms/{{form}}/raise.json",
    log:
        f"{RESULTS}/log/{{workload}}/{{form}}/raise.log",
    conda:
        "../envs/loom.yaml"
    params:
        stage=STAGE,
        sources=SOURCES,
        device=PLAN["device"],
    resources:
        gpu=GPUS,
    shell:
        "{params.stage} run {wildcards.workload} raise --form={wildcards.form} 2>&1 | tee {log} >&2"
