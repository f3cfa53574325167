// Implements service.h: the requests that pass users' files.
#include <algorithm>
#include <map>
#include <memory>

#include "base/error.h"
#include "scheduler/api/callers.h"
#include "scheduler/api/records_json.h"
#include "scheduler/api/request_values.h"
#include "scheduler/api/service.h"
#include "scheduler/api/submission.h"
#include "scheduler/http/json_text.h"
#include "scheduler/http/unix_socket.h"

namespace scheduler::api {
namespace {

using nlohmann::json;

std::string unchecked_text(const std::string& why) {
  return "the template is registered, but the engine could not check its settings and count its "
         "orientations: " +
         why + "; run `margay template add` again once the engine runs on the daemon's machine";
}

// Throws Invalid when the file changes while it is read.
std::string hash_of(const PassedFile& file, const FileFacts& facts, const FileWork::Sign& sign) {
  const auto hash = [&]() -> std::optional<std::string> {
    try {
      return hash_file_unless(file.descriptor.get(), facts.bytes, [&] { return !sign(file.path); });
    } catch (const base::FileError& error) {
      throw Invalid(error.what());
    }
  }();
  const FileFacts after = file_facts(file.descriptor.get());
  if (after.bytes != facts.bytes || after.ctime_ns != facts.ctime_ns) {
    throw Invalid("'" + file.path + "' changed while it was read; try again when it is complete");
  }
  return hash.value_or("");  // nobody waits for what was not read to its end
}

}  // namespace

// Does `work` with the file that `entry` names.
template <typename Result, typename Work>
Result Service::on_users_thread(FileWork& files, const Caller& caller, const Request& request,
                                const json& entry, Work work) {
  const auto file = std::make_shared<PassedFile>(take_passed(request, entry));
  return files.ask<Result>(caller.uid, file->path, [file, work](const FileWork::Sign& sign) {
    // Closing a file may take as long as reading it: that thread does it.
    const PassedFile own = std::move(*file);
    return work(own, sign);
  });
}

FileFacts Service::look(const Caller& caller, const Request& request, const json& entry) {
  return on_users_thread<FileFacts>(
      looks_, caller, request, entry,
      [](const PassedFile& file, const FileWork::Sign&) { return facts_of(file); });
}

// An empty body passes no micrograph, which Commands::retry() refuses.
RetryRequest Service::retry_of(const Caller& caller, const Request& request) {
  if (request.body.empty()) return {};
  const json body = body_of(request);
  RetryRequest retry = retry_request(body);
  if (body.contains("file")) retry.micrograph = look(caller, request, body);
  return retry;
}

CountAnswer Service::count(const Caller& caller, const Request& request, const json& body,
                           const TemplateRequest& wanted) {
  if (!hooks_.count) return {};
  const CountQuestion question{.search_yaml = wanted.search_yaml,
                               .settings_name = wanted.settings_name,
                               .volume_path = wanted.volume.path,
                               .volume_sha256 = wanted.volume_sha256};
  return on_users_thread<CountAnswer>(
      files_, caller, request, body,
      [question, ask = hooks_.count](const PassedFile& volume, const FileWork::Sign& sign) {
        CountQuestion with_volume = question;
        with_volume.volume = volume.descriptor.get();
        return ask(with_volume, [&] { return sign(volume.path); });
      });
}

json Service::add_template(const Request& request) {
  const json body = body_of(request);
  const Caller caller = caller_of(request.peer);
  TemplateRequest wanted = template_request(body);
  wanted.volume = look(caller, request, body);
  commands_.check_template(caller, wanted);
  wanted.volume_sha256 = on_users_thread<std::string>(
      files_, caller, request, body,
      [facts = wanted.volume](const PassedFile& volume, const FileWork::Sign& sign) {
        return hash_of(volume, facts, sign);
      });
  const CountAnswer counted = count(caller, request, body, wanted);
  if (!counted.refused.empty()) throw Invalid(counted.refused);
  wanted.counts = counted.counts;
  const AddedTemplate added = commands_.add_template(caller, wanted);
  json answer = {{"template", template_json(added.record)}, {"existed", added.existed}};
  answer["notes"] = json::array();
  for (const std::string& note : counted.notes) {
    put_text(answer["notes"].emplace_back(json::object()), "text", note);
  }
  if (!counted.unchecked.empty()) put_text(answer, "warning", unchecked_text(counted.unchecked));
  return answer;
}

// One file of POST /v1/items.
struct Service::Entry {
  EnqueueRequest request{};
  PassedFile file{};
  bool refused = false;
  json answer{};
};

// Does nothing for one that was refused.
template <typename Action>
void Service::guarded(Entry& entry, Action action) {
  if (entry.refused) return;
  try {
    action();
  } catch (const CommandError& error) {
    entry.refused = true;
    entry.answer = error_of(error);
  }
}

void Service::look_at(const Caller& caller, std::vector<Entry>& entries) {
  const auto first = std::find_if(entries.begin(), entries.end(),
                                  [](const Entry& entry) { return !entry.refused; });
  if (first == entries.end()) return;
  const std::string path = first->file.path;
  const auto looked_at = std::make_shared<std::vector<Entry>>(std::move(entries));
  entries =
      looks_.ask<std::vector<Entry>>(caller.uid, path, [looked_at](const FileWork::Sign& sign) {
        for (Entry& entry : *looked_at) {
          if (!sign(entry.file.path)) break;
          guarded(entry, [&] {
            const PassedFile file = std::move(entry.file);
            entry.request.micrograph = facts_of(file);
            entry.request.image = micrograph_size(file.descriptor.get(), entry.request.micrograph);
          });
        }
        return std::move(*looked_at);
      });
}

json Service::enqueue(const Request& request) {
  const json body = body_of(request);
  const auto entries = body.find("items");
  if (entries == body.end() || !entries->is_array()) throw Invalid("\"items\" must be a list");
  check_count(entries->size(), kMostFilesPassed);
  const Caller caller = caller_of(request.peer);
  commands_.check_shared(caller, options_of(body), get_text(body, "label").value_or(""));
  // Each file is enqueued by itself: a refused one does not keep the others out.
  std::vector<Entry> wanted;
  for (const json& entry : *entries) {
    Entry& next = wanted.emplace_back();
    guarded(next, [&] {
      next.request = enqueue_request(body, entry);
      next.file = take_passed(request, entry);
    });
  }
  look_at(caller, wanted);
  json answers(wanted.size(), nullptr);
  std::vector<EnqueueRequest> requests;
  std::vector<size_t> places;  // of the requests among the answers
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].refused) {
      answers[i] = std::move(wanted[i].answer);
    } else {
      requests.push_back(std::move(wanted[i].request));
      places.push_back(i);
    }
  }
  const bool dry_run = is_dry_run(body);
  const bool brief = flag_of(body, "brief");
  const std::vector<Enqueued> enqueued = commands_.enqueue(caller, requests, dry_run);
  std::map<int64_t, std::string> names;
  for (size_t i = 0; i < enqueued.size(); ++i) {
    if (enqueued[i].refused) {
      answers[places[i]] = error_of(*enqueued[i].refused);
      continue;
    }
    const db::Item& item = *enqueued[i].item;
    std::string& name = names[item.template_id];
    if (name.empty()) name = template_name(item.template_id);
    json entry = brief ? enqueued_json(item) : item_json(item, name);
    if (dry_run) entry.erase("id");  // it belongs to nothing
    put_late(commands_.late({item}).front(), entry);
    answers[places[i]] = {{"item", std::move(entry)}};
  }
  if (!dry_run) hooks_.wake();
  return {{"items", answers}};
}

}  // namespace scheduler::api
