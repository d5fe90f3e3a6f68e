package peer;

import java.util.Calendar;
import java.util.GregorianCalendar;
import java.util.TimeZone;

/** Moments as Axis has them. */
final class Moment {
    private Moment() {}

    static Calendar of(long millis) {
        Calendar moment = new GregorianCalendar(TimeZone.getTimeZone("UTC"));
        moment.setTimeInMillis(millis);
        return moment;
    }

    static Long millis(Calendar moment) { return moment == null ? null : moment.getTimeInMillis(); }
}
