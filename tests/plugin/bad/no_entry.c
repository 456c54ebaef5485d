/* A shared object that is no plugin. */
int tfsdk_test_no_entry(void);
__attribute__((visibility("default"))) int tfsdk_test_no_entry(void) { return 1; }
