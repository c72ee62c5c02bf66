/* SPDX-License-Identifier: MIT */
/* Memory from the heap in C++. By new the line is not known, only the function: its line is 0 here. */
#include <cstdlib>
#include <memory>

#include "fixture.h"

#define PART_IN(function, start, bytes, part, name) \
	printf("h heap.cc 0 %s - %zu %zu %zu\t%s\n", function, (size_t)(bytes), \
		(size_t)((char *)&(part) - (char *)(start)), sizeof(part), name)
#define LINE_OF(what, name) printf("h heap.cc 0 %s - %zu 8 8\theap.cc:%d %s\n", what, sizeof(bank::Account), __LINE__ + 1, name)

namespace bank {

struct Base {
	virtual ~Base() {}
	long id = 0;
};

class Account : public Base {
public:
	long balance = 0;
	struct Limit {
		int low, high;
	} limit;
};

struct Plain {
	int a, b, c;
};

struct Destroyed {
	~Destroyed() { printf("%s", ""); }
	long x, y;
};

class Bank {
public:
	Bank();
	void open();
	Account *made();
	void grow();
	Account *first;
	Account *all[4];
	Plain *plain;
};

Bank::Bank() : first(nullptr), plain(nullptr)
{
}

void Bank::open()
{
	this->first = new Account();
	PART_IN("bank::Bank::open", first, sizeof *first, first->balance, "this->first->balance");
	PART_IN("bank::Bank::open", first, sizeof *first, first->limit.high, "this->first->limit.high");
	PART_IN("bank::Bank::open", first, sizeof *first, first->id, "this->first->id");
}

Account *Bank::made()
{
	LINE_OF("bank::Bank::made", "Account.id");
	return new Account();
}

void Bank::grow()
{
	plain = new Plain[5];
	PART_IN("bank::Bank::grow", plain, 5 * sizeof *plain, plain[3].c, "plain[].c");
	all[1] = new Account;
	PART_IN("bank::Bank::grow", all[1], sizeof(Account), all[1]->balance, "all[]->balance");
}

template <typename T> struct Node {
	T value;
	Node *next;
	static __attribute__((noinline)) Node *make(T value);
};

/* What a template makes has another type in each instance: only by the C library's allocator is the line known. */
template <typename T> Node<T> *Node<T>::make(T value)
{
	Node *node = static_cast<Node *>(malloc(sizeof(Node)));
	printf("h heap.cc %d - - %zu 0 %zu\t\n", __LINE__ - 1, sizeof(Node), sizeof(T));
	node->value = value;
	return node;
}

}

static void derived()
{
	bank::Base *base = new bank::Account();
	PART_IN("derived", base, sizeof(bank::Account), static_cast<bank::Account *>(base)->balance, "base->balance");
	delete base;
}

static void cookies()
{
	bank::Destroyed *them = new bank::Destroyed[3];
	PART_IN("cookies", (char *)them - 8, 3 * sizeof *them + 8, them[1].y, "them[].y");
	printf("h heap.cc 0 cookies - 56 0 8\t\n");
	delete[] them;
}

/* Two that are alike: nobody can tell. */
static void twice()
{
	auto *one = new bank::Account(), *other = new bank::Account();
	PART_IN("twice", one, sizeof *one, one->balance, "");
	delete one;
	delete other;
}

/* Which is it that an unknown type makes? */
static void unknown()
{
	auto *node = new bank::Node<int>();
	auto *account = new bank::Account();
	PART_IN("unknown", account, sizeof *account, account->balance, "");
	delete node;
	delete account;
}

static void lambdas()
{
	auto in = [](int n) {
		auto *made = static_cast<bank::Plain *>(calloc((size_t)n, sizeof(bank::Plain)));
		printf("h heap.cc %d - - 24 16 4\tmade[].b\n", __LINE__ - 1);
		return made;
	};
	free(in(2));
}

extern "C" __attribute__((noinline)) void here()
{
	BIAS(here);
}

int main()
{
	bank::Bank b;

	here();
	b.open();
	delete b.made();
	b.grow();
	free(bank::Node<int>::make(1));
	free(bank::Node<double>::make(1));
	derived();
	cookies();
	twice();
	unknown();
	lambdas();
	return 0;
}
