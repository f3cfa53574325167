// What this machine has, whatever this build can use of it.
#pragma once

namespace engine {

// True where an NVIDIA device is visible to the CUDA runtime or its kernel driver is loaded: such a
// machine is not searched on its processor by itself. Also true where the device cannot be used.
bool nvidia_device_present();

}  // namespace engine
