import jakarta.xml.bind.annotation.XmlAccessType;
import jakarta.xml.bind.annotation.XmlAccessorType;
import jakarta.xml.bind.annotation.XmlElement;
import jakarta.xml.bind.annotation.XmlRootElement;
import jakarta.xml.bind.annotation.XmlType;

/** The answer to an order with a photo. */
@XmlRootElement(name = "orderResponse", namespace = Order.SECURED)
@XmlAccessorType(XmlAccessType.FIELD)
@XmlType(name = "", propOrder = {"customer", "number", "note", "photo"})
public class OrderResponse {
    @XmlElement(namespace = Order.SECURED)
    String customer;
    @XmlElement(namespace = Order.SECURED)
    int number;
    @XmlElement(namespace = Order.SECURED)
    String note;
    @XmlElement(namespace = Order.SECURED)
    byte[] photo;
}
