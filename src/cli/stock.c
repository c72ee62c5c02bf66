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

/* What was looked at is not looked at again. */
struct search {
	struct arena *arena;
	const char *seen[LIBRARIES_MOST];
	size_t count;
	bool hooks, threads; /* found */
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

/* What the program and its libraries have: hooks of fission-cc; threads. */

static void visit(struct search *s, const char *path);

/* Where the loader would look, but for its cache: a directory of the list, with $ORIGIN for the file's own. */
static bool visit_in(struct search *s, const char *directories, const char *origin, const char *name)
{
	static const char word[] = "$ORIGIN";
	const char *slash = strrchr(origin, '/');
	struct str file;

	str_init(&file, s->arena);
	for (size_t n; directories; directories = directories[n] ? directories + n + 1 : NULL) {
		size_t own = strncmp(directories, word, sizeof word - 1) == 0 ? sizeof word - 1 : 0;

		n = strcspn(directories, ":");
		str_clear(&file);
		if (own)
			str_printf(&file, "%.*s", slash ? (int)(slash - origin) : 1, slash ? origin : ".");
		str_printf(&file, "%.*s/%s", (int)(n - own), directories + own, name);
		if (access(file.at, R_OK) != 0)
			continue;
		visit(s, file.at);
		return true;
	}
	return false;
}

static void visit_needed(struct search *s, const struct elf_file *f, const char *path)
{
	static const char system[] = "/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib64:/usr/lib64:/usr/local/lib:/usr/lib";
	GElf_Shdr header;
	Elf_Scn *section = elf_file_section(f, ".dynamic", &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	const char *own = NULL;
	GElf_Dyn d;

	for (int i = 0; data && gelf_getdyn(data, i, &d) && d.d_tag != DT_NULL; i++)
		if (d.d_tag == DT_RUNPATH || d.d_tag == DT_RPATH)
			own = elf_strptr(f->elf, header.sh_link, d.d_un.d_val);
	for (int i = 0; data && gelf_getdyn(data, i, &d) && d.d_tag != DT_NULL; i++) {
		const char *name = d.d_tag == DT_NEEDED ? elf_strptr(f->elf, header.sh_link, d.d_un.d_val) : NULL;

		if (!name)
			continue;
		s->hooks |= strcmp(name, "libfission.so") == 0;
		if (!visit_in(s, own, path, name) && !visit_in(s, getenv("LD_LIBRARY_PATH"), path, name))
			visit_in(s, system, path, name);
	}
}

static void visit_symbols(struct search *s, const struct elf_file *f)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_file_section(f, ".dynsym", &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	GElf_Sym symbol;

	for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
		const char *name = elf_strptr(f->elf, header.sh_link, symbol.st_name);

		if (!name || symbol.st_shndx != SHN_UNDEF)
			continue;
		s->hooks |= strncmp(name, "__tsan_", 7) == 0;
		s->threads |= strcmp(name, "pthread_create") == 0 || strcmp(name, "thrd_create") == 0;
	}
}

static void visit(struct search *s, const char *path)
{
	struct elf_file f;

	for (size_t i = 0; i < s->count; i++)
		if (strcmp(s->seen[i], path) == 0)
			return;
	if (s->count == LIBRARIES_MOST || !elf_file_open(&f, path))
		return;
	s->seen[s->count++] = arena_text(s->arena, path, strlen(path));
	visit_symbols(s, &f);
	visit_needed(s, &f, path);
	elf_file_close(&f);
}

/* The library itself. */
static const char *library(struct arena *a)
{
	struct str s;

	str_init(&s, a);
	str_printf(&s, "%s/libfission.so", cc_flags_directory(a));
	if (access(s.at, R_OK) != 0)
		die(STATUS_UNFIT, "%s is not there; install Fission as a whole", s.at);
	if (strpbrk(s.at, ": "))
		die(STATUS_UNFIT, "%s: a path with a colon or a space cannot be preloaded; install Fission elsewhere", s.at);
	return s.at;
}

const char *stock_library(struct arena *a, const char *program)
{
	struct search s = {.arena = a};
	const char *path = find_program(a, program), *by;
	struct elf_file f;

	for (int i = 0; path && i < SCRIPTS_MOST && (by = interpreter(a, path)) != NULL; i++)
		path = by;
	if (!path || access(path, X_OK) != 0 || !elf_file_open(&f, path))
		return NULL;
	visit(&s, path);
	if (!s.hooks)
		refuse_unfit(&f, path);
	elf_file_close(&f);
	return s.hooks || !s.threads ? NULL : library(a);
}

void stock_say(const char *program)
{
	warn("%s was not built with fission-cc: only its locks are seen, and findings are 'suspected' at best; "
		"rebuild it with fission-cc for more", program);
}

void stock_say_chase(const char *program)
{
	warn("%s was not built with fission-cc: it is driven at its locks, and what is reproduced are splits by locks, whatever "
		"they do to the data; rebuild it with fission-cc for more", program);
}
