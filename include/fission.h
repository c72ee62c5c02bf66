/* SPDX-License-Identifier: MIT */
/*
 * What a program can tell Fission about itself.
 *
 * Under a plain compiler everything here is empty and needs no library, so that the calls may stay in the code; this
 * file may be copied into a project. Under fission-cc, which defines __FISSION__, the declarations reach the tool in
 * two ways: functions and lines through sections of the program's file, which cost nothing when it runs; blocks,
 * objects and locks through calls of the library.
 *
 * Functions. FISSION_ATOMIC stands where an attribute may stand, before a declaration or a definition:
 *
 *	FISSION_ATOMIC int withdraw(int amount);       meant to be one step: a block under every policy
 *	fission_assume_atomic void log_line(char *);   taken to be one step, without a check
 *	fission_assume_mover unsigned hash(char *);    taken to be independent of other threads, without a check
 *
 * The function's code goes into a section with the name of the word; so a function has one of them, and no section of
 * its own. In C++ with gcc: write it at the declaration or at the definition, not at both, and not at templates, where
 * gcc drops it; FISSION_ATOMIC_SCOPE works in every function.
 *
 * Blocks, which must nest:
 *
 *	FISSION_ATOMIC_BEGIN("label"); ... FISSION_ATOMIC_END("label");
 *	FISSION_ATOMIC_SCOPE("label");   a declaration: from here to where the enclosing braces are left
 *
 * Lines: nothing is said about the line that this stands in.
 *
 *	counter++; fission_no_warn();
 *
 * Objects: no races are expected, whatever the locks look like; a name for memory that has none.
 *
 *	fission_assume_guarded(&queue, sizeof queue);
 *	fission_name(account, "account of alice");
 *
 * Home-made locks: call the one after the lock was taken, the other before it is given up.
 *
 *	fission_lock_acquire(&my_lock); ... fission_lock_release(&my_lock);
 *
 * Inputs: what is in the variable decides where the program goes, and 'fission chase' may put something else there, if
 * the program was built with fission-cc --symbolic. It keeps what it has otherwise.
 *
 *	int amount = 10;
 *	fission_input(&amount, sizeof amount, "amount");
 *
 * The same can be said without touching the code, in comments and in a configuration file: docs/policy.md. Strings
 * must live as long as the program.
 */
#ifndef FISSION_H
#define FISSION_H

#if defined(__FISSION__) && defined(__GNUC__)

#ifdef __cplusplus
extern "C" {
#endif

void __fission_atomic_begin(const char *label);
void __fission_atomic_end(const char *label);
void __fission_assume(int what, const void *address, unsigned long size);
void __fission_name(const void *address, const char *name);
void __fission_lock_acquire(const void *lock);
void __fission_lock_release(const void *lock);
void __fission_input(void *address, unsigned long size, const char *name);

#ifdef __cplusplus
}
#endif

/* What __fission_assume is told. */
#define FISSION_GUARDED 1

#define FISSION_TEXT_(x) #x
#define FISSION_TEXT(x) FISSION_TEXT_(x)
#define FISSION_JOIN_(a, b) a##b
#define FISSION_JOIN(a, b) FISSION_JOIN_(a, b)

/*
 * g++ puts two functions that are merged with those of other files (inline ones, members) into one group if they share
 * a section, and then the linker may drop both for the sake of one. So there each use has a section of its own.
 */
#if defined(__cplusplus) && !defined(__clang__)
#define FISSION_IN_SECTION(name) __attribute__((__noinline__, __section__(name "." FISSION_TEXT(__COUNTER__))))
#else
#define FISSION_IN_SECTION(name) __attribute__((__noinline__, __section__(name)))
#endif

#define FISSION_ATOMIC FISSION_IN_SECTION("fission_atomic")
#define fission_assume_atomic FISSION_IN_SECTION("fission_assume_atomic")
#define fission_assume_mover FISSION_IN_SECTION("fission_assume_mover")

#define FISSION_ATOMIC_BEGIN(label) __fission_atomic_begin(label)
#define FISSION_ATOMIC_END(label) __fission_atomic_end(label)

/* Inlined always: its entry and exit are nobody's business. */
static __inline__ __attribute__((__unused__, __always_inline__)) void fission_scope_end(const char *const *label)
{
	__fission_atomic_end(*label);
}

#define FISSION_ATOMIC_SCOPE(label) \
	const char *const FISSION_JOIN(fission_scope_, __LINE__) \
		__attribute__((__unused__, __cleanup__(fission_scope_end))) = (__fission_atomic_begin(label), (label))

/* The assembler writes the place, since data of an inline function would need a section of its own. */
#define fission_no_warn() \
	__asm__ __volatile__(".pushsection fission_no_warn,\"a\"\n\t.asciz \"" __FILE__ ":" FISSION_TEXT(__LINE__) \
		"\"\n\t.popsection")

#define fission_assume_guarded(address, size) \
	__fission_assume(FISSION_GUARDED, (const void *)(address), (unsigned long)(size))
#define fission_name(address, name) __fission_name((const void *)(address), (name))
#define fission_lock_acquire(lock) __fission_lock_acquire((const void *)(lock))
#define fission_lock_release(lock) __fission_lock_release((const void *)(lock))
#define fission_input(address, size, name) __fission_input((void *)(address), (unsigned long)(size), (name))

#else

#define FISSION_ATOMIC
#define fission_assume_atomic
#define fission_assume_mover
#define FISSION_ATOMIC_BEGIN(label) ((void)(label))
#define FISSION_ATOMIC_END(label) ((void)(label))
#define FISSION_ATOMIC_SCOPE(label) struct fission_scope_none
#define fission_no_warn() ((void)0)
#define fission_assume_guarded(address, size) ((void)(address), (void)(size))
#define fission_name(address, name) ((void)(address), (void)(name))
#define fission_lock_acquire(lock) ((void)(lock))
#define fission_lock_release(lock) ((void)(lock))
#define fission_input(address, size, name) ((void)(address), (void)(size), (void)(name))

#endif

#endif
