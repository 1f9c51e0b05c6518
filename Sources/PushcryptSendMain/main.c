// Swift would read the arguments from /proc, which may be missing.
_Noreturn void pushcrypt_send_main(int count, char **words);

int main(int count, char **words) { pushcrypt_send_main(count, words); }
