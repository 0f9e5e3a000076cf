#include "bare_walk.h"

#include <simdjson.h>

#include <cstdio>
#include <cstdlib>

namespace pyrometer::bench {
namespace {

void check(simdjson::error_code code, const char* what) {
  if (code == simdjson::SUCCESS) return;
  std::fprintf(stderr, "walk_bench: %s: %s\n", what, simdjson::error_message(code));
  std::exit(1);
}

void walk_args(simdjson::ondemand::value value, WalkResult& result) {
  simdjson::ondemand::object args;
  if (value.get_object().get(args) != simdjson::SUCCESS) return;
  for (auto field : args) {
    std::string_view key;
    check(field.unescaped_key().get(key), "key");
    result.key_bytes += key.size();
    ++result.arguments;
  }
}

void walk_event(simdjson::ondemand::object event, WalkResult& result) {
  for (auto member : event) {
    simdjson::ondemand::field field;
    check(std::move(member).get(field), "member");
    const simdjson::ondemand::raw_json_string key = field.key();
    if (key == "ts" || key == "dur") {
      double number = 0;
      check(field.value().get_double().get(number), "number");
      result.time_sum += number;
    } else if (key == "args") {
      walk_args(field.value(), result);
    }
  }
  ++result.events;
}

}  // namespace

struct BareWalk::Impl {
  simdjson::padded_string text;
  simdjson::ondemand::parser parser;
};

BareWalk::BareWalk(const std::string& path) : impl_(std::make_unique<Impl>()) {
  check(simdjson::padded_string::load(path).get(impl_->text), path.c_str());
}

BareWalk::~BareWalk() = default;

WalkResult BareWalk::run() {
  WalkResult result;
  simdjson::ondemand::document document;
  check(impl_->parser.iterate(impl_->text).get(document), "document");
  simdjson::ondemand::array events;
  check(document["traceEvents"].get_array().get(events), "traceEvents");
  for (auto element : events) {
    simdjson::ondemand::object event;
    check(element.get_object().get(event), "event");
    walk_event(event, result);
  }
  return result;
}

}  // namespace pyrometer::bench
