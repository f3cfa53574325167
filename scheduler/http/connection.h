// One client's connection: reads one complete request and writes one complete answer, and never
// waits for the client. The caller decides how much it may hold and how long it may take, and
// closes what take_files() and take_descriptors() return, since closing may block (closer.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/http/http_message.h"

namespace scheduler::api {

class Connection {
 public:
  enum class Phase {
    kReading,   // the request is incomplete
    kQueued,    // the request is complete and waits for a thread
    kRunning,   // a thread answers it
    kWriting,   // the client has not read the whole answer
    kDraining,  // the answer is written, but the request was incomplete: what still arrives is
                // dropped, since a client whose bytes stay unread may lose the answer
  };
  enum class Progress {
    kWaits,  // for the client
    kHead,   // the head has just arrived, and the body is still to be read
    kDone,   // the request, or the answer, is complete
    kGone,   // the client has closed the connection
  };

  // `socket` must be non-blocking.
  Connection(Descriptor socket, const Peer& peer) : socket_(std::move(socket)), peer_(peer) {}

  // Reads what has arrived; with kDone the phase becomes kQueued. Throws RequestRefused.
  Progress read(size_t largest_body);
  // Takes the complete request; the phase becomes kRunning.
  Request take_request();
  // `text` comes from answer_text(); the phase becomes kWriting. Bytes of a request that are still
  // here are dropped.
  void start_answer(std::string text);
  // Writes as much as the client takes; the phase may become kDraining.
  Progress write();
  // Drops what arrives; returns kWaits or kGone.
  Progress drain();

  // The files that arrived and were not taken with the request.
  std::vector<Descriptor> take_files();
  // Ends the connection; returns take_files() and the socket.
  std::vector<Descriptor> take_descriptors();

  int socket() const { return socket_.get(); }
  const Peer& peer() const { return peer_; }
  Phase phase() const { return phase_; }
  // What the request occupies until it is answered: its body, as announced, and its files.
  size_t body_bytes() const { return is_answered() ? 0 : head_.body_bytes; }
  size_t files() const { return is_answered() ? 0 : files_received_; }
  const Head& head() const { return head_; }
  size_t answer_bytes() const { return answer_.size(); }

 private:
  bool is_answered() const { return phase_ == Phase::kWriting || phase_ == Phase::kDraining; }
  Progress take(std::string_view bytes, size_t largest_body);

  Descriptor socket_;
  Peer peer_;
  Phase phase_ = Phase::kReading;
  std::string received_;
  size_t head_length_ = 0;  // 0: the head is incomplete
  Head head_;
  std::vector<Descriptor> files_;
  size_t files_received_ = 0;
  bool files_lost_ = false;
  bool request_is_whole_ = false;
  std::string answer_;
  size_t written_ = 0;
};

// Sends as much of this answer as the client takes at once, and ends the connection. What has
// arrived is read from the socket, since a client whose bytes stay unread may lose the answer.
// Returns the descriptors to close.
std::vector<Descriptor> turn_away(Descriptor socket, const std::string& answer);

}  // namespace scheduler::api
