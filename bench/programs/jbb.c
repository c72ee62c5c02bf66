// SPDX-License-Identifier: MIT
// Orders of a wholesale company, in place of SPEC JBB2000: jbb TERMINALS TRANSACTIONS. Warehouses with districts,
// customers, stock and orders, each with locked methods; a terminal runs the five kinds of transactions of TPC-C, and
// each transaction calls several such methods. Nearly every transaction is split, and says itself that it may be: what
// it leaves is added up, and the totals are right in the end.
//
// BENIGN new_order: takes a number, takes from stock and enters the order in separate sections
// BENIGN payment: warehouse, district and customer get the amount one after the other
// BENIGN delivery: the oldest order of each district, then its customer, in separate sections
// BENIGN order_status: looks up the customer's last order, then the order, which may have been delivered in between
// BENIGN stock_level: reads the stock of the last orders, item by item
// BENIGN order_lines: takes from the stock item by item
// BENIGN deliver_district: takes the order out, then pays the customer
// BENIGN transaction: counts, then does one of the others
// BENIGN terminal_loop: one transaction after the other
// BENIGN low_items: item by item
// BENIGN price_of: the price is read and its use counted in two sections
#include "../runtime/program.h"

#include <string.h>

enum { WAREHOUSES = 2, DISTRICTS = 5, CUSTOMERS = 30, ITEMS = 100, ORDERS = 128, LINES = 5 };

struct order {
	long number;
	int customer, items[LINES], delivered;
};

struct customer {
	pthread_mutex_t lock;
	long balance, payments, last_order; // guarded by lock
};

struct district {
	pthread_mutex_t lock;
	long next_order, year_to_date; // guarded by lock, as the next three
	struct order orders[ORDERS];   // a ring
	long oldest, entered;
	struct customer customers[CUSTOMERS];
};

struct stock {
	pthread_mutex_t lock;
	int quantity; // guarded by lock
	long sold;
};

struct warehouse {
	pthread_mutex_t lock;
	long year_to_date; // guarded by lock
	struct district districts[DISTRICTS];
	struct stock stock[ITEMS];
};

struct item {
	pthread_mutex_t lock;
	int price;
	long asked; // guarded by lock
};

static struct arguments args;
static struct warehouse warehouses[WAREHOUSES];
static struct item items[ITEMS];
static pthread_mutex_t company = PTHREAD_MUTEX_INITIALIZER;
static long transactions[5]; // guarded by company

int get_price(struct item *i)
{
	pthread_mutex_lock(&i->lock);
	int price = i->price;
	pthread_mutex_unlock(&i->lock);
	return price;
}

void count_asked(struct item *i)
{
	pthread_mutex_lock(&i->lock);
	i->asked++;
	pthread_mutex_unlock(&i->lock);
}

int price_of(int item)
{
	int price = get_price(&items[item]);

	count_asked(&items[item]);
	return price;
}

long next_order_number(struct district *d)
{
	pthread_mutex_lock(&d->lock);
	long number = d->next_order++;
	pthread_mutex_unlock(&d->lock);
	return number;
}

// The oldest order makes room if there is none.
void enter_order(struct district *d, const struct order *o)
{
	pthread_mutex_lock(&d->lock);
	if (d->entered - d->oldest == ORDERS)
		d->oldest++;
	d->orders[d->entered++ % ORDERS] = *o;
	pthread_mutex_unlock(&d->lock);
}

int take_from_stock(struct stock *s, int count)
{
	pthread_mutex_lock(&s->lock);
	s->quantity = s->quantity >= count + 10 ? s->quantity - count : s->quantity - count + 91;
	s->sold += count;
	int left = s->quantity;
	pthread_mutex_unlock(&s->lock);
	return left;
}

int stock_left(struct stock *s)
{
	pthread_mutex_lock(&s->lock);
	int left = s->quantity;
	pthread_mutex_unlock(&s->lock);
	return left;
}

void set_last_order(struct customer *c, long number)
{
	pthread_mutex_lock(&c->lock);
	c->last_order = number;
	pthread_mutex_unlock(&c->lock);
}

long get_last_order(struct customer *c)
{
	pthread_mutex_lock(&c->lock);
	long number = c->last_order;
	pthread_mutex_unlock(&c->lock);
	return number;
}

void add_balance(struct customer *c, long amount)
{
	pthread_mutex_lock(&c->lock);
	c->balance += amount;
	c->payments++;
	pthread_mutex_unlock(&c->lock);
}

long order_lines(struct warehouse *w, struct order *o, uint64_t *state)
{
	long cost = 0;

	for (int i = 0; i < LINES; i++) {
		int item = (int)draw(state, ITEMS), count = 1 + (int)draw(state, 5);
		o->items[i] = item;
		cost += (long)count * price_of(item);
		take_from_stock(&w->stock[item], count);
	}
	return cost;
}

void new_order(struct warehouse *w, uint64_t *state)
{
	struct district *d = &w->districts[draw(state, DISTRICTS)];
	struct order o = { .customer = (int)draw(state, CUSTOMERS) };

	o.number = next_order_number(d);
	order_lines(w, &o, state);
	enter_order(d, &o);
	set_last_order(&d->customers[o.customer], o.number);
}

void warehouse_pay(struct warehouse *w, long amount)
{
	pthread_mutex_lock(&w->lock);
	w->year_to_date += amount;
	pthread_mutex_unlock(&w->lock);
}

