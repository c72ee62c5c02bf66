/* SPDX-License-Identifier: MIT */
/*
 * SQLite used by threads, in the three ways it can be: a connection for each thread on one file with a write-ahead log,
 * connections that share a cache in memory, one connection for all. Money moves between accounts, so that every
 * reader must see the same total. What is printed does not depend on who came first.
 *
 * usage: sqlite_threads DIRECTORY TRANSFERS
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include <sqlite3.h>

enum { WRITERS = 2, READERS = 2, THREADS = WRITERS + READERS, ACCOUNTS = 64, OPENING = 1000 };

struct scenario {
	const char *name, *uri;
	sqlite3 *shared; /* NULL: a connection for each thread */
	int transfers;
};

struct worker {
	struct scenario *scenario;
	int number;
	long long seen; /* sums that were read, all right */
};

static void fail(sqlite3 *db, const char *what)
{
	fprintf(stderr, "%s: %s\n", what, sqlite3_errmsg(db));
	exit(1);
}

/* Others hold the file, or the table of a shared cache: both pass. */
static int is_busy(int status)
{
	return (status & 0xff) == SQLITE_BUSY || (status & 0xff) == SQLITE_LOCKED;
}

static void execute(sqlite3 *db, const char *sql)
{
	int status;

	while (is_busy(status = sqlite3_exec(db, sql, NULL, NULL, NULL)))
		sched_yield();
	if (status != SQLITE_OK)
		fail(db, sql);
}

/* The first column of the first row. A busy read starts again from its beginning. */
static long long query(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *s;
	long long value;
	int status;

	while (is_busy(status = sqlite3_prepare_v2(db, sql, -1, &s, NULL)))
		sched_yield();
	if (status != SQLITE_OK)
		fail(db, sql);
	while (is_busy(status = sqlite3_step(s))) {
		sqlite3_reset(s);
		sched_yield();
	}
	if (status != SQLITE_ROW)
		fail(db, sql);
	value = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return value;
}

static sqlite3 *connect_to(const char *uri)
{
	sqlite3 *db;

	if (sqlite3_open_v2(uri, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI, NULL) != SQLITE_OK)
		fail(db, uri);
	sqlite3_busy_timeout(db, 60000);
	execute(db, "PRAGMA synchronous = OFF"); /* the disk is not what is measured */
	return db;
}

/* One statement, so that it is whole even where all threads share one connection, and with it one transaction. */
static void transfer(sqlite3 *db, int number, int round)
{
	char sql[256];
	int from = (round * 7 + number) % ACCOUNTS, to = (round * 13 + number + 1) % ACCOUNTS;

	snprintf(sql, sizeof sql,
		"UPDATE account SET balance = balance + (id = %d) - (id = %d) WHERE id IN (%d, %d)", to, from, from, to);
	execute(db, sql);
	snprintf(sql, sizeof sql, "INSERT INTO log(writer, round, note) VALUES(%d, %d, hex(zeroblob(%d)))",
		number, round, round % 97);
	execute(db, sql);
}

static void *work(void *argument)
{
	struct worker *w = argument;
	struct scenario *s = w->scenario;
	sqlite3 *db = s->shared ? s->shared : connect_to(s->uri);

	for (int i = 0; i < s->transfers; i++)
		if (w->number < WRITERS)
			transfer(db, w->number, i);
		else if (query(db, "SELECT sum(balance) FROM account") == (long long)ACCOUNTS * OPENING)
			w->seen++;
	if (!s->shared)
		sqlite3_close(db);
	return NULL;
}

static void create(sqlite3 *db)
{
	char sql[128];

	execute(db, "CREATE TABLE account(id INTEGER PRIMARY KEY, balance INTEGER)");
	execute(db, "CREATE TABLE log(writer, round, note)");
	execute(db, "CREATE INDEX of_writer ON log(writer, round)");
	execute(db, "BEGIN");
	for (int i = 0; i < ACCOUNTS; i++) {
		snprintf(sql, sizeof sql, "INSERT INTO account VALUES(%d, %d)", i, OPENING);
		execute(db, sql);
	}
	execute(db, "COMMIT");
}

static void print_result(sqlite3 *db, const struct scenario *s, const struct worker *workers)
{
	printf("%s: total %lld, weighted %lld, log %lld, notes %lld", s->name, query(db, "SELECT sum(balance) FROM account"),
		query(db, "SELECT sum(id * balance) FROM account"), query(db, "SELECT count(*) FROM log"),
		query(db, "SELECT sum(length(note)) FROM log"));
	for (int i = WRITERS; i < THREADS; i++)
		printf(", reader %d saw %lld of %d right", i, workers[i].seen, s->transfers);
	printf(", %s\n", query(db, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'") == 1 ?
		"whole" : "broken");
}

static void play(struct scenario s, int one_connection)
{
	pthread_t threads[THREADS];
	struct worker workers[THREADS];
	sqlite3 *db = connect_to(s.uri); /* open to the end: a database in memory lives as long as somebody has it */

	if (s.uri[5] == '/' || s.uri[5] == '.')
		query(db, "PRAGMA journal_mode = WAL");
	create(db);
	s.shared = one_connection ? db : NULL;
	for (int i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){&s, i, 0};
		if (pthread_create(&threads[i], NULL, work, &workers[i]))
			exit(1);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	print_result(db, &s, workers);
	sqlite3_close(db);
}

int main(int argc, char **argv)
{
	char uri[4096];
	int transfers = argc == 3 ? atoi(argv[2]) : 0;

	if (transfers < 1)
		return fprintf(stderr, "usage: sqlite_threads DIRECTORY TRANSFERS\n"), 64;
	if (!sqlite3_threadsafe())
		return fprintf(stderr, "sqlite_threads: this SQLite is not made for threads\n"), 1;
	snprintf(uri, sizeof uri, "file:%s/accounts.db", argv[1]);
	play((struct scenario){.name = "write-ahead log", .uri = uri, .transfers = transfers}, 0);
	play((struct scenario){.name = "shared cache", .uri = "file:accounts?mode=memory&cache=shared",
		.transfers = transfers}, 0);
	play((struct scenario){.name = "one connection", .uri = ":memory:", .transfers = transfers}, 1);
	return 0;
}
