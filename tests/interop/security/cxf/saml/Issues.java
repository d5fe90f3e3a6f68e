import java.nio.file.Files;
import java.nio.file.Path;
import java.util.logging.LogManager;
import javax.security.auth.callback.Callback;
import org.apache.cxf.staxutils.StaxUtils;
import org.apache.wss4j.common.saml.SAMLCallback;

/** OpenSAML writes the assertions that Castile sends: FOLDER SCENARIO,…. They are SCENARIO-ISSUER.xml in the folder. */
public final class Issues {
    public static void main(String[] arguments) throws Exception {
        LogManager.getLogManager().reset();
        for (String scenario : arguments[1].split(",")) {
            for (String issuer : new String[] {"issuer", "stranger"}) {
                SAMLCallback asked = new SAMLCallback();
                new Security(arguments[0], scenario, "11").assertions("client", issuer).handle(new Callback[] {asked});
                Files.writeString(Path.of(arguments[0], scenario + "-" + issuer + ".xml"), StaxUtils.toString(asked.getAssertionElement()));
            }
        }
    }
}
