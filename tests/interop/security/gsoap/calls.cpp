// gSOAP calls a service with WS-Security by its plugin wsse: calls VERSION FOLDER SCENARIO,… URL. ../run describes the URLs and what is printed.
// The compiler is told which PROXY and NSMAP, and includes the former.

#include <algorithm>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>

#include "wsseapi.h"

#include NSMAP

namespace {

const char USER[] = "bookkeeper";
const char PASSWORD[] = "secret-password";
const std::string NOTE = " \u00e9 \u20ac \U0001d11e <&> \"'\t|\r\n ";

// gSOAP writes times in seconds, and its ids are always the same. Two equal messages of one second have one signature, and are refused as
// one that is sent twice.
int orders = 0;

struct Free {
    void operator()(FILE *file) const { fclose(file); }
    void operator()(EVP_PKEY *key) const { EVP_PKEY_free(key); }
};

class Calls {
  public:
    Calls(const char *version, const char *folder, const char *url, const std::string &scenario)
        : version(version), folder(folder), url(url), scenario(scenario) {}

    void all() {
        tell("order", order("plain", 0));
        tell("fault", sold_out(order("plain", 200)));
        if (is_signed()) {
            tell("altered request", refused(order("altered-request", 0)));
            tell("altered answer", refused(order("altered-answer", 0)));
            tell("stranger", refused(order("refused", 0, "stranger")));
        }
        if (scenario != "text") {
            tell("sent twice", refused(order("twice", 0)));
        }
        if (has_password()) {
            tell("wrong password", refused(order("refused", 0, "client", "wrong horse")));
        }
    }

  private:
    const char *version;
    const std::string folder;
    const char *url;
    const std::string scenario;

    bool is_signed() const { return scenario != "text" && scenario != "digest"; }
    bool has_password() const { return !is_signed() || scenario == "both" || scenario == "beside"; }

    std::string path(const char *owner, const char *kind) const {
        return folder + "/" + owner + (scenario == "ecdsa" ? "-ec." : "-rsa.") + kind;
    }

    // Returns what was wrong.
    std::string order(const char *treatment, int quantity, const char *owner = "client", const char *password = PASSWORD) const {
        // Texts are UTF-8: gSOAP would take them for Latin-1, and write C1 controls as references, which are not canonical.
        PROXY proxy(SOAP_C_UTFSTRING, SOAP_C_UTFSTRING | SOAP_XML_CANONICAL);
        soap *soap = proxy.soap;
        soap_register_plugin(soap, soap_wsse);
        const std::string authority = folder + "/authority.pem";
        soap->cafile = authority.c_str();
        soap->connect_timeout = soap->recv_timeout = soap->send_timeout = 30;
        const std::string endpoint = std::string(url) + "/" + treatment + "/" + scenario + "/" + version;
        proxy.soap_endpoint = endpoint.c_str();

        soap_wsse_add_Timestamp(soap, "Time", 60);
        if (scenario == "text") {
            soap_wsse_add_UsernameTokenText(soap, nullptr, USER, password);
        } else if (has_password()) {
            soap_wsse_add_UsernameTokenDigest(soap, scenario == "both" ? "User" : nullptr, USER, password);
        }
        std::unique_ptr<EVP_PKEY, Free> key;
        if (is_signed()) {
            std::unique_ptr<FILE, Free> file(fopen(path(owner, "key").c_str(), "r"));
            key.reset(PEM_read_PrivateKey(file.get(), nullptr, nullptr, nullptr));
            soap_wsse_add_BinarySecurityTokenPEM(soap, "X509Token", path(owner, "pem").c_str());
            soap_wsse_add_KeyInfo_SecurityTokenReferenceX509(soap, "#X509Token");
            const int algorithm = scenario == "ecdsa" ? SOAP_SMD_SIGN_ECDSA_SHA256
                                  : scenario == "sha1" ? SOAP_SMD_SIGN_RSA_SHA1
                                                       : SOAP_SMD_SIGN_RSA_SHA256;
            soap_wsse_sign_body(soap, algorithm, key.get(), 0);
            soap_wsse_verify_auto(soap, SOAP_SMD_NONE, nullptr, 0);
        }

        _e__order sent;
        sent.customer = "Ada";
        sent.quantity = quantity + ++orders;
        sent.note = NOTE;
        _e__orderResponse answer;
        std::ostringstream wrong;
        if (proxy.order(&sent, answer) != SOAP_OK) {
            soap_stream_fault(soap, wrong);
            const SOAP_ENV__Detail *detail = soap->fault ? soap->fault->detail ? soap->fault->detail : soap->fault->SOAP_ENV__Detail : nullptr;
            if (detail && detail->e__soldOut && detail->e__soldOut->left == 100) {
                wrong.str(SOLD_OUT);
            }
            // The fault must be signed, too.
            if (wrong.str() == SOLD_OUT && is_signed() && soap_wsse_verify_body(soap) != SOAP_OK) {
                wrong.str("the fault is not signed");
            }
        } else if (is_signed() && (soap_wsse_verify_body(soap) != SOAP_OK || soap_wsse_verify_Timestamp(soap) != SOAP_OK)) {
            soap_stream_fault(soap, wrong);
        } else if (answer.customer != "Ada" || answer.number != 7 || answer.note != NOTE) {
            wrong << "answered " << answer.customer << " " << answer.number << " " << answer.note;
        }
        soap_wsse_verify_done(soap);
        return wrong.str();
    }

    static constexpr const char *SOLD_OUT = "sold out";

    static std::string sold_out(const std::string &wrong) {
        return wrong == SOLD_OUT ? "" : wrong.empty() ? "answered, where a fault was expected" : wrong;
    }

    static std::string refused(const std::string &wrong) { return wrong.empty() ? "accepted" : ""; }

    void tell(const char *name, std::string wrong) const {
        std::replace_if(wrong.begin(), wrong.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
        std::cout << version << "\t" << scenario << ": " << name << "\t" << wrong << std::endl;
    }
};

} // namespace

int main(int, char **arguments) {
    soap_ssl_init();
    std::istringstream scenarios(arguments[3]);
    for (std::string scenario; std::getline(scenarios, scenario, ',');) {
        Calls(arguments[1], arguments[2], arguments[4], scenario).all();
    }
}
