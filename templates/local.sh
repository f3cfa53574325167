#!/bin/bash
# One search on this machine. margayd fills in the names in double braces, quoted for the shell, and
# adds #SBATCH lines; an unknown name is an error. How to change this file: docs/slurm.md, "Script
# templates". The signal is the engine's request for a checkpoint, before a time limit (--time, or
# local.time) ends the job.
#SBATCH --signal=USR1@120

attempt={{attempt_folder}}
probe={{probe}}    # --probe where it has GPUs: they are tried first; else empty
ranks={{ranks}}    # --nproc N where it has N of several GPUs; else empty
umask 0022

# With `exec` the job is margay-job itself, which hands a request to stop on to the engine.
exec {{job}} run --attempt "$attempt" --number {{attempt_number}} $probe \
    --resume {{resume}} --batch {{batch}} -- \
  {{engine}} match "$attempt/config.yaml" --backend {{backend}} --threads {{threads}} $ranks \
    --output "$attempt/peaks.csv" \
    --checkpoint "$attempt/checkpoint.mgc" --checkpoint-every {{checkpoint_every}} \
    --progress "$attempt/progress.json" --attempt {{token}}
