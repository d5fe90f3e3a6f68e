package peer;

import jakarta.jws.WebService;
import java.util.List;
import java.util.stream.IntStream;
import peer.benchmark1.*;

/** Benchmark1: what it gets goes back through the types of the contract. */
@WebService(endpointInterface = "peer.benchmark1.Benchmark", targetNamespace = "http://www.extreme.indiana.edu/wsdl/Benchmark1",
    serviceName = "Benchmark", portName = "Benchmark")
public final class Benchmark1 implements Benchmark {
    @Override public void echoVoid() {}

    @Override public byte[] echoBase64(byte[] input) { return input; }

    @Override public List<String> echoStrings(List<String> input) { return input; }

    @Override public List<Integer> echoInts(List<Integer> input) { return input; }

    @Override public List<Double> echoDoubles(List<Double> input) { return input; }

    @Override public EchoMeshInterfaceObjectsResponse echoMeshInterfaceObjects(EchoMeshInterfaceObjectsRequest request) {
        EchoMeshInterfaceObjectsResponse response = new EchoMeshInterfaceObjectsResponse();
        response.getEchoMeshInterfaceObjectReturn().addAll(request.getInput());
        return response;
    }

    @Override public EchoSimpleEventsResponse echoSimpleEvents(EchoSimpleEventsRequest request) {
        EchoSimpleEventsResponse response = new EchoSimpleEventsResponse();
        response.setEchoSimpleEventsReturn(request.getInput());
        return response;
    }

    @Override public int receiveBase64(byte[] input) { return input.length; }

    @Override public int receiveStrings(List<String> input) { return input.size(); }

    @Override public int receiveInts(List<Integer> input) { return input.size(); }

    @Override public int receiveDoubles(List<Double> input) { return input.size(); }

    @Override public ReceiveMeshInterfaceObjectsResponse receiveMeshInterfaceObjects(ReceiveMeshInterfaceObjectsRequest request) {
        ReceiveMeshInterfaceObjectsResponse response = new ReceiveMeshInterfaceObjectsResponse();
        response.setReceiveMeshInterfaceObjectsReturn(request.getInput().getItem().size());
        return response;
    }

    @Override public ReceiveSimpleEventsResponse receiveSimpleEvents(ReceiveSimpleEventsRequest request) {
        ReceiveSimpleEventsResponse response = new ReceiveSimpleEventsResponse();
        response.setReceiveSimpleEventsReturn(request.getInput().getItem().size());
        return response;
    }

    @Override public byte[] sendBase64(int size) {
        byte[] bytes = new byte[size];
        for (int i = 0; i < size; i++) {
            bytes[i] = (byte) i;
        }
        return bytes;
    }

    @Override public List<String> sendStrings(int size) { return IntStream.range(0, size).mapToObj(i -> "s" + i).toList(); }

    @Override public List<Integer> sendInts(int size) { return IntStream.range(0, size).boxed().toList(); }

    @Override public List<Double> sendDoubles(int size) { return IntStream.range(0, size).mapToObj(i -> (double) i).toList(); }

    @Override public SendMeshInterfaceObjectsResponse sendMeshInterfaceObjects(SendMeshInterfaceObjectsRequest request) {
        ArrayOfMeshInterfaceObject array = new ArrayOfMeshInterfaceObject();
        for (int i = 0; i < request.getSize(); i++) {
            MeshInterfaceObject object = new MeshInterfaceObject();
            object.setX(i);
            object.setY(i);
            object.setValue(Math.sqrt(i));
            array.getItem().add(object);
        }
        SendMeshInterfaceObjectsResponse response = new SendMeshInterfaceObjectsResponse();
        response.setSendMeshInterfaceObjectsReturn(array);
        return response;
    }

    @Override public SendSimpleEventsResponse sendSimpleEvents(SendSimpleEventsRequest request) {
        ArrayOfSimpleEvent array = new ArrayOfSimpleEvent();
        for (int i = 0; i < request.getSize(); i++) {
            SimpleEvent event = new SimpleEvent();
            event.setSequenceNumber(i);
            event.setTimestamp(Math.sqrt(i));
            event.setMessage("Message #" + i);
            array.getItem().add(event);
        }
        SendSimpleEventsResponse response = new SendSimpleEventsResponse();
        response.setSendSimpleEventsReturn(array);
        return response;
    }
}
