/**
 * The receiver's half, for the tests of a provider: open what you sealed.
 *
 * <p><b>This package is not part of the stable interface, and not for phones.</b> It has no replay guard, no key store and nothing that shows a notification; apps
 * use the Swift library. It was not run on Android.
 */
package pushcrypt.testing;
