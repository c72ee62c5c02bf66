/* SPDX-License-Identifier: MIT */
/*
 * The dynamic annotations (Annotate*), and what else of the vendors' interface only has to be there: questions about
 * reports, which are not made in this process, and hints that say nothing new.
 *
 * Arguments that are not looked at are not declared: the caller passes them in registers, and nobody minds.
 */
#include <stddef.h>
#include <stdint.h>

#include "runtime/frames.h"
#include "runtime/told.h"
#include "runtime/trail.h"

/* Order and locks. */

#define ORDERS_BY(name, kind_) \
	EXPORT void name(const char *file, int line, const void *object); \
	void name(const char *file, int line, const void *object) \
	{ \
		(void)file; \
		(void)line; \
		told(kind_, object, CALLER); \
	}

ORDERS_BY(AnnotateHappensBefore, ENTRY_SEM_POST)
ORDERS_BY(AnnotateHappensAfter, ENTRY_SEM_WAIT)
ORDERS_BY(WTFAnnotateHappensBefore, ENTRY_SEM_POST)
ORDERS_BY(WTFAnnotateHappensAfter, ENTRY_SEM_WAIT)
ORDERS_BY(AnnotateRWLockDestroy, ENTRY_BREAK)

#define MAKES(name) \
	EXPORT void name(const char *file, int line, const void *lock); \
	void name(const char *file, int line, const void *lock) \
	{ \
		(void)file; \
		(void)line; \
		told_made(OBJECT_RWLOCK, lock, CALLER); \
	}

MAKES(AnnotateRWLockCreate)
MAKES(AnnotateRWLockCreateStatic)

#define LOCKS(name, exclusive, shared) \
	EXPORT void name(const char *file, int line, const void *lock, long writes); \
	void name(const char *file, int line, const void *lock, long writes) \
	{ \
		(void)file; \
		(void)line; \
		told(writes ? exclusive : shared, lock, CALLER); \
	}

LOCKS(AnnotateRWLockAcquired, ENTRY_ACQUIRE, ENTRY_ACQUIRE_SHARED)
LOCKS(AnnotateRWLockReleased, ENTRY_RELEASE, ENTRY_RELEASE_SHARED)

/* Memory. */

EXPORT void AnnotateNewMemory(const char *file, int line, const void *address, unsigned long bytes);

void AnnotateNewMemory(const char *file, int line, const void *address, unsigned long bytes)
{
	(void)file;
	(void)line;
	if (bytes)
		told_sync((struct sync){.kind = ENTRY_ALLOC, .object = address, .pc = CALLER, .argument = bytes});
}

static void guarded(const void *address, unsigned long bytes)
{
	struct self *s = self();

	if (s && bytes)
		self_put(s, entry_first(ENTRY_ASSUME, ASSUME_GUARDED, (uintptr_t)address), bytes);
}

EXPORT void AnnotateBenignRace(const char *file, int line, const void *address);
EXPORT void AnnotateBenignRaceSized(const char *file, int line, const void *address, unsigned long bytes);
EXPORT void WTFAnnotateBenignRaceSized(const char *file, int line, const void *address, unsigned long bytes);

void AnnotateBenignRace(const char *file, int line, const void *address)
{
	(void)file;
	(void)line;
	guarded(address, 1);
}

void AnnotateBenignRaceSized(const char *file, int line, const void *address, unsigned long bytes)
{
	(void)file;
	(void)line;
	guarded(address, bytes);
}

void WTFAnnotateBenignRaceSized(const char *file, int line, const void *address, unsigned long bytes)
{
	(void)file;
	(void)line;
	guarded(address, bytes);
}

/* Of an access that is told at once: whether it is in a function that was brought along. */
static unsigned brought(struct self *s)
{
	bool is = s->mode & MODE_FILTER ? frames_tell_loud(s) : s->told < s->open && frames_are_brought(s);

	return s->mode & MODE_TIMED && is ? ACCESS_BROUGHT : 0;
}

#define EXTERNAL(name, kind) \
	EXPORT void name(void *address, void *pc, void *tag); \
	void name(void *address, void *pc, void *tag) \
	{ \
		struct self *s = self(); \
		(void)tag; \
		if (s) \
			self_put(s, entry_first(kind, 1 | brought(s), (uintptr_t)address), (uintptr_t)pc); \
	}

