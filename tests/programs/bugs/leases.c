/* SPDX-License-Identifier: MIT */
/*
 * A spin lock. lease_extend() reads when the lease ends in one section and extends it in another one: an extension of
 * another thread is lost. Visible: the lease ends too early, exit status 1.
 */
// EXPECT function=lease_extend variable=lease.ends live=default,blocks
#include <pthread.h>
#include <stdio.h>

static struct {
	pthread_spinlock_t lock;
	long ends;
	int extensions;
} lease;

#ifdef FIXED
static void lease_extend(long by)
{
	pthread_spin_lock(&lease.lock);
	lease.ends += by;
	lease.extensions++;
	pthread_spin_unlock(&lease.lock);
}
#else
static long lease_end(void)
{
	pthread_spin_lock(&lease.lock);
	long ends = lease.ends;
	pthread_spin_unlock(&lease.lock);
	return ends;
}

static void lease_set_end(long ends)
{
	pthread_spin_lock(&lease.lock);
	lease.ends = ends;
	lease.extensions++;
	pthread_spin_unlock(&lease.lock);
}

static void lease_extend(long by)
{
	lease_set_end(lease_end() + by);
}
#endif

static void *holder(void *arg)
{
	lease_extend(*(long *)arg);
	return NULL;
}

int main(void)
{
	long by[] = {10, 20, 30};
	pthread_t t[3];

	pthread_spin_init(&lease.lock, PTHREAD_PROCESS_PRIVATE);
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, holder, &by[i]);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	printf("%d extensions, ends at %ld\n", lease.extensions, lease.ends);
	return lease.ends != 60;
}
