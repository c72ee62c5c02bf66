/* SPDX-License-Identifier: MIT */
/*
 * Workers that GNU parallel places: over ssh on the hosts of a file, or by srun on the nodes of one allocation of
 * Slurm.
 *
 * One process of parallel lives as long as the search does and reads names of batches from a pipe, so new work is fed
 * while other work runs. A batch is a pack (pack.h) with its units and traces; what all units need, as the program,
 * goes to each host once. What comes back is a pack of results. So no files need be shared.
 *
 * A batch has ended when its results are there for all of its units, or when parallel's log says so: it has retried it
 * elsewhere by then. While parallel waits for input it does not look after its jobs, so it is given an empty batch now
 * and then.
 *
 * When we end, however that is, a guard ends parallel, which ends the ssh or srun of each job, and with those the
 * workers.
 */
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/str.h"
#include "report/story.h"
#include "scale/pack.h"
#include "scale/record.h"
#include "scale/results.h"
#include "scale/unit.h"

enum { WORDS = 64, TICK_MS = 1000, TICK_LOST_MS = 20000, GRACE_MS = 2000, STEP_MS = 20, SLACK = 30 };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

/* "DIR/17.pack", and what comes back. */
static const char *batch_file(const struct launch *l, unsigned number, const char *ending, char to[DEPOT_PATH])
{
	snprintf(to, DEPOT_PATH, "%.3900s/%u.pack%s", l->dir, number, ending);
	return to;
}

static const char *in_dir(const struct launch *l, const char *name, char to[DEPOT_PATH])
{
	snprintf(to, DEPOT_PATH, "%.3900s/%s", l->dir, name);
	return to;
}

/* Packs. */

/* A pack that is being made, in an arena of its own. */
struct packing {
	const struct launch *l;
	struct arena arena;
	struct str pack;
	struct fault *fault;
};

static void begin(struct packing *p)
{
	arena_init(&p->arena);
	str_init(&p->pack, &p->arena);
	pack_begin(&p->pack);
}

static bool finish(struct packing *p, const char *path, bool good)
{
	good = good && pack_leave(path, (struct text){p->pack.at, p->pack.length}, p->fault);
	arena_free(&p->arena);
	return good;
}

static bool add_file(struct packing *p, const struct unit_file *f)
{
	char path[DEPOT_PATH];
	struct text bytes;

	depot_file(p->l->setup.depot, f, path);
	if (!pack_slurp(&bytes, &p->arena, path, p->fault))
		return false;
	pack_add(&p->pack, "file", f->name, bytes);
	return true;
}

/* Of a unit's files its traces, or all the others. */
static bool add_files(struct packing *p, struct text unit, bool traces)
{
	struct record_field f;
	struct unit_file file;

	while (record_next(&unit, &f))
		if (text_is(f.name, "file") && unit_file(f.value, &file) && text_is(file.role, "trace") == traces &&
			!add_file(p, &file))
			return false;
	return true;
}

static bool read_unit(struct packing *p, const struct launch_task *t, struct text *to)
{
	char path[DEPOT_PATH];

	depot_path(p->l->setup.depot, "units", t->id.hex, path);
	return pack_slurp(to, &p->arena, path, p->fault);
}

static bool write_batch(struct launch *l, const struct launch_batch *b, struct fault *fault)
{
	struct packing p = {.l = l, .fault = fault};
	char path[DEPOT_PATH];
	struct text unit;
	bool good = true;

	begin(&p);
	for (size_t i = 0; good && i < b->count; i++) {
		const struct launch_task *t = &l->task[b->task[i]];

		good = read_unit(&p, t, &unit) && add_files(&p, unit, true);
		if (good)
			pack_add(&p.pack, "unit", (struct text){t->id.hex, ADDRESS}, unit);
	}
	return finish(&p, batch_file(l, b->number, "", path), good);
}

/* What all units need: those of one campaign have it in common. */
static bool write_common(struct launch *l, const struct launch_batch *b, struct fault *fault)
{
	struct packing p = {.l = l, .fault = fault};
	char path[DEPOT_PATH];
	struct text unit;
	bool good;

	begin(&p);
	good = read_unit(&p, &l->task[b->task[0]], &unit) && add_files(&p, unit, false);
	return finish(&p, in_dir(l, "files.pack", path), good);
}