EXTERNAL(__tsan_external_read, ENTRY_READ)
EXTERNAL(__tsan_external_write, ENTRY_WRITE)

EXPORT void *__tsan_external_register_tag(const char *type);

/* Nobody asks what a tag is called, so all are one. */
void *__tsan_external_register_tag(const char *type)
{
	(void)type;
	return (void *)1;
}

/* What is not to be looked at: the collector leaves it out, and the hooks need not ask. */

static void ignore(unsigned what, bool begin)
{
	struct self *s = self();

	if (!s)
		return;
	self_put(s, entry_first(ENTRY_IGNORE, what | (begin ? IGNORE_BEGIN : 0), 0), 0);
	if (s->trails)
		trail_ignore(s, what | (begin ? IGNORE_BEGIN : 0));
}

#define IGNORES(name, what, begin) \
	EXPORT void name(void); \
	void name(void) \
	{ \
		ignore(what, begin); \
	}

IGNORES(__tsan_ignore_thread_begin, IGNORE_READS | IGNORE_WRITES, true)
IGNORES(__tsan_ignore_thread_end, IGNORE_READS | IGNORE_WRITES, false)
IGNORES(AnnotateIgnoreReadsBegin, IGNORE_READS, true)
IGNORES(AnnotateIgnoreReadsEnd, IGNORE_READS, false)
IGNORES(AnnotateIgnoreWritesBegin, IGNORE_WRITES, true)
IGNORES(AnnotateIgnoreWritesEnd, IGNORE_WRITES, false)
IGNORES(AnnotateIgnoreSyncBegin, IGNORE_SYNC, true)
IGNORES(AnnotateIgnoreSyncEnd, IGNORE_SYNC, false)

/* Nothing to do, and nothing to say. */

#define NOTHING(name) \
	EXPORT void name(void); \
	void name(void) \
	{ \
	}

NOTHING(AnnotateCondVarSignal)
NOTHING(AnnotateCondVarSignalAll)
NOTHING(AnnotateCondVarWait)
NOTHING(AnnotateEnableRaceDetection)
NOTHING(AnnotateExpectRace)
NOTHING(AnnotateFlushExpectedRaces)
NOTHING(AnnotateFlushState)
NOTHING(AnnotateMemoryIsInitialized)
NOTHING(AnnotateMemoryIsUninitialized)
NOTHING(AnnotateMutexIsNotPHB)
NOTHING(AnnotateMutexIsUsedAsCondVar)
NOTHING(AnnotateNoOp)
NOTHING(AnnotatePCQCreate)
NOTHING(AnnotatePCQDestroy)
NOTHING(AnnotatePCQGet)
NOTHING(AnnotatePCQPut)
NOTHING(AnnotatePublishMemoryRange)
NOTHING(AnnotateThreadName)
NOTHING(AnnotateTraceMemory)
NOTHING(AnnotateUnpublishMemoryRange)
NOTHING(__tsan_external_assign_tag)
NOTHING(__tsan_external_register_header)
NOTHING(__tsan_flush_memory)

#define ZERO(name) \
	EXPORT long name(void); \
	long name(void) \
	{ \
		return 0; \
	}

ZERO(RunningOnValgrind)
ZERO(__tsan_get_alloc_stack)
ZERO(__tsan_get_current_report)
ZERO(__tsan_get_report_data)
ZERO(__tsan_get_report_loc)
ZERO(__tsan_get_report_loc_object_type)
ZERO(__tsan_get_report_mop)
ZERO(__tsan_get_report_mutex)
ZERO(__tsan_get_report_stack)
ZERO(__tsan_get_report_tag)
ZERO(__tsan_get_report_thread)
ZERO(__tsan_get_report_unique_tid)

EXPORT const char *__tsan_locate_address(uintptr_t address, char *name, size_t size);
EXPORT double ValgrindSlowdown(void);

const char *__tsan_locate_address(uintptr_t address, char *name, size_t size)
{
	(void)address;
	if (name && size)
		*name = 0;
	return "";
}

double ValgrindSlowdown(void)
{
	return 10;
}
