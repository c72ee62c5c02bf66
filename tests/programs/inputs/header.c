// SPDX-License-Identifier: MIT
// The first bytes of a file.
// FILE: data.bin abcdefgh
// ARGS: data.bin
#include "shared.h"

#include <fcntl.h>

struct header {
	unsigned magic;
	unsigned short version, flags;
};

static struct header h;

static void *worker(void *unused)
{
	if (h.magic == 0x46534e31 && (h.flags & 0x8001) == 0x8001)
		add(1);
	return unused;
}

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open(argv[1], O_RDONLY) : -1;

	if (fd < 0 || read(fd, &h, sizeof h) != sizeof h)
		return 1;
	close(fd);
	run_both(worker, worker);
	return 0;
}
