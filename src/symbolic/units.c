/* SPDX-License-Identifier: MIT */
#include "units.h"

#include <string.h>

#include <llvm-c/BitReader.h>

#include "base/fail.h"
#include "base/str.h"
#include "event/walk.h"
#include "symbolic/effects.h"
#include "symbolic/postdom.h"
#include "symbols/elf_file.h"

/* A wrapper of a lock is at most so long. */
enum { WRAPPER_BLOCKS = 6 };

static uint32_t name_id(struct units *us, const char *name)
{
	return intern_add(&us->names, name, strlen(name));
}

/* ---- instructions, blocks, functions ---- */

static void number_block(struct unit *u, struct unit_function *f, uint32_t b)
{
	struct unit_block *block = &f->block[b];

	block->first = u->instructions + 1;
	for (LLVMValueRef i = LLVMGetFirstInstruction(block->ref); i; i = LLVMGetNextInstruction(i)) {
		u->instruction[++u->instructions] = (struct unit_instruction){i, (uint32_t)(f - u->function), b};
		*map_put(&u->by_value, (uintptr_t)i) = u->instructions;
		block->count++;
	}
}

static uint32_t block_number(const struct unit_function *f, const struct map *blocks, LLVMBasicBlockRef ref)
{
	uint32_t n = map_get(blocks, (uintptr_t)ref);

	return n && n <= f->blocks ? n - 1 : 0;
}

static void find_successors(struct unit_function *f, struct arena *a, const struct map *blocks)
{
	for (uint32_t b = 0; b < f->blocks; b++) {
		LLVMValueRef last = LLVMGetBasicBlockTerminator(f->block[b].ref);
		uint32_t count = last ? LLVMGetNumSuccessors(last) : 0;
		uint32_t *to = arena_alloc(a, (count + 1) * sizeof *to);

		for (uint32_t i = 0; i < count; i++)
			to[i] = block_number(f, blocks, LLVMGetSuccessor(last, i));
		f->block[b].to = to;
		f->block[b].tos = count;
	}
}

/*
 * A loop that is never left has no way to the function's end. There a way ends where the loop begins again: at the edge
 * that goes back to a block on the way to it.
 */
static void close_loops(struct unit_function *f, struct arena *a)
{
	uint32_t *stack = arena_alloc(a, (f->blocks + 1) * sizeof *stack), depth = f->blocks > 0;
	uint32_t *next = arena_alloc(a, (f->blocks + 1) * sizeof *next);
	char *state = arena_alloc(a, f->blocks + 1); /* 0 not seen, 1 on the way, 2 done */

	state[0] = 1;
	while (depth) {
		struct unit_block *b = &f->block[stack[depth - 1]];

		if (next[b - f->block] == b->tos) {
			state[b - f->block] = 2;
			depth--;
			continue;
		}
		uint32_t to = b->to[next[b - f->block]++];

		b->ends |= state[to] == 1 && b->join == POSTDOM_NONE;
		if (!state[to]) {
			state[to] = 1;
			stack[depth++] = to;
		}
	}
}

static void find_joins_once(struct unit_function *f, struct arena *a)
{
	struct postdom_node *node = arena_alloc(a, (f->blocks + 1) * sizeof *node);

	for (uint32_t b = 0; b < f->blocks; b++)
		node[b] = (struct postdom_node){f->block[b].to, f->block[b].tos, f->block[b].ends, 0};
	postdom(node, f->blocks, a);
	for (uint32_t b = 0; b < f->blocks; b++)
		f->block[b].join = node[b].join;
}

static void find_joins(struct unit_function *f, struct arena *a)
{
	for (uint32_t b = 0; b < f->blocks; b++) {
		LLVMValueRef last = LLVMGetBasicBlockTerminator(f->block[b].ref);

		f->block[b].ends = last && LLVMIsAReturnInst(last);
	}
	find_joins_once(f, a);
	close_loops(f, a);
	find_joins_once(f, a);
}

