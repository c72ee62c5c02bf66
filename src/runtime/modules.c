/* SPDX-License-Identifier: MIT */
#include "modules.h"

#include <link.h>

#include "runtime/os.h"
#include "runtime/self.h"

/* The end of what the module's segments span. */
static uintptr_t span_of(const struct dl_phdr_info *info)
{
	uintptr_t end = 0;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && p->p_vaddr + p->p_memsz > end)
			end = p->p_vaddr + p->p_memsz;
	}
	return end;
}

/*
 * The main program has no name here and may have changed its argv[0]; and when the collector reads this, the process may
 * be gone. So it is asked for at once.
 */
static const char *name_of(const struct dl_phdr_info *info, char *room, size_t n)
{
	long length;

	if (info->dlpi_name && info->dlpi_name[0])
		return info->dlpi_name;
	length = os_readlink("/proc/self/exe", room, n - 1);
	room[length > 0 ? length : 0] = 0;
	return room;
}

static int tell(struct dl_phdr_info *info, size_t size, void *to)
{
	struct self *s = to;
	char room[TEXT_MOST];

	(void)size;
	self_put(s, entry_first(ENTRY_SIZE, 0, 0), span_of(info));
	self_text(s, ENTRY_MODULE, (void *)info->dlpi_addr, NULL, name_of(info, room, sizeof room));
	return 0;
}

void modules_tell(struct self *s)
{
	dl_iterate_phdr(tell, s);
}
