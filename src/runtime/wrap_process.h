/* SPDX-License-Identifier: MIT */
/* Processes: fork and its kin, exec and its kin. */
#ifndef FISSION_RUNTIME_WRAP_PROCESS_H
#define FISSION_RUNTIME_WRAP_PROCESS_H

/* Once, before the program can have registered fork handlers: ours are the innermost. `path` is the channel's. */
void process_start(const char *path);

#endif
