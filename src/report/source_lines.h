/* SPDX-License-Identifier: MIT */
/* The lines of source files around the places of a story. */
#ifndef FISSION_REPORT_SOURCE_LINES_H
#define FISSION_REPORT_SOURCE_LINES_H

struct story;

/*
 * Reads the files that the findings' places name, as they are spelt, and keeps the lines around each place. Only
 * regular files with the name of a C or C++ source are opened; one that cannot be read, or is too large, is left out.
 */
void source_lines_read(struct story *s);

/* Sets the `source` of every place of the story to the file's number. */
void source_lines_link(struct story *s);

#endif
