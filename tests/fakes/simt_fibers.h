// Stacks that take turns on one thread of the operating system. The sanitizers are notified of
// every switch. To the thread sanitizer the fibers are threads that know nothing of each other but
// what release_at() and acquire_at() order, so that it finds what a device would race for.
#pragma once

#include <ucontext.h>

#include <cstddef>

namespace tests::simt {

// Memory for a stack, with a page below it that must not be touched. Throws std::system_error when
// the machine has none left.
class Stack {
 public:
  static constexpr size_t kBytes = 256 * 1024;

  explicit Stack(size_t number);
  ~Stack();
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;

  void* bottom() const;
  size_t bytes() const { return bytes_; }

 private:
  void* mapping_;
  size_t bytes_;
};

// What this fiber has done so far is known to those who call acquire_at() with this address later.
void release_at(const void* address);
void acquire_at(const void* address);

// To the thread sanitizer this is a thread that acquires what others have done and releases
// nothing: it may free what they have used without ordering their work before that of later
// threads.
class Undertaker {
 public:
  Undertaker();
  ~Undertaker();
  Undertaker(const Undertaker&) = delete;
  Undertaker& operator=(const Undertaker&) = delete;

  // From `enter` to `leave` the caller is this one.
  void enter();
  void leave();

 private:
  void* self_ = nullptr;
  void* caller_ = nullptr;
};

class Fiber {
 public:
  // The stack that the caller is on already.
  Fiber();
  // Starts `body(argument)` when it is first switched to. The body must never return, and no
  // exception may leave it.
  Fiber(const Stack& stack, void (*body)(void*), void* argument);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Continues with `other`; returns when somebody switches back to this one. To be called on this
  // one only.
  void switch_to(Fiber& other);

 private:
  static void enter(unsigned high, unsigned low);
  static void exchange(Fiber& from, Fiber& to);
  [[noreturn]] static void resume(Fiber& fiber);
  void notify_of_arrival();

  void* registers_[5] = {};  // as __builtin_setjmp wants them
  ucontext_t start_{};
  bool to_be_started_ = false;
  void (*body_)(void*) = nullptr;
  void* argument_ = nullptr;

  const void* bottom_ = nullptr;
  size_t bytes_ = 0;
  Fiber* came_from_ = nullptr;
  void* address_sanitizer_ = nullptr;
  void* thread_sanitizer_ = nullptr;
  bool owns_thread_sanitizer_ = false;
};

}  // namespace tests::simt
