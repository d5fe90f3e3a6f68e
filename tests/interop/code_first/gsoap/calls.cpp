// Calls every operation through a proxy that gSOAP's soapcpp2 made: calls VERSION URL. The compiler is told which PROXY, and includes it.

#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>

#include "EverythingSoap.nsmap"

namespace {

const time_t AT = 1767312000; // 2026-01-02T00:00:00Z
const size_t LONG = 10000;
// How often lastNotice is asked.
const int TRIES = 100;
const auto PAUSE = std::chrono::milliseconds(20);

template <typename T> void equal(const T &found, const T &expected) {
    if (!(found == expected)) {
        std::ostringstream text;
        text << "found " << found << ", expected " << expected;
        throw text.str();
    }
}

void equal(const std::string &found, const char *expected) { equal(found, std::string(expected)); }

// What `present` points to must be there.
template <typename T> const T &there(const T *present, const char *what) {
    if (!present) {
        throw std::string("found nothing, expected ") + what;
    }
    return *present;
}

template <typename T> void absent(const T *present, const char *what) {
    if (present) {
        throw std::string("found ") + what + ", expected nothing";
    }
}

class Calls {
  public:
    Calls(const char *version, const char *url) : version(version), proxy(url), soap(proxy.soap) {}

    void all() {
        tell("echoOrder", [&] { order(); });
        tell("echoOrder of little", [&] { little_order(); });
        tell("echoShapes", [&] { shapes(); });
        tell("echoBytes", [&] { bytes(std::string("\x00\xff", 2), false); });
        tell("echoBytes by MTOM", [&] {
            soap_set_omode(soap, SOAP_ENC_MTOM);
            bytes(std::string(LONG, 7), true);
        });
        soap_clr_omode(soap, SOAP_ENC_MTOM);
        tell("divide", [&] {
            _e__divideResponse response;
            answered(divide(1, 4, response));
            equal(response.divideResult, 0.25);
        });
        tell("divide by zero", [&] {
            _e__divideResponse response;
            refused(divide(3, 0, response));
            equal(proxy.soap_fault_string(), "nothing is divided by zero");
            const SOAP_ENV__Fault &fault = there(proxy.soap_fault(), "a fault");
            const SOAP_ENV__Detail &detail = there(version == "12" ? fault.SOAP_ENV__Detail : fault.detail, "a detail");
            equal(there(detail.e__divisionByZero, "divisionByZero").dividend, 3);
        });
        tell("key", [&] {
            e__Session session;
            session.key = "sesame";
            proxy.soap_header(&session);
            equal(there(key().keyResult, "a key"), "sesame");
        });
        tell("key without session", [&] {
            proxy.soap_noheader();
            absent(key().keyResult, "a key");
        });
        tell("echoLine", [&] {
            e__Line found;
            answered(proxy.echoLine(line("ABC-1"), found));
            equal(found.sku, "ABC-1");
            equal(found.price, "1.50");
            equal(there(found.sizes, "sizes"), "1 2");
            equal(found.part.size(), size_t(0));
        });
        tell("echoLine with a part", [&] {
            e__Line *sent = line("ABC-1"), found;
            sent->part.push_back(line("XYZ-9"));
            answered(proxy.echoLine(sent, found));
            equal(found.sku, "ABC-1");
            equal(found.part.size(), size_t(1));
            equal(found.part[0]->sku, "XYZ-9");
        });
        tell("echoLine of a wrong sku", [&] {
            e__Line found;
            refused(proxy.echoLine(line("wrong"), found));
            std::string text = proxy.soap_fault_string();
            if (text.find("doesn't match the pattern") == std::string::npos) {
                throw "found the fault " + text;
            }
        });
        tell("ping", [&] {
            _e__ping request;
            _e__pingResponse response;
            answered(proxy.ping(&request, response));
        });
        tell("notify", [&] {
            _e__notify request;
            request.notice = "notice " + version;
            answered(proxy.send_notify(nullptr, nullptr, &request));
            answered(soap_recv_empty_response(soap));
            std::string found;
            for (int tries = 0; found.empty() && tries < TRIES; ++tries) {
                std::this_thread::sleep_for(PAUSE);
                _e__lastNotice asked;
                _e__lastNoticeResponse told;
                answered(proxy.lastNotice(&asked, told));
                found = told.lastNoticeResult ? *told.lastNoticeResult : "";
            }
            equal(found, "notice " + version);
        });
    }

  private:
    std::string version;
    PROXY proxy;
    struct soap *soap;

    void tell(const char *name, const std::function<void()> &tried) {
        std::string wrong;
        try {
            tried();
        } catch (const std::string &thrown) {
            wrong = thrown;
        }
        std::replace(wrong.begin(), wrong.end(), '\n', ' ');
        std::cout << version << '\t' << name << '\t' << wrong << std::endl;
        proxy.destroy();
    }

    void answered(int status) {
        if (status != SOAP_OK) {
            std::ostringstream text;
            proxy.soap_stream_fault(text);
            throw text.str();
        }
    }

    void refused(int status) {
        if (status == SOAP_OK) {
            throw std::string("an answer, expected a fault");
        }
        if (status != SOAP_FAULT) {
            answered(status);
        }
    }

