// Runs CUDA kernels on the CPU: included before a .cuh file, it defines CUDA's vocabulary,
// and launch() stands for <<<>>>.
//
// The blocks run one after another and the threads of a block in turns, both in an order that the
// seed gives. A thread keeps its turn until it meets a word of synchronisation: a barrier, a
// shuffle, a vote, a fence, an atomic. So one that reads what another has not written yet, for want
// of a barrier between them, is found with a few seeds. Built with the thread sanitizer, every two
// accesses are reported that no barrier, fence or atomic orders, within a block and between blocks,
// in shared memory and in any other, whatever the seed. (A shuffle orders nothing, nor does an
// atomic without a fence. A plain read of what others change atomically is reported too.)
// Blocks that wait for each other, or a loop that waits for a plain variable, hang.
//
// Shared memory is a heap buffer of exactly the launch's size, full of garbage for every block.
// These are errors (KernelError): a barrier that not all threads of the block reach which have not
// ended, a word of a warp for which a lane of the mask does not come or which reads from a lane
// that takes no part, a launch that a device would refuse.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tests/fakes/simt_block.h"
#include "tests/fakes/simt_sync.h"
#include "tests/fakes/simt_words.h"

namespace tests::simt {

// Returns when all blocks have run; what a thread of the kernel throws is thrown from here, after
// the others have been unwound. The arguments are copied for every thread, as on a device.
template <typename... Parameters, typename... Arguments>
void launch(const Options& options, void (*kernel)(Parameters...), dim3 grid, dim3 block,
            size_t shared_bytes, Arguments&&... arguments) {
  static_assert((!std::is_reference_v<Parameters> && ...),
                "a device cannot see the host's objects");
  const std::tuple<Parameters...> values{std::forward<Arguments>(arguments)...};
  run({.options = options,
       .grid = grid,
       .block = block,
       .shared_bytes = shared_bytes,
       .thread = [&] { std::apply(kernel, values); }});
}

template <typename... Parameters, typename... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared_bytes,
            Arguments&&... arguments) {
  launch(Options{}, kernel, grid, block, shared_bytes, std::forward<Arguments>(arguments)...);
}

}  // namespace tests::simt
