/* SPDX-License-Identifier: MIT */
/* The module as a whole: reading, numbering, writing. See rewrite.h. */
#include "rewrite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Transforms/IPO.h>
#include <llvm-c/Transforms/Scalar.h>
#include <llvm-c/Transforms/Utils.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/str.h"

struct note *note_of(struct rewrite *r, LLVMValueRef v)
{
	uint32_t *number = map_put(&r->numbers, (uint64_t)(uintptr_t)v);

	if (!*number) {
		r->notes = arena_reserve(&r->arena, r->notes, &r->note_capacity, r->note_count + 1, sizeof *r->notes);
		*number = (uint32_t)++r->note_count;
	}
	return &r->notes[*number];
}

const struct note *note_find(const struct rewrite *r, LLVMValueRef v)
{
	uint32_t number = map_get(&r->numbers, (uint64_t)(uintptr_t)v);

	return number ? &r->notes[number] : NULL;
}

unsigned width_of(LLVMValueRef v)
{
	LLVMTypeRef type = LLVMTypeOf(v);

	switch (LLVMGetTypeKind(type)) {
	case LLVMPointerTypeKind: return LLVMGetPointerAddressSpace(type) ? 0 : 64;
	case LLVMIntegerTypeKind: return LLVMGetIntTypeWidth(type) <= 64 ? LLVMGetIntTypeWidth(type) : 0;
	default: return 0;
	}
}

LLVMValueRef number32(struct rewrite *r, uint32_t n)
{
	return LLVMConstInt(r->i32, n, false);
}

LLVMValueRef number64(struct rewrite *r, uint64_t n)
{
	return LLVMConstInt(r->i64, n, false);
}

static LLVMTypeRef type_of_letter(struct rewrite *r, char letter)
{
	switch (letter) {
	case 'i': return r->i32;
	case 'l': return r->i64;
	case 'p': return r->address;
	default: return r->nothing;
	}
}

struct callee declare(struct rewrite *r, const char *name, const char *result, const char *parameters)
{
	LLVMTypeRef types[8];
	unsigned n = (unsigned)strlen(parameters);
	struct callee c;

	for (unsigned i = 0; i < n; i++)
		types[i] = type_of_letter(r, parameters[i]);
	c.type = LLVMFunctionType(type_of_letter(r, *result), types, n, false);
	c.function = LLVMGetNamedFunction(r->module, name);
	if (!c.function)
		c.function = LLVMAddFunction(r->module, name, c.type);
	else if (LLVMGlobalGetValueType(c.function) != c.type)
		c.function = LLVMConstBitCast(c.function, LLVMPointerType(c.type, 0));
	return c;
}

static void read_module(struct rewrite *r, const char *path)
{
	LLVMMemoryBufferRef buffer;
	char *why = NULL;

	if (LLVMCreateMemoryBufferWithContentsOfFile(path, &buffer, &why))
		die(STATUS_USAGE, "%s: %s", path, why);
	r->context = LLVMContextCreate();
	if (LLVMParseBitcodeInContext2(r->context, buffer, &r->module))
		die(STATUS_USAGE, "%s: not bitcode of LLVM 14 or older", path);
	LLVMDisposeMemoryBuffer(buffer);
	r->layout = LLVMGetModuleDataLayout(r->module);
}

/*
 * Functions that must be part of their callers become so before they have entries and exits. The value of "a && b" is
 * branched on where it is known; then what is read twice, with nothing in between that could change it, is read once:
 * so it is in every optimised build, and a hook is not cheap.
 */
static void prepare(struct rewrite *r)
{
	LLVMPassManagerRef passes = LLVMCreatePassManager();

	LLVMAddAlwaysInlinerPass(passes);
	LLVMAddPromoteMemoryToRegisterPass(passes);
	LLVMAddJumpThreadingPass(passes);
	LLVMAddEarlyCSEPass(passes);
	LLVMRunPassManager(passes, r->module);
	LLVMDisposePassManager(passes);
}

