package peer;

import jakarta.jws.WebService;
import peer.seismic.*;

/** The seismic service. WSIT finds the policy by the name of this class: WEB-INF/wsit-peer.Username.xml. */
@WebService(endpointInterface = "peer.seismic.QuakeInterface", targetNamespace = "http://ws.sosnoski.com/seismic/wsdl",
    serviceName = "quakeService", portName = "quake")
public final class Username implements QuakeInterface {
    private final Seismic service = new Seismic();

    @Override public Results process(Query query) {
        return service.process(query);
    }
}
