package peer;

import javax.xml.datatype.DatatypeConfigurationException;
import javax.xml.datatype.DatatypeFactory;
import javax.xml.datatype.XMLGregorianCalendar;

/** Moments as JAXB has them. */
final class Moment {
    private Moment() {}

    static XMLGregorianCalendar of(String lexical) {
        try {
            return DatatypeFactory.newInstance().newXMLGregorianCalendar(lexical);
        } catch (DatatypeConfigurationException none) {
            throw new IllegalStateException(none);
        }
    }
}
