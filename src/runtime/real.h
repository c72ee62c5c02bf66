/* SPDX-License-Identifier: MIT */
/*
 * The functions that the library stands in front of: the next definition after ours, looked up once.
 *
 * REAL(name) is a pointer to it with the type of the declaration in scope. Looking up may call malloc; the wrappers
 * of the allocator know that (wrap_memory.c).
 */
#ifndef FISSION_RUNTIME_REAL_H
#define FISSION_RUNTIME_REAL_H

/*
 * The next `name` (of that version, or the default one if version is NULL). Never NULL: a function that is not there is
 * not called.
 */
void *real_find(void **cache, const char *name, const char *version);

#define REAL_OF(name, version) ({ \
	static void *cache_; \
	void *found_ = __atomic_load_n(&cache_, __ATOMIC_RELAXED); \
	(__typeof__(&name))(found_ ? found_ : real_find(&cache_, #name, version)); \
})
#define REAL(name) REAL_OF(name, NULL)

#define EXPORT __attribute__((visibility("default")))

#define CALLER __builtin_return_address(0)

#endif
