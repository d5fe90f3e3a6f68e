using System;
using System.Linq;
using System.Web.Services;

namespace Peer.benchmark1
{
    /// <summary>Benchmark1: what it gets goes back through the types of the contract.</summary>
    [WebService(Namespace = "http://www.extreme.indiana.edu/wsdl/Benchmark1")]
    public sealed class Service : IBenchmarkSoap
    {
        public void echoVoid() {}

        public byte[] echoBase64(byte[] input) { return input; }

        public string[] echoStrings(string[] input) { return input; }

        public int[] echoInts(int[] input) { return input; }

        public double[] echoDoubles(double[] input) { return input; }

        public MeshInterfaceObject[] echoMeshInterfaceObjects(MeshInterfaceObject[] request) { return request; }

        public echoSimpleEventsResponse echoSimpleEvents(echoSimpleEventsRequest request)
        {
            return new echoSimpleEventsResponse { echoSimpleEventsReturn = request.input };
        }

        public int receiveBase64(byte[] input) { return input.Length; }

        public int receiveStrings(string[] input) { return input.Length; }

        public int receiveInts(int[] input) { return input.Length; }

        public int receiveDoubles(double[] input) { return input.Length; }

        public receiveMeshInterfaceObjectsResponse receiveMeshInterfaceObjects(receiveMeshInterfaceObjectsRequest request)
        {
            return new receiveMeshInterfaceObjectsResponse { receiveMeshInterfaceObjectsReturn = request.input.Length };
        }

        public receiveSimpleEventsResponse receiveSimpleEvents(receiveSimpleEventsRequest request)
        {
            return new receiveSimpleEventsResponse { receiveSimpleEventsReturn = request.input.Length };
        }

        public byte[] sendBase64(int size) { return Make(size, i => (byte)i); }

        public string[] sendStrings(int size) { return Make(size, i => "s" + i); }

        public int[] sendInts(int size) { return Make(size, i => i); }

        public double[] sendDoubles(int size) { return Make(size, i => (double)i); }

        public sendMeshInterfaceObjectsResponse sendMeshInterfaceObjects(sendMeshInterfaceObjectsRequest request)
        {
            return new sendMeshInterfaceObjectsResponse
            {
                sendMeshInterfaceObjectsReturn =
                    Make(request.size, i => new MeshInterfaceObject { x = i, y = i, value = Math.Sqrt(i) }),
            };
        }

        public sendSimpleEventsResponse sendSimpleEvents(sendSimpleEventsRequest request)
        {
            return new sendSimpleEventsResponse
            {
                sendSimpleEventsReturn = Make(request.size,
                    i => new SimpleEvent { sequenceNumber = i, timestamp = Math.Sqrt(i), message = "Message #" + i }),
            };
        }

        static T[] Make<T>(int size, Func<int, T> element) { return Enumerable.Range(0, size).Select(element).ToArray(); }
    }
}
