// Only in builds with the thread sanitizer: cpp-httplib is a library that was compiled without it,
// so that the sanitizer does not see how its static tables are guarded while they are made.
extern "C" const char* __tsan_default_suppressions();  // looked up by the sanitizer
extern "C" const char* __tsan_default_suppressions() {
  return "called_from_lib:libcpp-httplib.so\n";
}
