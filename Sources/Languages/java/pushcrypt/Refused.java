package pushcrypt;

/** The input is refused. The code is the format's, for the developer's log, never for the user. */
public final class Refused extends Exception {
    private static final long serialVersionUID = 1;
    public final String code;

    public Refused(String code) {
        super(code);
        this.code = code;
    }
}
