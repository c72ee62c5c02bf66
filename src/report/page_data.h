/* SPDX-License-Identifier: MIT */
/*
 * A story as the page's script wants it: JSON, but small. page/data.js reads it, of the same version and no other: both
 * are in the one file that is written, so the format is nobody else's business.
 *
 * Texts and places stand in a table once each and go by number everywhere else, events are arrays. A finding of a
 * dozen events takes about a kilobyte; in the JSON report, which is for machines that read one finding by itself, it
 * takes four.
 */
#ifndef FISSION_REPORT_PAGE_DATA_H
#define FISSION_REPORT_PAGE_DATA_H

struct look;
struct str;
struct story;

/*
 * Appends the JSON object. It holds no '<', whatever the texts hold: a script element, whose text knows no other
 * markup, may hold it.
 */
void page_data_add(struct str *to, const struct story *s, const struct look *look);

#endif
