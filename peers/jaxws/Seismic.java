package peer;

import jakarta.jws.WebService;
import java.time.Instant;
import javax.xml.datatype.XMLGregorianCalendar;
import peer.seismic.*;

/** The seismic service: finds what is asked for in the catalogue. */
@WebService(endpointInterface = "peer.seismic.QuakeInterface", targetNamespace = "http://ws.sosnoski.com/seismic/wsdl",
    serviceName = "quakeService", portName = "quake")
public final class Seismic implements QuakeInterface {
    private static final Catalogue<Region, Quake> CATALOGUE = new Catalogue<>(new Elements());

    @Override public Results process(Query query) {
        Results results = new Results();
        CATALOGUE.find(millis(query.getMinDate()), millis(query.getMaxDate()), query.getMinLong(), query.getMaxLong(),
            query.getMinLat(), query.getMaxLat(), query.getMinMag(), query.getMaxMag(), query.getMinDepth(), query.getMaxDepth())
            .forEach(found -> results.getResultSet().add(set(found)));
        results.setCount(results.getResultSet().size());
        return results;
    }

    private static QuakeSet set(Catalogue.Found<Region, Quake> found) {
        QuakeSet.Regions regions = new QuakeSet.Regions();
        regions.setCount(found.regions().size());
        regions.getRegion().addAll(found.regions());
        QuakeSet.Quakes quakes = new QuakeSet.Quakes();
        quakes.setCount(found.quakes().size());
        quakes.getQuake().addAll(found.quakes());
        QuakeSet set = new QuakeSet();
        set.setAreaName(found.area());
        set.setRegions(regions);
        set.setQuakes(quakes);
        return set;
    }

    private static Long millis(XMLGregorianCalendar moment) {
        return moment == null ? null : moment.toGregorianCalendar().getTimeInMillis();
    }

    private static final class Elements implements Catalogue.Binding<Region, Quake> {
        @Override public Region region(String ident, int index, String name) {
            Region region = new Region();
            region.setIdent(ident);
            region.setIndex(index);
            region.setValue(name);
            return region;
        }

        @Override public Quake quake(Catalogue.Quake found, String ident, Region region) {
            Quake quake = new Quake();
            quake.setTime(Moment.of(Instant.ofEpochMilli(found.second()).toString()));
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
