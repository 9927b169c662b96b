"""Evidence at rest: content-addressed blobs, the action cache, records, workloads and the schemas of all of them."""
