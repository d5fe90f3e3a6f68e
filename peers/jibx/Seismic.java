package peer;

import java.util.Date;
import java.util.List;
import peer.seismic.*;

/** The seismic service: finds what is asked for in the catalogue. */
public final class Seismic {
    private static final Catalogue<Region, Quake> CATALOGUE = new Catalogue<>(new Elements());

    public Results process(Query query) {
        List<QuakeSet> sets = CATALOGUE.find(millis(query.getMinDate()), millis(query.getMaxDate()), query.getMinLong(),
            query.getMaxLong(), query.getMinLat(), query.getMaxLat(), query.getMinMag(), query.getMaxMag(), query.getMinDepth(),
            query.getMaxDepth()).stream().map(Seismic::set).toList();
        Results results = new Results();
        results.setResultSetList(sets);
        results.setCount(sets.size());
        return results;
    }

    private static QuakeSet set(Catalogue.Found<Region, Quake> found) {
        QuakeSet set = new QuakeSet();
        set.setAreaName(found.area());
        set.setRegionsCount(found.regions().size());
        set.setRegionsRegionList(found.regions());
        set.setQuakesCount(found.quakes().size());
        set.setQuakesQuakeList(found.quakes());
        return set;
    }

    private static Long millis(Date moment) { return moment == null ? null : moment.getTime(); }

    private static final class Elements implements Catalogue.Binding<Region, Quake> {
        @Override public Region region(String ident, int index, String name) {
            Region region = new Region();
            region.setIdent(ident);
            region.setIndex(index);
            region.setString(name);
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
            quake.setRegion(ident);
            return quake;
        }
    }
}
