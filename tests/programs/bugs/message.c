/* SPDX-License-Identifier: MIT */
/*
 * Length, then copy. message_dup() asks how long the message is, allocates, and copies as much, in two sections; a
 * shorter message may have come in between. Visible: what is copied has the tail of an older message, exit status 1.
 */
// EXPECT function=message_dup variable=message.length,message.text live=default,blocks
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
	pthread_mutex_t lock;
	size_t length;
	char text[64];
} message = {PTHREAD_MUTEX_INITIALIZER, 17, "a long first line"};

static char *copy;

static void message_set(const char *text)
{
	pthread_mutex_lock(&message.lock);
	message.length = strlen(text);
	for (size_t i = 0; i < message.length; i++)
		message.text[i] = text[i];
	pthread_mutex_unlock(&message.lock);
}

static void copy_locked(char *to, size_t length)
{
	for (size_t i = 0; i < length; i++)
		to[i] = message.text[i];
	to[length] = 0;
}

static char *message_dup(void)
{
	pthread_mutex_lock(&message.lock);
	size_t length = message.length;
#ifndef FIXED
	pthread_mutex_unlock(&message.lock);
#endif
	char *text = malloc(length + 1);
	if (!text)
		exit(2);
#ifndef FIXED
	pthread_mutex_lock(&message.lock);
#endif
	copy_locked(text, length);
	pthread_mutex_unlock(&message.lock);
	return text;
}

static void *reader(void *arg)
{
	(void)arg;
	copy = message_dup();
	return NULL;
}

static void *writer(void *arg)
{
	message_set(arg);
	return NULL;
}

int main(void)
{
	pthread_t r, w;

	pthread_create(&r, NULL, reader, NULL);
	pthread_create(&w, NULL, writer, "short");
	pthread_join(r, NULL);
	pthread_join(w, NULL);
	printf("%s\n", copy);
	int torn = strcmp(copy, "short") != 0 && strcmp(copy, "a long first line") != 0;
	free(copy);
	return torn;
}