/* The command line. */

struct words {
	struct arena *arena;
	const char *at[WORDS];
	size_t count;
};

static void add(struct words *w, const char *word)
{
	if (w->count < WORDS - 1)
		w->at[w->count++] = word;
}

__attribute__((format(printf, 2, 3))) static void addf(struct words *w, const char *format, ...)
{
	char word[DEPOT_PATH];
	va_list args;

	va_start(args, format);
	vsnprintf(word, sizeof word, format, args);
	va_end(args);
	add(w, arena_text(w->arena, word, strlen(word)));
}

static void add_parallel(struct words *w, const struct launch *l, double limit)
{
	add(w, "parallel");
	add(w, "--will-cite");
	addf(w, "-j%lu", l->setup.jobs);
	add(w, "--joblog");
	add(w, "log");
	addf(w, "--timeout=%.0f", 4 * limit + SLACK);
	add(w, "--retries=3");
	add(w, "--quote");
}

/*
 * A link that was cut is noticed, and nobody is asked for a password. All jobs of a host share one connection: to log
 * in costs more than most batches do. It stays a few seconds longer than it is used.
 */
static void add_hosts(struct words *w, const struct launch *l)
{
	const char *ssh = getenv("PARALLEL_SSH"), *name = strrchr(l->setup.depot->path, '/');

	if (!l->setup.hosts)
		return;
	addf(w, "--ssh=%s -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=5 -o ServerAliveCountMax=3 "
		"-o ControlMaster=auto -o ControlPersist=10 -o ControlPath=/tmp/fission-%d-%%C", ssh && *ssh ? ssh : "ssh",
		(int)getpid());
	addf(w, "--sshloginfile=%s", l->setup.hosts);
	addf(w, "--workdir=.fission/%s-%d", name ? name + 1 : "work", (int)getpid());
	add(w, "--basefile=files.pack");
	add(w, "--transferfile={}");
	add(w, "--return={}.results.pack");
	add(w, "--return={}.results.pack.side");
	add(w, "--cleanup");
}

static void add_work(struct words *w, const struct launch *l)
{
	char self[DEPOT_PATH];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	self[n > 0 ? n : 0] = 0;
	addf(w, "%s", l->setup.self ? l->setup.self : self);
	add(w, "work");
	add(w, "-o");
	add(w, "{}.results.pack");
	add(w, "{}");
}

static void add_allocation(struct words *w, const struct launch *l)
{
	add(w, "salloc");
	add(w, "--quiet");
	add(w, "--no-kill");
	add(w, "--job-name=fission");
	addf(w, "--ntasks=%lu", l->setup.jobs);
}

static void add_step(struct words *w)
{
	static const char *const step[] = {"srun", "--quiet", "--exact", "--nodes=1", "--ntasks=1", "--cpus-per-task=1"};

	for (size_t i = 0; i < sizeof step / sizeof *step; i++)
		add(w, step[i]);
}

static bool is_slurm(const struct launch *l)
{
	return l->setup.how == &launch_slurm;
}

/* Its process. */

_Noreturn static void become(const struct launch *l, const struct words *w, int input)
{
	char path[DEPOT_PATH];
	int log = open(in_dir(l, "said", path), O_WRONLY | O_CREAT | O_APPEND, 0666);

	setpgid(0, 0);
	dup2(input, 0);
	dup2(log, 1);
	dup2(log, 2);
	unsetenv("FISSION_OPTIONS");
	unsetenv("PARALLEL");
	if (chdir(l->dir) == 0)
		execvp(w->at[0], (char **)w->at);
	_exit(errno == ENOENT ? STATUS_UNFIT : STATUS_TOOL);
}

/* Ends the whole group: asks, asks again, which ends what still runs, and then insists. */
static void end_group(pid_t group)
{
	for (int times = 0; times < 2; times++) {
		kill(-group, SIGTERM);
		for (int ms = 0; ms < GRACE_MS / 4 && kill(-group, 0) == 0; ms += STEP_MS)
			pause_ms(STEP_MS);
	}
	for (int ms = 0; ms < GRACE_MS && kill(-group, 0) == 0; ms += STEP_MS)
		pause_ms(STEP_MS);
	kill(-group, SIGKILL);
}

