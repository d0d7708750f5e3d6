#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Starts a Slurm cluster of one node, submits the job array that `smile slurm` prints, kills one task and preempts
# another, lets them be queued again, and compares the merged run with that of one process.
# usage: slurm_cluster.sh SMILE DATA   (as root; ends with 77 where Slurm or root is lacking)
set -euo pipefail
smile=$1
data=$2
for program in munged slurmctld slurmd sbatch scontrol; do
  command -v "$program" > /dev/null || PATH=$PATH:/usr/sbin
  command -v "$program" > /dev/null || { echo "skipped: $program is not installed"; exit 77; }
done
[ "$(id -u)" -eq 0 ] || { echo "skipped: needs root"; exit 77; }

folder=$(mktemp -d /tmp/smile-slurm-XXXXXX)
pids=()
finish() {
  status=$?
  set +e
  [ $status -eq 0 ] || tail -n 30 "$folder"/*.log "$folder"/log/* 2> /dev/null
  for pid in "${pids[@]}"; do kill "$pid" 2> /dev/null; done
  sleep 0.5
  for pid in "${pids[@]}"; do kill -9 "$pid" 2> /dev/null; done
  rm -rf "$folder"
  exit $status
}
trap finish EXIT
mkdir -p "$folder"/{munge,state,spool,log}
host=$(hostname -s)
cores=$(nproc)
dd if=/dev/urandom of="$folder/munge/key" bs=1024 count=1 status=none
chmod 700 "$folder/munge"; chmod 400 "$folder/munge/key"
chmod 755 "$folder"
munged --force --foreground --socket="$folder/munge/socket" --key-file="$folder/munge/key" --log-file="$folder/munge/log" \
  --pid-file="$folder/munge/pid" --seed-file="$folder/munge/seed" > "$folder/log/munge" 2>&1 &
pids+=($!)
cat > "$folder/slurm.conf" << END
ClusterName=one
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CryptoType=crypto/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldPort=16817
SlurmdPort=16818
SlurmctldLogFile=$folder/log/slurmctld
SlurmdLogFile=$folder/log/slurmd
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
SchedulerParameters=bf_interval=2,sched_min_interval=100000
KillWait=10
NodeName=$host NodeAddr=127.0.0.1 CPUs=$cores State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
END
export SLURM_CONF=$folder/slurm.conf
sleep 1
slurmctld -D -f "$SLURM_CONF" > "$folder/log/slurmctld.out" 2>&1 &
pids+=($!)
slurmd -D -f "$SLURM_CONF" -N "$host" > "$folder/log/slurmd.out" 2>&1 &
pids+=($!)
for _ in $(seq 100); do sinfo -h -o %t 2> /dev/null | grep -q idle && break; sleep 0.2; done
sinfo -h -o %t | grep -q idle || { echo "the cluster does not start"; exit 1; }

cd "$folder"
cat > run.yaml << END
data: {path: $data, task: mean_regr}
training:
  warmstart: {max_epochs: 4, batch_size: 64}
  sampler: {n_chains: 6, warmup_steps: 300, n_samples: 150000, n_thinning: 1000, batch_size: 128}
END
"$smile" run run.yaml --out whole --quiet --no-report > /dev/null 2>&1
"$smile" slurm run.yaml --tasks 4 --out parts --program "$smile" > job.sh
grep -q -- '--array=0-3' job.sh
# A node of a few cores has memory of its own idea.
sed -i '/^#SBATCH --mem/d' job.sh
job=$(sbatch --parsable job.sh)
echo "submitted $job"

# The first two that run: one is killed, one is told that its time is up.
for _ in $(seq 300); do ls parts/locks/chain-0[01] > /dev/null 2>&1 && break; sleep 0.1; done
pid_of() { sed -n 's/.*"pid":\([0-9]*\).*/\1/p' "parts/locks/chain-0$1"; }
kill -9 "$(pid_of 0)"
timeout 5 scancel --batch --signal=USR1 "${job}_1" || true  # it asks again while the job is queued anew
for _ in $(seq 600); do squeue -h -j "$job" 2> /dev/null | grep -q . || break; sleep 0.5; done
squeue -h -j "$job" 2> /dev/null | grep -q . && { squeue; echo "the job does not end"; exit 1; }
grep -q "interrupted" ./*_1.log
if [ "$(sed -n 's/.*"status": "\(.*\)".*/\1/p' parts/status.json)" != complete ]; then
  # The killed task was not queued again: another array with the same script does what is left.
  job=$(sbatch --parsable job.sh)
  for _ in $(seq 600); do squeue -h -j "$job" 2> /dev/null | grep -q . || break; sleep 0.5; done
fi
"$smile" merge parts --quiet --no-report > /dev/null
for kind in samples trace warmstart; do diff -rq whole/$kind parts/$kind; done
cmp whole/eval/metrics.json parts/eval/metrics.json
echo "the same run"

# One job with srun.
"$smile" slurm run.yaml --tasks "$cores" --one-job --out together --program "$smile" | sed '/^#SBATCH --mem/d' > one.sh
job=$(sbatch --parsable one.sh)
for _ in $(seq 600); do squeue -h -j "$job" 2> /dev/null | grep -q . || break; sleep 0.5; done
for kind in samples trace warmstart; do diff -rq whole/$kind together/$kind; done
cmp whole/eval/metrics.json together/eval/metrics.json
echo "the same run in one job"
