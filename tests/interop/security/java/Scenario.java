/** What messages of a scenario have. */
final class Scenario {
    private Scenario() {}

    /** Whether requests have a signature of their own. */
    static boolean isSigned(String scenario) {
        return switch (scenario) {
            case "text", "digest", "bearer" -> false;
            default -> true;
        };
    }

    static boolean hasAssertion(String scenario) {
        return switch (scenario) {
            case "holder", "saml1", "vouches", "bearer" -> true;
            default -> false;
        };
    }

    static boolean hasPassword(String scenario) {
        return switch (scenario) {
            case "text", "digest", "both", "beside" -> true;
            default -> false;
        };
    }
}
