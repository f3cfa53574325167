// The files that the engine leaves, as the daemon looks for them.
#pragma once

#include <string>

namespace tests {

// Every output and then manifest.json, in the folder of an attempt whose search is done. The
// template's volume holds "volume".
void leave_engine_files(const std::string& folder, const std::string& token,
                        const std::string& config_sha256);

}  // namespace tests
