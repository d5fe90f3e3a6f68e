package peer;

import org.apache.axis.types.IDRef;
import org.apache.axis.types.Id;
import org.apache.axis.types.Token;
import peer.seismic.*;

/** The seismic service with documents: finds what is asked for in the catalogue. */
public final class Seismic implements QuakeInterface {
    private static final Catalogue<Region, Quake> CATALOGUE = new Catalogue<>(new Elements());

    @Override public Results process(Query query) {
        QuakeSet[] sets = CATALOGUE.find(Moment.millis(query.getMinDate()), Moment.millis(query.getMaxDate()), query.getMinLong(),
            query.getMaxLong(), query.getMinLat(), query.getMaxLat(), query.getMinMag(), query.getMaxMag(), query.getMinDepth(),
            query.getMaxDepth()).stream().map(Seismic::set).toArray(QuakeSet[]::new);
        return new Results(sets, sets.length);
    }

    private static QuakeSet set(Catalogue.Found<Region, Quake> found) {
        Region[] regions = found.regions().toArray(Region[]::new);
        Quake[] quakes = found.quakes().toArray(Quake[]::new);
        return new QuakeSet(found.area(), new QuakeSetRegions(regions, regions.length), new QuakeSetQuakes(quakes, quakes.length));
    }

    private static final class Elements implements Catalogue.Binding<Region, Quake> {
        @Override public Region region(String ident, int index, String name) {
            Region region = new Region(name);
            region.setIdent(new Id(ident));
            region.setIndex(index);
            return region;
        }

        @Override public Quake quake(Catalogue.Quake found, String ident, Region region) {
            return new Quake(Moment.of(found.second()), found.millis(), found.latitude(), found.longitude(), found.depth(),
                found.magnitude(), new Token(found.method()), new IDRef(ident));
        }
    }
}
