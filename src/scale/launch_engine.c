/* SPDX-License-Identifier: MIT */
#include "launch.h"

const struct launcher launch_parallel = {.name = "parallel", .about = "GNU parallel, over ssh", .batch = 1.0};
const struct launcher launch_slurm = {.name = "slurm", .about = "an allocation of Slurm", .batch = 1.0};
