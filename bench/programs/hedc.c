// SPDX-License-Identifier: MIT
// A crawler that asks several archives of astrophysical data for what was observed on a day, after hedc of von Praun
// and Gross: hedc THREADS SEARCHES. The archives are one local server, a process of its own. Searches become tasks; a
// pool of threads takes them, and more threads are made as long as there are fewer than allowed; what comes back is put
// into the search's result, and the date of each is written by one calendar that all threads share, without a lock.
//
// BUG format_date: the calendar is shared and has no lock, so that a date can be made of two
// BENIGN pool_execute: whether another thread is needed and putting the task into the queue are two sections
// BENIGN run_task: asks whether its search is still wanted, then adds the answer, in two sections
// BENIGN search: starts its tasks one by one, and waits for all of them
// BENIGN cancel: marks the search and then takes its tasks out of the queue
// BENIGN result_add: the date is formatted by the shared calendar
// BENIGN use_calendar: the shared calendar again
#include "../runtime/program.h"

#include <time.h>

#include "web.h"

enum { ARCHIVES = 4, QUEUE = 1024, DAYS = 30, LINE = 96 };

struct search {
	pthread_mutex_t lock;
	pthread_cond_t all;
	int day, left, valid, answers; // guarded by lock, as lines
	char lines[ARCHIVES][LINE];
};

struct task {
	struct search *search;
	int archive;
};

static struct arguments args;
static int port, next_thread;
static pthread_t threads[MOST_THREADS];
static pthread_mutex_t pool = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wanted = PTHREAD_COND_INITIALIZER;
static struct task queue[QUEUE]; // a ring, guarded by pool, as the next five
static int head, queued, running, idle, closed;
static struct tm calendar; // shared, without a lock: the mistake

// The archives: a page for each archive and day.
static void serve(long listening)
{
	char path[NAME_BYTES], page[PAGE_BYTES];

	for (int s; (s = accept((int)listening, NULL, NULL)) >= 0; close(s)) {
		int archive, day;
		if (!web_request(s, path) || sscanf(path, "/archive/%d/%d", &archive, &day) != 2) {
			web_answer(s, "404 Not Found", "");
			continue;
		}
		snprintf(page, sizeof(page), "%d flares", (archive + 1) * (day + 3) % 17);
		web_answer(s, "200 OK", page);
	}
}

static void use_calendar(int day)
{
	calendar.tm_year = 102;
	calendar.tm_mon = day / 28;
	calendar.tm_mday = day % 28 + 1;
}

void format_date(int day, char *text, size_t bytes)
{
	use_calendar(day);
	snprintf(text, bytes, "%04d-%02d-%02d", calendar.tm_year + 1900, calendar.tm_mon + 1, calendar.tm_mday);
}

int still_valid(struct search *s)
{
	pthread_mutex_lock(&s->lock);
	int valid = s->valid;
	pthread_mutex_unlock(&s->lock);
	return valid;
}

void result_add(struct search *s, int archive, const char *page)
{
	char date[LINE / 2];

	format_date(s->day, date, sizeof(date));
	pthread_mutex_lock(&s->lock);
	snprintf(s->lines[archive], LINE, "%s %.40s", date, page);
	s->answers++;
	pthread_mutex_unlock(&s->lock);
}

void task_done(struct search *s)
{
	pthread_mutex_lock(&s->lock);
	if (!--s->left)
		pthread_cond_broadcast(&s->all);
	pthread_mutex_unlock(&s->lock);
}

void run_task(struct task t)
{
	char path[NAME_BYTES], page[PAGE_BYTES];

	snprintf(path, sizeof(path), "/archive/%d/%d", t.archive, t.search->day);
	if (still_valid(t.search) && web_get(port, path, page))
		result_add(t.search, t.archive, page);
	task_done(t.search);
}

// The next task; 0 when the pool is closed.
int take_task(struct task *t)
{
	pthread_mutex_lock(&pool);
	idle++;
	while (!queued && !closed)
		pthread_cond_wait(&wanted, &pool);
	idle--;
	int there = queued > 0;
	if (there) {
		*t = queue[head];
		head = (head + 1) % QUEUE;
		queued--;
	}
	pthread_mutex_unlock(&pool);
	return there;
}

static void *pool_thread(void *unused)
{
	struct task t;

	(void)unused;
	while (take_task(&t))
		run_task(t);
	return NULL;
}

int may_grow(void)
{
	pthread_mutex_lock(&pool);
	int grow = running < args.threads && !idle;
	running += grow;
	pthread_mutex_unlock(&pool);
	return grow;
}

void enqueue(struct task t)
{
	pthread_mutex_lock(&pool);
	if (queued == QUEUE)
		fail("the queue is full");
	queue[(head + queued++) % QUEUE] = t;
	pthread_cond_signal(&wanted);
	pthread_mutex_unlock(&pool);
}

void pool_execute(struct task t)
{
	if (may_grow())
		start(&threads[next_thread++], pool_thread, NULL);
	enqueue(t);
}

// Nobody waits for the search any more: its tasks that have not begun are not done.
void cancel(struct search *s)
{
	pthread_mutex_lock(&s->lock);
	s->valid = 0;
	pthread_mutex_unlock(&s->lock);
	pthread_mutex_lock(&pool);
	int kept = 0, gone = 0;
	for (int i = 0; i < queued; i++) {
		struct task t = queue[(head + i) % QUEUE];
		if (t.search == s)
			gone++;
		else
			queue[(head + kept++) % QUEUE] = t;
	}
	queued = kept;
	pthread_mutex_unlock(&pool);
	while (gone--)
		task_done(s);
}

void search(struct search *s, int day)
{
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->all, NULL);
	s->day = day;
	s->left = ARCHIVES;
	s->valid = 1;
	for (int archive = 0; archive < ARCHIVES; archive++)
		pool_execute((struct task){ s, archive });
}

void wait_for(struct search *s)
{
	pthread_mutex_lock(&s->lock);
	while (s->left)
		pthread_cond_wait(&s->all, &s->lock);
	pthread_mutex_unlock(&s->lock);
}

static void close_pool(void)
{
	pthread_mutex_lock(&pool);
	closed = 1;
	pthread_cond_broadcast(&wanted);
	pthread_mutex_unlock(&pool);
	for (int t = 0; t < next_thread; t++)
		pthread_join(threads[t], NULL);
}

int main(int argc, char **argv)
{
	int listening;

	args = arguments(argc, argv, 24);
	listening = web_listen(&port);
	pid_t server = web_process(serve, listening);
	close(listening);
	struct search *searches = allocate((size_t)args.size, sizeof(*searches));
	for (long i = 0; i < args.size; i++) {
		search(&searches[i], (int)(i % DAYS));
		if (i % 8 == 7)
			cancel(&searches[i]);
		if (i % 2)
			wait_for(&searches[i - 1]);
	}
	for (long i = 0; i < args.size; i++)
		wait_for(&searches[i]);
	close_pool();
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	int right = 1;
	for (long i = 0; i < args.size; i++)
		right &= i % 8 == 7 || searches[i].answers == ARCHIVES;
	printf("hedc: %ld searches, %s\n", args.size, right ? "answered" : "not answered");
	return 0;
}
