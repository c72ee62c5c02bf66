/* SPDX-License-Identifier: MIT */
/*
 * java.lang.StringBuffer of the papers, in C. buffer_append() holds the lock of the buffer that it appends to, and asks the
 * other one first for its length and then for so many characters. The other one may have been cut in between.
 * Visible: characters beyond the end are asked for, and the assertion fails.
 */
// EXPECT function=buffer_append variable=source.length live=default,blocks
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

struct buffer {
	pthread_mutex_t lock;
	int length;
	char text[32];
};

static struct buffer target = {PTHREAD_MUTEX_INITIALIZER, 2, "> "};
static struct buffer source = {PTHREAD_MUTEX_INITIALIZER, 5, "hello"};

static void get_chars_locked(const struct buffer *b, char *to, int count)
{
	assert(count <= b->length);
	for (int i = 0; i < count; i++)
		to[i] = b->text[i];
}

#ifdef FIXED
static void buffer_append(struct buffer *to, struct buffer *from)
{
	pthread_mutex_lock(&to->lock);
	pthread_mutex_lock(&from->lock);
	int length = from->length;
	get_chars_locked(from, to->text + to->length, length);
	pthread_mutex_unlock(&from->lock);
	to->length += length;
	pthread_mutex_unlock(&to->lock);
}
#else
static int buffer_length(struct buffer *b)
{
	pthread_mutex_lock(&b->lock);
	int length = b->length;
	pthread_mutex_unlock(&b->lock);
	return length;
}

static void buffer_get_chars(struct buffer *b, char *to, int count)
{
	pthread_mutex_lock(&b->lock);
	get_chars_locked(b, to, count);
	pthread_mutex_unlock(&b->lock);
}

static void buffer_append(struct buffer *to, struct buffer *from)
{
	pthread_mutex_lock(&to->lock);
	int length = buffer_length(from);
	buffer_get_chars(from, to->text + to->length, length);
	to->length += length;
	pthread_mutex_unlock(&to->lock);
}
#endif

static void buffer_cut(struct buffer *b, int length)
{
	pthread_mutex_lock(&b->lock);
	if (length < b->length)
		b->length = length;
	pthread_mutex_unlock(&b->lock);
}

static void *appender(void *arg)
{
	(void)arg;
	buffer_append(&target, &source);
	return NULL;
}

static void *cutter(void *arg)
{
	(void)arg;
	buffer_cut(&source, 1);
	return NULL;
}

int main(void)
{
	pthread_t a, c;

	pthread_create(&a, NULL, appender, NULL);
	pthread_create(&c, NULL, cutter, NULL);
	pthread_join(a, NULL);
	pthread_join(c, NULL);
	printf("%.*s\n", target.length, target.text);
	return target.length != 7 && target.length != 3;
}
