package peer;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.rmi.registry.LocateRegistry;
import java.rmi.server.RMIServerSocketFactory;
import java.rmi.server.UnicastRemoteObject;

/** The seismic service over RMI, and the registry that knows it, both at one port: PORT. */
public final class Server implements Quakes {
    private static final int BACKLOG = 64;

    private final Catalogue<Region, Quake> catalogue = new Catalogue<>(new Values());

    public static void main(String[] arguments) throws Exception {
        int port = Integer.parseInt(arguments[0]);
        InetAddress loopback = InetAddress.getLoopbackAddress();
        System.setProperty("java.rmi.server.hostname", loopback.getHostAddress());
        RMIServerSocketFactory sockets = at -> new ServerSocket(at, BACKLOG, loopback);
        Server server = new Server();
        LocateRegistry.createRegistry(port, null, sockets).bind("quakes", UnicastRemoteObject.exportObject(server, port, null, sockets));
        // Not HTTP, but the same line as of all peers.
        System.out.println("listening on http://127.0.0.1:" + port);
        // What is exported keeps the process only as long as somebody holds it.
        synchronized (server) {
            while (true) {
                server.wait();
            }
        }
    }

    @Override public QuakeSet[] process(Query query) {
        return catalogue.find(query.minDate, query.maxDate, query.minLong, query.maxLong, query.minLat, query.maxLat, query.minMag,
            query.maxMag, query.minDepth, query.maxDepth).stream().map(Server::set).toArray(QuakeSet[]::new);
    }

    private static QuakeSet set(Catalogue.Found<Region, Quake> found) {
        QuakeSet set = new QuakeSet();
        set.area = found.area();
        set.regions = found.regions().toArray(new Region[0]);
        set.quakes = found.quakes().toArray(new Quake[0]);
        return set;
    }

    private static final class Values implements Catalogue.Binding<Region, Quake> {
        @Override public Region region(String ident, int index, String name) {
            Region region = new Region();
            region.ident = ident;
            region.index = index;
            region.name = name;
            return region;
        }

        @Override public Quake quake(Catalogue.Quake found, String ident, Region region) {
            Quake quake = new Quake();
            quake.moment = found.moment();
            quake.latitude = found.latitude();
            quake.longitude = found.longitude();
            quake.depth = found.depth();
            quake.magnitude = found.magnitude();
            quake.method = found.method();
            quake.region = region;
            return quake;
        }
    }
}
