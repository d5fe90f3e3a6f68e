/* Expat with its own processing of namespaces; one parser for all documents of a thread. */
#include <expat.h>
#include <string.h>

#include "counts.h"

/* What stands between the name of a namespace and a local name. */
#define SEPARATOR '\n'

static size_t namespace_length(const char *name) {
    const char *end = strchr(name, SEPARATOR);
    return end ? (size_t)(end - name) : 0;
}

static void start_element(void *data, const char *name, const char **attributes) {
    struct counts *counts = data;
    counts->elements++;
    counts->namespaces += namespace_length(name);
    for (; *attributes; attributes += 2) {
        counts->attributes++;
        counts->namespaces += namespace_length(attributes[0]);
        counts->values += strlen(attributes[1]);
    }
}

static void end_element(void *data, const char *name) { (void)data, (void)name; }

static void characters(void *data, const char *text, int length) {
    struct counts *counts = data;
    (void)text;
    counts->text += (size_t)length;
}

/* Returns 0 if the document is well-formed, with its namespaces. */
int compare_expat(const char *document, size_t length, struct counts *counts) {
    static _Thread_local XML_Parser parser;
    if (!parser)
        parser = XML_ParserCreateNS(NULL, SEPARATOR);
    else
        XML_ParserReset(parser, NULL);
    if (!parser)
        return 1;
    XML_SetUserData(parser, counts);
    XML_SetElementHandler(parser, start_element, end_element);
    XML_SetCharacterDataHandler(parser, characters);
    return XML_Parse(parser, document, (int)length, 1) != XML_STATUS_OK;
}
