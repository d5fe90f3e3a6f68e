import jakarta.xml.bind.annotation.XmlAccessType;
import jakarta.xml.bind.annotation.XmlAccessorType;
import jakarta.xml.bind.annotation.XmlElement;
import jakarta.xml.bind.annotation.XmlRootElement;
import jakarta.xml.bind.annotation.XmlType;

/** What is ordered with a photo. Only JAXB sends a value as a part. */
@XmlRootElement(name = "order", namespace = Order.SECURED)
@XmlAccessorType(XmlAccessType.FIELD)
@XmlType(name = "", propOrder = {"customer", "quantity", "note", "photo"})
public class Order {
    static final String SECURED = Shop.SECURED;

    @XmlElement(namespace = SECURED)
    String customer;
    @XmlElement(namespace = SECURED)
    int quantity;
    @XmlElement(namespace = SECURED)
    String note;
    @XmlElement(namespace = SECURED)
    byte[] photo;
}
