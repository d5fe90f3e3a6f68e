package peer;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The quakes that Castile makes up, in memory by area and time, and what a query finds of them. As in the service of the article,
 * regions and quakes are held as the objects that an engine writes: what they are is up to each engine.
 *
 * <p>It is read when it is first asked, so that other suites don't wait for it.
 */
public final class Catalogue<R, Q> {
    private static final Path QUAKES = Path.of("target/quakes.txt");
    private static final Path REGIONS = Path.of("../../crates/suites/data/regions.txt");

    /** The objects of an engine. */
    public interface Binding<R, Q> {
        R region(String ident, int index, String name);

        Q quake(Quake quake, String ident, R region);
    }

    /** A quake as the catalogue has it; the moment is in milliseconds since 1970. */
    public record Quake(long moment, float latitude, float longitude, float depth, float magnitude, String method) {
        /** The moment of the whole second, in milliseconds since 1970. */
        public long second() { return moment - millis(); }

        public int millis() { return (int) Math.floorMod(moment, 1000L); }
    }

    /** What was found in one area. */
    public record Found<R, Q>(String area, List<R> regions, List<Q> quakes) {}

    private record Entry<R, Q>(Quake quake, int region, R regionElement, Q element) {}

    private final Binding<R, Q> binding;
    private volatile Map<Integer, Area<R, Q>> areas;

    public Catalogue(Binding<R, Q> binding) {
        this.binding = binding;
    }

    /** What is asked for, by area; what is null bounds nothing. Moments are in milliseconds since 1970 and include their end. */
    public List<Found<R, Q>> find(Long minDate, Long maxDate, Float minLong, Float maxLong, Float minLat, Float maxLat, Float minMag,
        Float maxMag, Float minDepth, Float maxDepth) {
        Bounds longitude = Bounds.of(minLong, maxLong);
        Bounds latitude = Bounds.of(minLat, maxLat);
        Bounds magnitude = Bounds.of(minMag, maxMag);
        Bounds depth = Bounds.of(minDepth, maxDepth);
        long from = minDate == null ? Long.MIN_VALUE : minDate;
        long to = maxDate == null ? Long.MAX_VALUE : maxDate;
        List<Found<R, Q>> all = new ArrayList<>();
        for (Area<R, Q> area : areas().values()) {
            Found<R, Q> found = area.find(from, to, longitude, latitude, magnitude, depth);
            if (!found.quakes.isEmpty()) {
                all.add(found);
            }
        }
        return all;
    }

    private Map<Integer, Area<R, Q>> areas() {
        if (areas == null) {
            synchronized (this) {
                if (areas == null) {
                    areas = read();
                }
            }
        }
        return areas;
    }

    private Map<Integer, Area<R, Q>> read() {
        Map<Integer, Area<R, Q>> areas = new TreeMap<>();
        Map<Integer, R> regions = new HashMap<>();
        try (Stream<String> names = Files.lines(REGIONS); Stream<String> quakes = Files.lines(QUAKES)) {
            // "* NUMBER NAME" for areas, and "NUMBER AREA NAME" for regions.
            names.map(String::strip).forEach(line -> {
                String[] fields = line.split(" +", 3);
                if (fields[0].equals("*")) {
                    areas.put(Integer.valueOf(fields[1]), new Area<>(fields[2]));
                } else {
                    int number = Integer.parseInt(fields[0]);
                    regions.put(number, binding.region("rgn" + number, number, fields[2]));
                }
            });
            // Date, time, milliseconds, latitude, longitude, depth, magnitude, method, region, area.
            quakes.map(line -> line.split(" ")).forEach(fields -> {
                long second = LocalDate.parse(fields[0]).toEpochSecond(LocalTime.parse(fields[1]), ZoneOffset.UTC);
                Quake quake = new Quake(second * 1000 + Integer.parseInt(fields[2]), Float.parseFloat(fields[3]),
                    Float.parseFloat(fields[4]), Float.parseFloat(fields[5]), Float.parseFloat(fields[6]), fields[7].intern());
                int region = Integer.parseInt(fields[8]);
                R element = regions.get(region);
                areas.get(Integer.valueOf(fields[9]))
                    .add(new Entry<>(quake, region, element, binding.quake(quake, "rgn" + region, element)));
            });
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        areas.values().forEach(area -> area.entries.sort(Comparator.comparingLong(entry -> entry.quake.moment)));
        return areas;
    }

    /** The quakes of an area by time, and the rectangle that they are in. */
    private static final class Area<R, Q> {
        private final String name;
        private final List<Entry<R, Q>> entries = new ArrayList<>();
        private float west = Float.POSITIVE_INFINITY;
        private float east = Float.NEGATIVE_INFINITY;
        private float south = Float.POSITIVE_INFINITY;
        private float north = Float.NEGATIVE_INFINITY;

        Area(String name) {
            this.name = name;
        }

        void add(Entry<R, Q> entry) {
            west = Math.min(west, entry.quake.longitude);
            east = Math.max(east, entry.quake.longitude);
            south = Math.min(south, entry.quake.latitude);
            north = Math.max(north, entry.quake.latitude);
            entries.add(entry);
        }

        Found<R, Q> find(long from, long to, Bounds longitude, Bounds latitude, Bounds magnitude, Bounds depth) {
            Map<Integer, R> regions = new TreeMap<>();
            List<Q> quakes = new ArrayList<>();
            if (longitude.meet(west, east) && latitude.meet(south, north)) {
                for (int i = first(from); i < entries.size() && entries.get(i).quake.moment <= to; i++) {
                    Entry<R, Q> entry = entries.get(i);
                    Quake quake = entry.quake;
                    if (longitude.take(quake.longitude) && latitude.take(quake.latitude) && magnitude.take(quake.magnitude)
                        && depth.take(quake.depth)) {
                        regions.put(entry.region, entry.regionElement);
                        quakes.add(entry.element);
                    }
                }
            }
            return new Found<>(name, new ArrayList<>(regions.values()), quakes);
        }

        /** The place of the first quake at this moment or after it. */
        private int first(long moment) {
            int low = 0;
            int high = entries.size();
            while (low < high) {
                int middle = (low + high) >>> 1;
                if (entries.get(middle).quake.moment < moment) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            return low;
        }
    }

    /** A range of numbers, which includes its beginning. */
    private record Bounds(float least, float below) {
        static Bounds of(Float least, Float below) {
            return new Bounds(least == null ? Float.NEGATIVE_INFINITY : least, below == null ? Float.POSITIVE_INFINITY : below);
        }

        boolean take(float value) { return least <= value && value < below; }

        boolean meet(float first, float last) { return least <= last && first < below; }
    }
}
