/* SPDX-License-Identifier: MIT */
#include "run_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/output.h"
#include "base/str.h"
#include "report/look.h"
#include "report/report.h"
#include "report/story.h"

/* Of the directory; the JSON has its own. */
enum { LAYOUT = 1, PATH_MOST = 4096 };

#define MARK RUN_DIR " "
#define REPLAYS "/replays"

enum { MEMBER_VERSION, MEMBER_FINDINGS, MEMBER_REPORT, MEMBERS };

static const char *const members[MEMBERS] = {"version", "findings.json", "report.txt"};

static bool fail(struct fault *fault, const char *path, int error)
{
	fault_set(fault, STATUS_UNFIT, "%s: %s", path, strerror(error));
	return false;
}

static bool join(char to[PATH_MOST], const char *path, const char *ending)
{
	return snprintf(to, PATH_MOST, "%s%s", path, ending) < PATH_MOST;
}

/* Where the directory is, behind links and without slashes at its end. */
static bool resolve(char to[PATH_MOST], const char *path, struct fault *fault)
{
	char *real = realpath(path, NULL);
	bool fits = join(to, real ? real : path, "");
	size_t n = strlen(to);

	free(real);
	while (n > 1 && to[n - 1] == '/')
		to[--n] = '\0';
	if (fits && n)
		return true;
	return fail(fault, path, n ? ENAMETOOLONG : ENOENT);
}

/* The layout's number, 0 if the directory is not ours. */
static int layout_of(const char *path)
{
	char name[PATH_MOST], text[32] = "";
	FILE *file = join(name, path, "/version") ? fopen(name, "re") : NULL;
	int layout = 0;

	if (file && fgets(text, sizeof text, file) && strncmp(text, MARK, sizeof MARK - 1) == 0)
		layout = atoi(text + sizeof MARK - 1);
	if (file)
		fclose(file);
	return layout > 0 ? layout : 0;
}

static bool is_member(const char *name)
{
	bool found = strcmp(name, &REPLAYS[1]) == 0;

	for (size_t i = 0; i < MEMBERS; i++)
		found |= strcmp(name, members[i]) == 0;
	return found;
}

static bool is_replay(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && strcmp(dot, ".replay") == 0;
}

/* Whether it is a directory that has nothing but what is ours; NULL: nothing is. */
static bool has_only(const char *path, bool (*ours)(const char *name))
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	bool only = dir;

	while (dir && (entry = readdir(dir)))
		only &= strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 || (ours && ours(entry->d_name));
	if (dir)
		closedir(dir);
	return only;
}

static bool has_only_ours(const char *path)
{
	char replays[PATH_MOST];

	return has_only(path, is_member) && join(replays, path, REPLAYS) &&
		(access(replays, F_OK) != 0 || has_only(replays, is_replay));
}

bool run_dir_check(const char *path, struct fault *fault)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return errno == ENOENT || fail(fault, path, errno);
	if (S_ISDIR(st.st_mode) && (layout_of(path) || has_only(path, NULL)))
		return true;
	fault_set(fault, STATUS_UNFIT, "%s: is there, and was not written by fission; --out=DIR names another directory, --no-out "
		"writes none", path);
	return false;
}

/* What goes into a directory. */
struct contents {
	const struct story *story; /* has the replay files */
	struct str text[MEMBERS];
};

/* The replay files, and their directory if nothing else is in it. */
static void discard_replays(const char *path)
{
	char dir[PATH_MOST], name[PATH_MOST];
	DIR *list = join(dir, path, REPLAYS) ? opendir(dir) : NULL;
	struct dirent *entry;

	while (list && (entry = readdir(list)))
		if (is_replay(entry->d_name) && snprintf(name, sizeof name, "%s/%s", dir, entry->d_name) < PATH_MOST)
			unlink(name);
	if (list) {
		closedir(list);
		rmdir(dir);
	}
}

/*
 * Removes a directory of ours, perhaps half of one. What somebody has put into it is not ours, and keeps all of it where
 * it is.
 */
static bool discard(const char *path, struct fault *fault)
{
	char name[PATH_MOST];

	if (!has_only_ours(path)) {
		fault_set(fault, STATUS_UNFIT, "%s: holds files that are not fission's; move them elsewhere", path);
		return false;
	}
	discard_replays(path);
	for (size_t i = MEMBERS; i-- > 0;)
		if (snprintf(name, sizeof name, "%s/%s", path, members[i]) < PATH_MOST)
			unlink(name);
	return rmdir(path) == 0 || fail(fault, path, errno);
}

static bool write_member(const char *path, const char *member, struct text text, struct fault *fault)
{
	char name[PATH_MOST];
	struct output out;

	if (snprintf(name, sizeof name, "%s/%s", path, member) >= PATH_MOST)
		return fail(fault, path, ENAMETOOLONG);
	if (output_open(&out, name))
		output_write(&out, text.at, text.length);
	if (!fault_is_set(&out.fault) && output_commit(&out))
		return true;
	*fault = out.fault;
	return false;
}

