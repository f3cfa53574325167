# What every script template shares: `#MARGAY include attempt.sh` puts it in. The template says,
# or ranks.sh,
#   step=(...)     what a program is run by, as one step of the job; empty: nothing
#   backend=...    the engine's
#   threads=...    the engine's
# and begins with begin_attempt.
#
# Exit codes: the engine's (0 done, 64 bad input, 70 device, 71 device memory, 85 stopped with a
# checkpoint); 70 too when the device fails its probe; 75 when another run holds the claim or a
# newer attempt has begun; 2, 126 and 127 when the engine cannot be started.

attempt={{attempt_folder}}
item={{item_folder}}
number={{attempt_number}}
job="${SLURM_JOB_ID:-${MARGAY_JOB_ID:-}}"
restart="${SLURM_RESTART_COUNT:-0}"

umask 0022
# slurmrestd gives a job none of these, and much that a site loads needs them.
: "${USER:=$(id -un 2>/dev/null)}"
: "${LOGNAME:=$USER}"
: "${HOME:=$(getent passwd "$(id -u)" 2>/dev/null | cut -d: -f6)}"
export USER LOGNAME HOME="${HOME:-/}"

# How each rank that failed ended, and where: in a file of its number; of the first in `first` too.
faults="$attempt/faults"
engine=        # process of the step that runs
stop=          # the signal that asked this script to stop
fault_host=    # where the first rank that failed was
together=()    # the engine's options by which several ranks find each other

# What srun starts. Srun tells the highest code of several tasks, and 255 of one that is signalled
# in its last moment: the first fault is kept. A rank ends with 70 also when another one is gone,
# which it may know before that one has ended: 70 goes last. A rank that stops on request is no
# fault: as a bad exit it would end the first rank, which writes the checkpoint. Slurm signals every
# process of a step, so the shell leaves that to the engine.
task='
  trap : TERM INT USR1
  faults=$1 here=$2
  shift 2
  run_rank() {
    "$@"
    code=$?
    if [ "$code" -eq 85 ] && [ "$rank" -ne 0 ]; then code=0; fi
    if [ "$code" -eq 70 ]; then sleep 2; fi
    set -C
    if [ "$code" -ne 0 ]; then
      for name in "$rank" first; do
        { echo "$code ${SLURMD_NODENAME:-}" > "$faults/$name"; } 2>/dev/null
      done
    fi
    exit "$code"
  }
  rank=${SLURM_PROCID:-0}
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

one_task=(bash -c "$task" margay-task "$faults" 0)

# srun passes SIGUSR1 on to the program, but ends the step by force when it gets SIGTERM; Slurm
# itself sends SIGTERM to the program too.
ask_to_stop() {
  local signal=$1
  [ "${#step[@]}" -eq 0 ] || signal=USR1
  [ -z "$engine" ] || kill -"$signal" "$engine" 2>/dev/null
}
trap 'stop=TERM; ask_to_stop TERM' TERM INT
trap 'stop=USR1; ask_to_stop USR1' USR1

newer_attempt() {
  local current
  current=$(cat "$item/current" 2>/dev/null) || return 1
  [ "$current" -gt "$number" ] 2>/dev/null
}

# Only one run of this script works in this folder. The same job, started again by the cluster,
# takes its own claim over.
take_claim() {
  if ! mkdir "$attempt/claim" 2>/dev/null; then
    local owner_job= owner_restart=
    { read -r owner_job; read -r owner_restart; } 2>/dev/null < "$attempt/claim/owner"
    [ -n "$job" ] && [ "$owner_job" = "$job" ] || return 1
    [ "$restart" -gt "$owner_restart" ] 2>/dev/null || return 1
  fi
  printf '%s\n%s\n%s\n' "$job" "$restart" "$HOSTNAME" > "$attempt/claim/owner.new" &&
    mv "$attempt/claim/owner.new" "$attempt/claim/owner"
}

