// gSOAP serves the scenarios with WS-Security by its plugin wsse: serves FOLDER PORT. ../run describes the URLs.
// The compiler is told which SERVICE and NSMAP, and includes the former. Only with one version of SOAP does the plugin find the body.

#include <iostream>
#include <memory>
#include <string>

#include "wsseapi.h"

#include NSMAP

namespace {

const char USER[] = "bookkeeper";
const char WSSE[] = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd";
const char PASSWORD[] = "secret-password";

struct Free {
    void operator()(FILE *file) const { fclose(file); }
    void operator()(EVP_PKEY *key) const { EVP_PKEY_free(key); }
};

class Shop : public SERVICE {
  public:
    // Texts are UTF-8: gSOAP would take them for Latin-1, and write C1 controls as references, which are not canonical.
    explicit Shop(const std::string &folder)
        : SERVICE(SOAP_C_UTFSTRING, SOAP_C_UTFSTRING | SOAP_XML_CANONICAL), folder(folder), authority(folder + "/authority.pem") {
        soap_register_plugin(soap, soap_wsse);
        soap->cafile = authority.c_str();
        soap->accept_flags = soap->bind_flags = SO_REUSEADDR;
        soap->recv_timeout = soap->send_timeout = 30;
        parse = soap->fparse;
        soap->fparse = parse_head;
    }

    SERVICE *copy() override { return nullptr; }

    void serve_one() {
        soap_wsse_verify_auto(soap, SOAP_SMD_NONE, nullptr, 0);
        if (serve() != SOAP_OK) {
            soap_stream_fault(std::cerr);
        }
        soap_wsse_verify_done(soap);
        destroy();
    }

    int order(_e__order *order, _e__orderResponse &response) override {
        scenario = scenario_of(soap);
        if (check() != SOAP_OK) {
            soap_wsse_delete_Security(soap);
            return soap->error;
        }
        if (secure() != SOAP_OK) {
            return soap->error;
        }
        if (order->quantity > 100) {
            return sold_out();
        }
        response.customer = order->customer;
        response.number = 7;
        response.note = order->note;
        return SOAP_OK;
    }

  private:
    const std::string folder;
    const std::string authority;
    std::string scenario;
    std::unique_ptr<EVP_PKEY, Free> key;

    static inline int (*parse)(struct soap *);

    // To verify signatures is to require one. The path is known only now.
    static int parse_head(struct soap *soap) {
        const int error = parse(soap);
        if (error == SOAP_OK && !is_signed(scenario_of(soap))) {
            soap_wsse_verify_done(soap);
        }
        return error;
    }

    static std::string scenario_of(const struct soap *soap) {
        const std::string path = soap->path;
        return path.substr(1, path.rfind('/') - 1);
    }

    static bool is_signed(const std::string &scenario) { return scenario != "text" && scenario != "digest"; }

    bool is_signed() const { return is_signed(scenario); }
    bool has_password() const { return !is_signed() || scenario == "both" || scenario == "beside"; }

    std::string path(const char *kind) const { return folder + "/server" + (scenario == "ecdsa" ? "-ec." : "-rsa.") + kind; }

    // Requires what a request of the scenario has.
    int check() {
        if (soap_wsse_verify_Timestamp(soap) != SOAP_OK || (is_signed() && soap_wsse_verify_body(soap) != SOAP_OK)) {
            return soap->error;
        }
        if (is_signed() && soap_wsse_verify_element(soap, wsu_URI, "Timestamp") == 0) {
            return soap_wsse_fault(soap, wsse__FailedCheck, "the time stamp is not signed");
        }
        if (scenario == "both" && soap_wsse_verify_element(soap, WSSE, "UsernameToken") == 0) {
            return soap_wsse_fault(soap, wsse__FailedCheck, "the user name is not signed");
        }
        if (!has_password()) {
            return SOAP_OK;
        }
        const char *user = soap_wsse_get_Username(soap);
        if (!user || std::string(user) != USER) {
            return soap_wsse_fault(soap, wsse__FailedAuthentication, "another user");
        }
        return soap_wsse_verify_Password(soap, PASSWORD);
    }

    // Adds what an answer or a fault has.
    int secure() {
        soap_wsse_delete_Security(soap);
        soap_wsse_add_Timestamp(soap, "Time", 60);
        if (!is_signed()) {
            return SOAP_OK;
        }
        std::unique_ptr<FILE, Free> file(fopen(path("key").c_str(), "r"));
        key.reset(PEM_read_PrivateKey(file.get(), nullptr, nullptr, nullptr));
        if (soap_wsse_add_BinarySecurityTokenPEM(soap, "X509Token", path("pem").c_str()) != SOAP_OK) {
            return soap->error;
        }
        soap_wsse_add_KeyInfo_SecurityTokenReferenceX509(soap, "#X509Token");
        return soap_wsse_sign_body(soap, scenario == "ecdsa" ? SOAP_SMD_SIGN_ECDSA_SHA256 : SOAP_SMD_SIGN_RSA_SHA256, key.get(), 0);
    }

    int sold_out() {
        const int error = soap_sender_fault(soap, "order less", nullptr);
        SOAP_ENV__Detail *detail = soap_new_SOAP_ENV__Detail(soap);
        detail->e__soldOut = soap_new__e__soldOut(soap);
        detail->e__soldOut->left = 100;
        (soap->version == 2 ? soap->fault->SOAP_ENV__Detail : soap->fault->detail) = detail;
        return error;
    }
};

} // namespace

int main(int, char **arguments) {
    soap_ssl_init();
    Shop shop(arguments[1]);
    if (!soap_valid_socket(shop.bind("127.0.0.1", std::stoi(arguments[2]), 100))) {
        shop.soap_stream_fault(std::cerr);
        return 1;
    }
    std::cout << "listening on http://127.0.0.1:" << arguments[2] << std::endl;
    while (soap_valid_socket(shop.accept())) {
        shop.serve_one();
    }
}
