import jakarta.jws.WebMethod;
import jakarta.jws.WebParam;
import jakarta.jws.WebResult;
import jakarta.jws.WebService;
import jakarta.jws.soap.SOAPBinding;
import jakarta.xml.soap.SOAPException;

/** The shop that gets photos as parts, and answers with them. */
@WebService(targetNamespace = Order.SECURED, name = "Orders", serviceName = "Secured")
@SOAPBinding(parameterStyle = SOAPBinding.ParameterStyle.BARE)
public class PhotoShop {
    private final String version;

    PhotoShop(String version) {
        this.version = version;
    }

    @WebMethod(action = Order.SECURED + ":order")
    @WebResult(name = "orderResponse", targetNamespace = Order.SECURED, partName = "parameters")
    public OrderResponse order(@WebParam(name = "order", targetNamespace = Order.SECURED, partName = "parameters") Order order) {
        if (order.quantity > 100) {
            try {
                throw Shop.soldOut(version);
            } catch (SOAPException error) {
                throw new IllegalStateException(error);
            }
        }
        OrderResponse response = new OrderResponse();
        response.customer = order.customer;
        response.number = 7;
        response.note = order.note;
        response.photo = order.photo;
        return response;
    }
}
