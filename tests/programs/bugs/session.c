/* SPDX-License-Identifier: MIT */
/*
 * Unlock and relock after a check. session_open() sees that a user has no session, lets go of the lock to allocate
 * one, and stores it without a second look: the session of another thread is overwritten, and leaks. Visible: two
 * sessions were made, one is lost, exit status 1.
 */
// EXPECT function=session_open variable=sessions live=default,blocks
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct session {
	int user;
	int requests;
};

enum { USERS = 4 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct session *sessions[USERS]; /* by user */
static int lost;

/* Slow: it may ask the system for memory, which is why nobody wants to hold the lock meanwhile. */
static struct session *session_new(int user)
{
	struct session *s = calloc(1, sizeof *s);

	if (!s)
		exit(2);
	s->user = user;
	return s;
}

#ifdef FIXED
static struct session *session_open(int user)
{
	struct session *fresh = session_new(user);

	pthread_mutex_lock(&lock);
	struct session *s = sessions[user];
	if (!s)
		s = sessions[user] = fresh;
	pthread_mutex_unlock(&lock);
	if (s != fresh)
		free(fresh);
	return s;
}
#else
static struct session *session_open(int user)
{
	pthread_mutex_lock(&lock);
	struct session *s = sessions[user];
	if (!s) {
		pthread_mutex_unlock(&lock);
		s = session_new(user);
		pthread_mutex_lock(&lock);
		if (sessions[user])
			lost++;
		sessions[user] = s;
	}
	pthread_mutex_unlock(&lock);
	return s;
}
#endif

static void session_close(int user)
{
	pthread_mutex_lock(&lock);
	free(sessions[user]);
	sessions[user] = NULL;
	pthread_mutex_unlock(&lock);
}

static void *login(void *arg)
{
	(void)arg;
	session_open(1);
	session_close(1);
	return NULL;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, login, NULL);
	pthread_create(&b, NULL, login, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("lost sessions: %d\n", lost);
	return lost != 0;
}
