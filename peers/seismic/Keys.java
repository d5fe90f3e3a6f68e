package peer;

import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;

/** Writes the stores of the service with security: FOLDER of the suite's keys. target/service.p12 has its key, target/client.p12 whom it trusts. */
public final class Keys {
    static final String PASSWORD = "known to all";

    private Keys() {}

    public static void main(String[] arguments) throws Exception {
        Path folder = Path.of(arguments[0]);
        PKCS8EncodedKeySpec key = new PKCS8EncodedKeySpec(Files.readAllBytes(folder.resolve("service.key")));
        KeyStore service = empty();
        service.setKeyEntry("service", KeyFactory.getInstance("RSA").generatePrivate(key), PASSWORD.toCharArray(),
            new Certificate[] {certificate(folder.resolve("service.cer"))});
        write(service, "service");
        KeyStore client = empty();
        client.setCertificateEntry("client", certificate(folder.resolve("client.cer")));
        write(client, "client");
    }

    private static KeyStore empty() throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }

    private static Certificate certificate(Path path) throws Exception {
        try (InputStream file = Files.newInputStream(path)) {
            return CertificateFactory.getInstance("X.509").generateCertificate(file);
        }
    }

    private static void write(KeyStore store, String name) throws Exception {
        try (OutputStream file = Files.newOutputStream(Path.of("target", name + ".p12"))) {
            store.store(file, PASSWORD.toCharArray());
        }
    }
}
