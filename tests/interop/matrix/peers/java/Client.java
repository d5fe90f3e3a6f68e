package castile.interop;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Calls what a plan lists through generated interfaces, by reflection. */
abstract class Client {
    private static final int NOTICE_TRIES = 40;
    private static final int NOTICE_PAUSE_MS = 50;

    /** The object to call for a job. */
    abstract Object port(JsonObject job) throws Exception;

    /** Calls an operation that has a header block each way; gives the result and the block that came. */
    abstract String[] callWithHeader(Object port, Method method, String value, String token) throws Exception;

    /** The declared detail of what was thrown; null if there is none. */
    abstract Object detail(Throwable thrown);

    void run(String file) throws Exception {
        JsonObject plan = JsonParser.parseString(Files.readString(Path.of(file))).getAsJsonObject();
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        Gson gson = new GsonBuilder().serializeNulls().disableHtmlEscaping().create();
        for (JsonElement each : plan.getAsJsonArray("jobs")) {
            JsonObject job = each.getAsJsonObject();
            Object port = port(job);
            for (JsonElement one : job.getAsJsonArray("cases")) {
                JsonObject line = new JsonObject();
                line.add("contract", job.get("contract"));
                line.add("version", job.get("version"));
                line.add("operation", one.getAsJsonObject().get("operation"));
                line.add("case", one.getAsJsonObject().get("case"));
                try {
                    line.add("value", value(port, one.getAsJsonObject()));
                } catch (Exception exception) {
                    Throwable cause = exception instanceof InvocationTargetException ? exception.getCause() : exception;
                    line.addProperty("error", cause.getClass().getSimpleName() + ": " + cause.getMessage());
                }
                out.println(gson.toJson(line));
            }
        }
    }

    private JsonElement value(Object port, JsonObject each) throws Exception {
        Method method = method(port, each.get("operation").getAsString());
        JsonElement value = each.get("value");
        switch (each.get("kind").getAsString()) {
            case "echo" -> {
                String type = each.get("type").getAsString();
                return Values.toJson(call(port, method, value, type), type);
            }
            case "void" -> {
                call(port, method, null, "");
                return JsonNull.INSTANCE;
            }
            case "header" -> {
                JsonObject both = value.getAsJsonObject();
                String[] answer = callWithHeader(port, method, both.get("value").getAsString(), both.get("token").getAsString());
                JsonObject found = new JsonObject();
                found.addProperty("result", answer[0]);
                found.addProperty("receipt", answer[1]);
                return found;
            }
            case "file" -> {
                return fileJson(port, method, value.getAsJsonObject());
            }
            case "fault" -> {
                try {
                    call(port, method, value, "xs:string");
                } catch (InvocationTargetException exception) {
                    Object detail = detail(exception.getCause());
                    if (detail == null) {
                        throw exception;
                    }
                    return Values.toJson(detail, "");
                }
                throw new IllegalStateException("a response, expected a fault");
            }
            case "one-way" -> {
                call(port, method, value, "xs:string");
                Method last = method(port, "lastNotice");
                Object notice = null;
                for (int tries = 0; tries < NOTICE_TRIES; tries++) {
                    notice = call(port, last, null, "");
                    if (notice != null && !notice.equals("")) {
                        break;
                    }
                    Thread.sleep(NOTICE_PAUSE_MS);
                }
                return Values.toJson(notice, "");
            }
            default -> throw new IllegalArgumentException("no kind of case is called " + each.get("kind"));
        }
    }

    /** Calls an operation that takes a value and an attachment, and gives the same in holders. */
    private static JsonElement fileJson(Object port, Method method, JsonObject both) throws Exception {
        Class<?>[] types = method.getParameterTypes();
        Object[] arguments = {
            both.get("value").getAsString(), Values.fromJson(both.get("file"), types[1], "xs:base64Binary"),
            types[2].getConstructor().newInstance(), types[3].getConstructor().newInstance(),
        };
        method.invoke(port, arguments);
        JsonObject found = new JsonObject();
        found.add("result", Values.toJson(types[2].getField("value").get(arguments[2]), ""));
        found.add("file", Values.toJson(types[3].getField("value").get(arguments[3]), ""));
        return found;
    }

    private static Object call(Object port, Method method, JsonElement value, String type) throws Exception {
        if (method.getParameterCount() == 0) {
            return method.invoke(port);
        }
        Class<?> target = method.getParameterTypes()[0];
        Object argument = value == null
            ? target.getConstructor().newInstance()
            : Values.fromJson(value, target, type);
        return method.invoke(port, argument);
    }

    private static Method method(Object port, String name) {
        for (Class<?> type : port.getClass().getInterfaces()) {
            for (Method method : type.getMethods()) {
                if (method.getName().equals(name) && method.getDeclaringClass().getName().startsWith("castile.")) {
                    return method;
                }
            }
        }
        throw new IllegalArgumentException("there is no operation " + name);
    }
}
