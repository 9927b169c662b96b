"""The migration workflow: every chosen workload through the ladder, a report, and a verdict.

`make migrate` runs it with workflow/profiles/local; `snakemake --profile workflow/profiles/slurm` dispatches the same jobs.
"""

configfile: "config/config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/capture.smk"
include: "workflow/rules/oracle.smk"
include: "workflow/rules/raise.smk"
include: "workflow/rules/compare.smk"
include: "workflow/rules/packet.smk"
include: "workflow/rules/accept.smk"
include: "workflow/rules/benchmark.smk"
include: "workflow/rules/report.smk"


localrules:
    all,
    evidence,


# The verdict keeps no output, so it is given on every run.
rule all:
    input:
        rules.report.output,
        evidence_files(),
    log:
        f"{RESULTS}/log/verdict.log",
    conda:
        "workflow/envs/loom.yaml"
    params:
        stage=STAGE,
    shell:
        "{params.stage} verdict 2>&1 | tee {log}"


# Everything but the verdict.
rule evidence:
    input:
        rules.report.output,
        evidence_files(),
