package castile.interop;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.beans.Introspector;
import java.beans.PropertyDescriptor;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.text.SimpleDateFormat;
import java.util.Base64;
import java.util.Calendar;
import java.util.Collection;
import java.util.Date;
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;
import java.util.TimeZone;
import javax.xml.datatype.DatatypeFactory;
import javax.xml.datatype.XMLGregorianCalendar;

/** JSON of the plan ↔ the classes that the tools of Java's engines generate, by reflection. */
final class Values {
    private static final String HEX = "xs:hexBinary";
    private static final Set<String> DERIVED = Set.of("Circle", "Square");

    private Values() {
    }

    /** A value for a parameter; `type` is its XSD type where that is a built-in one. */
    static Object fromJson(JsonElement json, Class<?> target, String type) throws Exception {
        if (json.isJsonNull()) {
            return null;
        }
        if (target.isArray() && target != byte[].class) {
            JsonArray items = json.getAsJsonArray();
            Object array = Array.newInstance(target.getComponentType(), items.size());
            for (int i = 0; i < items.size(); i++) {
                Array.set(array, i, fromJson(items.get(i), target.getComponentType(), type));
            }
            return array;
        }
        if (json.isJsonObject()) {
            return bean(json.getAsJsonObject(), target);
        }
        String text = json.getAsString();
        if (target == String.class) {
            return text;
        } else if (target == boolean.class || target == Boolean.class) {
            return json.getAsBoolean();
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
        } else if (target == byte[].class) {
            return HEX.equals(type) ? HexFormat.of().parseHex(text) : Base64.getDecoder().decode(text);
        } else if (target == XMLGregorianCalendar.class) {
            return DatatypeFactory.newInstance().newXMLGregorianCalendar(text);
        } else if (target == Calendar.class) {
            return DatatypeFactory.newInstance().newXMLGregorianCalendar(text).toGregorianCalendar();
        } else if (target == Date.class) {
            return new SimpleDateFormat("yyyy-MM-dd").parse(text);
        }
        if (target.getSimpleName().equals("OctetStream")) {
            return target.getConstructor(byte[].class).newInstance((Object) Base64.getDecoder().decode(text));
        }
        for (Method method : target.getMethods()) {
            // Enumerations, of JAXB and of Axis.
            if (method.getName().equals("fromValue") && method.getParameterTypes()[0] == String.class) {
                return method.invoke(null, text);
            }
        }
        // Numbers of arbitrary size, and Axis's own.
        return target.getConstructor(String.class).newInstance(text);
    }

    private static Object bean(JsonObject json, Class<?> declared) throws Exception {
        Class<?> target = json.has("$type")
            ? Class.forName(declared.getPackageName() + "." + json.get("$type").getAsString())
            : declared;
        Object bean = target.getConstructor().newInstance();
        Map<String, PropertyDescriptor> properties = new java.util.HashMap<>();
        for (PropertyDescriptor property : Introspector.getBeanInfo(target).getPropertyDescriptors()) {
            properties.put(property.getName(), property);
        }
        for (Map.Entry<String, JsonElement> member : json.entrySet()) {
            PropertyDescriptor property = properties.get(member.getKey());
            if (property == null) {
                if (member.getKey().equals("$type")) {
                    continue;
                }
                throw new IllegalArgumentException(target + " has no " + member.getKey());
            }
            if (Collection.class.isAssignableFrom(property.getPropertyType())) {
                Type generic = property.getReadMethod().getGenericReturnType();
                Class<?> item = (Class<?>) ((ParameterizedType) generic).getActualTypeArguments()[0];
                @SuppressWarnings("unchecked")
                Collection<Object> list = (Collection<Object>) property.getReadMethod().invoke(bean);
                for (JsonElement each : member.getValue().getAsJsonArray()) {
                    list.add(fromJson(each, item, ""));
                }
            } else {
                Method setter = setter(target, property);
                Object value = fromJson(member.getValue(), setter.getParameterTypes()[0], "");
                if (value != null) {
                    setter.invoke(bean, value);
                }
            }
        }
        return bean;
    }

