/* SPDX-License-Identifier: MIT */
#include "effects.h"

#include <string.h>

static const struct effect_of effects[] = {
#define EFFECT(name, what, argument) {#name, EFFECT_##what, argument},
#include "symbolic/effects.def"
#undef EFFECT
};

const struct effect_of *effect_of(const char *name)
{
	static const struct effect_of none = {"", EFFECT_NONE, 0};

	for (size_t i = 0; i < sizeof effects / sizeof *effects; i++)
		if (strcmp(effects[i].name, name) == 0)
			return &effects[i];
	return &none;
}
