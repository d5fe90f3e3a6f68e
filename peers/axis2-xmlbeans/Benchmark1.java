package peer;

import peer.benchmark1.*;

/** The operations of Benchmark1 that are measured: what they get goes back through the types of the contract. */
public final class Benchmark1 extends BenchmarkSkeleton {
    @Override public EchoVoidResponseDocument echoVoid(EchoVoidDocument request) {
        EchoVoidResponseDocument response = EchoVoidResponseDocument.Factory.newInstance();
        response.addNewEchoVoidResponse();
        return response;
    }

    @Override public EchoStringsResponseDocument echoStrings(EchoStringsDocument request) {
        EchoStringsResponseDocument response = EchoStringsResponseDocument.Factory.newInstance();
        response.addNewEchoStringsResponse().setEchoStringsReturnArray(request.getEchoStrings().getInputArray());
        return response;
    }

    @Override public EchoIntsResponseDocument echoInts(EchoIntsDocument request) {
        EchoIntsResponseDocument response = EchoIntsResponseDocument.Factory.newInstance();
        response.addNewEchoIntsResponse().setEchoIntsReturnArray(request.getEchoInts().getInputArray());
        return response;
    }

    @Override public EchoDoublesResponseDocument echoDoubles(EchoDoublesDocument request) {
        EchoDoublesResponseDocument response = EchoDoublesResponseDocument.Factory.newInstance();
        response.addNewEchoDoublesResponse().setEchoDoublesReturnArray(request.getEchoDoubles().getInputArray());
        return response;
    }

    @Override public EchoMeshInterfaceObjectsResponseDocument echoMeshInterfaceObjects(
        EchoMeshInterfaceObjectsRequestDocument request) {
        EchoMeshInterfaceObjectsResponseDocument response = EchoMeshInterfaceObjectsResponseDocument.Factory.newInstance();
        response.addNewEchoMeshInterfaceObjectsResponse()
            .setEchoMeshInterfaceObjectReturnArray(request.getEchoMeshInterfaceObjectsRequest().getInputArray());
        return response;
    }

    @Override public EchoSimpleEventsResponseDocument echoSimpleEvents(EchoSimpleEventsRequestDocument request) {
        EchoSimpleEventsResponseDocument response = EchoSimpleEventsResponseDocument.Factory.newInstance();
        response.addNewEchoSimpleEventsResponse().setEchoSimpleEventsReturn(request.getEchoSimpleEventsRequest().getInput());
        return response;
    }
}
