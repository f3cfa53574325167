#!/bin/bash
# In place of srun in the jobs of the fake Slurm: runs its command once, as a step. Its options say
# nothing to it.
while [ $# -gt 0 ]; do
  case $1 in
    --) shift; break ;;
    -[nNcGtpwJoeim]) shift 2 ;;
    -*) shift ;;
    *) break ;;
  esac
done
export SLURM_LOCALID=0 SLURM_NODEID=0 SLURM_NNODES=1 SLURM_STEP_NUM_TASKS=1
export SLURM_STEP_ID=0 SLURM_STEPID=0 SLURM_STEP_NODELIST="$SLURM_JOB_NODELIST"
exec "$@"