/* All shadows that are variables now become registers. */
static void promote(struct rewrite *r)
{
	LLVMPassManagerRef passes = LLVMCreatePassManager();

	LLVMAddPromoteMemoryToRegisterPass(passes);
	LLVMRunPassManager(passes, r->module);
	LLVMDisposePassManager(passes);
}

static void number_all(struct rewrite *r)
{
	for (LLVMValueRef f = LLVMGetFirstFunction(r->module); f; f = LLVMGetNextFunction(f))
		for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
			for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
				note_of(r, i)->ordinal = ++r->ordinals;
}

/* The bitcode that was numbered, in a file of its own, from which the assembler takes it. */
static uint64_t keep_numbered(struct rewrite *r, const char *path)
{
	LLVMMemoryBufferRef buffer = LLVMWriteBitcodeToMemoryBuffer(r->module);
	size_t bytes = LLVMGetBufferSize(buffer);
	uint64_t hash = hash_bytes(LLVMGetBufferStart(buffer), bytes);
	struct walk_unit unit = {.magic = WALK_MAGIC, .hash = hash, .bytes = bytes, .ordinals = r->ordinals};
	FILE *f = fopen(path, "wb");

	if (!f || fwrite(&unit, sizeof unit, 1, f) != 1 || fwrite(LLVMGetBufferStart(buffer), bytes, 1, f) != 1 ||
		fclose(f))
		die(STATUS_UNFIT, "%s cannot be written", path);
	LLVMDisposeMemoryBuffer(buffer);
	return hash;
}

/* A section that is not loaded can be had from the assembler alone. */
static void embed(struct rewrite *r, const char *path)
{
	struct str s;

	str_init(&s, &r->arena);
	str_printf(&s, "\n.pushsection " WALK_SECTION ",\"\",@progbits\n.balign 8\n.incbin \"");
	for (; *path; path++)
		str_printf(&s, *path == '"' || *path == '\\' ? "\\%c" : "%c", *path);
	str_printf(&s, "\"\n.balign 8\n.popsection\n");
	LLVMAppendModuleInlineAsm(r->module, s.at, strlen(s.at));
}

static void set_types(struct rewrite *r)
{
	r->i1 = LLVMInt1TypeInContext(r->context);
	r->i8 = LLVMInt8TypeInContext(r->context);
	r->i32 = LLVMInt32TypeInContext(r->context);
	r->i64 = LLVMInt64TypeInContext(r->context);
	r->nothing = LLVMVoidTypeInContext(r->context);
	r->address = LLVMPointerType(r->i8, 0);
	r->none = number32(r, 0);
	r->at = LLVMCreateBuilderInContext(r->context);
}

static void set_globals(struct rewrite *r)
{
	static const struct {
		const char *name, *result, *parameters;
	} calls[] = {
#define WALK_CALL(NAME, name, result, parameters) {"__fission_walk_" #name, result, parameters},
#include "runtime/abi_walk.def"
#undef WALK_CALL
	};

	for (unsigned i = 0; i < CALLS; i++)
		r->calls[i] = declare(r, calls[i].name, calls[i].result, calls[i].parameters);
	r->on = LLVMAddGlobal(r->module, r->i8, "__fission_walk_on");
	r->unit = LLVMAddGlobal(r->module, r->i64, "fission.unit");
	LLVMSetLinkage(r->unit, LLVMInternalLinkage);
	LLVMSetInitializer(r->unit, number64(r, 0));
}

