// Compiled only in builds with the address sanitizer. Fontconfig, which finds the fonts for Cairo,
// keeps a few hundred bytes until the program ends, which the sanitizer would report as a leak.
extern "C" const char* __lsan_default_suppressions();  // looked up by the sanitizer
extern "C" const char* __lsan_default_suppressions() { return "leak:libfontconfig\n"; }

extern "C" const char* __lsan_default_options();
extern "C" const char* __lsan_default_options() { return "print_suppressions=0"; }
