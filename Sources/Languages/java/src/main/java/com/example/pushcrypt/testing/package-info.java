/**
 * A phone for the tests of a provider: it opens what you sealed.
 *
 * <p><b>This package is not part of the stable interface, and not for phones.</b> It remembers no message, certificate or key; apps use the Swift library. It
 * was not run on Android.
 */
package com.example.pushcrypt.testing;
