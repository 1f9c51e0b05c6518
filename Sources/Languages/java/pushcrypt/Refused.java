package pushcrypt;

/** What was read is refused. The code is the format's, for the developer's log and never for a person. */
public final class Refused extends Exception {
    private static final long serialVersionUID = 1;
    public final String code;

    public Refused(String code) {
        super(code);
        this.code = code;
    }
}
