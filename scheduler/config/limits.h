// What one user may ask of the daemon: the section `limits` of the configuration. Lengths are in
// bytes. Root and the daemon's user may have any number of items, labels and templates.
#pragma once

namespace scheduler {

// Lengths are in bytes. Root and the daemon's user may have any number of items, labels and
// templates.
struct Limits {
  int items_per_user = 100'000;  // items that have not ended
  int labels_per_user = 1'000;   // different labels of items that have not ended
  int templates_per_user = 500;  // each version counts
  int label_length = 200;
  int path_length = 1'024;
  int settings_length = 16'384;  // the search settings of a template
  int file_megabytes = 8'000;    // of a micrograph or template volume, which is read whole
  int body = 4'000'000;          // of one request
  int requests_per_second = 100;
  int connections_per_user = 64;  // at once
  int connections = 512;          // of all users at once
};

}  // namespace scheduler
