// SPDX-License-Identifier: MIT
// A small HTTP server with a store of resources, in place of W3C's Jigsaw: jigsaw THREADS REQUESTS. The clients are a
// process of their own. Connections go through a queue to worker threads; resources live in stores, one a directory,
// which are loaded when one of their resources is asked for, kept as long as there is room, and saved by a thread that
// sweeps. At the end the manager is shut down while the last requests are served.
//
// BUG load_store: looks whether the manager is open, loads, and enters the store: it may have been closed in between
// BUG count_loaded: loaded_stores is changed without a lock, so that a change can be lost
// BENIGN lookup_resource: finds the store, then the resource, each under its own lock
// BENIGN serve_path: counts, looks up, and marks as used in separate sections
// BENIGN answer: several sections of counters and stores
// BENIGN sweep: goes through the stores one by one
// BENIGN mark_used: reads the clock of the manager, then marks the store
// BENIGN shutdown_manager: closes, then saves store after store
// BENIGN find_or_load: looks, and loads when there is none
// BENIGN unload_one: the counter without a lock again, and the store chosen before
// BENIGN make_room: asks for the number of stores, then unloads one
#include "../runtime/program.h"

#include "web.h"

enum { STORES = 16, RESOURCES = 24, ROOM = 6, CONNECTIONS = 256, CLIENTS = 4 };

struct resource {
	pthread_mutex_t lock;
	long hits, stamp;
	char text[NAME_BYTES];
};

struct store {
	pthread_mutex_t lock;
	int id, dirty; // guarded by lock, as used
	long used;
	struct resource resources[RESOURCES];
};

static struct arguments args;
static int port;
static pthread_mutex_t manager = PTHREAD_MUTEX_INITIALIZER;
static struct store *stores[STORES]; // guarded by manager, as the next three
static int stores_there, shut_down;
static long clock_now;
static volatile int loaded_stores; // no lock: the mistake of the original
static pthread_mutex_t statistics = PTHREAD_MUTEX_INITIALIZER;
static long requests, errors, bytes_sent; // guarded by statistics
static pthread_mutex_t connections = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t connected = PTHREAD_COND_INITIALIZER;
static int ring[CONNECTIONS], first, waiting, closed; // guarded by connections

// Half of the requests for two stores, the others anywhere; a few for what is not there.
static void client(long number)
{
	char path[NAME_BYTES], page[PAGE_BYTES];
	uint64_t state = mix((uint64_t)number + 1);

	for (long i = number; i < args.size; i += CLIENTS) {
		unsigned store = draw(&state, 2) ? draw(&state, 2) : draw(&state, STORES);
		snprintf(path, sizeof(path), "/%u/%u", store, draw(&state, RESOURCES + 1));
		web_get(port, path, page);
	}
}

void count_loaded(int change)
{
	loaded_stores += change;
}

static void init_store(struct store *s, int id)
{
	pthread_mutex_init(&s->lock, NULL);
	s->id = id;
	for (int i = 0; i < RESOURCES; i++) {
		pthread_mutex_init(&s->resources[i].lock, NULL);
		snprintf(s->resources[i].text, NAME_BYTES, "resource %d of %d", i, id);
	}
}

struct store *find_store(int id)
{
	pthread_mutex_lock(&manager);
	struct store *s = stores[id];
	pthread_mutex_unlock(&manager);
	return s;
}

int manager_is_open(void)
{
	pthread_mutex_lock(&manager);
	int is_open = !shut_down;
	pthread_mutex_unlock(&manager);
	return is_open;
}

// The store as it is on disk. If another thread was faster, its store is taken.
struct store *load_store(int id)
{
	if (!manager_is_open())
		return NULL;
	struct store *s = allocate(1, sizeof(*s)), *there;
	init_store(s, id);
	pthread_mutex_lock(&manager);
	there = stores[id];
	if (!there) {
		stores[id] = s;
		stores_there++;
	}
	pthread_mutex_unlock(&manager);
	if (there) {
		free(s);
		return there;
	}
	count_loaded(1);
	return s;
}

struct store *find_or_load(int id)
{
	struct store *s = find_store(id);

	return s ? s : load_store(id);
}

long tick(void)
{
	pthread_mutex_lock(&manager);
	long now = ++clock_now;
	pthread_mutex_unlock(&manager);
	return now;
}

void mark_used(struct store *s)
{
	long now = tick();

	pthread_mutex_lock(&s->lock);
	s->used = now;
	s->dirty = 1;
	pthread_mutex_unlock(&s->lock);
}

int read_resource(struct resource *r, char *text)
{
	pthread_mutex_lock(&r->lock);
	r->hits++;
	int length = snprintf(text, PAGE_BYTES, "%s", r->text);
	pthread_mutex_unlock(&r->lock);
	return length;
}

