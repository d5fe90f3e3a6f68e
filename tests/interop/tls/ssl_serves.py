"""Answers echoVoid over TLS, only to clients with a certificate of roots.pem in the working directory."""

import http.server
import ssl

ANSWER = b"""<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>\
<echoVoidResponse xmlns="urn:wspex:TestService"/></soap:Body></soap:Envelope>"""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/xml; charset=utf-8")
        self.send_header("Content-Length", str(len(ANSWER)))
        self.end_headers()
        self.wfile.write(ANSWER)


class Server(http.server.ThreadingHTTPServer):
    """Performs the handshake in the thread of each connection, so that a failed one affects no other
    connection."""

    def finish_request(self, request, address):
        with CONTEXT.wrap_socket(request, server_side=True) as connection:
            super().finish_request(connection, address)


CONTEXT = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
CONTEXT.load_cert_chain("server.pem", "server.key")
CONTEXT.load_verify_locations("roots.pem")
CONTEXT.verify_mode = ssl.CERT_REQUIRED
server = Server(("127.0.0.1", 0), Handler)
print(f"listening on https://localhost:{server.server_address[1]}", flush=True)
server.serve_forever()
