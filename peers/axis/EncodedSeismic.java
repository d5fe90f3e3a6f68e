package peer;

import peer.seismic_encoded.*;

/** The seismic service with objects in SOAP encoding: finds what is asked for in the catalogue. */
public final class EncodedSeismic implements EncodedQuakeInterface {
    private static final Catalogue<Region, Quake> CATALOGUE = new Catalogue<>(new Objects());

    @Override public QuakeSet[] process(Query query) {
        return CATALOGUE.find(Moment.millis(query.getMinDate()), Moment.millis(query.getMaxDate()), query.getMinLong(),
            query.getMaxLong(), query.getMinLat(), query.getMaxLat(), query.getMinMag(), query.getMaxMag(), query.getMinDepth(),
            query.getMaxDepth()).stream().map(EncodedSeismic::set).toArray(QuakeSet[]::new);
    }

    private static QuakeSet set(Catalogue.Found<Region, Quake> found) {
        return new QuakeSet(found.area(), found.regions().toArray(Region[]::new), found.quakes().toArray(Quake[]::new));
    }

    private static final class Objects implements Catalogue.Binding<Region, Quake> {
        @Override public Region region(String ident, int index, String name) { return new Region(ident, index, name); }

        @Override public Quake quake(Catalogue.Quake found, String ident, Region region) {
            return new Quake(Moment.of(found.second()), found.millis(), found.latitude(), found.longitude(), found.depth(),
                found.magnitude(), found.method(), ident);
        }
    }
}
