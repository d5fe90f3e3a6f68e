import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;

/** Stores of the keys and certificates in a folder: of a kind such as rsa. */
final class Keys {
    static final String PASSWORD = "of no use";

    private final Path folder;
    private final String kind;

    Keys(String folder, String kind) {
        this.folder = Path.of(folder);
        this.kind = kind;
    }

    /** A store with the key of `owner`, under that name. */
    KeyStore of(String owner) throws GeneralSecurityException, IOException {
        KeyStore store = empty();
        Certificate[] path = {certificate(owner), read(owner.equals("stranger") ? "others" : "authority")};
        store.setKeyEntry(owner, key(owner), PASSWORD.toCharArray(), path);
        return store;
    }

    /** A store with the authority and the certificate of `peer`. Without the latter, a description of it would lead to nothing. */
    KeyStore trusted(String peer) throws GeneralSecurityException, IOException {
        KeyStore store = empty();
        store.setCertificateEntry("authority", read("authority"));
        store.setCertificateEntry(peer, certificate(peer));
        return store;
    }

    Certificate certificate(String owner) throws GeneralSecurityException, IOException {
        return read(owner + "-" + kind);
    }

    private Certificate read(String name) throws GeneralSecurityException, IOException {
        try (InputStream file = Files.newInputStream(folder.resolve(name + ".pem"))) {
            return CertificateFactory.getInstance("X.509").generateCertificate(file);
        }
    }

    private PrivateKey key(String owner) throws GeneralSecurityException, IOException {
        String text = Files.readString(folder.resolve(owner + "-" + kind + ".key")).replaceAll("-----[A-Z ]*-----|\\s", "");
        KeyFactory factory = KeyFactory.getInstance(kind.equals("ed25519") ? "Ed25519" : kind.toUpperCase());
        return factory.generatePrivate(new PKCS8EncodedKeySpec(Base64.getDecoder().decode(text)));
    }

    private static KeyStore empty() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }
}
