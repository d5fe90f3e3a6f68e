package peer;

import java.util.Date;
import peer.seismic.*;

/** The seismic service: finds what is asked for in the catalogue. */
public final class Seismic {
    private static final Catalogue<Region, Quake> CATALOGUE = new Catalogue<>(new Elements());

    public Results process(Query query) {
        Results results = new Results();
        CATALOGUE.find(millis(query.getMinDate()), millis(query.getMaxDate()), bound(query.hasMinLong(), query.getMinLong()),
            bound(query.hasMaxLong(), query.getMaxLong()), bound(query.hasMinLat(), query.getMinLat()),
            bound(query.hasMaxLat(), query.getMaxLat()), bound(query.hasMinMag(), query.getMinMag()),
            bound(query.hasMaxMag(), query.getMaxMag()), bound(query.hasMinDepth(), query.getMinDepth()),
            bound(query.hasMaxDepth(), query.getMaxDepth())).forEach(found -> results.addResultSet(set(found)));
        results.setCount(results.getResultSetCount());
        return results;
    }

    private static ResultSet set(Catalogue.Found<Region, Quake> found) {
        Regions regions = new Regions();
        regions.setCount(found.regions().size());
        regions.setRegion(found.regions().toArray(Region[]::new));
        Quakes quakes = new Quakes();
        quakes.setCount(found.quakes().size());
        quakes.setQuake(found.quakes().toArray(Quake[]::new));
        ResultSet set = new ResultSet();
        set.setAreaName(found.area());
        set.setRegions(regions);
        set.setQuakes(quakes);
        return set;
    }

    private static Long millis(Date moment) { return moment == null ? null : moment.getTime(); }

    private static Float bound(boolean given, float bound) { return given ? bound : null; }

    private static final class Elements implements Catalogue.Binding<Region, Quake> {
        @Override public Region region(String ident, int index, String name) {
            Region region = new Region();
            region.setIdent(ident);
            region.setIndex(index);
            region.setContent(name);
            return region;
        }

        @Override public Quake quake(Catalogue.Quake found, String ident, Region region) {
            Quake quake = new Quake();
            quake.setTime(new Date(found.second()));
            quake.setMillis(found.millis());
            quake.setLatitude(found.latitude());
            quake.setLongitude(found.longitude());
            quake.setDepth(found.depth());
            quake.setMagnitude(found.magnitude());
            quake.setMethod(found.method());
            quake.setRegion(region);
            return quake;
        }
    }
}
