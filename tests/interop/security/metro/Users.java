import com.sun.xml.wss.impl.callback.PasswordValidationCallback;

/** Checks the password of the only user, as text or as a digest. */
public final class Users extends PasswordValidationCallback.WsitDigestPasswordValidator {
    @Override
    public void setPassword(PasswordValidationCallback.Request request) {
        PasswordValidationCallback.DigestPasswordRequest digest = (PasswordValidationCallback.DigestPasswordRequest) request;
        digest.setPassword(Cases.USER.equals(digest.getUsername()) ? Cases.PASSWORD : null);
    }

    @Override
    public boolean validate(PasswordValidationCallback.Request request) throws PasswordValidationCallback.PasswordValidationException {
        if (request instanceof PasswordValidationCallback.PlainTextPasswordRequest plain) {
            return Cases.USER.equals(plain.getUsername()) && Cases.PASSWORD.equals(plain.getPassword());
        }
        return super.validate(request);
    }
}
