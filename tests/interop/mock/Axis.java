import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.ByteArrayInputStream;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.SimpleDateFormat;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Calendar;
import java.util.Date;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import javax.xml.datatype.DatatypeFactory;
import javax.xml.namespace.QName;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.rpc.holders.Holder;
import org.apache.axis.AxisFault;
import org.apache.axis.client.Stub;
import org.apache.axis.constants.Style;
import org.apache.axis.description.FieldDesc;
import org.apache.axis.description.OperationDesc;
import org.apache.axis.description.ParameterDesc;
import org.apache.axis.description.TypeDesc;
import org.apache.axis.message.MessageElement;
import org.apache.axis.wsdl.toJava.Emitter;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.Node;

/** Calls what a plan lists with Axis: stubs that WSDL2Java makes of `?wsdl`, and the JSON of a sample as their beans. */
public final class Axis {
    private static final String WSDL = "http://schemas.xmlsoap.org/wsdl/";
    private static final String SOAP = "http://schemas.xmlsoap.org/wsdl/soap/";
    private static final int CALL_LIMIT_MS = 20_000;
    /** What a user tries in turn where WSDL2Java ends, or javac doesn't take what it makes. */
    private static final List<Consumer<Emitter>> OPTIONS = List.of(
        emitter -> { }, emitter -> emitter.setWrapArrays(true), emitter -> emitter.setNowrap(true),
        emitter -> emitter.setPackageName("castile"));

    private final List<Class<?>> classes = new ArrayList<>();
    private final Map<Integer, Object> shared = new HashMap<>();

    public static void main(String[] arguments) throws Exception {
        Path file = Path.of(arguments[0]);
        JsonObject plan = JsonParser.parseString(Files.readString(file)).getAsJsonObject();
        for (JsonElement each : plan.getAsJsonArray("jobs")) {
            Path folder = Files.createTempDirectory(file.toAbsolutePath().getParent(), "axis");
            new Axis().callAll(each.getAsJsonObject(), folder);
        }
        System.exit(0);
    }

    private void callAll(JsonObject job, Path folder) {
        List<Stub> stubs;
        try {
            // Each address has the whole contract.
            generate(job.getAsJsonArray("urls").get(0).getAsString(), folder);
            stubs = stubs();
        } catch (Throwable error) {
            say(job, "?wsdl", error);
            return;
        }
        for (Stub stub : stubs) {
            stub.setTimeout(CALL_LIMIT_MS);
            for (OperationDesc operation : operations(stub)) {
                String name = operation.getName();
                if (!job.getAsJsonObject("operations").has(name)) {
                    continue;
                }
                try {
                    call(stub, operation, job.getAsJsonObject("operations").getAsJsonObject(name).get("json"));
                    say(job, name, null);
                } catch (Throwable error) {
                    say(job, name, error);
                }
            }
        }
    }

    /** Generates and compiles the classes of a contract, and loads them; with the first option with which that is possible. */
    private void generate(String url, Path folder) throws Exception {
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        factory.setNamespaceAware(true);
        Document contract = factory.newDocumentBuilder().parse(url);
        if (!keepSoap11(contract)) {
            return;
        }
        Exception first = null;
        for (int i = 0; i < OPTIONS.size(); i++) {
            try {
                Path classesFolder = compiled(url, contract, OPTIONS.get(i), folder.resolve(String.valueOf(i)));
                load(classesFolder);
                return;
            } catch (Exception error) {
                first = first == null ? error : first;
            }
        }
        throw first;
    }

    /** The folder of the classes that WSDL2Java makes of a contract with an option. */
    private static Path compiled(String url, Document contract, Consumer<Emitter> option, Path folder) throws Exception {
        Emitter emitter = new Emitter();
        emitter.setOutputDir(folder.resolve("generated").toString());
        // Types that nothing refers to may come by xsi:type.
        emitter.setAllWanted(true);
        option.accept(emitter);
        emitter.run(url, contract);
        List<String> command = new ArrayList<>(List.of(
            "-nowarn", "-proc:none", "-Xlint:none", "-encoding", "UTF-8", "-cp", System.getProperty("java.class.path"),
            "-d", folder.resolve("classes").toString()));
        try (Stream<Path> files = Files.walk(folder.resolve("generated"))) {
            files.filter(file -> file.toString().endsWith(".java")).forEach(file -> command.add(file.toString()));
        }
        var said = new java.io.ByteArrayOutputStream();
        int code = ToolProvider.getSystemJavaCompiler().run(null, said, said, command.toArray(String[]::new));
        if (code != 0) {
            throw new IllegalStateException("javac: " + said.toString(StandardCharsets.UTF_8).replace(folder.resolve("generated") + "/", ""));
        }
        return folder.resolve("classes");
    }

