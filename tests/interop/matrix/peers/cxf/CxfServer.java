package castile.interop;

import jakarta.xml.ws.Holder;
import jakarta.xml.ws.soap.SOAPBinding;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import javax.xml.namespace.QName;
import org.apache.cxf.jaxws.JaxWsServerFactoryBean;
import org.apache.cxf.message.Message;
import org.apache.cxf.ws.addressing.WSAddressingFeature;

/** Apache CXF on Jetty: PORT and the folder of the contracts. A path is the contract's name and the version of SOAP. */
public final class CxfServer {
    static final String NAMESPACE = "urn:castile:interop";
    private static final int REFUSAL_CODE = 42;

    public static void main(String[] arguments) throws Exception {
        String base = "http://127.0.0.1:" + arguments[0];
        for (String contract : new String[] {"wrapped", "bare", "rpc", "mtom", "swa", "addressing"}) {
            Path file = Path.of(arguments[1], contract + ".wsdl");
            if (Files.exists(file)) {
                Class<?> type = Class.forName("castile.interop." + contract + ".Echo");
                Object service = Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, new Echo());
                for (String version : contract.equals("swa") ? new String[] {"11"} : new String[] {"11", "12"}) {
                    publish(base + "/" + contract + version, contract, version, file, type, service);
                }
            }
        }
        System.out.println("listening on " + base);
    }

    private static void publish(String address, String contract, String version, Path file, Class<?> type, Object service) {
        String name = Character.toUpperCase(contract.charAt(0)) + contract.substring(1);
        JaxWsServerFactoryBean factory = new JaxWsServerFactoryBean();
        factory.setServiceClass(type);
        factory.setServiceBean(service);
        factory.setWsdlLocation(file.toUri().toString());
        factory.setServiceName(new QName(NAMESPACE, name));
        factory.setEndpointName(new QName(NAMESPACE, name + version));
        factory.setBindingId(version.equals("12") ? SOAPBinding.SOAP12HTTP_BINDING : SOAPBinding.SOAP11HTTP_BINDING);
        factory.setAddress(address);
        if (contract.equals("mtom")) {
            factory.setProperties(Map.of(Message.MTOM_ENABLED, true));
        } else if (contract.equals("addressing")) {
            factory.getFeatures().add(new WSAddressingFeature());
        }
        factory.create();
    }

    /** Answers all operations of every contract. */
    private static final class Echo implements InvocationHandler {
        private String notice = "";

        @Override
        public synchronized Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
            switch (method.getName()) {
                case "echoHeader" -> {
                    @SuppressWarnings("unchecked")
                    Holder<String> receipt = (Holder<String>) arguments[2];
                    receipt.value = "receipt for " + arguments[1];
                    return arguments[0];
                }
                case "echoFile" -> {
                    @SuppressWarnings("unchecked")
                    Holder<Object> result = (Holder<Object>) arguments[2];
                    @SuppressWarnings("unchecked")
                    Holder<Object> copy = (Holder<Object>) arguments[3];
                    result.value = arguments[0];
                    copy.value = arguments[1];
                    return null;
                }
                case "fail" -> throw refusal(method, (String) arguments[0]);
                case "notify" -> {
                    notice = (String) arguments[0];
                    return null;
                }
                case "lastNotice" -> {
                    String last = notice;
                    notice = "";
                    return last;
                }
                case "hashCode" -> {
                    return System.identityHashCode(proxy);
                }
                case "equals" -> {
                    return proxy == arguments[0];
                }
                case "toString" -> {
                    return "Echo";
                }
                default -> {
                    return arguments == null || method.getReturnType() == void.class ? null : arguments[0];
                }
            }
        }

        private static Throwable refusal(Method method, String reason) throws Exception {
            Class<?> thrown = method.getExceptionTypes()[0];
            Class<?> type = thrown.getMethod("getFaultInfo").getReturnType();
            Object detail = type.getConstructor().newInstance();
            type.getMethod("setReason", String.class).invoke(detail, reason);
            type.getMethod("setCode", int.class).invoke(detail, REFUSAL_CODE);
            return (Throwable) thrown.getConstructor(String.class, type).newInstance("refused", detail);
        }
    }
}
