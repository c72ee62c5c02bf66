/* SPDX-License-Identifier: MIT */
#include "stock.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "cli/cc_flags.h"
#include "symbols/elf_file.h"

enum { SCRIPTS_MOST = 4, LIBRARIES_MOST = 256, LINE = 256 };

#if defined(__x86_64__)
enum { MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { MACHINE = EM_AARCH64 };
#else
enum { MACHINE = EM_NONE };
#endif

/* A library that was looked at is not looked at again. */
struct search {
	struct arena *arena;
	const char *seen[LIBRARIES_MOST];
	size_t count;
};

/* Where exec would find it; NULL: nowhere. */
static const char *find_program(struct arena *a, const char *name)
{
	const char *path = getenv("PATH");
	struct str s;

	if (strchr(name, '/'))
		return name;
	str_init(&s, a);
	for (size_t n; path; path = path[n] ? path + n + 1 : NULL) {
		struct stat st;

		n = strcspn(path, ":");
		str_clear(&s);
		str_printf(&s, "%.*s%s%s", (int)n, path, n ? "/" : "", name);
		if (stat(s.at, &st) == 0 && S_ISREG(st.st_mode) && access(s.at, X_OK) == 0)
			return s.at;
	}
	return NULL;
}

/* The interpreter of a script, as the kernel reads its first line; NULL: it is none. */
static const char *interpreter(struct arena *a, const char *path)
{
	char line[LINE + 1] = {0};
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, line, LINE);
	const char *from = line + 2;

	if (fd >= 0)
		close(fd);
	if (n < 3 || line[0] != '#' || line[1] != '!')
		return NULL;
	from += strspn(from, " \t");
	return arena_text(a, from, strcspn(from, " \t\n"));
}

/* Whether a library can be brought in at all. */

static const char *loader_of(const struct elf_file *f, char *to, size_t size)
{
	size_t count = 0;
	GElf_Phdr p;

	elf_getphdrnum(f->elf, &count);
	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(f->elf, (int)i, &p) && p.p_type == PT_INTERP) {
			size_t n = p.p_filesz < size - 1 ? p.p_filesz : size - 1;

			if (pread(f->fd, to, n, (off_t)p.p_offset) != (ssize_t)n)
				return NULL;
			to[n] = 0;
			return to;
		}
	return NULL;
}

