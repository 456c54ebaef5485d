/* A stand-in for the runtime of AddressSanitizer. */
int tfsdk_test_asan(void);
__attribute__((visibility("default"))) int tfsdk_test_asan(void) { return 1; }
