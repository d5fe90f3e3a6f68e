package peer;

import peer.benchmark1.*;

/** The operations of Benchmark1 that are measured: what they get goes back through the types of the contract. */
public final class Benchmark1 extends BenchmarkSoapImpl {
    @Override public EchoVoidResponse echoVoid(EchoVoid request) { return new EchoVoidResponse(); }

    @Override public String[] echoStrings(String[] input) { return input; }

    @Override public int[] echoInts(int[] input) { return input; }

    @Override public double[] echoDoubles(double[] input) { return input; }

    @Override public MeshInterfaceObject[] echoMeshInterfaceObjects(MeshInterfaceObject[] input) { return input; }

    @Override public EchoSimpleEventsResponse echoSimpleEvents(EchoSimpleEventsRequest request) {
        return new EchoSimpleEventsResponse(request.getInput());
    }
}
