# For text cases: makes the simulated machine of `world` (tests/stubs/nvml/world.h) the one that
# pyrometer sees, and the current folder a root whose /proc has the processes 4242 and 4243.
export LD_LIBRARY_PATH=$STUB_NVML PYROMETER_STUB_NVML=$PWD/world TZ=UTC
mkdir -p proc/self/ns proc/4242 proc/4243 etc
ln -s 'pid:[4026531836]' proc/self/ns/pid
id=$(printf '3f2a%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16)
echo 'alice:x:1000:1000::/home/alice:/bin/sh' > etc/passwd
printf 'Uid:\t1000\t1000\t1000\t1000\n' > proc/4242/status
printf '/opt/venv/bin/python\0train.py\0--token=secret\0' > proc/4242/cmdline
echo "0::/system.slice/slurmstepd.scope/job_77/step_0/docker-$id.scope" > proc/4242/cgroup
printf 'Uid:\t1001\t1001\t1001\t1001\n' > proc/4243/status
printf '' > proc/4243/cmdline
echo Xorg > proc/4243/comm
echo '0::/user.slice' > proc/4243/cgroup