/* The kernel tells the loader not to believe the environment of whoever gains rights by starting it. */
static bool gains_rights(const struct elf_file *f)
{
	struct stat st;

	if (fstat(f->fd, &st) != 0)
		return false;
	return (st.st_mode & S_ISUID && st.st_uid != getuid()) ||
	       ((st.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && st.st_gid != getgid()) ||
	       (getuid() != 0 && fgetxattr(f->fd, "security.capability", NULL, 0) > 0);
}

static void refuse_unfit(const struct elf_file *f, const char *path)
{
	static const char without[] = "cannot be checked without rebuilding";
	char loader[PATH_MAX];
	GElf_Ehdr header;
	const char *by = loader_of(f, loader, sizeof loader);

	if (MACHINE != EM_X86_64)
		die(STATUS_UNFIT, "%s: programs %s on x86-64 only; build it with fission-cc", path, "can be checked as they are");
	if (!gelf_getehdr(f->elf, &header) || header.e_machine != MACHINE || header.e_ident[EI_CLASS] != ELFCLASS64)
		die(STATUS_UNFIT, "%s: %s: it is a program for another machine than Fission's library", path, without);
	if (!by)
		die(STATUS_UNFIT, "%s: %s: it is statically linked, so that no library can be put in front of the C library; "
			"link it without -static, or build it with fission-cc", path, without);
	if (strstr(by, "ld-musl"))
		die(STATUS_UNFIT, "%s: %s: its C library is musl, and Fission's library is for glibc", path, without);
	if (gains_rights(f))
		die(STATUS_UNFIT, "%s: %s: it runs with rights of its own (setuid, setgid or capabilities), and the loader "
			"takes no library from others then; run a copy without them", path, without);
}

/* Whether fission-cc had a hand in it. */

static bool is_instrumented(struct search *s, const char *path);

/* A library that the program brings along: those of the system were not built with fission-cc. */
static bool is_in(struct search *s, const char *directories, const char *origin, const char *name)
{
	struct str file;

	str_init(&file, s->arena);
	for (size_t n; directories; directories = directories[n] ? directories + n + 1 : NULL) {
		static const char word[] = "$ORIGIN";
		bool own = strncmp(directories, word, sizeof word - 1) == 0;

		n = strcspn(directories, ":");
		str_clear(&file);
		if (own)
			str_printf(&file, "%.*s", (int)(strrchr(origin, '/') ? strrchr(origin, '/') - origin : 1),
				strrchr(origin, '/') ? origin : ".");
		str_printf(&file, "%.*s/%s", (int)(own ? n - (sizeof word - 1) : n),
			own ? directories + sizeof word - 1 : directories, name);
		if (access(file.at, R_OK) == 0)
			return is_instrumented(s, file.at);
	}
	return false;
}

static bool needs_fission(struct search *s, const struct elf_file *f, const char *path)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_file_section(f, ".dynamic", &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	const char *directories = getenv("LD_LIBRARY_PATH");
	GElf_Dyn d;

	for (int i = 0; data && gelf_getdyn(data, i, &d) && d.d_tag != DT_NULL; i++)
		if (d.d_tag == DT_RUNPATH || d.d_tag == DT_RPATH)
			directories = elf_strptr(f->elf, header.sh_link, d.d_un.d_val);
	for (int i = 0; data && gelf_getdyn(data, i, &d) && d.d_tag != DT_NULL; i++) {
		const char *name = d.d_tag == DT_NEEDED ? elf_strptr(f->elf, header.sh_link, d.d_un.d_val) : NULL;

		if (name && (strcmp(name, "libfission.so") == 0 || is_in(s, directories, path, name)))
			return true;
	}
	return false;
}

static bool has_hooks(const struct elf_file *f)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_file_section(f, ".dynsym", &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	GElf_Sym symbol;

	for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
		const char *name = elf_strptr(f->elf, header.sh_link, symbol.st_name);

		if (name && symbol.st_shndx == SHN_UNDEF && strncmp(name, "__tsan_", 7) == 0)
			return true;
	}
	return false;
}

static bool is_instrumented(struct search *s, const char *path)
{
	struct elf_file f;
	bool found;

	for (size_t i = 0; i < s->count; i++)
		if (strcmp(s->seen[i], path) == 0)
			return false;
	if (s->count == LIBRARIES_MOST || !elf_file_open(&f, path))
		return false;
	s->seen[s->count++] = path;
	found = has_hooks(&f) || needs_fission(s, &f, path);
	elf_file_close(&f);
	return found;
}

const char *stock_library(struct arena *a, const char *program)
{
	struct search s = {.arena = a};
	const char *path = find_program(a, program), *by;
	struct elf_file f;
	struct str library;

	for (int i = 0; path && i < SCRIPTS_MOST && (by = interpreter(a, path)) != NULL; i++)
		path = by;
	if (!path || access(path, X_OK) != 0 || is_instrumented(&s, path) || !elf_file_open(&f, path))
		return NULL;
	refuse_unfit(&f, path);
	elf_file_close(&f);
	str_init(&library, a);
	str_printf(&library, "%s/libfission.so", cc_flags_directory(a));
	if (access(library.at, R_OK) != 0)
		die(STATUS_UNFIT, "%s is not there; install Fission as a whole", library.at);
	if (strpbrk(library.at, ": "))
		die(STATUS_UNFIT, "%s: a path with a colon or a space cannot be preloaded; install Fission elsewhere", library.at);
	return library.at;
}

void stock_say(const char *program)
{
	warn("%s was not built with fission-cc: only its locks are seen, and findings are 'suspected' at best; "
		"rebuild it with fission-cc for more", program);
}
