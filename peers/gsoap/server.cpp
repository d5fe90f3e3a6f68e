// gSOAP as a server of its own: server PORT. Threads take connections that are kept alive; the path says which service is meant.

#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

#include "benchmark1.nsmap"
#include "wspex.nsmap"
#include "wstest.nsmap"

// Generated: each finds out which of its operations a request is for, and calls it.
namespace benchmark1 {
int benchmark1_serve_request(soap *);
}
namespace wspex {
int wspex_serve_request(soap *);
}
namespace wstest {
int wstest_serve_request(soap *);
}

namespace {

const int BACKLOG = 1024;

struct Service {
    const char *path;
    Namespace *namespaces;
    int (*serve)(soap *);
};

const Service SERVICES[] = {
    {"/benchmark1", benchmark1_namespaces, benchmark1::benchmark1_serve_request},
    {"/wspex", wspex_namespaces, wspex::wspex_serve_request},
    {"/wstest", wstest_namespaces, wstest::wstest_serve_request},
};

// What of an answer is not sent yet: gSOAP hands over a chunked answer in four pieces, which are to leave in one.
struct Joined {
    std::string bytes;
};

int flush(soap *soap) {
    std::string &bytes = static_cast<Joined *>(soap->user)->bytes;
    for (size_t sent = 0; sent < bytes.size();) {
        ssize_t more = send(soap->socket, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
        if (more <= 0) {
            bytes.clear();
            return SOAP_EOF;
        }
        sent += static_cast<size_t>(more);
    }
    bytes.clear();
    return SOAP_OK;
}

int join(soap *soap, const char *piece, size_t length) {
    static_cast<Joined *>(soap->user)->bytes.append(piece, length);
    return SOAP_OK;
}

int (*close_socket)(soap *);

int flush_and_close(soap *soap) {
    flush(soap);
    return close_socket(soap);
}

const Service *service_at(const char *path) {
    for (const Service &service : SERVICES) {
        if (std::strcmp(path, service.path) == 0) {
            return &service;
        }
    }
    return nullptr;
}

// One request: what soap_serve does, with the choice of a service in between.
int serve_request(soap *soap) {
    soap_begin(soap);
    if (soap_begin_recv(soap)) {
        return soap->error;
    }
    const Service *service = service_at(soap->path);
    if (!service) {
        return soap->error = 404;
    }
    if (soap->namespaces != service->namespaces) {
        soap_set_namespaces(soap, service->namespaces);
    }
    if (soap_envelope_begin_in(soap) || soap_recv_header(soap) || soap_body_begin_in(soap)) {
        return soap->error;
    }
    return service->serve(soap);
}

void serve_connection(soap *soap) {
    soap->keep_alive = 1;
    do {
        if (serve_request(soap)) {
            if (soap->error < SOAP_STOP) {
                soap_send_fault(soap);
            }
            soap->keep_alive = 0;
        }
        flush(soap);
        soap_destroy(soap);
        soap_end(soap);
    } while (soap->keep_alive);
    soap_closesock(soap);
}

// Connections that wait for a thread, and threads that wait for a connection: there are as many as were busy at once.
class Threads {
public:
    void serve(soap *listener) {
        std::lock_guard<std::mutex> lock(mutex_);
        waiting_.push_back(listener->socket);
        if (idle_ < waiting_.size()) {
            ++idle_;
            soap *own = soap_copy(listener);
            own->socket = SOAP_INVALID_SOCKET;
            std::thread(&Threads::work, this, own).detach();
        }
        some_.notify_one();
    }

private:
    void work(soap *soap) {
        Joined joined;
        soap->user = &joined;
        for (;;) {
            soap->socket = next();
            serve_connection(soap);
            std::lock_guard<std::mutex> lock(mutex_);
            ++idle_;
        }
    }

    SOAP_SOCKET next() {
        std::unique_lock<std::mutex> lock(mutex_);
        some_.wait(lock, [this] { return !waiting_.empty(); });
        SOAP_SOCKET socket = waiting_.front();
        waiting_.pop_front();
        --idle_;
        return socket;
    }

    std::mutex mutex_;
    std::condition_variable some_;
    std::deque<SOAP_SOCKET> waiting_;
    size_t idle_ = 0;
};

} // namespace

int main(int, char **arguments) {
    int port = std::atoi(arguments[1]);
    // No references between elements are looked for or written, and answers go out while they are made.
    soap *listener = soap_new2(SOAP_IO_KEEPALIVE | SOAP_XML_TREE, SOAP_IO_KEEPALIVE | SOAP_IO_CHUNK | SOAP_XML_TREE);
    listener->bind_flags = SO_REUSEADDR;
    // As many requests as a client likes.
    listener->max_keep_alive = 0;
    close_socket = listener->fclose;
    listener->fsend = join;
    listener->fclose = flush_and_close;
    if (!soap_valid_socket(soap_bind(listener, "127.0.0.1", port, BACKLOG))) {
        soap_print_fault(listener, stderr);
        return EXIT_FAILURE;
    }
    std::printf("listening on http://127.0.0.1:%d\n", port);
    std::fflush(stdout);
    Threads *threads = new Threads;
    for (;;) {
        if (soap_valid_socket(soap_accept(listener))) {
            threads->serve(listener);
        }
    }
}
