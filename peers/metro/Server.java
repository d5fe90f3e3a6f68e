package peer;

import com.sun.xml.ws.transport.http.servlet.WSServlet;
import com.sun.xml.ws.transport.http.servlet.WSServletContextListener;
import java.nio.file.Path;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.server.ServerConnector;

/** Metro's servlet on Jetty: PORT, and the directory that has WEB-INF. */
public final class Server {
    private Server() {}

    public static void main(String[] arguments) throws Exception {
        ServletContextHandler context = new ServletContextHandler("/");
        context.setBaseResourceAsPath(Path.of(arguments[1]).toAbsolutePath());
        context.addEventListener(new WSServletContextListener());
        context.addServlet(WSServlet.class, "/*");

        org.eclipse.jetty.server.Server server = new org.eclipse.jetty.server.Server();
        ServerConnector connector = new ServerConnector(server);
        connector.setHost("127.0.0.1");
        connector.setPort(Integer.parseInt(arguments[0]));
        server.addConnector(connector);
        server.setHandler(context);
        server.start();
        System.out.println("listening on http://127.0.0.1:" + arguments[0]);
    }
}
