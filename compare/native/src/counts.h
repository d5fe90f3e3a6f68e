/* What a document is found to hold: see Counts in src/counts.rs. */
#ifndef COUNTS_H
#define COUNTS_H
#include <stddef.h>

struct counts {
    size_t elements;
    size_t attributes;
    size_t namespaces;
    size_t values;
    size_t text;
};

#endif
