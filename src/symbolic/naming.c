/* SPDX-License-Identifier: MIT */
#include "naming.h"

#include <string.h>

#include "base/str.h"
#include "symbolic/triple.h"

static bool is_element(LLVMValueRef v)
{
	return LLVMIsAGetElementPtrInst(v) || (LLVMIsAConstantExpr(v) && LLVMGetConstOpcode(v) == LLVMGetElementPtr);
}

static bool is_cast(LLVMValueRef v)
{
	return LLVMIsABitCastInst(v) || (LLVMIsAConstantExpr(v) && LLVMGetConstOpcode(v) == LLVMBitCast);
}

/* The innermost member that an address computation names, as structure and number; false if it names none. */
static bool add_member(struct str *s, LLVMValueRef gep, bool whole)
{
	LLVMTypeRef type = LLVMGetElementType(LLVMTypeOf(LLVMGetOperand(gep, 0)));
	bool found = false;

	for (int i = 2; i < LLVMGetNumOperands(gep); i++) {
		LLVMValueRef index = LLVMGetOperand(gep, (unsigned)i);
		const char *name = LLVMGetTypeKind(type) == LLVMStructTypeKind ? LLVMGetStructName(type) : NULL;

		if (LLVMGetTypeKind(type) != LLVMStructTypeKind) {
			str_add(s, "[]");
			type = LLVMGetElementType(type);
			continue;
		}
		if (whole && !found && name)
			str_add(s, strncmp(name, "struct.", 7) == 0 ? name + 7 : name);
		str_printf(s, ".%llu", LLVMConstIntGetZExtValue(index));
		type = LLVMStructGetTypeAtIndex(type, (unsigned)LLVMConstIntGetZExtValue(index));
		found = true;
	}
	return found;
}

static const char *name_of_pointer(struct arena *a, LLVMValueRef pointer)
{
	LLVMValueRef base = pointer;
	struct str s;

	str_init(&s, a);
	while (is_cast(base))
		base = LLVMGetOperand(base, 0);
	pointer = base;
	while (is_cast(base) || is_element(base))
		base = LLVMGetOperand(base, 0);
	if (LLVMIsAGlobalVariable(base))
		str_add(&s, LLVMGetValueName(base));
	if (is_element(pointer))
		add_member(&s, pointer, !LLVMIsAGlobalVariable(base));
	return s.length ? s.at : "?";
}

const char *name_of_variable(const struct follow *f, struct place p)
{
	return name_of_pointer(f->arena, triple_pointer(f, p));
}

const char *name_of_lock(const struct follow *f, const struct held_lock *lock)
{
	const char *name = units_symbol_at(f->units, lock->address);
	struct follow_object *o;
	struct extent found;
	struct str s;

	if (name || !lock->address)
		return name ? name : "a lock that is not known";
	str_init(&s, f->arena);
	if (extents_find((struct extents *)&f->extents, lock->address, &found)) {
		o = seg_at((struct seg *)&f->objects, map_get(&f->by_start, found.start), sizeof *o);
		str_printf(&s, "allocation %u+%llu", map_get(&f->by_start, found.start),
			(unsigned long long)(lock->address - o->start));
	} else {
		str_add(&s, "a lock");
	}
	return s.at;
}
