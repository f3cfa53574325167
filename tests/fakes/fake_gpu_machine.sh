#!/bin/sh
# Stands for each program of a machine with a GPU, by the name under which it is called. It notes the
# call in $FAKE_MACHINE/calls; $FAKE_MACHINE/NAME.sh, where a test has written it, goes first and may
# exit. $FAKE_MACHINE/clock has the seconds that gpu-check reads.
name=${0##*/}
echo "$name $*" >>"$FAKE_MACHINE/calls"

# SECONDS: lets so much time go by.
pass_time() {
  read -r now <"$FAKE_MACHINE/clock"
  echo $((now + $1)) >"$FAKE_MACHINE/clock.new"
  mv "$FAKE_MACHINE/clock.new" "$FAKE_MACHINE/clock"
}

# OPTION ARGUMENTS...: what follows the option.
value_of() {
  wanted=$1
  shift
  while [ $# -gt 0 ]; do
    [ "$1" != "$wanted" ] || echo "$2"
    shift
  done
}

# shellcheck source=/dev/null
[ ! -e "$FAKE_MACHINE/$name.sh" ] || . "$FAKE_MACHINE/$name.sh"

case "$name $*" in
  nvidia-smi*noheader) echo "Fake H200, 580.95" ;;
  nvidia-smi*)
    echo "name, driver_version"
    for device in ${FAKE_DEVICES:-0}; do echo "Fake H200 $device, 580.95"; done
    ;;
  nvcc*) echo "Cuda compilation tools, release 13.0, V13.0.88" ;;
  ldconfig*)
    for library in libcufft.so.12 libnccl.so.2; do
      printf '\t%s (libc6,x86-64) => /fake/%s\n' "$library" "$library"
    done
    ;;
  "margay-engine info") printf '  transforms       %s\n' "cufft fp32" "fused fp32 512" "fused fp16 512" ;;
  margay-engine\ selftest*)
    if [ "${CUDA_VISIBLE_DEVICES-all}" = "" ]; then
      echo "no such NVIDIA device"
      exit 70
    fi
    echo "passed"
    ;;
  margay-engine\ plan*) echo "device 99 is not there"; exit 70 ;;
  margay-engine\ match*)
    # All in one: eight maps whose headers differ.
    sed -n 's/^  \(.*\)_path: //p' "$2" | while read -r map; do
      { head -c 1024 /dev/zero | tr '\0' "$(value_of --nproc "$@")"; echo "the pixels"; } >"$map"
    done
    ;;
  gpu_test*) printf '%s\n' "[----------] 3 tests" "[  PASSED  ] 3 tests." ;;
  gpu_bench*--facts*)
    echo "Fake H200: L2 of 62.9 MB, a copy moves 4300 GB/s"
    echo '{"properties": {"l2CacheSize": 62914560}}' >"$(value_of --json "$@")"
    ;;
  gpu_bench*200000x200000*) echo "needs more device memory than there is"; exit 71 ;;
  gpu_bench*)
    echo "  fused fp32   12000.0 CC/s"
    echo '{"cases": [{"rate": 12000}]}' >"$(value_of --json "$@")"
    ;;
  ncu*)
    kernel=$(value_of --kernel-name "$@" | sed 's/^regex:^//; s/[($].*//')
    {
      echo '==PROF== Connected to process 1'
      echo '"ID","Kernel Name","Grid Size","dram__bytes_read.sum","smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio","smsp__average_warps_issue_stalled_not_selected_per_issue_active.ratio","smsp__average_warps_issue_stalled_selected_per_issue_active.ratio"'
      echo '"","","","byte","","",""'
      echo "\"0\",\"$kernel\",\"(16, 1152, 1)\",\"1,234,567\",\"2.5\",\"4.5\",\"1.0\""
      echo "\"1\",\"$kernel\",\"(16, 1152, 1)\",\"7654321\",\"0.5\",\"4.5\",\"1.0\""
    } >"$(value_of --log-file "$@")"
    ;;
  git*rev-parse*) echo "012345" ;;
  compute-sanitizer*racecheck*)
    printf '%s\n' "[  PASSED  ] 3 tests." "========= RACECHECK SUMMARY: 0 hazards displayed"
    ;;
  compute-sanitizer*) printf '%s\n' "[  PASSED  ] 3 tests." "========= ERROR SUMMARY: 0 errors" ;;
esac
