#include "sources/replay/script.h"

namespace pyrometer::sources::replay {

// Every name says that this is a demonstration: no reading here is one of a real GPU.
std::string_view demo_script() {
  return R"(host = "demo"
seed = 7

[[gpu]]
name = "Demo H200"
count = 4
memory_gib = 141
power_limit_w = 700
idle_w = 75
clock_mhz = 1980
memory_clock_mhz = 3201
load = "training"
[[gpu.process]]
user = "demo-ada"
program = "python"
arguments = "python train.py --config demo.yaml"
memory_gib = 96
first_rank = 0
slurm_job = "4711"

[[gpu]]
name = "Demo H200"
memory_gib = 141
power_limit_w = 500
idle_w = 75
clock_mhz = 1980
memory_clock_mhz = 3201
load = "full"
throttle = "power"
[[gpu.process]]
user = "demo-bob"
program = "python"
arguments = "python -m demo.finetune"
memory_gib = 118
pod = "finetune-0"
namespace = "demo"

[[gpu]]
name = "Demo H200"
memory_gib = 141
power_limit_w = 700
idle_w = 75
clock_mhz = 1980
memory_clock_mhz = 3201
load = "idle"

[[gpu]]
name = "Demo H200"
memory_gib = 141
power_limit_w = 700
idle_w = 75
clock_mhz = 1980
memory_clock_mhz = 3201
load = "inference"
mig = ["3g.71gb", "2g.35gb", "1g.18gb"]
[[gpu.process]]
user = "demo-eve"
program = "serve"
arguments = "serve --model demo --port 8000"
memory_gib = 9
count = 3

[[gpu]]
name = "Demo L40S"
memory_gib = 48
power_limit_w = 350
idle_w = 35
clock_mhz = 2520
memory_clock_mhz = 9001
fan = 0.7
load = "inference"
[[gpu.process]]
user = "demo-ada"
program = "jupyter-lab"
memory_gib = 2
[[gpu.process]]
user = "demo-bob"
program = "python"
arguments = "python evaluate.py"
memory_gib = 6
count = 2
lives_s = 90
[[gpu.process]]
user = "demo-eve"
program = "python"
arguments = "python sweep.py"
memory_gib = 3
count = 3
lives_s = 45

# Shown for a short while, again and again: a GPU that is lost, and an Xid error.
[[fault]]
kind = "lost"
gpu = 7
at_s = 300
for_s = 40
every_s = 900
[[fault]]
kind = "xid"
gpu = 5
count = 31
at_s = 120
for_s = 1
every_s = 1800
)";
}

}  // namespace pyrometer::sources::replay
