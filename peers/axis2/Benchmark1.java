package peer;

import peer.benchmark1.*;

/** The operations of Benchmark1 that are measured: what they get goes back through the types of the contract. */
public final class Benchmark1 extends BenchmarkSkeleton {
    @Override public EchoVoidResponse echoVoid(EchoVoid request) { return new EchoVoidResponse(); }

    @Override public EchoStringsResponse echoStrings(EchoStrings request) {
        EchoStringsResponse response = new EchoStringsResponse();
        response.setEchoStringsReturn(request.getInput());
        return response;
    }

    @Override public EchoIntsResponse echoInts(EchoInts request) {
        EchoIntsResponse response = new EchoIntsResponse();
        response.setEchoIntsReturn(request.getInput());
        return response;
    }

    @Override public EchoDoublesResponse echoDoubles(EchoDoubles request) {
        EchoDoublesResponse response = new EchoDoublesResponse();
        response.setEchoDoublesReturn(request.getInput());
        return response;
    }

    @Override public EchoMeshInterfaceObjectsResponse echoMeshInterfaceObjects(EchoMeshInterfaceObjectsRequest request) {
        EchoMeshInterfaceObjectsResponse response = new EchoMeshInterfaceObjectsResponse();
        response.setEchoMeshInterfaceObjectReturn(request.getInput());
        return response;
    }

    @Override public EchoSimpleEventsResponse echoSimpleEvents(EchoSimpleEventsRequest request) {
        EchoSimpleEventsResponse response = new EchoSimpleEventsResponse();
        response.setEchoSimpleEventsReturn(request.getInput());
        return response;
    }
}
