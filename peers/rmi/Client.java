package peer;

import java.net.URI;
import java.rmi.registry.LocateRegistry;
import java.time.Instant;
import java.util.Random;

/** Asks for quakes over RMI, as often as it is told to: URL CASE, a case being a run of the article such as .01x200. */
public final class Client {
    private static final long START = Instant.parse("2000-01-01T01:19:26Z").toEpochMilli();
    private static final long END = Instant.parse("2003-08-31T23:07:59Z").toEpochMilli();
    private static final long SEED = 5;

    private Client() {}

    public static void main(String[] arguments) throws Exception {
        URI url = URI.create(arguments[0]);
        Quakes quakes = (Quakes) LocateRegistry.getRegistry(url.getHost(), url.getPort()).lookup("quakes");
        Quakes.Query[] queries = queries(arguments[1]);
        int[] next = {0};
        Calls.run(() -> {
            Quakes.Query query = queries[next[0]];
            next[0] = (next[0] + 1) % queries.length;
            return judge(query, quakes.process(query));
        });
        System.exit(0);
    }

    private static int judge(Quakes.Query query, Quakes.QuakeSet[] sets) throws Exception {
        int items = 0;
        for (Quakes.QuakeSet set : sets) {
            for (Quakes.Quake quake : set.quakes) {
                Calls.expect(query.asksFor(quake), "a quake that was asked for");
            }
            items += set.quakes.length;
        }
        return items;
    }

    /** The queries of a run: a part of the whole span, an x, and how many there are. Six numbers are drawn for each, in this order. */
    private static Quakes.Query[] queries(String run) {
        String[] parts = run.split("x");
        double half = Double.parseDouble(parts[0]) / 2;
        double halfRoot = Math.sqrt(Double.parseDouble(parts[0])) / 2;
        Random random = new Random(SEED);
        Quakes.Query[] queries = new Quakes.Query[Integer.parseInt(parts[1])];
        for (int i = 0; i < queries.length; i++) {
            Quakes.Query query = new Quakes.Query();
            long length = (long) ((random.nextDouble() * half + half) * (END - START));
            query.minDate = START + (long) (random.nextDouble() * (END - START - length));
            query.maxDate = query.minDate + length;
            float width = (float) ((random.nextDouble() * halfRoot + halfRoot) * 360);
            query.minLong = (float) (random.nextDouble() * (360.0 - width)) - 180;
            query.maxLong = query.minLong + width;
            float height = (float) ((random.nextDouble() * halfRoot + halfRoot) * 180);
            query.minLat = (float) (random.nextDouble() * (180.0 - height)) - 90;
            query.maxLat = query.minLat + height;
            queries[i] = query;
        }
        return queries;
    }
}
