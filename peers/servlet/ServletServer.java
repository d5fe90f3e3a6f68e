package peer;

import java.io.IOException;
import javax.servlet.ServletException;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.HandlerWrapper;
import org.eclipse.jetty.servlet.ServletContextHandler;
import org.eclipse.jetty.servlet.ServletHolder;

/**
 * The servlet of an engine on Jetty, at all paths: PORT SERVLET DIRECTORY [PARAMETER=VALUE …]. The directory has WEB-INF.
 * One that insists on a path before its services gets it from the property peer.prefix.
 */
public final class ServletServer {
    private ServletServer() {}

    public static void main(String[] arguments) throws Exception {
        ServletHolder servlet = new ServletHolder();
        servlet.setClassName(arguments[1]);
        servlet.setInitOrder(1);
        for (int i = 3; i < arguments.length; i++) {
            String[] parameter = arguments[i].split("=", 2);
            servlet.setInitParameter(parameter[0], parameter[1]);
        }
        ServletContextHandler context = new ServletContextHandler();
        context.setResourceBase(arguments[2]);
        context.addServlet(servlet, "/*");

        Server server = new Server();
        ServerConnector connector = new ServerConnector(server);
        connector.setHost("127.0.0.1");
        connector.setPort(Integer.parseInt(arguments[0]));
        server.addConnector(connector);
        String prefix = System.getProperty("peer.prefix");
        server.setHandler(prefix == null ? context : new Prefix(prefix, context));
        server.start();
        System.out.println("listening on http://127.0.0.1:" + arguments[0]);
    }

    /** Puts something before all paths. */
    private static final class Prefix extends HandlerWrapper {
        private final String prefix;

        Prefix(String prefix, Handler inner) {
            this.prefix = prefix;
            setHandler(inner);
        }

        @Override
        public void handle(String target, Request request, HttpServletRequest asked, HttpServletResponse response)
            throws IOException, ServletException {
            request.setURIPathQuery(prefix + request.getOriginalURI());
            request.setPathInfo(prefix + target);
            super.handle(prefix + target, request, asked, response);
        }
    }
}