static void number_function(struct units *us, struct unit *u, LLVMValueRef ref)
{
	struct unit_function *f = &u->function[u->functions++];
	struct map blocks;
	uint32_t b = 0;

	map_init(&blocks, us->arena);
	*f = (struct unit_function){.unit = u, .ref = ref, .name = LLVMGetValueName(ref), .first = u->instructions + 1,
		.blocks = LLVMCountBasicBlocks(ref), .parameters = LLVMCountParams(ref)};
	f->block = arena_alloc(us->arena, (f->blocks + 1) * sizeof *f->block);
	*map_put(&u->by_value, (uintptr_t)ref) = u->functions;
	for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(ref); block; block = LLVMGetNextBasicBlock(block), b++) {
		f->block[b].ref = block;
		*map_put(&blocks, (uintptr_t)block) = b + 1;
		number_block(u, f, b);
	}
	f->count = u->instructions + 1 - f->first;
	find_successors(f, us->arena, &blocks);
	find_joins(f, us->arena);
}

static bool takes_locks(const struct unit_function *f)
{
	for (uint32_t i = f->first; i < f->first + f->count; i++) {
		LLVMValueRef at = f->unit->instruction[i].ref;
		LLVMValueRef called = LLVMIsACallInst(at) ? unit_called(at) : NULL;
		enum effect what = called && LLVMIsAFunction(called) ? effect_of(LLVMGetValueName(called))->what : EFFECT_NONE;

		if (what == EFFECT_LOCK || what == EFFECT_LOCK_SHARED || what == EFFECT_UNLOCK)
			return true;
	}
	return false;
}

static void publish(struct units *us, struct unit_function *f)
{
	f->wraps = f->blocks <= WRAPPER_BLOCKS && takes_locks(f);
	if (LLVMGetLinkage(f->ref) == LLVMInternalLinkage || LLVMGetLinkage(f->ref) == LLVMPrivateLinkage)
		return;
	us->external = arena_reserve(us->arena, us->external, &us->external_room, us->externals, sizeof *us->external);
	us->external[us->externals++] = f;
	*map_put(&us->by_name, name_id(us, f->name)) = (uint32_t)us->externals;
}

static void number_unit(struct units *us, struct unit *u)
{
	uint32_t instructions = 0, functions = 0;

	map_init(&u->by_value, us->arena);
	for (LLVMValueRef f = LLVMGetFirstFunction(u->module); f; f = LLVMGetNextFunction(f)) {
		functions += LLVMCountBasicBlocks(f) > 0;
		for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
			for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
				instructions++;
	}
	u->instruction = arena_alloc(us->arena, (instructions + 2) * sizeof *u->instruction);
	u->function = arena_alloc(us->arena, (functions + 1) * sizeof *u->function);
	u->layout = LLVMGetModuleDataLayout(u->module);
	for (LLVMValueRef f = LLVMGetFirstFunction(u->module); f; f = LLVMGetNextFunction(f))
		if (LLVMCountBasicBlocks(f))
			number_function(us, u, f);
	for (uint32_t i = 0; i < u->functions; i++)
		publish(us, &u->function[i]);
}

/* ---- the program's file ---- */

static void quietly(LLVMDiagnosticInfoRef info, void *to)
{
	(void)info, (void)to;
}

static bool parse(struct units *us, const struct walk_unit *head, const char *bitcode, size_t *room)
{
	LLVMContextRef context = LLVMContextCreate();
	LLVMMemoryBufferRef memory = LLVMCreateMemoryBufferWithMemoryRangeCopy(bitcode, head->bytes, "unit");
	LLVMModuleRef module = NULL;
	bool good;

	LLVMContextSetDiagnosticHandler(context, quietly, NULL);
	good = !LLVMParseBitcodeInContext2(context, memory, &module);
	LLVMDisposeMemoryBuffer(memory);
	if (!good)
		return false;
	us->at = arena_reserve(us->arena, us->at, room, us->count, sizeof *us->at);
	us->at[us->count] = (struct unit){.number = (uint32_t)us->count, .hash = head->hash, .module = module};
	us->count++;
	return true;
}