int lookup_resource(int store, int resource, char *text)
{
	struct store *s = find_or_load(store);

	if (!s || resource >= RESOURCES)
		return 0;
	mark_used(s);
	return read_resource(&s->resources[resource], text);
}

void count_request(int bytes)
{
	pthread_mutex_lock(&statistics);
	requests++;
	errors += !bytes;
	bytes_sent += bytes;
	pthread_mutex_unlock(&statistics);
}

int serve_path(const char *path, char *text)
{
	int store, resource, bytes = 0;

	if (sscanf(path, "/%d/%d", &store, &resource) == 2 && store >= 0 && store < STORES && resource >= 0)
		bytes = lookup_resource(store, resource, text);
	count_request(bytes);
	return bytes;
}

void answer(int s)
{
	char path[NAME_BYTES], text[PAGE_BYTES] = "";

	if (web_request(s, path) && serve_path(path, text))
		web_answer(s, "200 OK", text);
	else
		web_answer(s, "404 Not Found", "");
	close(s);
}

void put_connection(int s)
{
	pthread_mutex_lock(&connections);
	if (waiting == CONNECTIONS)
		fail("too many connections");
	ring[(first + waiting++) % CONNECTIONS] = s;
	pthread_cond_signal(&connected);
	pthread_mutex_unlock(&connections);
}

int take_connection(void)
{
	int s = -1;

	pthread_mutex_lock(&connections);
	while (!waiting && !closed)
		pthread_cond_wait(&connected, &connections);
	if (waiting) {
		s = ring[first];
		first = (first + 1) % CONNECTIONS;
		waiting--;
	}
	pthread_mutex_unlock(&connections);
	return s;
}

static void *worker(void *unused)
{
	(void)unused;
	for (int s; (s = take_connection()) >= 0;)
		answer(s);
	return NULL;
}

void save_store(struct store *s)
{
	pthread_mutex_lock(&s->lock);
	s->dirty = 0;
	pthread_mutex_unlock(&s->lock);
}

long used_last(struct store *s)
{
	pthread_mutex_lock(&s->lock);
	long used = s->used;
	pthread_mutex_unlock(&s->lock);
	return used;
}

int stores_loaded(void)
{
	pthread_mutex_lock(&manager);
	int there = stores_there;
	pthread_mutex_unlock(&manager);
	return there;
}

// Takes the store out of the table. Its memory stays: somebody may still serve from it.
void unload_one(int id)
{
	struct store *s = find_store(id);

	if (!s)
		return;
	save_store(s);
	pthread_mutex_lock(&manager);
	if (stores[id] == s) {
		stores[id] = NULL;
		stores_there--;
	}
	pthread_mutex_unlock(&manager);
	count_loaded(-1);
}

void make_room(int oldest)
{
	if (stores_loaded() > ROOM)
		unload_one(oldest);
}

void sweep(void)
{
	long least = INT32_MAX;
	int oldest = 0;

	for (int id = 0; id < STORES; id++) {
		struct store *s = find_store(id);
		long used = s ? used_last(s) : INT32_MAX;
		if (used < least)
			least = used, oldest = id;
	}
	make_room(oldest);
}

static int pool_is_closed(void)
{
	pthread_mutex_lock(&connections);
	int is_closed = closed && !waiting;
	pthread_mutex_unlock(&connections);
	return is_closed;
}

static void *sweeper(void *unused)
{
	(void)unused;
	while (!pool_is_closed()) {
		sweep();
		usleep(500);
	}
	return NULL;
}

void shutdown_manager(void)
{
	pthread_mutex_lock(&manager);
	shut_down = 1;
	pthread_mutex_unlock(&manager);
	for (int id = 0; id < STORES; id++)
		unload_one(id);
}

static void accept_all(int listening)
{
	for (long i = 0; i < args.size; i++) {
		int s = accept(listening, NULL, NULL);
		if (s < 0)
			fail("cannot accept");
		put_connection(s);
	}
}

int main(int argc, char **argv)
{
	pthread_t ids[MOST_THREADS], sweeps;
	pid_t clients[CLIENTS];

	args = arguments(argc, argv, 200);
	int listening = web_listen(&port);
	for (long c = 0; c < CLIENTS; c++)
		clients[c] = web_process(client, c);
	for (int t = 0; t < args.threads; t++)
		start(&ids[t], worker, NULL);
	start(&sweeps, sweeper, NULL);
	accept_all(listening);
	pthread_mutex_lock(&connections);
	closed = 1;
	pthread_cond_broadcast(&connected);
	pthread_mutex_unlock(&connections);
	shutdown_manager();
	for (int t = 0; t < args.threads; t++)
		pthread_join(ids[t], NULL);
	pthread_join(sweeps, NULL);
	for (int c = 0; c < CLIENTS; c++)
		waitpid(clients[c], NULL, 0);
	printf("jigsaw: %ld requests\n", requests);
	return 0;
}
