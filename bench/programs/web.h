/* SPDX-License-Identifier: MIT
 *
 * As much of HTTP as a crawler and a small server need: a request and an answer for each connection, on 127.0.0.1.
 *
 * The other side is always a process of its own (fork before the first thread), so that what is checked is one side,
 * as in the papers, and so that a controlled run of it is not held up by the other one.
 */
#ifndef BENCH_PROGRAMS_WEB_H
#define BENCH_PROGRAMS_WEB_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE_BYTES = 2048, NAME_BYTES = 64 };

/* A socket that listens on a port that is free, which is told. */
static inline int web_listen(int *port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t bytes = sizeof(a);
	int s = socket(AF_INET, SOCK_STREAM, 0);

	if (s < 0 || bind(s, (struct sockaddr *)&a, bytes) || listen(s, 64) ||
		getsockname(s, (struct sockaddr *)&a, &bytes))
		fail("cannot listen on 127.0.0.1");
	*port = ntohs(a.sin_port);
	return s;
}

/* Sends everything; whoever does not listen any more gets nothing. */
static inline void web_send(int s, const char *text, size_t bytes)
{
	for (ssize_t sent; bytes && (sent = send(s, text, bytes, MSG_NOSIGNAL)) > 0; bytes -= (size_t)sent)
		text += sent;
}

/* Everything up to the end of what the other side sends, or the end of the request's line. Ends it with 0. */
static inline size_t web_receive(int s, char *text, size_t room, int line)
{
	size_t got = 0;

	for (ssize_t n; got + 1 < room && (n = recv(s, text + got, room - got - 1, 0)) > 0;) {
		got += (size_t)n;
		if (line && memchr(text, '\n', got))
			break;
	}
	text[got] = 0;
	return got;
}

/* The body of an answer; 0: there was none. */
static inline int web_get(int port, const char *path, char body[PAGE_BYTES])
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	char text[PAGE_BYTES];
	int s = socket(AF_INET, SOCK_STREAM, 0);

	if (s < 0 || connect(s, (struct sockaddr *)&a, sizeof(a)))
		fail("cannot connect to 127.0.0.1");
	web_send(s, text, (size_t)snprintf(text, sizeof(text), "GET %s HTTP/1.0\r\n\r\n", path));
	web_receive(s, text, sizeof(text), 0);
	close(s);
	char *found = strstr(text, "\r\n\r\n");
	snprintf(body, PAGE_BYTES, "%s", found ? found + 4 : "");
	return found && !strncmp(text, "HTTP/1.0 200", 12);
}

/* The path of a request; 0: it is none. */
static inline int web_request(int s, char path[NAME_BYTES])
{
	char text[PAGE_BYTES];

	web_receive(s, text, sizeof(text), 1);
	return sscanf(text, "GET %63s", path) == 1;
}

static inline void web_answer(int s, const char *status, const char *body)
{
	char text[PAGE_BYTES];

	web_send(s, text, (size_t)snprintf(text, sizeof(text), "HTTP/1.0 %s\r\n\r\n%.1900s", status, body));
}

/* Runs body(argument) in a process of its own. To be called before there are threads. */
static inline pid_t web_process(void (*body)(long), long argument)
{
	pid_t pid = fork();

	if (pid < 0)
		fail("cannot fork");
	if (!pid) {
		body(argument);
		_exit(0);
	}
	return pid;
}

#endif
