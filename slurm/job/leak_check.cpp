// A leak check at the end of a process traces it by another one. margay-job is stopped and
// continued from outside, and both would then wait for each other for ever.
extern "C" int __lsan_is_turned_off();  // looked up by the sanitizer
extern "C" int __lsan_is_turned_off() { return 1; }
