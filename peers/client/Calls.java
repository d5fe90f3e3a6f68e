package peer;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;

/** What Java's clients have in common: for each line of standard input, which is a number, so many calls; then a line with the items of the answers. */
public final class Calls {
    /** A call, with the answer looked at. */
    public interface Call {
        /** The number of items in the answer. */
        int items() throws Exception;
    }

    private Calls() {}

    public static void run(Call call) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            long items = 0;
            for (long left = Long.parseLong(line); left > 0; left--) {
                items += call.items();
            }
            System.out.println(items);
        }
    }

    /** Ends the client where an answer isn't what it must be. */
    public static void expect(boolean right, String what) throws IOException {
        if (!right) {
            throw new IOException("the answer is not as expected: " + what);
        }
    }
}
