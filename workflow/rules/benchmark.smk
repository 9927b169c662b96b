# The benchmarks beside a form: their correctness gate and executed counts, and times where the device has a clock.
rule benchmark_form:
    input:
        workload=workload_file,
        source=source_file,
        raised=f"{RESULTS}/workloads/{{workload}}/forms/{{form}}/raise.json",
    output:
        f"{RESULTS}/workloads/{{workload}}/forms/{{form}}/benchmark.json",
    log:
        f"{RESULTS}/log/{{workload}}/{{form}}/benchmark.log",
    conda:
        "../envs/loom.yaml"
    params:
        stage=STAGE,
        sources=SOURCES,
        device=PLAN["device"],
        measurement=config["measurement"],
    resources:
        gpu=GPUS,
    shell:
        "{params.stage} run {wildcards.workload} benchmark --form={wildcards.form} 2>&1 | tee {log} >&2"
