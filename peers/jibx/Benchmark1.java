package peer;

import peer.benchmark1.*;

/** The operations of Benchmark1 that are measured: what they get goes back through the types of the contract. */
public final class Benchmark1 {
    public EchoVoidResponse echoVoid(EchoVoid request) { return new EchoVoidResponse(); }

    public EchoStringsResponse echoStrings(EchoStrings request) {
        EchoStringsResponse response = new EchoStringsResponse();
        response.setEchoStringsReturnList(request.getInputList());
        return response;
    }

    public EchoIntsResponse echoInts(EchoInts request) {
        EchoIntsResponse response = new EchoIntsResponse();
        response.setEchoIntsReturnList(request.getInputList());
        return response;
    }

    public EchoDoublesResponse echoDoubles(EchoDoubles request) {
        EchoDoublesResponse response = new EchoDoublesResponse();
        response.setEchoDoublesReturnList(request.getInputList());
        return response;
    }

    public EchoMeshInterfaceObjectsResponse echoMeshInterfaceObjects(EchoMeshInterfaceObjectsRequest request) {
        EchoMeshInterfaceObjectsResponse response = new EchoMeshInterfaceObjectsResponse();
        response.setEchoMeshInterfaceObjectReturnList(request.getInputList());
        return response;
    }

    public EchoSimpleEventsResponse echoSimpleEvents(EchoSimpleEventsRequest request) {
        EchoSimpleEventsResponse response = new EchoSimpleEventsResponse();
        response.setEchoSimpleEventsReturn(request.getInput());
        return response;
    }
}
