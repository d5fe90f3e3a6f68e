/* libxml2's SAX2 interface, the fastest that it has. */
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <string.h>

#include "counts.h"

static void start_element(void *data, const xmlChar *local, const xmlChar *prefix, const xmlChar *namespace,
                          int declared, const xmlChar **declarations, int attributes, int defaulted,
                          const xmlChar **values) {
    struct counts *counts = ((xmlParserCtxtPtr)data)->_private;
    (void)local, (void)prefix, (void)declared, (void)declarations, (void)defaulted;
    counts->elements++;
    counts->attributes += (size_t)attributes;
    if (namespace)
        counts->namespaces += strlen((const char *)namespace);
    /* Five pointers for each: local name, prefix, namespace, begin and end of the value. */
    for (int i = 0; i < attributes; i++, values += 5) {
        if (values[2])
            counts->namespaces += strlen((const char *)values[2]);
        counts->values += (size_t)(values[4] - values[3]);
    }
}

static void characters(void *data, const xmlChar *text, int length) {
    struct counts *counts = ((xmlParserCtxtPtr)data)->_private;
    (void)text;
    counts->text += (size_t)length;
}

/* How often the document broke a rule of namespaces. That a name of one is no URI breaks none: it is only a string then
   (Namespaces in XML 1.0, 2.2), but libxml2 counts it. */
static _Thread_local int broken_rules;

/* libxml2 made its argument const in version 2.12. */
#if LIBXML_VERSION < 21200
static void on_error(void *data, xmlErrorPtr error) {
#else
static void on_error(void *data, const xmlError *error) {
#endif
    (void)data;
    if (error->domain == XML_FROM_NAMESPACE && error->code != XML_WAR_NS_URI && error->code != XML_WAR_NS_URI_RELATIVE)
        broken_rules++;
}

/* Returns 0 if the document is well-formed, with its namespaces. */
int compare_libxml2(const char *document, size_t length, struct counts *counts) {
    static xmlSAXHandler handler;
    xmlParserCtxtPtr context = xmlCreateMemoryParserCtxt(document, (int)length);
    int failed;
    if (!context)
        return 1;
    handler.initialized = XML_SAX2_MAGIC;
    handler.startElementNs = start_element;
    handler.characters = characters;
    handler.ignorableWhitespace = characters;
    handler.cdataBlock = characters;
    handler.serror = on_error;
    /* The context frees the handler that it was made with, so it gets a copy. */
    *context->sax = handler;
    /* Its limits are not what is compared. Unless it replaces entities, it reports the five of XML in attribute values and
       names of namespaces as character references, and `&#38;` is longer than `&`. */
    xmlCtxtUseOptions(context, XML_PARSE_HUGE | XML_PARSE_NONET | XML_PARSE_NOENT);
    context->_private = counts;
    broken_rules = 0;
    xmlParseDocument(context);
    failed = !context->wellFormed || broken_rules;
    xmlFreeParserCtxt(context);
    return failed;
}
