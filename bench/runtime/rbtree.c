// SPDX-License-Identifier: MIT
// A left-leaning red-black tree under one mutex: half of the operations look a key up, the others add one to its count
// or take one away, and a key whose count becomes 0 leaves the tree. The shape depends on the order, the content does
// not. Deep recursion inside critical sections; every node changes hands all the time. Operations come in batches: with a
// lock for each, the plain program mostly waits to be woken, and runs twice as fast on one core as on two.
//
// Invariant between operations: no node has a red right child, none has a red left child whose left child is red, and
// every way down passes as many black nodes.
#include "program.h"

enum { KEYS = 1 << 13, BATCH = 32 };

struct operation {
	uint32_t key, what; // what: 0 and 1 look up, 2 adds, 3 takes away
};

struct node {
	struct node *left, *right;
	uint32_t key;
	int32_t count;
	int red;
};

static struct arguments args;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct node *root; // guarded by lock

static int is_red(const struct node *n)
{
	return n && n->red;
}

static struct node *rotate_left(struct node *n)
{
	struct node *up = n->right;

	n->right = up->left;
	up->left = n;
	up->red = n->red;
	n->red = 1;
	return up;
}

static struct node *rotate_right(struct node *n)
{
	struct node *up = n->left;

	n->left = up->right;
	up->right = n;
	up->red = n->red;
	n->red = 1;
	return up;
}

static void flip(struct node *n)
{
	n->red = !n->red;
	n->left->red = !n->left->red;
	n->right->red = !n->right->red;
}

// Makes the invariant hold at n again, where it holds below but for what one change can do.
static struct node *balance(struct node *n)
{
	if (is_red(n->right) && !is_red(n->left))
		n = rotate_left(n);
	if (is_red(n->left) && is_red(n->left->left))
		n = rotate_right(n);
	if (is_red(n->left) && is_red(n->right))
		flip(n);
	return n;
}

static struct node *leaf(uint32_t key, int32_t count)
{
	struct node *n = allocate(1, sizeof(*n));

	n->key = key;
	n->count = count;
	n->red = 1;
	return n;
}

static struct node *insert(struct node *n, uint32_t key, int32_t count)
{
	if (!n)
		return leaf(key, count);
	if (key < n->key)
		n->left = insert(n->left, key, count);
	else
		n->right = insert(n->right, key, count);
	return balance(n);
}

// On the way down to a removal, the node that is entered, or a child of it, is made red: a red leaf can just go.
static struct node *lend_left(struct node *n)
{
	flip(n);
	if (is_red(n->right->left)) {
		n->right = rotate_right(n->right);
		n = rotate_left(n);
		flip(n);
	}
	return n;
}

static struct node *lend_right(struct node *n)
{
	flip(n);
	if (is_red(n->left->left)) {
		n = rotate_right(n);
		flip(n);
	}
	return n;
}

static struct node *remove_least(struct node *n)
{
	if (!n->left) {
		free(n);
		return NULL;
	}
	if (!is_red(n->left) && !is_red(n->left->left))
		n = lend_left(n);
	n->left = remove_least(n->left);
	return balance(n);
}

static void take_least(struct node *to, const struct node *n)
{
	while (n->left)
		n = n->left;
	to->key = n->key;
	to->count = n->count;
}

static struct node *remove_key(struct node *n, uint32_t key)
{
	if (key < n->key) {
		if (!is_red(n->left) && !is_red(n->left->left))
			n = lend_left(n);
		n->left = remove_key(n->left, key);
		return balance(n);
	}
	if (is_red(n->left))
		n = rotate_right(n);
	if (key == n->key && !n->right) {
		free(n);
		return NULL;
	}
	if (!is_red(n->right) && !is_red(n->right->left))
		n = lend_right(n);
	if (key == n->key) {
		take_least(n, n->right);
		n->right = remove_least(n->right);
	} else {
		n->right = remove_key(n->right, key);
	}
	return balance(n);
}

static void erase(uint32_t key)
{
	if (!is_red(root->left) && !is_red(root->right))
		root->red = 1;
	root = remove_key(root, key);
	if (root)
		root->red = 0;
}

static struct node *find(uint32_t key)
{
	struct node *n = root;

	while (n && n->key != key)
		n = key < n->key ? n->left : n->right;
	return n;
}

static int32_t lookup(uint32_t key)
{
	struct node *n = find(key);

	return n ? n->count : 0;
}

static void add(uint32_t key, int32_t delta)
{
	struct node *n = find(key);

	if (!n) {
		root = insert(root, key, delta);
		root->red = 0;
	} else if (n->count + delta) {
		n->count += delta;
	} else {
		erase(key);
	}
}

static void prepare(struct operation *batch, uint64_t *state)
{
	for (int i = 0; i < BATCH; i++) {
		batch[i].key = draw(state, KEYS);
		batch[i].what = draw(state, 4);
	}
}

// Returns how many keys that were looked up have a great count: never any, but the compiler does not know.
static long perform(const struct operation *batch, long n)
{
	long great = 0;

	pthread_mutex_lock(&lock);
	for (long i = 0; i < n; i++)
		if (batch[i].what < 2)
			great += lookup(batch[i].key) > 1000000;
		else
			add(batch[i].key, batch[i].what == 2 ? 1 : -1);
	pthread_mutex_unlock(&lock);
	return great;
}

static void *worker(void *number)
{
	uint64_t state = (uint64_t)(intptr_t)number + 1;
	struct operation batch[BATCH];
	long great = 0;

	for (long left = args.size; left > 0; left -= BATCH) {
		prepare(batch, &state);
		great += perform(batch, left < BATCH ? left : BATCH);
	}
	return (void *)(intptr_t)great;
}

// Adds the content below n to sum; returns the number of black nodes on every way down.
static int check(const struct node *n, uint64_t *sum)
{
	if (!n)
		return 0;
	int left = check(n->left, sum);
	*sum = mix(*sum ^ ((uint64_t)n->key << 32 ^ (uint32_t)n->count));
	int right = check(n->right, sum);
	if (left != right || is_red(n->right) || (n->red && is_red(n->left)))
		fail("rbtree: out of balance");
	return left + !n->red;
}

static void clear(struct node *n)
{
	if (!n)
		return;
	clear(n->left);
	clear(n->right);
	free(n);
}

int main(int argc, char **argv)
{
	uint64_t sum = 0;

	args = arguments(argc, argv, 2400000);
	run_threads(args.threads, worker);
	check(root, &sum);
	print_checksum("rbtree", sum);
	clear(root);
	return 0;
}