    private void load(Path folder) throws Exception {
        ClassLoader loader = new URLClassLoader(new URL[] {folder.toUri().toURL()}, Axis.class.getClassLoader());
        // Axis finds the classes of its stubs there.
        Thread.currentThread().setContextClassLoader(loader);
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted().toList()) {
                String name = folder.relativize(file).toString();
                if (name.endsWith(".class")) {
                    classes.add(loader.loadClass(name.substring(0, name.length() - ".class".length()).replace('/', '.')));
                }
            }
        }
    }

    /** Takes bindings and ports that are not of SOAP 1.1 away, on which WSDL2Java stops. Whether there are others. */
    private static boolean keepSoap11(Document contract) {
        Set<String> kept = new TreeSet<>();
        Set<Element> others = new LinkedHashSet<>();
        for (Element binding : children(contract.getDocumentElement(), WSDL, "binding")) {
            if (children(binding, SOAP, "binding").isEmpty()) {
                others.add(binding);
            } else {
                kept.add(binding.getAttribute("name"));
            }
        }
        for (Element service : children(contract.getDocumentElement(), WSDL, "service")) {
            for (Element port : children(service, WSDL, "port")) {
                String binding = port.getAttribute("binding");
                if (!kept.contains(binding.substring(binding.indexOf(':') + 1))) {
                    others.add(port);
                }
            }
        }
        others.forEach(element -> element.getParentNode().removeChild(element));
        return !kept.isEmpty();
    }

    private static List<Element> children(Node node, String namespace, String name) {
        List<Element> found = new ArrayList<>();
        for (Node child = node.getFirstChild(); child != null; child = child.getNextSibling()) {
            if (child instanceof Element element && namespace.equals(child.getNamespaceURI()) && name.equals(child.getLocalName())) {
                found.add(element);
            }
        }
        return found;
    }

    /** A stub for each port. */
    private List<Stub> stubs() throws Exception {
        List<Stub> found = new ArrayList<>();
        for (Class<?> type : classes) {
            if (!org.apache.axis.client.Service.class.isAssignableFrom(type)) {
                continue;
            }
            Object locator = type.getConstructor().newInstance();
            for (Method method : type.getDeclaredMethods()) {
                if (method.getParameterCount() == 0 && java.rmi.Remote.class.isAssignableFrom(method.getReturnType())) {
                    found.add((Stub) method.invoke(locator));
                }
            }
        }
        return found;
    }

    private static OperationDesc[] operations(Stub stub) {
        try {
            Field field = stub.getClass().getDeclaredField("_operations");
            field.setAccessible(true);
            return (OperationDesc[]) field.get(null);
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
    }

    private void call(Stub stub, OperationDesc operation, JsonElement json) throws Exception {
        List<ParameterDesc> parameters = new ArrayList<>();
        for (Object parameter : operation.getParameters()) {
            parameters.add((ParameterDesc) parameter);
        }
        Method method = method(stub, operation.getName(), parameters.size());
        Class<?>[] types = method.getParameterTypes();
        Object[] arguments = new Object[types.length];
        shared.clear();
        Map<String, JsonElement> members = json.isJsonObject() ? members(json.getAsJsonObject()) : Map.of();
        Set<String> unused = new TreeSet<>(members.keySet());
        for (int i = 0; i < types.length; i++) {
            ParameterDesc parameter = parameters.get(i);
            String name = parameter.getQName().getLocalPart();
            boolean isHolder = Holder.class.isAssignableFrom(types[i]);
            Object value = null;
            if (parameter.getMode() != ParameterDesc.OUT) {
                Class<?> target = isHolder ? types[i].getField("value").getType() : types[i];
                // Of an element with an attachment beside it, stubs don't say the style.
                boolean isElement = operation.getStyle() == Style.DOCUMENT || name.equals(operation.getName()) && !members.containsKey(name);
                boolean isWhole = isElement && !parameter.isInHeader();
                value = value(isWhole ? json : members.get(name), target, parameter.getTypeQName());
                unused.remove(name);
                if (isWhole) {
                    unused.clear();
                }
            }
            arguments[i] = value;
            if (isHolder) {
                arguments[i] = types[i].getConstructor().newInstance();
                if (value != null) {
                    types[i].getField("value").set(arguments[i], value);
                }
            }
        }
        if (!unused.isEmpty()) {
            throw new IllegalArgumentException("no parameter is called " + String.join(", ", unused));
        }
        method.invoke(stub, arguments);
    }

    private static Method method(Stub stub, String name, int count) {
        for (Class<?> type : stub.getClass().getInterfaces()) {
            for (Method method : type.getMethods()) {
                // Names of methods begin in lower case.
                if (method.getName().equalsIgnoreCase(name) && method.getParameterCount() == count) {
                    return method;
                }
            }
        }
        throw new IllegalArgumentException("no method is called " + name + " and has " + count + " parameters");
    }

    /** The members of an object without their namespaces and numbers, those of groups and choices among them. */
    private static Map<String, JsonElement> members(JsonObject json) {
        Map<String, JsonElement> found = new LinkedHashMap<>();
        for (Map.Entry<String, JsonElement> member : json.entrySet()) {
            String name = member.getKey();
            if (name.equals("$choice") || name.equals("$group")) {
                for (JsonElement item : items(member.getValue())) {
                    members(item.getAsJsonObject()).forEach((key, value) -> put(found, key, value));
                }
            } else if (name.startsWith("$")) {
                found.put(name, member.getValue());
            } else {
                put(found, name.replaceFirst("^(@?)(\\{.*\\})?", "$1").replaceFirst("#.*", ""), member.getValue());
            }
        }
        return found;
    }

    private static void put(Map<String, JsonElement> members, String name, JsonElement value) {
        if (members.containsKey(name)) {
            JsonArray both = new JsonArray();
            items(members.get(name)).forEach(both::add);
            items(value).forEach(both::add);
            members.put(name, both);
        } else {
            members.put(name, value);
        }
    }

    private static Iterable<JsonElement> items(JsonElement json) {
        return json.isJsonArray() ? json.getAsJsonArray() : List.of(json);
    }

    /** A value of JSON (docs/json.md) for a parameter or a property; `type` is its type in the schema where it is known. */
    private Object value(JsonElement json, Class<?> target, QName type) throws Exception {
        if (json == null || json.isJsonNull()) {
            // A primitive has no null.
            return target.isPrimitive() ? Array.get(Array.newInstance(target, 1), 0) : null;
        }
        if (json.isJsonObject() && json.getAsJsonObject().has("$ref")) {
            return shared.get(json.getAsJsonObject().get("$ref").getAsInt());
        }
        if (target == MessageElement[].class) {
            return elements(json);
        }
        if (target.isArray() && target != byte[].class) {
            return array(json, target);
        }
        if (json.isJsonObject()) {
            return bean(json.getAsJsonObject(), target);
        }
        if (json.isJsonArray()) {
            // A list is one text.
            List<String> texts = new ArrayList<>();
            json.getAsJsonArray().forEach(item -> texts.add(item.getAsString()));
            return simple(String.join(" ", texts), target, type);
        }
        return simple(json.getAsString(), target, type);
    }

    private Object array(JsonElement json, Class<?> target) throws Exception {
        JsonElement items = json;
        if (json.isJsonObject()) {
            Map<String, JsonElement> members = members(json.getAsJsonObject());
            if (members.containsKey("$items")) {
                items = members.containsKey("$sizes") ? nested(members.get("$sizes").getAsJsonArray(), members.get("$items").getAsJsonArray()) : members.get("$items");
            } else {
                // Axis makes an array of a type that holds nothing but one repeated element.
                items = members.isEmpty() ? new JsonArray() : members.values().iterator().next();
            }
        }
        List<Object> values = new ArrayList<>();
        for (JsonElement item : items(items)) {
            values.add(value(item, target.getComponentType(), null));
        }
        Object array = Array.newInstance(target.getComponentType(), values.size());
        for (int i = 0; i < values.size(); i++) {
            Array.set(array, i, values.get(i));
        }
        return array;
    }

    /** The items of an array of several dimensions as arrays in arrays, which is what Java has. */
    private static JsonArray nested(JsonArray sizes, JsonArray items) {
        JsonArray level = items;
        for (int dimension = sizes.size() - 1; dimension > 0; dimension--) {
            int size = sizes.get(dimension).getAsInt();
            JsonArray above = new JsonArray();
            for (int i = 0; i < level.size(); i++) {
                if (i % size == 0) {
                    above.add(new JsonArray());
                }
                above.get(i / size).getAsJsonArray().add(level.get(i));
            }
            level = above;
        }
        return level;
    }

    private static MessageElement[] elements(JsonElement json) throws Exception {
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        factory.setNamespaceAware(true);
        List<MessageElement> found = new ArrayList<>();
        for (JsonElement item : items(json)) {
            byte[] text = item.getAsString().getBytes(StandardCharsets.UTF_8);
            found.add(new MessageElement(factory.newDocumentBuilder().parse(new ByteArrayInputStream(text)).getDocumentElement()));
        }
        return found.toArray(MessageElement[]::new);
    }

    private Object bean(JsonObject json, Class<?> declared) throws Exception {
        Map<String, JsonElement> members = members(json);
        Class<?> target = declared;
        if (members.containsKey("$type")) {
            String name = members.remove("$type").getAsString().replaceFirst("^\\{.*\\}", "");
            for (Class<?> type : classes) {
                if (declared.isAssignableFrom(type) && type.getSimpleName().equalsIgnoreCase(name)) {
                    target = type;
                }
            }
        }
        if (members.containsKey("$") && members.size() == 1 && target == Object.class) {
            return members.get("$").getAsString();
        }
        Object bean = target.getConstructor().newInstance();
        if (members.containsKey("$id")) {
            shared.put(members.remove("$id").getAsInt(), bean);
        }
        TypeDesc description = (TypeDesc) target.getMethod("getTypeDesc").invoke(null);
        for (FieldDesc field : description.getFields(true)) {
            String name = (field.isElement() ? "" : "@") + field.getXmlName().getLocalPart();
            if (members.containsKey(name)) {
                set(bean, field.getFieldName(), members.remove(name), field.getXmlType());
            }
        }
        if (members.containsKey("$any")) {
            set(bean, "_any", members.remove("$any"), null);
        }
        if (members.containsKey("$")) {
            set(bean, "_value", members.remove("$"), null);
        }
        if (!members.isEmpty()) {
            throw new IllegalArgumentException(target.getSimpleName() + " has no " + String.join(", ", members.keySet()));
        }
        return bean;
    }

    private void set(Object bean, String property, JsonElement json, QName type) throws Exception {
        String name = "set" + Character.toUpperCase(property.charAt(0)) + property.substring(1);
        for (Method method : bean.getClass().getMethods()) {
            // That of an array has one for an item beside it, with its place.
            if (method.getName().equals(name) && method.getParameterCount() == 1) {
                method.invoke(bean, value(json, method.getParameterTypes()[0], type));
                return;
            }
        }
        throw new IllegalArgumentException(bean.getClass().getSimpleName() + " has no " + name);
    }

    private static Object simple(String text, Class<?> target, QName type) throws Exception {
        if (target == String.class || target == Object.class) {
            return text;
        } else if (target == boolean.class || target == Boolean.class) {
            return text.equals("true") || text.equals("1");
        } else if (target == byte.class || target == Byte.class) {
            return Byte.valueOf(text);
        } else if (target == short.class || target == Short.class) {
            return Short.valueOf(text);
        } else if (target == int.class || target == Integer.class) {
            return Integer.valueOf(text);
        } else if (target == long.class || target == Long.class) {
            return Long.valueOf(text);
        } else if (target == float.class || target == Float.class) {
            return Float.valueOf(text.replace("INF", "Infinity"));
        } else if (target == double.class || target == Double.class) {
            return Double.valueOf(text.replace("INF", "Infinity"));
        } else if (target == BigDecimal.class) {
            return new BigDecimal(text);
        } else if (target == BigInteger.class) {
            return new BigInteger(text);
        } else if (target == byte[].class) {
            boolean isHex = type != null && type.getLocalPart().equals("hexBinary");
            return isHex ? HexFormat.of().parseHex(text.toLowerCase()) : Base64.getDecoder().decode(text);
        } else if (target == Calendar.class) {
            return DatatypeFactory.newInstance().newXMLGregorianCalendar(text).toGregorianCalendar();
        } else if (target == Date.class) {
            return new SimpleDateFormat("yyyy-MM-dd").parse(text);
        } else if (target == QName.class) {
            return QName.valueOf(text);
        }
        for (Method method : target.getMethods()) {
            if (method.getName().equals("fromString") && method.getParameterCount() == 1 && method.getParameterTypes()[0] == String.class) {
                // An enumeration.
                return method.invoke(null, text);
            }
        }
        return target.getConstructor(String.class).newInstance(text);
    }

    private static void say(JsonObject job, String operation, Throwable error) {
        Throwable cause = error instanceof InvocationTargetException ? error.getCause() : error;
        String said = cause instanceof AxisFault fault && fault.getFaultString() != null
            ? "fault: " + fault.getFaultString()
            : cause == null ? null : cause.getClass().getSimpleName() + ": " + cause.getMessage();
        JsonObject line = new JsonObject();
        line.add("contract", job.get("contract"));
        line.addProperty("operation", operation);
        line.addProperty("error", said);
        System.out.println(new GsonBuilder().serializeNulls().disableHtmlEscaping().create().toJson(line));
    }
}
