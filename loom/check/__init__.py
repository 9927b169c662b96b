"""Planning and execution of the cases, scenarios and benchmarks that stand beside the source."""
