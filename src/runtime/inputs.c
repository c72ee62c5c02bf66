/* SPDX-License-Identifier: MIT */
#include "inputs.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/hash.h"
#include "runtime/access.h"
#include "runtime/os.h"
#include "runtime/real.h"
#include "runtime/self.h"
#include "runtime/walk.h"

enum { NAMES_MOST = 256, RUNS_MOST = 1 << 16, FILES_MOST = 256 };

EXPORT void __fission_input(void *at, unsigned long bytes, const char *name);

/* Expressions that were made one after the other, of bytes that stand one behind the other. */
struct run {
	expr_id first;
	uint32_t count;
	struct place from;
};

static struct run *runs;
static uint32_t run_count;

static struct {
	uint64_t key; /* of the source and the text */
} names[NAMES_MOST];
static uint32_t name_count;

static struct {
	uint64_t file;  /* os_file() */
	uint64_t index; /* of its name */
} files[FILES_MOST];
static uint32_t file_count;

static uint64_t stdin_file;

static size_t length_of(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

static bool same(const char *a, const char *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

/* What is given. */

static struct {
	const char *at;
	size_t bytes;
	bool looked;
} given;

static void open_given(void)
{
	const char *path = self_variable(WALK_GIVEN_VARIABLE);
	long fd = path ? os_open(path, O_RDONLY | O_CLOEXEC) : -1, bytes = fd < 0 ? 0 : os_size((int)fd);

	given.looked = true;
	given.at = bytes > 0 ? os_map_read((size_t)bytes, (int)fd) : NULL;
	given.bytes = given.at ? (size_t)bytes : 0;
	if (fd >= 0)
		os_close((int)fd);
}

/* One entry of the file. */
struct entry_given {
	struct walk_given head;
	const char *name, *value;
};

static bool next_given(size_t *at, struct entry_given *to)
{
	const char *from = given.at + *at;

	if (given.bytes - *at < sizeof to->head)
		return false;
	for (size_t i = 0; i < sizeof to->head; i++)
		((char *)&to->head)[i] = from[i];
	*at += sizeof to->head;
	if (to->head.name > given.bytes - *at || to->head.value >= given.bytes - *at - to->head.name)
		return false;
	to->name = given.at + *at;
	to->value = to->name + to->head.name;
	*at += (size_t)to->head.name + to->head.value + 1;
	return true;
}

/* The value given for that name; NULL: none. */
static const char *find_given(enum walk_source source, const char *name, size_t *length)
{
	struct entry_given g;
	size_t n;

	if (!given.looked)
		open_given();
	if (!given.at) /* then the name is not looked at: whoever opens a path that is none is told so by the system */
		return NULL;
	n = length_of(name);
	for (size_t at = 0; next_given(&at, &g);)
		if (g.head.source == (uint32_t)source && g.head.name == n && same(g.name, name, n)) {
			*length = g.head.value;
			return g.value;
		}
	return NULL;
}

/* Names and places. */

static uint64_t eight_of(const char *text, size_t at, size_t length)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < 8 && at + i < length; i++)
		bytes |= (uint64_t)(unsigned char)text[at + i] << 8 * i;
	return bytes;
}

/* Not by hash_bytes(), which calls memcpy: that would be one of the program's. */
static uint64_t key_of(enum walk_source source, const char *name, size_t n)
{
	uint64_t key = source + 1u;

	for (size_t at = 0; at <= n; at += 8)
		key = hash_pair(key, eight_of(name, at, n));
	return key;
}

uint64_t inputs_name(enum walk_source source, const char *name)
{
	size_t n = length_of(name);
	uint64_t key = key_of(source, name, n), of;

	for (uint32_t i = 0; i < name_count; i++)
		if (names[i].key == key)
			return i + 1;
	if (name_count == NAMES_MOST)
		return 0;
	names[name_count++].key = key;
	of = walk_input_source(source, name_count);
	for (size_t at = 0; at <= n; at += 8)
		walk_put((struct walk_record){.kind = WALK_NAME, .ordinal = (uint32_t)at, .a = of, .b = eight_of(name, at, n)});
	return name_count;
}

static struct run *new_run(expr_id first, struct place from)
{
	struct run *r;

	if (!runs)
		runs = os_map(RUNS_MOST * sizeof *runs, -1);
	if (!runs || !first || run_count == RUNS_MOST)
		return NULL;
	r = &runs[run_count++];
	r->first = first;
	r->count = 0;
	r->from = from;
	return r;
}

static expr_id input_of(struct place p, uint8_t value)
{
	struct symbolic_source s = {.source = p.source, .index = p.index, .offset = p.offset, .width = 8, .value = value};

	return symbolic_input(&s);
}

