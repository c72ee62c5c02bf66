/* SPDX-License-Identifier: MIT */
#include "elf_file.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>

#include "base/arena.h"
#include "base/str.h"

/* Without O_NONBLOCK a pipe of that name would hold us for ever. */
static int open_regular(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
		close(fd);
		return -1;
	}
	return fd;
}

bool elf_file_open(struct elf_file *f, const char *path)
{
	*f = (struct elf_file){.fd = -1};
	elf_version(EV_CURRENT);
	f->fd = open_regular(path);
	if (f->fd >= 0)
		f->elf = elf_begin(f->fd, ELF_C_READ, NULL);
	if (f->elf && elf_kind(f->elf) == ELF_K_ELF)
		return true;
	elf_file_close(f);
	return false;
}

void elf_file_close(struct elf_file *f)
{
	elf_end(f->elf);
	if (f->fd >= 0)
		close(f->fd);
	*f = (struct elf_file){.fd = -1};
}

Elf_Scn *elf_file_section(const struct elf_file *f, const char *name, GElf_Shdr *header)
{
	size_t names;

	if (elf_getshdrstrndx(f->elf, &names))
		return NULL;
	for (Elf_Scn *scn = elf_nextscn(f->elf, NULL); scn; scn = elf_nextscn(f->elf, scn)) {
		const char *its = gelf_getshdr(scn, header) ? elf_strptr(f->elf, names, header->sh_name) : NULL;

		if (its && strcmp(its, name) == 0)
			return scn;
	}
	return NULL;
}

bool elf_file_has_debug(const struct elf_file *f)
{
	static const char *const names[] = {".debug_info", ".debug_line", ".zdebug_info"};
	GElf_Shdr header;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (elf_file_section(f, names[i], &header) && header.sh_type != SHT_NOBITS)
			return true;
	return false;
}

bool elf_file_strings_end(const struct elf_file *f)
{
	static const char *const names[] = {".debug_str", ".debug_line_str", ".zdebug_str", ".zdebug_line_str"};
	GElf_Shdr header;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		Elf_Scn *scn = elf_file_section(f, names[i], &header);
		Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;

		if (data && data->d_size > 0 && data->d_buf && ((const char *)data->d_buf)[data->d_size - 1] != 0)
			return false;
	}
	return true;
}

struct text elf_file_build_id(const struct elf_file *f, struct arena *a)
{
	const void *id;
	ssize_t n = dwelf_elf_gnu_build_id(f->elf, &id);
	struct str s;

	str_init(&s, a);
	for (ssize_t i = 0; i < n; i++)
		str_printf(&s, "%02x", ((const unsigned char *)id)[i]);
	return (struct text){s.at, s.length};
}

/* The checksum of .gnu_debuglink: CRC-32, bits reflected. */
static bool crc_of_file(int fd, uint32_t *crc)
{
	uint32_t table[256];
	unsigned char bytes[1 << 15];
	ssize_t n = 0;

	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xEDB88320u : 0);
	}
	*crc = ~0u;
	for (off_t at = 0; (n = pread(fd, bytes, sizeof bytes, at)) > 0; at += n)
		for (ssize_t i = 0; i < n; i++)
			*crc = table[(*crc ^ bytes[i]) & 255] ^ *crc >> 8;
	*crc = ~*crc;
	return n == 0;
}

/* What a debug file must be to belong to another file. */
struct kin {
	struct text build_id;
	bool has_crc;
	GElf_Word crc;
};

static bool is_kin(const struct elf_file *f, const struct kin *kin, struct arena *a)
{
	struct text id = elf_file_build_id(f, a);
	uint32_t crc;

	if (kin->build_id.length > 0 && id.length > 0)
		return id.length == kin->build_id.length && memcmp(id.at, kin->build_id.at, id.length) == 0;
	return kin->has_crc && crc_of_file(f->fd, &crc) && crc == kin->crc;
}

static bool try_debug(struct elf_file *debug, const char *path, const struct kin *kin, struct arena *a)
{
	if (!elf_file_open(debug, path))
		return false;
	if (elf_file_has_debug(debug) && is_kin(debug, kin, a))
		return true;
	elf_file_close(debug);
	return false;
}

static bool by_link(struct elf_file *debug, const char *name, const struct kin *kin, const char *path, const char *root,
	struct arena *a)
{
	char *real = realpath(path, NULL);
	int dir = real ? (int)(strrchr(real, '/') - real) : 0;
	const char *const before[] = {"", "", root}, *const between[] = {"/", "/.debug/", "/"};
	bool found = false;
	struct str s;

	str_init(&s, a);
	for (int i = 0; real && i < 3 && !found; i++) {
		str_clear(&s);
		str_printf(&s, "%s%.*s%s%s", before[i], dir, real, between[i], name);
		found = try_debug(debug, s.at, kin, a);
	}
	free(real);
	return found;
}

bool elf_file_open_debug(struct elf_file *debug, const struct elf_file *f, const char *path, const char *root,
	struct arena *a)
{
	struct kin kin = {.build_id = elf_file_build_id(f, a)};
	const char *link = dwelf_elf_gnu_debuglink(f->elf, &kin.crc);
	struct str s;

	*debug = (struct elf_file){.fd = -1};
	str_init(&s, a);
	if (kin.build_id.length > 2) {
		str_printf(&s, "%s/.build-id/%.2s/%s.debug", root, kin.build_id.at, kin.build_id.at + 2);
		if (try_debug(debug, s.at, &kin, a))
			return true;
	}
	kin.has_crc = link != NULL;
	return link && *link && !strchr(link, '/') && by_link(debug, link, &kin, path, root, a);
}
