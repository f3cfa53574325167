#!/bin/bash
# In place of margay-engine: counts one orientation in each template; of a search it records
# in `effects`, beside itself, that it was run, sleeps a moment, and leaves what a finished search
# leaves; one that resumes records that too. When there is a file `wait`, it waits for a file `go`. The
# shell lines in `do-ITEM`, or else in `do`, are run first; those in `selftest` are its probe of the
# device.
set -eu
home=$(dirname "$0")
if [ "$1" = selftest ]; then
  [ ! -e "$home/selftest" ] || . "$home/selftest"
  exit 0
fi
if [ "$1" = plan ]; then
  echo '{"version": "fake", "orientations": 1, "defocus_planes": [0], "pixel_sizes": 1,'
  echo ' "template_size": 1}'
  exit 0
fi
# Of several ranks the first answers.
[ "${RANK:-${SLURM_PROCID:-0}}" = 0 ] || exit 0
config=$2
while [ $# -gt 0 ]; do
  case $1 in
    --output) output=$2 ;;
    --attempt) token=$2 ;;
    --resume) resume=$2 ;;
  esac
  shift
done
folder=$(dirname "$output")
sum() { sha256sum < "$1" | cut -d' ' -f1; }
micrograph=$(sum "$(sed -n 's/^micrograph_path: "\(.*\)"$/\1/p' "$config")")
echo "started $token" >> "$home/effects"
[ ! -s "${resume:-/dev/null}" ] || echo "resumed $token" >> "$home/effects"
item=${token%-a*}
for lines in "$home/do-${item##*-}" "$home/do"; do
  if [ -e "$lines" ]; then
    . "$lines"
    break
  fi
done
for _ in $(seq 3000); do
  [ -e "$home/wait" ] && [ ! -e "$home/go" ] || break
  sleep 0.02
done
sleep "0.$((RANDOM % 2))$((RANDOM % 9))"

outputs=
add() {
  printf x > "$folder/$2"
  outputs="$outputs${outputs:+,} \"$1\": {\"path\": \"$2\", \"bytes\": 1}"
}
add mip mip.mrc
add scaled_mip scaled_mip.mrc
add correlation_average mean.mrc
add correlation_variance sd.mrc
add orientation_psi psi.mrc
add orientation_theta theta.mrc
add orientation_phi phi.mrc
add relative_defocus defocus.mrc
add peaks_csv peaks.csv
cat > "$folder/manifest.json.new" << END
{"format": 1, "program": "margay-engine", "attempt": "$token", "status": "done",
 "inputs": {"configuration": {"sha256": "$(sum "$config")"},
            "micrograph": {"sha256": "$micrograph"},
            "template": {"sha256": "$(sum "$home/volume.mrc")"}},
 "counts": {"correlations": 1},
 "timings": {"read_seconds": 0, "preprocess_seconds": 0, "search_seconds": 0, "write_seconds": 0},
 "peaks": {"count": 0, "cutoff": 7.5, "best_z": 5.0},
 "outputs": {$outputs}}
END
mv "$folder/manifest.json.new" "$folder/manifest.json"
echo "finished $token" >> "$home/effects"
