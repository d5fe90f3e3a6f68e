import java.math.BigDecimal;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.Callable;

/** What the programs of Java's engines have in common: cases are tried and told, values are compared. */
abstract class Cases {
    interface Case {
        void run() throws Exception;
    }

    static final String OWN = "urn:castile:everything";
    static final String PATTERN = "doesn't match the pattern";
    static final byte[] BYTES = {0, (byte) 255};
    static final BigDecimal PRICE = new BigDecimal("1.50");
    private static final int TRIES = 100;
    private static final int PAUSE_MS = 20;
    private final String version;

    Cases(String version) {
        this.version = version;
    }

    final void tell(String name, Case tried) {
        String wrong = "";
        try {
            tried.run();
        } catch (Exception | AssertionError thrown) {
            wrong = thrown.toString().replaceAll("\\s+", " ");
        }
        System.out.println(version + "\t" + name + "\t" + wrong);
    }

    static void equal(Object found, Object expected) {
        if (!Objects.deepEquals(found, expected)) {
            throw new AssertionError("found " + text(found) + ", expected " + text(expected));
        }
    }

    /** The exception of this kind that a call ends with. */
    static <T extends Exception> T fault(Class<T> kind, Case call) throws Exception {
        try {
            call.run();
        } catch (Exception thrown) {
            if (kind.isInstance(thrown)) {
                return kind.cast(thrown);
            }
            throw thrown;
        }
        throw new AssertionError("an answer, expected a fault");
    }

    /** What a call gives once it gives something. */
    static String first(Callable<String> call) throws Exception {
        String found = null;
        for (int tries = 0; found == null && tries < TRIES; tries++) {
            Thread.sleep(PAUSE_MS);
            found = call.call();
        }
        return found;
    }

    private static String text(Object value) {
        return value instanceof byte[] bytes ? Arrays.toString(bytes) : String.valueOf(value);
    }
}
