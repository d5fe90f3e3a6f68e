package peer;

import java.io.Serializable;
import java.rmi.Remote;
import java.rmi.RemoteException;

/** The seismic service as RMI has it: a remote interface, and values that are serialised. */
public interface Quakes extends Remote {
    /** What a query finds, by area. */
    QuakeSet[] process(Query query) throws RemoteException;

    /** What is asked for; what is null bounds nothing. Moments are in milliseconds since 1970 and include their end. */
    final class Query implements Serializable {
        private static final long serialVersionUID = 1;

        Long minDate;
        Long maxDate;
        Float minLong;
        Float maxLong;
        Float minLat;
        Float maxLat;
        Float minMag;
        Float maxMag;
        Float minDepth;
        Float maxDepth;

        /** Whether a quake is within all bounds. */
        boolean asksFor(Quake quake) {
            return (minDate == null || minDate <= quake.moment) && (maxDate == null || quake.moment <= maxDate)
                && within(minLong, quake.longitude, maxLong) && within(minLat, quake.latitude, maxLat)
                && within(minMag, quake.magnitude, maxMag) && within(minDepth, quake.depth, maxDepth);
        }

        private static boolean within(Float least, float value, Float below) {
            return (least == null || least <= value) && (below == null || value < below);
        }
    }

    /** The quakes of one area by time, and the regions that they were in. */
    final class QuakeSet implements Serializable {
        private static final long serialVersionUID = 1;

        String area;
        Region[] regions;
        Quake[] quakes;
    }

    /** A region of Flinn and Engdahl. */
    final class Region implements Serializable {
        private static final long serialVersionUID = 1;

        String ident;
        int index;
        String name;
    }

    /** A quake; the moment is in milliseconds since 1970. */
    final class Quake implements Serializable {
        private static final long serialVersionUID = 1;

        long moment;
        float latitude;
        float longitude;
        float depth;
        float magnitude;
        String method;
        Region region;
    }
}
