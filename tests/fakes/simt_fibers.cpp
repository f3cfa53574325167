#include "tests/fakes/simt_fibers.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

// There when the program is built with that sanitizer, null otherwise.
extern "C" {
[[gnu::weak]] void __sanitizer_start_switch_fiber(void** fake_stack, const void* bottom,
                                                  size_t bytes);
[[gnu::weak]] void __sanitizer_finish_switch_fiber(void* fake_stack, const void** old_bottom,
                                                   size_t* old_bytes);
[[gnu::weak]] void __asan_unpoison_memory_region(const volatile void* address, size_t bytes);
[[gnu::weak]] void* __tsan_get_current_fiber();
[[gnu::weak]] void* __tsan_create_fiber(unsigned flags);
[[gnu::weak]] void __tsan_destroy_fiber(void* fiber);
[[gnu::weak]] void __tsan_switch_to_fiber(void* fiber, unsigned flags);
[[gnu::weak]] void __tsan_acquire(void* address);
[[gnu::weak]] void __tsan_release(void* address);
}

namespace tests::simt {
namespace {

constexpr unsigned kSwitchOrdersNothing = 1;  // __tsan_switch_to_fiber_no_sync

size_t page_bytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

// All mappings begin at a page: without the offset the same few lines of the cache would hold the
// tops of all stacks.
Stack::Stack(size_t number) : bytes_(kBytes - number % 51 * 320) {
  const size_t guard = page_bytes();
  mapping_ = mmap(nullptr, guard + kBytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapping_ == MAP_FAILED) fail("no memory for the stack of a kernel's thread");
  if (mprotect(mapping_, guard, PROT_NONE) != 0) {
    munmap(mapping_, guard + kBytes);
    fail("cannot guard the stack of a kernel's thread");
  }
}

Stack::~Stack() {
  // The frames that are left here would be reported in whatever is mapped here next.
  if (__asan_unpoison_memory_region != nullptr) __asan_unpoison_memory_region(bottom(), kBytes);
  munmap(mapping_, page_bytes() + kBytes);
}

void* Stack::bottom() const { return static_cast<std::byte*>(mapping_) + page_bytes(); }

void release_at(const void* address) {
  if (__tsan_release != nullptr) __tsan_release(const_cast<void*>(address));
}

void acquire_at(const void* address) {
  if (__tsan_acquire != nullptr) __tsan_acquire(const_cast<void*>(address));
}

Undertaker::Undertaker() {
  if (__tsan_create_fiber != nullptr) self_ = __tsan_create_fiber(0);
}

Undertaker::~Undertaker() {
  if (self_ != nullptr) __tsan_destroy_fiber(self_);
}

void Undertaker::enter() {
  if (self_ == nullptr) return;
  caller_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(self_, kSwitchOrdersNothing);
}

void Undertaker::leave() {
  if (self_ != nullptr) __tsan_switch_to_fiber(caller_, kSwitchOrdersNothing);
}

Fiber::Fiber() {
  if (__tsan_get_current_fiber != nullptr) thread_sanitizer_ = __tsan_get_current_fiber();
}

Fiber::Fiber(const Stack& stack, void (*body)(void*), void* argument)
    : to_be_started_(true),
      body_(body),
      argument_(argument),
      bottom_(stack.bottom()),
      bytes_(stack.bytes()) {
  if (getcontext(&start_) != 0) fail("cannot make a kernel's thread");
  start_.uc_stack.ss_sp = stack.bottom();
  start_.uc_stack.ss_size = stack.bytes();
  start_.uc_link = nullptr;
  const auto self = reinterpret_cast<uintptr_t>(this);
  makecontext(&start_, reinterpret_cast<void (*)()>(&Fiber::enter), 2,
              static_cast<unsigned>(self >> 32), static_cast<unsigned>(self));
  if (__tsan_create_fiber != nullptr) {
    thread_sanitizer_ = __tsan_create_fiber(0);
    owns_thread_sanitizer_ = true;
  }
}

Fiber::~Fiber() {
  if (owns_thread_sanitizer_) __tsan_destroy_fiber(thread_sanitizer_);
}

void Fiber::enter(unsigned high, unsigned low) {
  auto* self = reinterpret_cast<Fiber*>(static_cast<uintptr_t>(high) << 32 | low);
  self->notify_of_arrival();
  self->body_(self->argument_);
}

void Fiber::switch_to(Fiber& other) {
  other.came_from_ = this;
  if (__sanitizer_start_switch_fiber != nullptr) {
    __sanitizer_start_switch_fiber(&address_sanitizer_, other.bottom_, other.bytes_);
  }
  if (__tsan_switch_to_fiber != nullptr)
    __tsan_switch_to_fiber(other.thread_sanitizer_, kSwitchOrdersNothing);
  exchange(*this, other);
  notify_of_arrival();
}

// The place that was left is where a stack that was not made here is learnt.
void Fiber::notify_of_arrival() {
  if (__sanitizer_finish_switch_fiber == nullptr) return;
  __sanitizer_finish_switch_fiber(address_sanitizer_, &came_from_->bottom_, &came_from_->bytes_);
}

// swapcontext would ask the kernel for the signal mask each time, which takes fifteen times as
// long. Between the two calls that notify a sanitizer nothing may be instrumented, and no caller
// may believe that it knows which registers survive. (clang, which reads this for clang-tidy, does
// not know the attributes.)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wattributes"
[[gnu::noipa, gnu::no_sanitize("address", "undefined", "thread")]] void Fiber::exchange(Fiber& from,
                                                                                        Fiber& to) {
  if (__builtin_setjmp(from.registers_) == 0) resume(to);
}

[[gnu::noipa, gnu::no_sanitize("address", "undefined", "thread")]] void Fiber::resume(
    Fiber& fiber) {
  if (fiber.to_be_started_) {
    fiber.to_be_started_ = false;
    setcontext(&fiber.start_);
  }
  __builtin_longjmp(fiber.registers_, 1);
}
#pragma GCC diagnostic pop

}  // namespace tests::simt
