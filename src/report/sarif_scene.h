/* SPDX-License-Identifier: MIT */
/*
 * Events as SARIF tells them: related locations, a code flow with a thread flow for each thread, stacks.
 *
 * Event number i has the execution order i + 1, and its related location that id.
 */
#ifndef FISSION_REPORT_SARIF_SCENE_H
#define FISSION_REPORT_SARIF_SCENE_H

#include "report/sarif_places.h"

/* Some events, and which of them matter. */
struct sarif_scene {
	const struct story_event *event;
	size_t count;
	bool all; /* all matter, whatever their roles */
};

/* Writes the members "relatedLocations", "codeFlows" and "stacks". */
void sarif_scene(struct sarif *f, const struct sarif_scene *c);

/* Appends "thread T1" to the text of a message. */
void sarif_thread(struct str *to, const struct story *s, uint32_t thread);

struct sarif_location sarif_location_of(const struct story *s, const struct story_event *e);

#endif
