#!/bin/bash
# One attempt at one micrograph, on this machine. margayd fills in the names in double braces,
# quoted for the shell; an unknown name is an error. To change it, copy the folder and set
# `templates:` in the site's configuration.
#
# Exit codes: the engine's; 75 when another run holds the claim or a newer attempt has begun.
set -u

attempt={{attempt_folder}}
item={{item_folder}}
number={{attempt_number}}
job="${SLURM_JOB_ID:-${MARGAY_JOB_ID:-}}"
restart="${SLURM_RESTART_COUNT:-0}"

engine=
stop=
trap 'stop=TERM; [ -n "$engine" ] && kill -TERM "$engine" 2>/dev/null' TERM INT
trap 'stop=USR1; [ -n "$engine" ] && kill -USR1 "$engine" 2>/dev/null' USR1

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

cd "$attempt" || exit 70
if newer_attempt; then
  echo "a newer attempt has begun: this one does not start" >&2
  exit 75
fi
if ! take_claim; then
  echo "another run holds the claim $attempt/claim" >&2
  exit 75
fi

arguments=(match "$attempt/config.yaml"
  --backend {{backend}} --threads {{threads}}
  --output "$attempt/peaks.csv"
  --checkpoint "$attempt/checkpoint.mgc" --checkpoint-every {{checkpoint_every}}
  --progress "$attempt/progress.json"
  --attempt {{token}})
resume={{resume}}
batch={{batch}}
if [ -e "$attempt/checkpoint.mgc" ]; then resume="$attempt/checkpoint.mgc"; fi
if [ -n "$resume" ]; then arguments+=(--resume "$resume"); fi
if [ -n "$batch" ]; then arguments+=(--batch "$batch"); fi

# Asked to stop before there was anything to stop.
[ -n "$stop" ] && exit 85
{{engine}} "${arguments[@]}" &
engine=$!
[ -n "$stop" ] && kill -"$stop" "$engine" 2>/dev/null

while kill -0 "$engine" 2>/dev/null; do
  sleep 10 &
  pause=$!
  wait -n "$engine" "$pause"
  kill "$pause" 2>/dev/null
  if newer_attempt; then kill -TERM "$engine" 2>/dev/null; fi
done
wait "$engine"
exit $?
