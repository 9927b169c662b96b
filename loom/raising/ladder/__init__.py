"""The ladder of a workload as steps: each runs one tool on named files, once, and leaves a record."""
