package peer;

import jakarta.xml.ws.Endpoint;

/** Apache CXF on its own Jetty: PORT. */
public final class Server {
    private Server() {}

    public static void main(String[] arguments) throws Exception {
        String base = "http://127.0.0.1:" + arguments[0];
        Endpoint.publish(base + "/benchmark1", new Benchmark1());
        Endpoint.publish(base + "/wstest", new WsTest());
        Endpoint.publish(base + "/wspex", new WsPex());
        Endpoint.publish(base + "/seismic", new Seismic());
        Endpoint.publish(base + "/styles/doc", new Styles());
        System.out.println("listening on " + base);
    }
}
