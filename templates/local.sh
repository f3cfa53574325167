#!/bin/bash
# One search on this machine. margayd fills in the names in double braces, quoted for the shell; an
# unknown name is an error. How to change this file: docs/slurm.md, "Script templates". The signal is
# the engine's request for a checkpoint, before a time limit (--time, or local.time) ends the job.
#SBATCH --signal=USR1@120

attempt={{attempt_folder}}
umask 0022

# With `exec` the job is margay-job itself, which hands a request to stop on to the engine.
exec {{job}} run --attempt "$attempt" --number {{attempt_number}} \
    --resume {{resume}} --batch {{batch}} -- \
  {{engine}} match "$attempt/config.yaml" --backend cpu --threads {{threads}} \
    --output "$attempt/peaks.csv" \
    --checkpoint "$attempt/checkpoint.mgc" --checkpoint-every {{checkpoint_every}} \
    --progress "$attempt/progress.json" --attempt {{token}}