/* Puts the function at the end of what runs before main(). */
static void add_constructor(struct rewrite *r, LLVMValueRef function)
{
	LLVMValueRef fields[] = {number32(r, 0), function, LLVMConstPointerNull(r->address)};
	LLVMTypeRef types[] = {r->i32, LLVMTypeOf(function), r->address};
	LLVMTypeRef type = LLVMStructTypeInContext(r->context, types, 3, false);
	LLVMValueRef old = LLVMGetNamedGlobal(r->module, "llvm.global_ctors"), all;
	LLVMValueRef table = old ? LLVMGetInitializer(old) : NULL;
	unsigned n = table ? (unsigned)LLVMGetNumOperands(table) : 0;
	LLVMValueRef *at = arena_alloc(&r->arena, (n + 1) * sizeof *at);

	for (unsigned i = 0; i < n; i++)
		at[i] = LLVMGetOperand(table, i);
	at[n] = LLVMConstStructInContext(r->context, fields, 3, false);
	all = LLVMAddGlobal(r->module, LLVMArrayType(type, n + 1), "");
	LLVMSetLinkage(all, LLVMAppendingLinkage);
	LLVMSetInitializer(all, LLVMConstArray(type, at, n + 1));
	if (old)
		LLVMDeleteGlobal(old);
	LLVMSetValueName2(all, "llvm.global_ctors", strlen("llvm.global_ctors"));
}

/* Says which unit this is, and that it is there. */
static void add_start(struct rewrite *r, uint64_t hash)
{
	struct callee unit = declare(r, "__fission_walk_unit", "l", "l"), init = declare(r, "__tsan_init", "v", "");
	LLVMValueRef f = LLVMAddFunction(r->module, "fission.start", LLVMFunctionType(r->nothing, NULL, 0, false));
	LLVMValueRef argument = number64(r, hash);

	LLVMSetLinkage(f, LLVMInternalLinkage);
	LLVMPositionBuilderAtEnd(r->at, LLVMAppendBasicBlockInContext(r->context, f, ""));
	LLVMSetCurrentDebugLocation2(r->at, NULL);
	LLVMBuildCall2(r->at, init.type, init.function, NULL, 0, "");
	LLVMBuildStore(r->at, LLVMBuildCall2(r->at, unit.type, unit.function, &argument, 1, ""), r->unit);
	LLVMBuildRetVoid(r->at);
	add_constructor(r, f);
}

/* Those that are there now: more are declared on the way. */
static void rewrite_functions(struct rewrite *r)
{
	LLVMValueRef *all = NULL;
	size_t n = 0, capacity = 0;

	for (LLVMValueRef f = LLVMGetFirstFunction(r->module); f; f = LLVMGetNextFunction(f)) {
		if (LLVMIsDeclaration(f) || LLVMGetLinkage(f) == LLVMAvailableExternallyLinkage)
			continue;
		all = arena_reserve(&r->arena, all, &capacity, n, sizeof *all);
		all[n++] = f;
	}
	for (size_t i = 0; i < n; i++)
		rewrite_function(r, all[i]);
}

static void write_module(struct rewrite *r, const char *path)
{
	char *why = NULL;

	if (LLVMVerifyModule(r->module, LLVMReturnStatusAction, &why))
		die(STATUS_TOOL, "the rewritten code of %s is wrong: %s", path, why);
	if (LLVMWriteBitcodeToFile(r->module, path))
		die(STATUS_UNFIT, "%s cannot be written", path);
}

int main(int argc, char **argv)
{
	static struct rewrite r;
	uint64_t hash;

	if (argc != 4)
		die(STATUS_USAGE, "usage: fission-rewrite FROM.bc NUMBERED TO.bc; it is part of 'fission cc --symbolic'");
	arena_init(&r.arena);
	map_init(&r.numbers, &r.arena);
	read_module(&r, argv[1]);
	prepare(&r);
	number_all(&r);
	hash = keep_numbered(&r, argv[2]);
	set_types(&r);
	set_globals(&r);
	rewrite_functions(&r);
	add_start(&r, hash);
	embed(&r, argv[2]);
	promote(&r);
	write_module(&r, argv[3]);
	return STATUS_CLEAN;
}
