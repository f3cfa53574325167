# What node.sbatch and nodes.sbatch share: `#MARGAY include ranks.sh` puts it in, behind attempt.sh.
# One rank of the engine for each GPU, and all of them do one search.

backend=auto
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

# Srun tells of several tasks how the last one ended: the first fault is kept. A rank that stops on
# request is no fault: as a bad exit it would end the first rank, which writes the checkpoint. Slurm
# signals every process of a step, so the shell leaves that to the engine.
task='
  trap : TERM INT USR1
  first_fault=$1 here=$2
  shift 2
  run_rank() {
    "$@"
    code=$?
    if [ "$code" -eq 85 ] && [ "$rank" -ne 0 ]; then code=0; fi
    set -C
    if [ "$code" -ne 0 ]; then { echo "$code" > "$first_fault"; } 2>/dev/null; fi
    exit "$code"
  }
  rank=$SLURM_PROCID
  if [ "$here" -eq 0 ]; then run_rank "$@"; fi

  # This task launches the ranks of its machine.
  IFS=, read -ra devices <<< "${CUDA_VISIBLE_DEVICES:-}"
  started=()
  for ((local = 0; local < here; ++local)); do
    (
      trap : TERM INT USR1
      rank=$((SLURM_NODEID * here + local))
      export RANK=$rank LOCAL_RANK=$local WORLD_SIZE=$((SLURM_NNODES * here)) LOCAL_WORLD_SIZE=$here
      if [ "${#devices[@]}" -eq "$here" ]; then export CUDA_VISIBLE_DEVICES=${devices[local]}; fi
      run_rank "$@"
    ) &
    started+=($!)
  done
  worst=0
  for process in "${started[@]}"; do
    # A signal ends the waiting too.
    while wait "$process"; code=$?; kill -0 "$process" 2>/dev/null; do :; done
    if [ "$code" -gt "$worst" ]; then worst=$code; fi
  done
  exit "$worst"'

first_fault="$attempt/first_fault"
step=(srun --nodes="$SLURM_JOB_NUM_NODES" --kill-on-bad-exit=1)
if [ {{launcher}} = node ]; then
  step+=(--ntasks="$SLURM_JOB_NUM_NODES" --ntasks-per-node=1 --cpus-per-task="$((threads * gpus))"
    bash -c "$task" margay-task "$first_fault" "$gpus")
else
  step+=(--ntasks="$((SLURM_JOB_NUM_NODES * gpus))" --ntasks-per-node="$gpus"
    --cpus-per-task="$threads" $bind bash -c "$task" margay-task "$first_fault" 0)
fi