    /** JAXB's setters of optional values take the class of which their getters give the primitive. */
    private static Method setter(Class<?> target, PropertyDescriptor property) {
        if (property.getWriteMethod() != null) {
            return property.getWriteMethod();
        }
        String name = "set" + Character.toUpperCase(property.getName().charAt(0)) + property.getName().substring(1);
        for (Method method : target.getMethods()) {
            if (method.getName().equals(name) && method.getParameterCount() == 1) {
                return method;
            }
        }
        throw new IllegalArgumentException(target + " has no " + name);
    }

    /** A value as JSON; numbers as their digits. */
    static JsonElement toJson(Object value, String type) throws Exception {
        if (value == null) {
            return JsonNull.INSTANCE;
        } else if (value instanceof Boolean flag) {
            return new JsonPrimitive(flag);
        } else if (value instanceof BigDecimal number) {
            return new JsonPrimitive(number.toPlainString());
        } else if (value instanceof Number || value instanceof String) {
            return new JsonPrimitive(value.toString().replace("Infinity", value instanceof String ? "Infinity" : "INF"));
        } else if (value instanceof byte[] bytes) {
            boolean hex = HEX.equals(type);
            return new JsonPrimitive(hex ? HexFormat.of().formatHex(bytes) : Base64.getEncoder().encodeToString(bytes));
        } else if (value instanceof XMLGregorianCalendar moment) {
            return new JsonPrimitive(moment.toXMLFormat());
        } else if (value instanceof Calendar moment) {
            SimpleDateFormat format = new SimpleDateFormat("yyyy-MM-dd'T'HH:mm:ss.SSSXXX");
            format.setTimeZone(TimeZone.getTimeZone("UTC"));
            return new JsonPrimitive(format.format(moment.getTime()));
        } else if (value instanceof Date day) {
            return new JsonPrimitive(new SimpleDateFormat("yyyy-MM-dd").format(day));
        } else if (value instanceof Collection<?> list) {
            JsonArray items = new JsonArray();
            for (Object each : list) {
                items.add(toJson(each, type));
            }
            return items;
        } else if (value.getClass().isArray()) {
            JsonArray items = new JsonArray();
            for (int i = 0; i < Array.getLength(value); i++) {
                items.add(toJson(Array.get(value, i), type));
            }
            return items;
        }
        for (String getter : new String[] {"value", "getValue", "getBytes"}) {
            try {
                return toJson(value.getClass().getMethod(getter).invoke(value), type);
            } catch (NoSuchMethodException isNoEnumeration) {
                // Then it is the other kind, or a bean.
            }
        }
        return members(value);
    }

    private static JsonElement members(Object bean) throws Exception {
        if (bean.getClass().getName().startsWith("org.apache.axis.types.")) {
            return new JsonPrimitive(bean.toString());
        }
        JsonObject json = new JsonObject();
        String name = bean.getClass().getSimpleName();
        if (DERIVED.contains(name)) {
            json.addProperty("$type", name);
        }
        for (PropertyDescriptor property : Introspector.getBeanInfo(bean.getClass()).getPropertyDescriptors()) {
            Method getter = property.getReadMethod();
            if (getter == null) {
                // JAXB's `isX` of a `Boolean` is none by the rules of beans; other properties can't be read.
                getter = isMethod(bean.getClass(), property.getName());
            }
            if (getter != null && getter.getDeclaringClass().getName().startsWith("castile.")) {
                Object inner = getter.invoke(bean);
                if (inner != null) {
                    json.add(property.getName(), toJson(inner, ""));
                }
            }
        }
        return json;
    }

    private static Method isMethod(Class<?> type, String property) {
        try {
            return type.getMethod("is" + Character.toUpperCase(property.charAt(0)) + property.substring(1));
        } catch (NoSuchMethodException isWriteOnly) {
            return null;
        }
    }
}
