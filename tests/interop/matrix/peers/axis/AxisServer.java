package castile.interop;

import java.io.ByteArrayInputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.axis.MessageContext;
import org.apache.axis.configuration.FileProvider;
import org.apache.axis.message.SOAPEnvelope;
import org.apache.axis.message.SOAPHeaderElement;
import org.apache.axis.providers.java.RPCProvider;
import org.apache.axis.transport.http.SimpleAxisServer;

/** Apache Axis on its own small HTTP server: PORT and the folder with what WSDL2Java made, a deployment for each contract. */
public final class AxisServer {
    static final String NAMESPACE = "urn:castile:interop";
    private static final int REFUSAL_CODE = 42;
    private static final int BACKLOG = 50;

    // What the server configuration in Axis's library has, without its own services and their administration.
    private static final String HEAD = """
        <deployment xmlns="http://xml.apache.org/axis/wsdd/" xmlns:java="http://xml.apache.org/axis/wsdd/providers/java">
          <globalConfiguration>
            <parameter name="disablePrettyXML" value="true"/>
            <parameter name="dotNetSoapEncFix" value="true"/>
            <parameter name="enableNamespacePrefixOptimization" value="false"/>
          </globalConfiguration>
          <handler type="java:org.apache.axis.handlers.http.URLMapper" name="URLMapper"/>
          <transport name="http">
            <parameter name="qs:wsdl" value="org.apache.axis.transport.http.QSWSDLHandler"/>
            <requestFlow><handler type="URLMapper"/></requestFlow>
          </transport>
        """;

    public static void main(String[] arguments) throws Exception {
        int port = Integer.parseInt(arguments[0]);
        StringBuilder deployment = new StringBuilder(HEAD);
        for (String contract : new String[] {"wrapped", "bare", "rpc", "encoded", "swa"}) {
            deployment.append(services(Path.of(arguments[1], "castile/interop", contract, "deploy.wsdd")));
        }
        byte[] text = deployment.append("</deployment>").toString().getBytes(StandardCharsets.UTF_8);

        SimpleAxisServer server = new SimpleAxisServer();
        server.setMyConfig(new FileProvider(new ByteArrayInputStream(text)));
        server.setServerSocket(new ServerSocket(port, BACKLOG, InetAddress.getLoopbackAddress()));
        server.start(false);
        System.out.println("listening on http://127.0.0.1:" + port);
    }

    /** The services of a generated deployment, answered by `Echo` in the place of the generated classes that do nothing. */
    private static String services(Path file) throws Exception {
        String text = Files.readString(file);
        String inside = text.substring(text.indexOf("<service"), text.indexOf("</deployment>"));
        String provider = "<parameter name=\"handlerClass\" value=\"" + Echo.class.getName() + "\"/>";
        return inside.replace("provider=\"java:RPC\"", "provider=\"Handler\"")
            .replace("<parameter name=\"className\"", provider + "<parameter name=\"className\"")
            .replace("</service>", mappingsOfSoap12(inside) + "</service>");
    }

    /** The mappings of types once more: WSDL2Java makes them for the encoding of SOAP 1.1 alone. */
    private static String mappingsOfSoap12(String services) {
        return Pattern.compile("<(?:type|array)Mapping[^>]*/>").matcher(services).results().map(MatchResult::group)
            .map(mapping -> mapping.replace("http://schemas.xmlsoap.org/soap/encoding/", "http://www.w3.org/2003/05/soap-encoding"))
            .filter(mapping -> mapping.contains("http://www.w3.org/2003/05/soap-encoding"))
            .collect(Collectors.joining());
    }

    /** Answers all operations of every contract. */
    public static final class Echo extends RPCProvider {
        private static String notice = "";

        @Override
        protected Object invokeMethod(MessageContext context, java.lang.reflect.Method method, Object target, Object[] arguments)
            throws Exception {
            synchronized (Echo.class) {
                switch (method.getName()) {
                    case "fail" -> {
                        Class<?> refusal = method.getExceptionTypes()[method.getExceptionTypes().length - 1];
                        throw (Exception) refusal.getConstructor(String.class, int.class).newInstance(arguments[0], REFUSAL_CODE);
                    }
                    case "echoFile" -> {
                        arguments[2].getClass().getField("value").set(arguments[2], arguments[0]);
                        arguments[3].getClass().getField("value").set(arguments[3], arguments[1]);
                        return null;
                    }
                    case "notify" -> {
                        notice = (String) arguments[0];
                        return null;
                    }
                    case "lastNotice" -> {
                        String last = notice;
                        notice = "";
                        return last;
                    }
                    default -> {
                        return arguments.length == 0 || method.getReturnType() == void.class ? null : arguments[0];
                    }
                }
            }
        }

        @Override
        public void processMessage(MessageContext context, SOAPEnvelope request, SOAPEnvelope response, Object target)
            throws Exception {
            SOAPHeaderElement token = request.getHeaderByName(NAMESPACE, "token");
            if (token != null) {
                // Else Axis doesn't know that it was read, and asks for nobody's sake who must understand it.
                token.setProcessed(true);
                SOAPHeaderElement receipt = new SOAPHeaderElement(NAMESPACE, "receipt", "receipt for " + token.getValue());
                // Else it is for the actor `next`, under the name that SOAP 1.1 has for it, in messages of SOAP 1.2 as well.
                receipt.setActor(null);
                response.addHeader(receipt);
            }
            super.processMessage(context, request, response, target);
        }
    }
}
