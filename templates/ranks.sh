# What node.sbatch and nodes.sbatch share: `#MARGAY include ranks.sh` puts it in, behind attempt.sh.
# One rank of the engine for each GPU, and all of them do one search.

backend={{backend}}
gpus={{gpus_per_node}}
bind=--gpus-per-task=1   # each rank sees its own GPU alone
if [ "$gpus" -lt 1 ]; then
  gpus=1
  bind=
fi
threads="${SLURM_CPUS_PER_TASK:-$((${SLURM_CPUS_ON_NODE:-1} / gpus))}"
if [ "$threads" -lt 1 ]; then threads=1; fi

# The ranks meet by a file: this folder is seen from every machine in any case, while machines need
# not know each other by name.
together=(--rendezvous "file:$attempt/rendezvous" --run-id {{token}}".$job.$restart")

# The first rank writes the maps after the others have ended: srun must not end it for that,
# whatever WaitTime the site has.
step=(srun --nodes="$SLURM_JOB_NUM_NODES" --kill-on-bad-exit=1 --wait=0)
if [ {{launcher}} = node ]; then
  step+=(--ntasks="$SLURM_JOB_NUM_NODES" --ntasks-per-node=1 --cpus-per-task="$((threads * gpus))"
    bash -c "$task" margay-task "$faults" "$gpus")
else
  step+=(--ntasks="$((SLURM_JOB_NUM_NODES * gpus))" --ntasks-per-node="$gpus"
    --cpus-per-task="$threads" $bind "${one_task[@]}")
fi