/* A process that waits for nothing but our end. */
static void start_guard(struct launch *l)
{
	int ends[2];
	char byte;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return;
	l->guard = fork();
	if (l->guard == 0) {
		setpgid(0, 0);
		close(ends[1]);
		if (l->feed >= 0)
			close(l->feed);
		while (read(ends[0], &byte, 1) < 0 && errno == EINTR)
			;
		end_group(l->engine);
		_exit(0);
	}
	close(ends[0]);
	l->keep = ends[1];
}

static bool start_engine(struct launch *l, double limit, struct fault *fault)
{
	struct words w = {.arena = &l->arena};
	int ends[2];

	if (is_slurm(l))
		add_allocation(&w, l);
	add_parallel(&w, l, limit);
	add_hosts(&w, l);
	if (is_slurm(l))
		add_step(&w);
	add_work(&w, l);
	if (pipe2(ends, O_CLOEXEC) != 0) {
		fault_set(fault, STATUS_UNFIT, "cannot make a pipe: %s", strerror(errno));
		return false;
	}
	fflush(NULL);
	l->engine = fork();
	if (l->engine == 0)
		become(l, &w, ends[0]);
	close(ends[0]);
	l->feed = ends[1];
	setpgid(l->engine, l->engine);
	start_guard(l);
	return true;
}

/* Whether the program is to be had: said before anything is done. */
static bool is_here(const char *name, struct fault *fault)
{
	const char *path = getenv("PATH");
	char file[DEPOT_PATH];

	for (size_t n; path; path = path[n] ? path + n + 1 : NULL) {
		n = strcspn(path, ":");
		snprintf(file, sizeof file, "%.*s/%s", (int)n, path, name);
		if (access(file, X_OK) == 0)
			return true;
	}
	fault_set(fault, STATUS_UNFIT, "there is no '%s' on this machine; install it, or take --launcher=local", name);
	return false;
}

static bool open_engine(struct launch *l, struct fault *fault)
{
	if (!is_here("parallel", fault) || (is_slurm(l) && !is_here("salloc", fault)))
		return false;
	if (!is_slurm(l) && !l->setup.hosts) {
		fault_set(fault, STATUS_USAGE, "--launcher=parallel needs --hosts=FILE, with a host a line");
		return false;
	}
	if (l->setup.hosts && *l->setup.hosts != '/')
		l->setup.hosts = realpath(l->setup.hosts, NULL);
	snprintf(l->dir, sizeof l->dir, "%s/batches-%d", l->setup.depot->path, (int)getpid());
	if (mkdir(l->dir, 0777) == 0 || errno == EEXIST)
		return true;
	fault_set(fault, STATUS_UNFIT, "%s: %s", l->dir, strerror(errno));
	return false;
}

/* Batches. */

static bool feed(struct launch *l, unsigned number)
{
	char line[32];
	int n = snprintf(line, sizeof line, "%u.pack\n", number);

	l->fed = now();
	return write(l->feed, line, (size_t)n) == n;
}

static bool start(struct launch *l, struct launch_batch *b, struct fault *fault)
{
	if (!write_batch(l, b, fault))
		return false;
	if (l->feed < 0 && (!write_common(l, b, fault) || !start_engine(l, l->task[b->task[0]].limit, fault)))
		return false;
	if (feed(l, b->number))
		return true;
	fault_set(fault, STATUS_UNFIT, "%s has ended; %s/said has what it said", is_slurm(l) ? "salloc" : "parallel", l->dir);
	return false;
}

/* An empty batch, unless one is still on its way. */
static void tick(struct launch *l)
{
	struct launch_batch nothing = {.number = l->number + 1};
	double since = (now() - l->fed) * 1000;
	struct fault fault = {0};
	char path[DEPOT_PATH];
	bool back = !l->tick || access(batch_file(l, l->tick, ".results.pack", path), R_OK) == 0;

	if (since < (back ? TICK_MS : TICK_LOST_MS) || !write_batch(l, &nothing, &fault))
		return;
	l->tick = ++l->number;
	feed(l, l->tick);
}

