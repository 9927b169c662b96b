#!/bin/sh
# Says running, success or failed for a Slurm job id.
state=$(squeue --noheader --format=%T --jobs="$1" 2>/dev/null)
if [ -z "$state" ]; then
  state=$(scontrol show job "$1" 2>/dev/null | sed -n 's/.*JobState=\([A-Z_]*\).*/\1/p')
fi
case $state in
  COMPLETED) echo success ;;
  PENDING | CONFIGURING | RUNNING | COMPLETING | SUSPENDED) echo running ;;
  *) echo failed ;;
esac
