/* SPDX-License-Identifier: MIT */
/*
 * Functions in which a thread may wait for something outside of the program: descriptors, children, signals, locks of
 * files. Nothing is told of them; under the gate the turn is given up meanwhile. A thread that is cancelled inside has
 * its turn again before its cleanup handlers run.
 */
/* Both names of each function, not one under two names. */
#undef _FILE_OFFSET_BITS

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/gate.h"
#include "runtime/real.h"

static void back(void *unused)
{
	(void)unused;
	gate_back();
}

/* A line a function: what it returns, its name, its parameters, how it is called. */
#define OUTSIDE(type, name, parameters, arguments) \
	EXPORT type name parameters \
	{ \
		type result; \
		if (!gate_on || !gate_away(CALLER)) \
			return REAL(name) arguments; \
		pthread_cleanup_push(back, NULL); \
		result = REAL(name) arguments; \
		pthread_cleanup_pop(1); \
		return result; \
	}

OUTSIDE(int, poll, (struct pollfd *at, nfds_t n, int time), (at, n, time))
OUTSIDE(int, ppoll, (struct pollfd *at, nfds_t n, const struct timespec *time, const sigset_t *mask), (at, n, time, mask))
OUTSIDE(int, select, (int n, fd_set *in, fd_set *out, fd_set *other, struct timeval *time), (n, in, out, other, time))
OUTSIDE(int, pselect, (int n, fd_set *in, fd_set *out, fd_set *other, const struct timespec *time, const sigset_t *mask),
	(n, in, out, other, time, mask))
OUTSIDE(int, epoll_wait, (int fd, struct epoll_event *at, int n, int time), (fd, at, n, time))
OUTSIDE(int, epoll_pwait, (int fd, struct epoll_event *at, int n, int time, const sigset_t *mask), (fd, at, n, time, mask))
OUTSIDE(int, accept, (int fd, struct sockaddr *from, socklen_t *length), (fd, from, length))
OUTSIDE(int, accept4, (int fd, struct sockaddr *from, socklen_t *length, int flags), (fd, from, length, flags))
OUTSIDE(int, connect, (int fd, const struct sockaddr *to, socklen_t length), (fd, to, length))
OUTSIDE(ssize_t, recvmsg, (int fd, struct msghdr *m, int flags), (fd, m, flags))
OUTSIDE(ssize_t, sendmsg, (int fd, const struct msghdr *m, int flags), (fd, m, flags))
OUTSIDE(pid_t, wait, (int *status), (status))
OUTSIDE(pid_t, waitpid, (pid_t pid, int *status, int flags), (pid, status, flags))
OUTSIDE(pid_t, wait3, (int *status, int flags, struct rusage *use), (status, flags, use))
OUTSIDE(pid_t, wait4, (pid_t pid, int *status, int flags, struct rusage *use), (pid, status, flags, use))
OUTSIDE(int, waitid, (idtype_t type, id_t id, siginfo_t *info, int flags), (type, id, info, flags))
OUTSIDE(int, pause, (void), ())
OUTSIDE(int, sigsuspend, (const sigset_t *mask), (mask))
OUTSIDE(int, sigwait, (const sigset_t *set, int *signal), (set, signal))
OUTSIDE(int, sigwaitinfo, (const sigset_t *set, siginfo_t *info), (set, info))
OUTSIDE(int, sigtimedwait, (const sigset_t *set, siginfo_t *info, const struct timespec *time), (set, info, time))
OUTSIDE(int, flock, (int fd, int what), (fd, what))
OUTSIDE(int, lockf, (int fd, int what, off_t length), (fd, what, length))
OUTSIDE(int, system, (const char *command), (command))
OUTSIDE(int, pclose, (FILE *f), (f))
OUTSIDE(ssize_t, msgrcv, (int id, void *to, size_t n, long type, int flags), (id, to, n, type, flags))
OUTSIDE(int, msgsnd, (int id, const void *from, size_t n, int flags), (id, from, n, flags))
OUTSIDE(int, semop, (int id, struct sembuf *what, size_t n), (id, what, n))
OUTSIDE(int, semtimedop, (int id, struct sembuf *what, size_t n, const struct timespec *time), (id, what, n, time))