/* Each unit begins at a multiple of 8; the linker may leave room between those of two objects. */
static bool split_section(struct units *us, const char *at, size_t bytes)
{
	size_t offset = 0, room = 0;

	while (offset + sizeof(struct walk_unit) <= bytes) {
		struct walk_unit head;

		memcpy(&head, at + offset, sizeof head);
		if (memcmp(head.magic, WALK_MAGIC, sizeof head.magic) != 0) {
			offset += 8;
			continue;
		}
		offset += sizeof head;
		if (head.bytes > bytes - offset || !parse(us, &head, at + offset, &room))
			return false;
		offset = (offset + head.bytes + 7) & ~(size_t)7;
	}
	return us->count != 0;
}

static void read_symbol(struct units *us, const char *name, const GElf_Sym *sym)
{
	int type = GELF_ST_TYPE(sym->st_info);
	uint32_t *slot;

	if ((type != STT_OBJECT && type != STT_FUNC) || sym->st_shndx == SHN_UNDEF || !name)
		return;
	slot = map_put(&us->symbols, name_id(us, name));
	if (*slot) {
		us->symbol[*slot - 1].twice |= us->symbol[*slot - 1].address != sym->st_value;
		return;
	}
	us->symbol = arena_reserve(us->arena, us->symbol, &us->symbol_room, us->symbols_count, sizeof *us->symbol);
	us->symbol[us->symbols_count++] =
		(struct unit_symbol){sym->st_value, sym->st_size, intern_find(&us->names, name, strlen(name)), false};
	*slot = (uint32_t)us->symbols_count;
}

static void read_symbols(struct units *us, const struct elf_file *f)
{
	GElf_Shdr header;
	Elf_Scn *scn = elf_file_section(f, ".symtab", &header);
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
	GElf_Sym sym;

	for (int i = 0; data && gelf_getsym(data, i, &sym); i++)
		read_symbol(us, elf_strptr(f->elf, header.sh_link, sym.st_name), &sym);
}

static void read_segments(struct units *us, const struct elf_file *f)
{
	GElf_Phdr p;
	size_t count = 0;

	us->data = UINT64_MAX;
	if (elf_getphdrnum(f->elf, &count))
		return;
	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(f->elf, (int)i, &p) && p.p_type == PT_LOAD && p.p_flags & PF_W) {
			us->data = p.p_vaddr < us->data ? p.p_vaddr : us->data;
			us->data_end = p.p_vaddr + p.p_memsz > us->data_end ? p.p_vaddr + p.p_memsz : us->data_end;
		}
}

static bool read_file(struct units *us, const struct elf_file *f, const char *path, struct fault *fault)
{
	GElf_Shdr header;
	Elf_Scn *scn = elf_file_section(f, WALK_SECTION, &header);
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;

	if (!data || !data->d_buf)
		fault_set(fault, STATUS_USAGE, "%s: has no bitcode in it; build it with: fission-cc --symbolic", path);
	else if (!split_section(us, data->d_buf, data->d_size))
		fault_set(fault, STATUS_USAGE, "%s: its bitcode cannot be read; build it again", path);
	if (fault_is_set(fault))
		return false;
	read_symbols(us, f);
	read_segments(us, f);
	return true;
}

bool units_open(struct units *us, struct arena *a, const char *path, struct fault *fault)
{
	struct elf_file f;
	bool good;

	*us = (struct units){.arena = a};
	intern_init(&us->names, a);
	map_init(&us->by_name, a);
	map_init(&us->symbols, a);
	if (!elf_file_open(&f, path)) {
		fault_set(fault, STATUS_USAGE, "%s: is not a program", path);
		return false;
	}
	good = read_file(us, &f, path, fault);
	elf_file_close(&f);
	for (size_t i = 0; good && i < us->count; i++)
		number_unit(us, &us->at[i]);
	return good;
}