static bool write_replays(const char *path, const struct story *s, struct fault *fault)
{
	char dir[PATH_MOST];

	if (!s->files)
		return true;
	if (!join(dir, path, REPLAYS) || mkdir(dir, 0777) != 0)
		return fail(fault, path, errno);
	for (size_t i = 0; i < s->files; i++) {
		if (strchr(s->file[i].name.at, '/')) /* of a result that somebody else has made */
			return fail(fault, dir, EINVAL);
		if (!write_member(dir, s->file[i].name.at, s->file[i].content, fault))
			return false;
	}
	return true;
}

/* The version last, so that half of a directory is not taken for one. */
static bool write_members(const char *path, const struct contents *c, struct fault *fault)
{
	mode_t mask = umask(0);

	umask(mask);
	if (chmod(path, 0777 & ~mask) != 0)
		return fail(fault, path, errno);
	if (!write_replays(path, c->story, fault))
		return false;
	for (size_t i = MEMBERS; i-- > 0;)
		if (!write_member(path, members[i], (struct text){c->text[i].at, c->text[i].length}, fault))
			return false;
	return true;
}

static void render_members(struct contents *c)
{
	const struct story *s = c->story;
	struct str *text = c->text;

	for (size_t i = 0; i < MEMBERS; i++)
		str_init(&text[i], s->arena);
	str_printf(&text[MEMBER_VERSION], MARK "%d\n", LAYOUT);
	renderer_named("json")->render(s, &look_plain, &text[MEMBER_FINDINGS]);
	renderer_named("text")->render(s, &look_plain, &text[MEMBER_REPORT]);
}

/* The new one takes the place, the one that was there becomes the old one. */
static bool replace(const char *fresh, const char *path, struct fault *fault)
{
	char old[PATH_MOST];

	if (!join(old, path, ".old"))
		return fail(fault, path, ENAMETOOLONG);
	if (access(path, F_OK) != 0)
		return rename(fresh, path) == 0 || fail(fault, path, errno);
	if (access(old, F_OK) == 0 && !(run_dir_check(old, fault) && discard(old, fault)))
		return false;
	/* Exchanged, there is one at every moment; some file systems cannot do that. */
	if (renameat2(AT_FDCWD, fresh, AT_FDCWD, path, RENAME_EXCHANGE) == 0)
		return rename(fresh, old) == 0 || fail(fault, old, errno);
	return (rename(path, old) == 0 && rename(fresh, path) == 0) || fail(fault, path, errno);
}

/* Runs that end at the same time take turns. */
static bool put_into_place(const char *fresh, const char *place, struct fault *fault)
{
	int lock = output_lock(place);
	bool done = replace(fresh, place, fault);

	if (lock >= 0)
		close(lock);
	return done;
}

static bool write_beside(char fresh[PATH_MOST], const char *place, const struct contents *c, struct fault *fault)
{
	if (!mkdtemp(fresh))
		return fail(fault, place, errno);
	if (write_members(fresh, c, fault) && put_into_place(fresh, place, fault))
		return true;
	discard(fresh, &(struct fault){0});
	return false;
}

/* Texts first: what takes long can be interrupted, and a directory that is begun is finished. */
bool run_dir_write(const char *path, const struct story *s, struct fault *fault)
{
	char place[PATH_MOST], fresh[PATH_MOST];
	struct contents contents = {.story = s};
	sigset_t ending, former;
	bool done;

	if (!run_dir_check(path, fault) || !resolve(place, path, fault))
		return false;
	if (!join(fresh, place, ".XXXXXX"))
		return fail(fault, path, ENAMETOOLONG);
	render_members(&contents);
	sigfillset(&ending);
	sigprocmask(SIG_BLOCK, &ending, &former);
	done = write_beside(fresh, place, &contents, fault);
	sigprocmask(SIG_SETMASK, &former, NULL);
	return done;
}

bool run_dir_read(struct story *s, struct arena *a, const char *path, struct fault *fault)
{
	const char *from = path ? path : RUN_DIR;
	char name[PATH_MOST];
	struct stat st;

	if (strcmp(from, "-") == 0 || (stat(from, &st) == 0 && !S_ISDIR(st.st_mode)))
		return story_read(s, a, from, fault);
	if (access(from, F_OK) != 0)
		fault_set(fault, STATUS_USAGE, "%s: %s; 'fission run PROGRAM' writes " RUN_DIR ", --from=DIR names another directory "
			"or a JSON report", from, strerror(errno));
	else if (layout_of(from) == 0)
		fault_set(fault, STATUS_USAGE, "%s: not a directory that fission has written", from);
	else if (layout_of(from) > LAYOUT)
		fault_set(fault, STATUS_TRACE, "%s: written by a newer fission, which is needed to read it", from);
	else if (!join(name, from, "/findings.json"))
		fail(fault, from, ENAMETOOLONG);
	return !fault_is_set(fault) && story_read(s, a, name, fault);
}
