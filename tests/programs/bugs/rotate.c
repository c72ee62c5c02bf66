/* SPDX-License-Identifier: MIT */
/*
 * Log rotation. log_line() asks which file is the current one and writes to it in a second section; the file may have been
 * rotated and closed in between. Visible: a line goes to a closed file, exit status 1.
 */
// EXPECT function=log_line variable=log.current live=default,blocks
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

enum { FILES = 4 };

static struct {
	pthread_mutex_t lock;
	int current;
	struct {
		bool open;
		int lines;
	} file[FILES];
	int lost;
} log = {.lock = PTHREAD_MUTEX_INITIALIZER, .file[0].open = true};

static void write_locked(int file)
{
	if (log.file[file].open)
		log.file[file].lines++;
	else
		log.lost++;
}

#ifdef FIXED
static void log_line(void)
{
	pthread_mutex_lock(&log.lock);
	write_locked(log.current);
	pthread_mutex_unlock(&log.lock);
}
#else
static int log_file(void)
{
	pthread_mutex_lock(&log.lock);
	int file = log.current;
	pthread_mutex_unlock(&log.lock);
	return file;
}

static void log_write(int file)
{
	pthread_mutex_lock(&log.lock);
	write_locked(file);
	pthread_mutex_unlock(&log.lock);
}

static void log_line(void)
{
	log_write(log_file());
}
#endif

static void log_rotate(void)
{
	pthread_mutex_lock(&log.lock);
	log.file[log.current].open = false;
	log.current = (log.current + 1) % FILES;
	log.file[log.current].open = true;
	pthread_mutex_unlock(&log.lock);
}

static void *server(void *arg)
{
	(void)arg;
	log_line();
	return NULL;
}

static void *rotator(void *arg)
{
	(void)arg;
	log_rotate();
	return NULL;
}

int main(void)
{
	pthread_t s, r;

	pthread_create(&s, NULL, server, NULL);
	pthread_create(&r, NULL, rotator, NULL);
	pthread_join(s, NULL);
	pthread_join(r, NULL);
	printf("lost lines: %d\n", log.lost);
	return log.lost != 0;
}
