#include "scheduler/api/submission.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/parse_number.h"
#include "scheduler/http/json_text.h"

namespace scheduler::api {
namespace {

constexpr int kDeepest = 16;
constexpr int kMostValues = 50'000;

// Whether the daemon finds this open file at the path.
bool names_file(const std::string& path, int descriptor) {
  struct stat named {};
  struct stat open {};
  return ::stat(path.c_str(), &named) == 0 && ::fstat(descriptor, &open) == 0 &&
         named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

// A descriptor with O_PATH can be opened without the right to read the file.
bool opened_for_reading(int descriptor) {
  const int flags = ::fcntl(descriptor, F_GETFL);
  return flags >= 0 && (flags & O_PATH) == 0 && (flags & O_ACCMODE) != O_WRONLY;
}

double number_of(const nlohmann::json& ctf, const std::string& key) {
  const auto found = ctf.find(key);
  if (found == ctf.end() || !found->is_number()) {
    throw Invalid("ctf." + key + " is missing or not a number");
  }
  return found->get<double>();
}

db::Ctf ctf_of(const nlohmann::json& entry) {
  const auto found = entry.find("ctf");
  if (found == entry.end() || !found->is_object()) throw Invalid("an item needs \"ctf\"");
  db::Ctf ctf;
  ctf.defocus_u = number_of(*found, "defocus_u");
  ctf.defocus_v = number_of(*found, "defocus_v");
  ctf.astigmatism_angle = number_of(*found, "astigmatism_angle");
  ctf.phase_shift = number_of(*found, "phase_shift");
  ctf.source = get_text(*found, "source").value_or("option");
  return ctf;
}

// Of the list that names the micrograph; a value that is absent is 0.
SearchOptics optics_of(const nlohmann::json& entry) {
  const auto found = entry.find("optics");
  if (found == entry.end()) return {};
  if (!found->is_object()) throw Invalid("\"optics\" is not an object of names and numbers");
  const auto value = [&](const char* key) {
    const auto at = found->find(key);
    if (at == found->end()) return 0.0;
    if (!at->is_number()) throw Invalid(std::string("optics.") + key + " is not a number");
    return at->get<double>();
  };
  return {.pixel_size = value("pixel_size"),
          .voltage = value("voltage"),
          .spherical_aberration = value("spherical_aberration")};
}

// A SHA-256 in lower-case hex; empty when absent.
std::string content_of(const nlohmann::json& entry) {
  const std::string content = get_text(entry, "content").value_or("");
  const bool hash =
      content.size() == 64 && content.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!content.empty() && !hash) {
    throw Invalid("\"content\" is not a SHA-256 in lower-case hexadecimal digits");
  }
  return content;
}

int passed_descriptor(const Request& request, const nlohmann::json& entry) {
  if (request.files_lost) {
    throw Invalid("some open files were lost on the way; pass at most 250 at once");
  }
  const auto found = entry.find("file");
  if (found == entry.end() || !found->is_number_unsigned() ||
      found->get<size_t>() >= request.files.size()) {
    throw Invalid("\"file\" is not the number of an open file that came with the request");
  }
  return request.files[found->get<size_t>()].get();
}

FileFacts facts_at(const std::string& path, int descriptor) {
  if (!opened_for_reading(descriptor)) {
    throw Invalid(path + ": the file that was passed is not open for reading");
  }
  const FileFacts facts = file_facts(descriptor);
  // The daemon finds more files than the caller may: the answer does not say whether one is at the
  // path, nor why it cannot be reached.
  if (!names_file(path, descriptor)) {
    throw Invalid(path +
                  ": a different file was passed open, or the daemon does not find this one; "
                  "searches run as the daemon's user, which needs access to the folder");
  }
  const bool readable = ::faccessat(AT_FDCWD, facts.path.c_str(), R_OK, AT_EACCESS) == 0;
  if (!readable || (facts.path != path && !names_file(facts.path, descriptor))) {
    throw Invalid(path + ": the daemon cannot read it; searches run as the daemon's user");
  }
  return facts;
}

}  // namespace

nlohmann::json body_of(const Request& request) {
  int values = 0;
  // Parsed values may take a hundred times the memory of their text.
  using Event = nlohmann::json::parse_event_t;
  const auto bounded = [&values](int depth, Event event, nlohmann::json&) {
    const bool begins =
        event == Event::value || event == Event::object_start || event == Event::array_start;
    if (begins) ++values;
    if (depth > kDeepest || values > kMostValues) {
      throw Invalid("the request's body is nested deeper than " + std::to_string(kDeepest) +
                    " levels or has more than " + std::to_string(kMostValues) + " values");
    }
    return true;
  };
  nlohmann::json body = nlohmann::json::parse(request.body, bounded, false);
  if (!body.is_object()) throw Invalid("the request's body is not a JSON object");
  return body;
}

void check_count(size_t items, size_t most) {
  if (items <= most) return;
  throw Invalid("\"items\" names " + std::to_string(items) + " items, more than the " +
                std::to_string(most) + " of one request; send several requests");
}

std::string required_text(const nlohmann::json& object, const std::string& key) {
  const std::optional<std::string> text = get_text(object, key);
  if (!text) throw Invalid("\"" + key + "\" is missing or not text");
  return *text;
}

db::Priority priority_of(const nlohmann::json& object) {
  const std::string word = required_text(object, "priority");
  const std::optional<db::Priority> priority = db::parse<db::Priority>(word);
  if (!priority || *priority == db::Priority::kLive) {
    throw Invalid("unknown priority '" + word + "'; use low, normal, high or urgent");
  }
  return *priority;
}

PassedFile take_passed(const Request& request, const nlohmann::json& entry) {
  const int own = ::fcntl(passed_descriptor(request, entry), F_DUPFD_CLOEXEC, 0);
  if (own < 0) base::throw_errno("fcntl");
  return {.path = required_text(entry, "path"), .descriptor = Descriptor(own)};
}

FileFacts facts_of(const PassedFile& file) { return facts_at(file.path, file.descriptor.get()); }

bool flag_of(const nlohmann::json& object, const std::string& key) {
  const auto found = object.find(key);
  if (found == object.end()) return false;
  if (!found->is_boolean()) throw Invalid("\"" + key + "\" must be true or false");
  return found->get<bool>();
}

ItemOptions options_of(const nlohmann::json& body, const std::string& key) {
  const auto found = body.find(key);
  if (found == body.end()) return {};
  if (!found->is_object()) throw Invalid("\"" + key + "\" is not an object of names and values");
  ItemOptions options;
  for (const auto& [name, value] : found->items()) {
    if (!value.is_string()) throw Invalid("option '" + name + "' is not text");
    options[name] = value.get<std::string>();
  }
  return options;
}

std::optional<int64_t> finish_by_of(const nlohmann::json& body) {
  const auto found = body.find("finish_by");
  if (found == body.end()) return std::nullopt;
  const auto time = base::as_whole_number<int64_t>(*found);
  if (!time) {
    throw Invalid("\"finish_by\" must be a whole number of seconds since 1970 UTC, or 0 for none");
  }
  return time;
}

RetryRequest retry_request(const nlohmann::json& body) {
  RetryRequest retry{.drop_options = flag_of(body, "drop_options"), .options = options_of(body)};
  if (body.contains("priority")) retry.priority = priority_of(body);
  return retry;
}

EnqueueRequest enqueue_request(const nlohmann::json& body, const nlohmann::json& entry) {
  EnqueueRequest enqueue;
  enqueue.priority = priority_of(body);
  const TemplateName name = template_name_of(required_text(body, "template"));
  enqueue.template_name = name.name;
  enqueue.template_version = name.version;
  enqueue.label = get_text(body, "label").value_or("");
  enqueue.again = flag_of(body, "again");
  enqueue.hold = flag_of(body, "hold");
  enqueue.options = options_of(body);
  enqueue.finish_by = finish_by_of(body).value_or(0);
  enqueue.group = get_text(body, "group").value_or("");
  enqueue.ctf = ctf_of(entry);
  enqueue.listed = optics_of(entry);
  enqueue.content = content_of(entry);
  return enqueue;
}

bool is_dry_run(const nlohmann::json& body) { return flag_of(body, "dry_run"); }

TemplateName template_name_of(const std::string& word) {
  const size_t at = word.rfind('@');
  TemplateName name{.name = word.substr(0, at)};
  if (at == std::string::npos) return name;
  name.version = base::parse_number<int>(word.substr(at + 1));
  if (name.version.value_or(0) < 1) {
    throw Invalid("template '" + word + "': expected a version after the @, e.g. ribosome@2");
  }
  return name;
}

TemplateRequest template_request(const nlohmann::json& body) {
  TemplateRequest wanted;
  wanted.name = required_text(body, "name");
  wanted.search_yaml = required_text(body, "search_yaml");
  wanted.settings_name = get_text(body, "search_path").value_or(wanted.settings_name);
  return wanted;
}

}  // namespace scheduler::api
