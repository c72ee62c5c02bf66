/* SPDX-License-Identifier: MIT */
/*
 * Runs a command under a filter like that of a default container: sandbox COMMAND... What such a filter refuses (tracing,
 * performance counters, other processes' memory, namespaces, keys, modules) fails with EPERM.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const int refused[] = {
	SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_perf_event_open, SYS_bpf, SYS_userfaultfd, SYS_kcmp,
	SYS_unshare, SYS_setns, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_add_key, SYS_keyctl, SYS_request_key,
	SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_reboot, SYS_swapon, SYS_swapoff,
	SYS_move_pages, SYS_mbind, SYS_set_mempolicy, SYS_quotactl, SYS_acct, SYS_settimeofday, SYS_clock_settime,
	SYS_syslog, SYS_open_by_handle_at, SYS_name_to_handle_at, SYS_personality,
};

enum { REFUSED = sizeof refused / sizeof *refused };

int main(int argc, char **argv)
{
	struct sock_filter filter[REFUSED + 3];
	struct sock_fprog program = {REFUSED + 3, filter};

	filter[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (unsigned i = 0; i < REFUSED; i++)
		filter[1 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)refused[i],
			(unsigned char)(REFUSED - i), 0);
	filter[REFUSED + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	filter[REFUSED + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
		perror("sandbox");
		return 125;
	}
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 125;
}