void inputs_mark(const void *at, size_t bytes, struct place from)
{
	const uint8_t *byte = at;
	struct run *r = NULL;

	for (size_t i = 0; i < bytes; i++, from.offset++) {
		expr_id e = from.offset < INPUTS_BYTES_MOST ? input_of(from, byte[i]) : 0;

		symbolic_set(byte + i, 1, e);
		if (!r || e != r->first + r->count)
			r = new_run(e, from);
		if (r)
			r->count++;
	}
}

bool inputs_origin(expr_id e, struct place *to)
{
	uint32_t low = 0, high = run_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (runs[middle].first <= e)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || e - runs[low - 1].first >= runs[low - 1].count)
		return false;
	*to = runs[low - 1].from;
	to->offset += e - runs[low - 1].first;
	return true;
}

bool inputs_grows(struct place p)
{
	return p.source == WALK_ARGV || p.source == WALK_ENV;
}

expr_id inputs_beyond(struct place p)
{
	return p.offset < INPUTS_BYTES_MOST ? input_of(p, 0) : 0;
}

void inputs_start(int argc, char **argv)
{
	if (!walk_on)
		return;
	stdin_file = os_file(STDIN_FILENO);
	for (int i = 1; i < argc && argv[i]; i++)
		inputs_mark(argv[i], length_of(argv[i]) + 1, (struct place){WALK_ARGV, (uint64_t)i, 0});
}

/* fission_input(). */

static bool is_number(size_t bytes)
{
	return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

static void mark_named(const void *at, size_t bytes, const char *name)
{
	struct place p = {WALK_NAMED, inputs_name(WALK_NAMED, name), 0};
	struct symbolic_source s = {.source = WALK_NAMED, .index = p.index, .width = 8 * (unsigned)bytes,
		.value = eight_of(at, 0, bytes)};

	if (!p.index)
		return;
	if (is_number(bytes))
		symbolic_set(at, (unsigned)bytes, symbolic_input(&s));
	else
		inputs_mark(at, bytes, p);
}

void __fission_input(void *at, unsigned long bytes, const char *name)
{
	size_t length = 0;
	const char *value = find_given(WALK_NAMED, name, &length);
	char *to = at;

	if (self_ring && value)
		access_range(ENTRY_WRITE_RANGE, at, bytes, CALLER);
	for (size_t i = 0; value && i < bytes && i < length; i++)
		to[i] = value[i];
	if (walk_on)
		mark_named(at, bytes, name);
}

/* Files. */

static bool is_of_system(const char *path)
{
	static const char *const places[] = {"/dev/", "/proc/", "/sys/", "/etc/", "/usr/", "/lib", "/run/", "/var/"};

	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		size_t n = 0;

		while (places[i][n] && path[n] == places[i][n])
			n++;
		if (!places[i][n])
			return true;
	}
	return false;
}

const char *inputs_path(const char *path)
{
	size_t length = 0;
	const char *other = path ? find_given(WALK_FILE, path, &length) : NULL;

	return other && !other[length] ? other : path;
}

void inputs_opened(int fd, const char *path)
{
	uint64_t file;

	if (!walk_on || fd < 0 || !path || is_of_system(path) || file_count == FILES_MOST)
		return;
	file = os_file(fd);
	for (uint32_t i = 0; i < file_count; i++)
		if (files[i].file == file)
			return;
	files[file_count].index = inputs_name(WALK_FILE, path);
	files[file_count++].file = file;
}

bool inputs_descriptor(int fd, struct place *to)
{
	uint64_t file = os_file(fd);

	*to = (struct place){WALK_STDIN, 0, 0};
	if (file && file == stdin_file)
		return true;
	for (uint32_t i = 0; i < file_count; i++)
		if (files[i].file == file && files[i].index) {
			*to = (struct place){WALK_FILE, files[i].index, 0};
			return true;
		}
	return false;
}

int64_t inputs_position(int fd)
{
	struct place p;
	int error = errno;
	int64_t at = walk_on && inputs_descriptor(fd, &p) ? lseek(fd, 0, SEEK_CUR) : -1;

	errno = error;
	return at;
}

void inputs_have_read(int fd, int64_t at, const void *to, int64_t bytes)
{
	struct place p;

	if (!walk_on || bytes <= 0)
		return;
	if (at < 0 || at >= INPUTS_BYTES_MOST || !inputs_descriptor(fd, &p)) {
		symbolic_clear(to, (size_t)bytes);
		return;
	}
	p.offset = (uint32_t)at;
	inputs_mark(to, (size_t)bytes, p);
}
