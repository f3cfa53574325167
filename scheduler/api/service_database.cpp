// Implements service.h: copies of the database, and looking at it. Each has a connection of its
// own, so that neither the tick nor other requests wait for it.
#include <atomic>
#include <filesystem>

#include "db/backup.h"
#include "db/verify.h"
#include "scheduler/api/callers.h"
#include "scheduler/api/database_json.h"
#include "scheduler/api/request_values.h"
#include "scheduler/api/service.h"
#include "scheduler/api/submission.h"
#include "scheduler/http/json_text.h"

namespace scheduler::api {

namespace {

using nlohmann::json;

class OneAtATime {
 public:
  explicit OneAtATime(std::atomic<bool>& busy) : busy_(busy) {
    if (busy_.exchange(true)) throw Conflict("the database is already being copied");
  }
  ~OneAtATime() { busy_ = false; }
  OneAtATime(const OneAtATime&) = delete;
  OneAtATime& operator=(const OneAtATime&) = delete;

 private:
  std::atomic<bool>& busy_;
};

}  // namespace

json Service::route_database(const Request& request, const std::string& action) {
  if (!caller_of(request.peer).privileged) {
    throw NotPermitted("only root or the daemon's own user may copy or verify the database");
  }
  if (action == "backup") return back_up(request);
  if (action == "verify") return verification_json(db::verify_database(database_.path()));
  throw NotFound("unknown address: " + request.method + " " + request.path);
}

json Service::back_up(const Request& request) {
  const std::string path = required_text(body_of(request), "path");
  if (!path.starts_with("/")) throw Invalid("\"path\" must begin with '/'");
  const OneAtATime turn(copying_);
  try {
    db::back_up(database_.path(), path);
  } catch (const db::DatabaseRefused& error) {
    throw Conflict(error.what());
  } catch (const db::NoRoomForCopy& error) {
    throw Unavailable(error.what());
  } catch (const db::DatabaseError& error) {
    throw Invalid(error.what());
  }
  json answer = {{"bytes", std::filesystem::file_size(path)}};
  put_text(answer, "path", path);
  put_text(answer, "database", database_.path());
  return answer;
}

}  // namespace scheduler::api