    int divide(int dividend, int divisor, _e__divideResponse &response) {
        _e__divide request;
        request.dividend = dividend;
        request.divisor = divisor;
        return proxy.divide(&request, response);
    }

    _e__keyResponse key() {
        _e__key request;
        _e__keyResponse response;
        answered(proxy.key(&request, response));
        return response;
    }

    // Bytes come back as they are sent: within the message, or attached to it.
    void bytes(std::string sent, bool attached) {
        char id[] = "cid:file", type[] = "application/octet-stream";
        _e__echoBytes request;
        request.bytes.__ptr = reinterpret_cast<unsigned char *>(&sent[0]);
        request.bytes.__size = int(sent.size());
        request.bytes.id = attached ? id : nullptr;
        request.bytes.type = attached ? type : nullptr;
        request.at = AT;
        _e__echoBytesResponse response;
        answered(proxy.echoBytes(&request, response));
        const xsd__base64Binary &found = response.echoBytesResult;
        equal(std::string(reinterpret_cast<char *>(found.__ptr), size_t(found.__size)) == sent, true);
        equal(found.id != nullptr, attached);
    }

    e__Line *line(const char *sku) {
        e__Line *made = soap_new_e__Line(soap);
        made->sku = sku;
        made->price = "1.50";
        made->sizes = soap_new_std__string(soap);
        *made->sizes = "1 2";
        return made;
    }

    e__Order echo(e__Order *order) {
        _e__echoOrder request;
        request.order = order;
        _e__echoOrderResponse response;
        answered(proxy.echoOrder(&request, response));
        return there(response.echoOrderResult, "an order");
    }

    void order() {
        e__Order order;
        order.number = 7;
        order.currency = "USD";
        order.customer = "Ann & Co";
        std::string when = "2026-02-03";
        order.when = &when;
        order.line = {line("ABC-1"), line("XYZ-9")};
        order.line[1]->sizes = nullptr;
        order.line[1]->part = {line("ABC-1")};
        order.tags.tag = {"a", "b"};
        order.note = nullptr;
        order.status = e__Status__Sent;
        ns1__Amount amount;
        amount.__item = "12";
        amount.unit = "EUR";
        e__Payment payment;
        payment.__union_Payment = SOAP_UNION__e__union_Payment_invoice;
        payment.union_Payment.invoice = &amount;
        order.payment = &payment;

        e__Order found = echo(&order);
        equal(found.number, 7u);
        equal(found.currency, "USD");
        equal(found.customer, "Ann & Co");
        equal(there(found.when, "a day"), "2026-02-03");
        equal(found.line.size(), size_t(2));
        equal(found.line[0]->sku, "ABC-1");
        equal(found.line[0]->price, "1.50");
        equal(found.line[1]->sku, "XYZ-9");
        absent(found.line[1]->sizes, "sizes");
        equal(found.line[1]->part.size(), size_t(1));
        equal(there(found.line[1]->part[0]->sizes, "sizes"), "1 2");
        equal(found.tags.tag.size(), size_t(2));
        equal(found.tags.tag[0] + found.tags.tag[1], "ab");
        absent(found.note, "a note");
        equal(found.status, e__Status__Sent);
        equal(there(found.payment, "a payment").__union_Payment, int(SOAP_UNION__e__union_Payment_invoice));
        equal(found.payment->union_Payment.invoice->__item, "12");
        equal(found.payment->union_Payment.invoice->unit, "EUR");
    }

    void little_order() {
        e__Order order;
        order.number = 1;
        std::string note = "soon", card = "4711";
        order.note = &note;
        order.status = e__Status__New;
        e__Payment payment;
        payment.__union_Payment = SOAP_UNION__e__union_Payment_card;
        payment.union_Payment.card = &card;
        order.payment = &payment;

        e__Order found = echo(&order);
        equal(found.number, 1u);
        equal(found.currency, "EUR");
        equal(found.customer, "");
        absent(found.when, "a day");
        equal(found.line.size(), size_t(0));
        equal(found.tags.tag.size(), size_t(0));
        equal(there(found.note, "a note"), "soon");
        equal(found.status, e__Status__New);
        equal(there(found.payment, "a payment").__union_Payment, int(SOAP_UNION__e__union_Payment_card));
        equal(*found.payment->union_Payment.card, "4711");
    }

    void shapes() {
        std::string of_circle = "c", of_shape = "s";
        e__Circle circle;
        circle.label = &of_circle;
        circle.radius = 1.5;
        e__Square square;
        square.side = 2;
        _e__echoShapes request;
        e__Shape shape;
        shape.label = &of_shape;
        request.shape = {&circle, &square, &shape};
        _e__echoShapesResponse response;
        answered(proxy.echoShapes(&request, response));
        equal(response.echoShapesResult.size(), size_t(3));
        equal(there(dynamic_cast<e__Circle *>(response.echoShapesResult[0]), "a circle").radius, 1.5);
        equal(there(dynamic_cast<e__Square *>(response.echoShapesResult[1]), "a square").side, 2);
        equal(there(response.echoShapesResult[0]->label, "a label"), of_circle);
        equal(there(response.echoShapesResult[2]->label, "a label"), of_shape);
    }
};

} // namespace

int main(int, char **arguments) {
    Calls(arguments[1], arguments[2]).all();
    return 0;
}
