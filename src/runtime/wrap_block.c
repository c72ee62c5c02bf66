/* SPDX-License-Identifier: MIT */
/*
 * Input and output: buffers that the kernel or stdio reads and writes for the program. A thread that blocks here stalls
 * nobody (channel.h), so other blocking functions need no wrapper. What was read into a buffer is told afterwards, when
 * it is known how much; what is written out, before. Thread cancellation inside leaves nothing behind.
 */
/* Both names of each function, not one under two names. */
#undef _FILE_OFFSET_BITS

#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/access.h"
#include "runtime/gate.h"
#include "runtime/inputs.h"
#include "runtime/models.h"
#include "runtime/real.h"
#include "runtime/self.h"
#include "sched/order.h"

static inline ssize_t filled(void *buffer, ssize_t n, void *pc)
{
	if (self_ring && n > 0)
		access_range(ENTRY_WRITE_RANGE, buffer, (size_t)n, pc);
	return n;
}

static inline void emptied(const void *buffer, size_t n, void *pc)
{
	if (self_ring)
		access_range(ENTRY_READ_RANGE, buffer, n, pc);
}

/* Under the gate: waits until the descriptor is ready, so that the call does not block. */

static inline void input(int fd, void *pc)
{
	gate_pass((struct gate_op){.kind = ORDER_INPUT, .need = NEED_DESCRIPTOR, .fd = fd, .events = POLLIN, .pc = pc,
		.cancels = true});
}

static bool is_file(int fd)
{
	struct stat st;

	return fstat(fd, &st) != 0 || S_ISREG(st.st_mode) || S_ISCHR(st.st_mode);
}

/* What is more than a pipe takes at once may block half-way: then the turn is given up. Returns whether it was. */
static inline bool output(int fd, size_t n, void *pc)
{
	if (!gate_on)
		return false;
	gate_system();
	if (n > PIPE_BUF && !is_file(fd))
		return gate_away(pc);
	gate_pass((struct gate_op){.kind = ORDER_INPUT, .need = NEED_DESCRIPTOR, .fd = fd, .events = POLLOUT, .pc = pc,
		.cancels = true});
	return false;
}

static inline ssize_t put_out(ssize_t n, bool away)
{
	if (away)
		gate_back();
	else if (gate_on)
		gate_system();
	return n;
}

/* What is about to be read. */
struct coming {
	int fd;
	int64_t at; /* from where; -1: from what is no input */
	const void *to;
};

static int64_t file_position(FILE *f)
{
	return walk_on && inputs_position(fileno(f)) >= 0 ? ftello(f) : -1;
}

/* stdio: where the buffer is empty and no file stands behind it. */
static bool input_file(FILE *f, void *pc)
{
	return gate_on && f->_IO_read_ptr >= f->_IO_read_end && !(fileno(f) < 0 || is_file(fileno(f))) && gate_away(pc);
}

/* In a walk: so many bytes came from there. */
static ssize_t came(const void *function, struct coming c, ssize_t n)
{
	if (walk_on) {
		inputs_have_read(c.fd, c.at, c.to, n);
		model_nothing(function);
	}
	return n;
}

EXPORT ssize_t read(int fd, void *to, size_t n)
{
	struct coming c = {fd, inputs_position(fd), to};

	input(fd, CALLER);
	return came((const void *)read, c, filled(to, REAL(read)(fd, to, n), CALLER));
}

EXPORT ssize_t pread(int fd, void *to, size_t n, off_t at)
{
	input(fd, CALLER);
	return came((const void *)pread, (struct coming){fd, at, to}, filled(to, REAL(pread)(fd, to, n, at), CALLER));
}

EXPORT ssize_t pread64(int fd, void *to, size_t n, off64_t at)
{
	input(fd, CALLER);
	return came((const void *)pread64, (struct coming){fd, at, to}, filled(to, REAL(pread64)(fd, to, n, at), CALLER));
}

EXPORT ssize_t recv(int fd, void *to, size_t n, int flags)
{
	ssize_t got;

	input(fd, CALLER);
	got = REAL(recv)(fd, to, n, flags);
	/* With MSG_TRUNC the length is the message's and not the buffer's. */
	filled(to, got > (ssize_t)n ? (ssize_t)n : got, CALLER);
	return got;
}

EXPORT ssize_t recvfrom(int fd, void *to, size_t n, int flags, struct sockaddr *from, socklen_t *length)
{
	ssize_t got;

	input(fd, CALLER);
	got = REAL(recvfrom)(fd, to, n, flags, from, length);
	filled(to, got > (ssize_t)n ? (ssize_t)n : got, CALLER);
	return got;
}

EXPORT ssize_t write(int fd, const void *from, size_t n)
{
	bool away = output(fd, n, CALLER);

	emptied(from, n, CALLER);
	return put_out(REAL(write)(fd, from, n), away);
}

EXPORT ssize_t pwrite(int fd, const void *from, size_t n, off_t at)
{
	bool away = output(fd, n, CALLER);

	emptied(from, n, CALLER);
	return put_out(REAL(pwrite)(fd, from, n, at), away);
}

EXPORT ssize_t pwrite64(int fd, const void *from, size_t n, off64_t at)
{
	bool away = output(fd, n, CALLER);

	emptied(from, n, CALLER);
	return put_out(REAL(pwrite64)(fd, from, n, at), away);
}

EXPORT ssize_t send(int fd, const void *from, size_t n, int flags)
{
	bool away = output(fd, n, CALLER);

	emptied(from, n, CALLER);
	return put_out(REAL(send)(fd, from, n, flags), away);
}

