package peer;

import javax.xml.datatype.DatatypeConfigurationException;
import javax.xml.datatype.DatatypeFactory;
import javax.xml.datatype.XMLGregorianCalendar;

/** Moments as JAXB has them. */
final class Moment {
    private static final DatatypeFactory FACTORY = factory();

    private Moment() {}

    static XMLGregorianCalendar of(String lexical) {
        return FACTORY.newXMLGregorianCalendar(lexical);
    }

    private static DatatypeFactory factory() {
        try {
            return DatatypeFactory.newInstance();
        } catch (DatatypeConfigurationException none) {
            throw new IllegalStateException(none);
        }
    }
}
