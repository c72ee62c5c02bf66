/* SPDX-License-Identifier: MIT */
/* A small HTTP server with three workers, and four clients, in one process: parsing, sockets, a table under a lock. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fission.h>

enum { WORKERS = 3, CLIENTS = 4, REQUESTS = 6, ROOM = 1024, KEYS = 8 };

struct request {
	char method[8], path[64];
	char body[256];
	size_t length;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int values[KEYS], served;
static int listener;
static struct sockaddr_in here = {.sin_family = AF_INET};
static int limit = 200;

static int field(const char *head, const char *name)
{
	size_t n = strlen(name);

	for (const char *line = head; (line = strstr(line, "\r\n")) && line[2] != '\r';) {
		line += 2;
		if (strncasecmp(line, name, n) == 0 && line[n] == ':')
			return atoi(line + n + 1);
	}
	return 0;
}

/* Reads until the request is whole; 0 if it is wrong. */
static int take(int fd, struct request *r)
{
	char text[ROOM + 1];
	size_t have = 0;
	char *end = NULL;

	memset(r, 0, sizeof *r);
	while (!end || have < (size_t)(end - text) + 4 + r->length) {
		ssize_t n = read(fd, text + have, ROOM - have);

		if (n <= 0)
			return 0;
		have += (size_t)n;
		text[have] = 0;
		if (!end && (end = strstr(text, "\r\n\r\n"))) {
			r->length = (size_t)field(text, "Content-Length");
			if (r->length >= sizeof r->body)
				return 0;
		}
	}
	memcpy(r->body, end + 4, r->length);
	return sscanf(text, "%7s %63s HTTP/1.1", r->method, r->path) == 2;
}

static int key_of(const char *path)
{
	unsigned h = 0;

	while (*path)
		h = h * 31 + (unsigned char)*path++;
	return (int)(h % KEYS);
}

static int answer(const struct request *r, char *to)
{
	int key = key_of(r->path), value, status = 200;

	pthread_mutex_lock(&mutex);
	served++;
	if (strcmp(r->method, "POST") == 0)
		values[key] += atoi(r->body);
	else if (strcmp(r->method, "GET") != 0)
		status = 405;
	value = values[key];
	pthread_mutex_unlock(&mutex);
	if (value > limit)
		status = 507;
	return sprintf(to, "HTTP/1.1 %d %s\r\nContent-Length: 0\r\nValue: %d\r\n\r\n", status, status == 200 ? "OK" : "No", value);
}

static void *work(void *unused)
{
	struct request r;
	char text[ROOM];
	int fd;

	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		int n = take(fd, &r) ? answer(&r, text) : sprintf(text, "HTTP/1.1 400 Bad\r\n\r\n");
		int stops = strcmp(r.method, "STOP") == 0;

		if (write(fd, text, (size_t)n) != n)
			abort();
		close(fd);
		if (stops)
			break;
	}
	return unused;
}

static int ask(const char *method, const char *path, const char *body)
{
	char text[ROOM];
	int fd = socket(AF_INET, SOCK_STREAM, 0), status = 0, have = 0, n;

	if (connect(fd, (struct sockaddr *)&here, sizeof here) != 0)
		abort();
	n = sprintf(text, "%s %s HTTP/1.1\r\nHost: here\r\ncontent-length: %zu\r\n\r\n%s", method, path, strlen(body), body);
	if (write(fd, text, (size_t)n) != n)
		abort();
	while ((n = (int)read(fd, text + have, (size_t)(ROOM - 1 - have))) > 0)
		have += n;
	text[have] = 0;
	sscanf(text, "HTTP/1.1 %d", &status);
	close(fd);
	return status;
}

static void *visit(void *number)
{
	char path[32], body[32];
	long sum = 0;

	for (int i = 0; i < REQUESTS; i++) {
		snprintf(path, sizeof path, "/visitor/%d", (int)(long)number);
		snprintf(body, sizeof body, "%d", i);
		sum += ask(i % 2 ? "POST" : "GET", path, i % 2 ? body : "");
	}
	return (void *)(sum + ask("PUT", "/", ""));
}

int main(void)
{
	pthread_t workers[WORKERS], clients[CLIENTS];
	socklen_t length = sizeof here;
	long sum = 0;
	int total = 0;

	fission_input(&limit, sizeof limit, "limit");
	here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listener = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&here, sizeof here) || listen(listener, 16) ||
		getsockname(listener, (struct sockaddr *)&here, &length))
		return 77;
	for (int i = 0; i < WORKERS; i++)
		pthread_create(&workers[i], NULL, work, NULL);
	for (long i = 0; i < CLIENTS; i++)
		pthread_create(&clients[i], NULL, visit, (void *)i);
	for (int i = 0; i < CLIENTS; i++) {
		void *result;

		pthread_join(clients[i], &result);
		sum += (long)result;
	}
	for (int i = 0; i < WORKERS; i++)
		ask("STOP", "/", "");
	for (int i = 0; i < WORKERS; i++)
		pthread_join(workers[i], NULL);
	for (int i = 0; i < KEYS; i++)
		total += values[i];
	printf("%d served, %ld, %d\n", served, sum, total);
	return 0;
}