void district_pay(struct district *d, long amount)
{
	pthread_mutex_lock(&d->lock);
	d->year_to_date += amount;
	pthread_mutex_unlock(&d->lock);
}

void payment(struct warehouse *w, uint64_t *state)
{
	struct district *d = &w->districts[draw(state, DISTRICTS)];
	long amount = 1 + draw(state, 5000);

	warehouse_pay(w, amount);
	district_pay(d, amount);
	add_balance(&d->customers[draw(state, CUSTOMERS)], -amount);
}

int find_order(struct district *d, long number, struct order *found)
{
	int there = 0;

	pthread_mutex_lock(&d->lock);
	for (long i = d->oldest; i < d->entered && !there; i++)
		if (d->orders[i % ORDERS].number == number) {
			*found = d->orders[i % ORDERS];
			there = 1;
		}
	pthread_mutex_unlock(&d->lock);
	return there;
}

int order_status(struct warehouse *w, uint64_t *state)
{
	struct district *d = &w->districts[draw(state, DISTRICTS)];
	struct order o;

	return find_order(d, get_last_order(&d->customers[draw(state, CUSTOMERS)]), &o);
}

// The customer of the oldest order, which is delivered; -1: there is none.
int take_oldest(struct district *d)
{
	int customer = -1;

	pthread_mutex_lock(&d->lock);
	if (d->oldest < d->entered) {
		customer = d->orders[d->oldest % ORDERS].customer;
		d->orders[d->oldest++ % ORDERS].delivered = 1;
	}
	pthread_mutex_unlock(&d->lock);
	return customer;
}

void deliver_district(struct district *d)
{
	int customer = take_oldest(d);

	if (customer >= 0)
		add_balance(&d->customers[customer], 1);
}

void delivery(struct warehouse *w)
{
	for (int i = 0; i < DISTRICTS; i++)
		deliver_district(&w->districts[i]);
}

int newest_items(struct district *d, int *found)
{
	int count = 0;

	pthread_mutex_lock(&d->lock);
	for (long i = d->entered > d->oldest + 4 ? d->entered - 4 : d->oldest; i < d->entered; i++)
		for (int k = 0; k < LINES; k++)
			found[count++] = d->orders[i % ORDERS].items[k];
	pthread_mutex_unlock(&d->lock);
	return count;
}

int low_items(struct warehouse *w, const int *which, int count)
{
	int low = 0;

	for (int i = 0; i < count; i++)
		low += stock_left(&w->stock[which[i]]) < 15;
	return low;
}

int stock_level(struct warehouse *w, uint64_t *state)
{
	int which[4 * LINES], count = newest_items(&w->districts[draw(state, DISTRICTS)], which);

	return low_items(w, which, count);
}

void count_transaction(int kind)
{
	pthread_mutex_lock(&company);
	transactions[kind]++;
	pthread_mutex_unlock(&company);
}

void transaction(struct warehouse *w, uint64_t *state)
{
	static const int mix_of_kinds[] = { 0, 0, 0, 0, 1, 1, 1, 1, 2, 3, 4 };
	int kind = mix_of_kinds[draw(state, sizeof(mix_of_kinds) / sizeof(int))];

	count_transaction(kind);
	switch (kind) {
	case 0: new_order(w, state); break;
	case 1: payment(w, state); break;
	case 2: order_status(w, state); break;
	case 3: delivery(w); break;
	case 4: stock_level(w, state); break;
	}
}

void terminal_loop(int t)
{
	uint64_t state = mix((uint64_t)t + 1);

	for (long i = t; i < args.size; i += args.threads)
		transaction(&warehouses[t % WAREHOUSES], &state);
}

static void *terminal(void *number)
{
	terminal_loop((int)(intptr_t)number);
	return NULL;
}

static void init_district(struct district *d)
{
	pthread_mutex_init(&d->lock, NULL);
	d->next_order = 1;
	for (int c = 0; c < CUSTOMERS; c++)
		pthread_mutex_init(&d->customers[c].lock, NULL);
}

static void make_company(void)
{
	for (int w = 0; w < WAREHOUSES; w++) {
		pthread_mutex_init(&warehouses[w].lock, NULL);
		for (int d = 0; d < DISTRICTS; d++)
			init_district(&warehouses[w].districts[d]);
		for (int i = 0; i < ITEMS; i++) {
			pthread_mutex_init(&warehouses[w].stock[i].lock, NULL);
			warehouses[w].stock[i].quantity = 50;
		}
	}
	for (int i = 0; i < ITEMS; i++) {
		pthread_mutex_init(&items[i].lock, NULL);
		items[i].price = 10 + i;
	}
}

int main(int argc, char **argv)
{
	long paid[2] = { 0, 0 }, done = 0;

	args = arguments(argc, argv, 20000);
	make_company();
	run_threads(args.threads, terminal);
	for (int w = 0; w < WAREHOUSES; w++) {
		paid[0] += warehouses[w].year_to_date;
		for (int d = 0; d < DISTRICTS; d++)
			paid[1] += warehouses[w].districts[d].year_to_date;
	}
	for (int k = 0; k < 5; k++)
		done += transactions[k];
	printf("jbb: %ld transactions, %s\n", done, paid[0] == paid[1] ? "consistent" : "inconsistent");
	return paid[0] == paid[1] ? 0 : 1;
}