/* What has come back goes to the depot, each result as if it had been made here. */
static size_t take_results(struct launch *l, const struct launch_batch *b)
{
	char path[DEPOT_PATH];
	struct fault fault = {0};
	struct results r;
	struct arena a;
	size_t n = 0;

	if (access(batch_file(l, b->number, ".results.pack", path), R_OK) != 0)
		return 0;
	arena_init(&a);
	results_init(&r, &a);
	if (results_take(&r, path, &fault))
		results_settle(&r);
	for (size_t i = 0; i < r.count; i++)
		n += r.at[i].kind == RESULT_DONE && depot_publish(l->setup.depot, r.at[i].id, r.at[i].bytes, &fault);
	arena_free(&a);
	return n;
}

/* How parallel says that the batch has ended: a line of its log. */
static bool is_logged(struct launch *l, const struct launch_batch *b, struct arena *a)
{
	char path[DEPOT_PATH], name[32];
	struct fault fault = {0};
	struct text log;

	snprintf(name, sizeof name, " %u.pack.results.pack", b->number);
	return access(in_dir(l, "log", path), R_OK) == 0 && pack_slurp(&log, a, path, &fault) &&
		memmem(log.at, log.length, name, strlen(name));
}

static void note_errors(const struct launch *l, struct launch_batch *b)
{
	char path[DEPOT_PATH], *line;
	FILE *f = fopen(in_dir(l, "said", path), "r");
	size_t n;

	if (!f)
		return;
	fseek(f, 0, SEEK_END);
	fseek(f, ftell(f) > (long)sizeof b->why - 1 ? -(long)(sizeof b->why - 1) : -ftell(f), SEEK_END);
	n = fread(b->why, 1, sizeof b->why - 1, f);
	fclose(f);
	while (n && b->why[n - 1] == '\n')
		n--;
	b->why[n] = 0;
	line = strrchr(b->why, '\n');
	if (line)
		memmove(b->why, line + 1, strlen(line));
}

/* Who has made its results stays beside them; what it says of its time is added up. */
static void keep_side(const struct launch *l, struct launch_batch *b)
{
	char from[DEPOT_PATH], to[DEPOT_PATH], name[64];

	b->worked = launch_side(batch_file(l, b->number, ".results.pack.side", from));
	snprintf(name, sizeof name, "batch-%d-%u", (int)getpid(), b->number);
	depot_path(l->setup.depot, "sides", name, to);
	rename(from, to);
}

static void drop_files(const struct launch *l, const struct launch_batch *b)
{
	static const char *const endings[] = {"", ".results.pack", ".results.pack.side"};
	char path[DEPOT_PATH];

	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
		unlink(batch_file(l, b->number, endings[i], path));
}

static bool ended(struct launch *l, struct launch_batch *b)
{
	struct arena a;
	bool over, all;

	if (now() - b->looked < STEP_MS / 1000.0)
		return false;
	b->looked = now();
	if (l->running < l->slots)
		tick(l);
	all = take_results(l, b) >= b->count;
	arena_init(&a);
	over = all || is_logged(l, b, &a) || waitpid(l->engine, NULL, WNOHANG) == l->engine;
	arena_free(&a);
	if (over && !all)
		note_errors(l, b);
	if (over) {
		keep_side(l, b);
		drop_files(l, b);
	}
	return over;
}

static void close_engine(struct launch *l)
{
	if (l->feed >= 0)
		close(l->feed);
	if (l->keep >= 0)
		close(l->keep);
	if (l->engine > 0)
		waitpid(l->engine, NULL, 0);
	if (l->guard > 0)
		waitpid(l->guard, NULL, 0);
}

const struct launcher launch_parallel = {"parallel", "GNU parallel, over ssh on the hosts of --hosts", 1.0, open_engine,
	start, ended, NULL, close_engine};
const struct launcher launch_slurm = {"slurm", "steps of one allocation of Slurm; -j is all of its tasks", 1.0,
	open_engine, start, ended, NULL, close_engine};