begin_attempt() {
  cd "$attempt" || exit 70
  if newer_attempt; then
    echo "a newer attempt has begun: this one does not start" >&2
    exit 75
  fi
  # An administrator may requeue a job that has done its work.
  if [ -e "$attempt/manifest.json" ]; then
    echo "this attempt is done: $attempt/manifest.json is there"
    exit 0
  fi
  if ! take_claim; then
    echo "another run holds the claim $attempt/claim" >&2
    exit 75
  fi
  # The daemon raises the fence and then looks for a claim: one of the two sees the other.
  if newer_attempt; then
    rm -rf "$attempt/claim"
    echo "a newer attempt has begun: this one does not start" >&2
    exit 75
  fi
  rm -rf "$faults" "$attempt/failed_host"
  mkdir "$faults" || exit 70
}

# Runs a program as a step, and the step's exit code is in `code`.
run_step() {
  if [ -n "$stop" ]; then
    code=85
    return
  fi
  "${step[@]}" "$@" &
  engine=$!
  [ -z "$stop" ] || ask_to_stop "$stop"
  while kill -0 "$engine" 2>/dev/null; do
    sleep 10 &
    local pause=$!
    wait -n "$engine" "$pause"
    kill "$pause" 2>/dev/null
    if newer_attempt; then ask_to_stop TERM; fi
  done
  wait "$engine"
  code=$?
  engine=
  # The others are ended when one fails.
  if [ "$code" -ne 0 ] && [ -s "$faults/first" ]; then
    read -r code fault_host < "$faults/first"
  fi
  # Asked to stop before it could listen.
  if [ "$code" -eq 138 ]; then code=85; fi
  if [ "$code" -eq 143 ] && [ -n "$stop" ]; then code=85; fi
}

# The daemon reads it of a job with several hosts.
blame_host() {
  [ -z "$1" ] || echo "$1" > "$attempt/failed_host"
}

# What is not the engine's own code belongs to where it was. Its own code all ranks may end with:
# the first one's words count. No words, no blame.
host_to_blame() {
  if [ "$code" -ge 126 ]; then
    echo "$fault_host"
    return
  fi
  local rank host=
  rank=$(sed -n '/the others go on without it$/d
    s/^margay-engine: rank \([0-9]*\)\( on [^ ]*\)\{0,1\} was lost: .*/\1/p' \
    "$attempt/job.log" 2>/dev/null | tail -n 1)
  [ -z "$rank" ] || read -r _ host 2>/dev/null < "$faults/$rank"
  echo "$host"
}

# Two searches with a known answer, a second or two, before hours are spent on this device.
probe_device() {
  local code=0
  run_step timeout --foreground --kill-after=10 300 {{engine}} selftest \
    --backend "$backend" --threads "$threads"
  case "$code" in
    0) ;;
    85) exit 85 ;;
    143) exit 85 ;;
    2 | 126 | 127) exit "$code" ;;
    1 | 64)
      echo "the probe of the device could not be run (status $code)" >&2
      exit 126 ;;
    *)
      blame_host "$fault_host"
      echo "the device of ${fault_host:-$HOSTNAME} failed its probe (status $code)" >&2
      exit 70 ;;
  esac
}

run_search() {
  local code=0 resume={{resume}} batch={{batch}}
  local arguments=(match "$attempt/config.yaml"
    --backend "$backend" --threads "$threads"
    --output "$attempt/peaks.csv"
    --checkpoint "$attempt/checkpoint.mgc" --checkpoint-every {{checkpoint_every}}
    --progress "$attempt/progress.json"
    --attempt {{token}})
  if [ -e "$attempt/checkpoint.mgc" ]; then resume="$attempt/checkpoint.mgc"; fi
  if [ -n "$resume" ]; then arguments+=(--resume "$resume"); fi
  if [ -n "$batch" ]; then arguments+=(--batch "$batch"); fi
  # Older shells call an empty list unset.
  if [ "${#together[@]}" -gt 0 ]; then arguments+=("${together[@]}"); fi
  run_step {{engine}} "${arguments[@]}"
  case "$code" in
    0 | 85) ;;
    *) blame_host "$(host_to_blame)" ;;
  esac
  exit "$code"
}
