package peer;

import com.sun.xml.wss.impl.callback.PasswordValidationCallback;

/** Checks the password of the only user. */
public final class Users implements PasswordValidationCallback.PasswordValidator {
    @Override public boolean validate(PasswordValidationCallback.Request request) {
        return request instanceof PasswordValidationCallback.PlainTextPasswordRequest plain
            && "seismologist".equals(plain.getUsername()) && "of the seismic suite".equals(plain.getPassword());
    }
}
