/* SPDX-License-Identifier: MIT */
/* The writing half of text traces; trace.h has the struct that joins both. */
#ifndef FISSION_EVENT_TRACE_TEXT_H
#define FISSION_EVENT_TRACE_TEXT_H

struct event;
struct str;
struct tables;
struct trace_writer;

void trace_text_start(struct trace_writer *w);
void trace_text_put(struct trace_writer *w, const struct event *e);
void trace_text_finish(struct trace_writer *w);

/* Appends the event as it stands in a text trace, without the newline. */
void trace_text_event(struct str *to, const struct tables *tables, const struct event *e);

#endif