/* ---- questions ---- */

struct unit *units_find(const struct units *us, uint64_t hash)
{
	for (size_t i = 0; i < us->count; i++)
		if (us->at[i].hash == hash)
			return &us->at[i];
	return NULL;
}

struct unit_function *unit_function_at(const struct unit *u, uint32_t ordinal)
{
	return ordinal && ordinal <= u->instructions ? &u->function[u->instruction[ordinal].function] : NULL;
}

struct unit_block *unit_block_at(const struct unit *u, uint32_t ordinal)
{
	struct unit_function *f = unit_function_at(u, ordinal);

	return f ? &f->block[u->instruction[ordinal].block] : NULL;
}

LLVMValueRef unit_value(const struct unit *u, uint32_t ordinal)
{
	return ordinal && ordinal <= u->instructions ? u->instruction[ordinal].ref : NULL;
}

uint32_t unit_ordinal(const struct unit *u, LLVMValueRef instruction)
{
	return LLVMIsAInstruction(instruction) ? map_get(&u->by_value, (uintptr_t)instruction) : 0;
}

struct unit_function *units_body(const struct units *us, const struct unit *u, LLVMValueRef function)
{
	uint32_t own = map_get(&u->by_value, (uintptr_t)function), id, other;
	const char *name = LLVMGetValueName(function);

	if (own)
		return &u->function[own - 1];
	id = intern_find(&us->names, name, strlen(name));
	other = id ? map_get(&us->by_name, id) : 0;
	return other ? us->external[other - 1] : NULL;
}

LLVMValueRef unit_called(LLVMValueRef call)
{
	LLVMValueRef called = LLVMGetCalledValue(call);

	while (LLVMIsAConstantExpr(called) && LLVMGetConstOpcode(called) == LLVMBitCast)
		called = LLVMGetOperand(called, 0);
	return called;
}

static const struct unit_symbol *symbol_of(const struct units *us, const char *name)
{
	uint32_t id = intern_find(&us->names, name, strlen(name)), slot = id ? map_get(&us->symbols, id) : 0;

	return slot && !us->symbol[slot - 1].twice ? &us->symbol[slot - 1] : NULL;
}

void units_place(struct units *us, const struct unit_function *f, uint64_t address)
{
	const struct unit_symbol *s = us->based ? NULL : symbol_of(us, f->name);

	if (!s)
		return;
	us->base = address - s->address;
	us->based = true;
}

bool units_address(const struct units *us, LLVMValueRef global, uint64_t *address)
{
	const struct unit_symbol *s = us->based ? symbol_of(us, LLVMGetValueName(global)) : NULL;

	if (s)
		*address = us->base + s->address;
	return s != NULL;
}

const char *units_symbol_at(const struct units *us, uint64_t address)
{
	struct str s;

	str_init(&s, us->arena);
	for (size_t i = 0; us->based && i < us->symbols_count; i++) {
		uint64_t offset = address - us->base - us->symbol[i].address;

		if (offset >= us->symbol[i].size)
			continue;
		str_add(&s, intern_text(&us->names, us->symbol[i].name).at);
		if (offset)
			str_printf(&s, "+%llu", (unsigned long long)offset);
		return s.at;
	}
	return NULL;
}

bool units_has_data(const struct units *us, uint64_t address)
{
	return us->based && address - us->base >= us->data && address - us->base < us->data_end;
}

const char *units_where(const struct units *us, struct place p)
{
	LLVMValueRef at = p.unit < us->count ? unit_value(&us->at[p.unit], p.ordinal) : NULL;
	unsigned length = 0, line = at ? LLVMGetDebugLocLine(at) : 0;
	const char *file = line ? LLVMGetDebugLocFilename(at, &length) : NULL;
	struct str s;

	if (!file)
		return "?";
	str_init(&s, us->arena);
	str_bytes(&s, file, length);
	str_printf(&s, ":%u", line);
	return s.at;
}