EXPORT ssize_t sendto(int fd, const void *from, size_t n, int flags, const struct sockaddr *to, socklen_t length)
{
	bool away = output(fd, n, CALLER);

	emptied(from, n, CALLER);
	return put_out(REAL(sendto)(fd, from, n, flags, to, length), away);
}

/* Several buffers. */

static ssize_t filled_all(const struct iovec *at, int count, ssize_t got, void *pc)
{
	ssize_t left = got;

	for (int i = 0; i < count && left > 0; i++) {
		ssize_t n = at[i].iov_len < (size_t)left ? (ssize_t)at[i].iov_len : left;

		left -= filled(at[i].iov_base, n, pc);
	}
	return got;
}

EXPORT ssize_t readv(int fd, const struct iovec *at, int count)
{
	input(fd, CALLER);
	return filled_all(at, count, REAL(readv)(fd, at, count), CALLER);
}

EXPORT ssize_t writev(int fd, const struct iovec *at, int count)
{
	bool away = output(fd, count > 1 ? SIZE_MAX : 0, CALLER);
	ssize_t sent = put_out(REAL(writev)(fd, at, count), away), left = sent;

	/* Afterwards: what is wrong with the array is for the kernel to find. */
	for (int i = 0; i < count && left > 0; i++) {
		size_t n = at[i].iov_len < (size_t)left ? at[i].iov_len : (size_t)left;

		emptied(at[i].iov_base, n, CALLER);
		left -= (ssize_t)n;
	}
	return sent;
}

/* stdio. */

EXPORT size_t fread(void *to, size_t size, size_t n, FILE *f)
{
	struct coming c = {fileno(f), file_position(f), to};
	bool away = input_file(f, CALLER);
	size_t got = REAL(fread)(to, size, n, f);

	put_out(0, away);
	came((const void *)fread, c, filled(to, (ssize_t)(got * size), CALLER));
	return got;
}

EXPORT size_t fwrite(const void *from, size_t size, size_t n, FILE *f)
{
	emptied(from, size * n, CALLER);
	return REAL(fwrite)(from, size, n, f);
}

static size_t length_of(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

EXPORT char *fgets(char *to, int n, FILE *f)
{
	struct coming c = {fileno(f), file_position(f), to};
	bool away = input_file(f, CALLER);
	char *got = REAL(fgets)(to, n, f);

	put_out(0, away);
	if (got && self_ring)
		filled(to, (ssize_t)length_of(to) + 1, CALLER);
	if (got && walk_on) {
		came((const void *)fgets, c, (ssize_t)length_of(to));
		symbolic_clear(to + length_of(to), 1);
	}
	return got;
}

EXPORT int fputs(const char *s, FILE *f)
{
	if (self_ring)
		emptied(s, length_of(s) + 1, CALLER);
	return REAL(fputs)(s, f);
}

EXPORT int puts(const char *s)
{
	if (self_ring)
		emptied(s, length_of(s) + 1, CALLER);
	return REAL(puts)(s);
}

/* Into a string: what it wrote, with its end. The arguments that %s reads are not told. */

static int printed(char *to, size_t room, int n, void *pc)
{
	if (n >= 0 && room)
		filled(to, (ssize_t)((size_t)n < room ? (size_t)n + 1 : room), pc);
	return n;
}

EXPORT int vsnprintf(char *to, size_t room, const char *format, va_list words)
{
	return printed(to, room, REAL(vsnprintf)(to, room, format, words), CALLER);
}

EXPORT int vsprintf(char *to, const char *format, va_list words)
{
	return printed(to, SIZE_MAX, REAL(vsprintf)(to, format, words), CALLER);
}

EXPORT int snprintf(char *to, size_t room, const char *format, ...)
{
	va_list words;
	int n;

	va_start(words, format);
	n = printed(to, room, REAL(vsnprintf)(to, room, format, words), CALLER);
	va_end(words);
	return n;
}

EXPORT int sprintf(char *to, const char *format, ...)
{
	va_list words;
	int n;

	va_start(words, format);
	n = printed(to, SIZE_MAX, REAL(vsprintf)(to, format, words), CALLER);
	va_end(words);
	return n;
}

EXPORT int __vsnprintf_chk(char *to, size_t room, int flag, size_t size, const char *format, va_list words);
EXPORT int __vsprintf_chk(char *to, int flag, size_t size, const char *format, va_list words);
EXPORT int __snprintf_chk(char *to, size_t room, int flag, size_t size, const char *format, ...);
EXPORT int __sprintf_chk(char *to, int flag, size_t size, const char *format, ...);

int __vsnprintf_chk(char *to, size_t room, int flag, size_t size, const char *format, va_list words)
{
	return printed(to, room, REAL(__vsnprintf_chk)(to, room, flag, size, format, words), CALLER);
}

int __vsprintf_chk(char *to, int flag, size_t size, const char *format, va_list words)
{
	return printed(to, size, REAL(__vsprintf_chk)(to, flag, size, format, words), CALLER);
}

int __snprintf_chk(char *to, size_t room, int flag, size_t size, const char *format, ...)
{
	va_list words;
	int n;

	va_start(words, format);
	n = printed(to, room, REAL(__vsnprintf_chk)(to, room, flag, size, format, words), CALLER);
	va_end(words);
	return n;
}

int __sprintf_chk(char *to, int flag, size_t size, const char *format, ...)
{
	va_list words;
	int n;

	va_start(words, format);
	n = printed(to, size, REAL(__vsprintf_chk)(to, flag, size, format, words), CALLER);
	va_end(words);
	return n;
}
