/* The library that missing_dependency links. */
int tfsdk_test_absent(void);
__attribute__((visibility("default"))) int tfsdk_test_absent(void) { return 1; }
