/* SPDX-License-Identifier: MIT */
/*
 * Where things are, as SARIF has it: artifacts, locations, stacks.
 *
 * A file of a relative path is relative to SRCROOT, which whoever reads the file knows; that of an absolute path is a
 * file: address. Every byte of a name that an address may not hold, also one that is no UTF-8, is percent-encoded. Code
 * without lines, "libbank.so+0x1234", is an offset into that file.
 *
 * An artifact's number is that of the first location that names it, so the member "artifacts" is written last.
 */
#ifndef FISSION_REPORT_SARIF_PLACES_H
#define FISSION_REPORT_SARIF_PLACES_H

#include "base/intern.h"
#include "report/json_out.h"
#include "report/story.h"

struct sarif {
	struct json_out j;
	const struct story *s;
	struct intern files;
	bool baseline; /* there is one, so every result is known or new */
};

struct sarif_location {
	struct story_place place;
	struct text function;
	struct text message; /* as sarif_name() has made it harmless */
	uint32_t id;         /* 0: none */
	bool snippet;
};

/* The members of a location object, which is open. */
void sarif_location_members(struct sarif *f, const struct sarif_location *l);

/* A whole location: in an array if the key is NULL. */
void sarif_location(struct sarif *f, const char *key, const struct sarif_location *l);

/* One element of "stacks". */
void sarif_stack(struct sarif *f, uint32_t stack, struct text message);

/* The member "artifacts", and "originalUriBaseIds" for them. */
void sarif_artifacts(struct sarif *f);

/* The member of that name: a message of that text. */
void sarif_message(struct sarif *f, const char *key, struct text text);

/* Appends a name to the text of a message: harmless, not too long, and with no placeholder or link in it. */
void sarif_name(struct str *to, struct text name);

/* Appends "bank.c:12" in that way. */
void sarif_place(struct str *to, const struct story_place *p);

/* The function in which an event happened; empty if that is not known. */
struct text sarif_function(const struct story *s, const struct story_event *e);

#endif
