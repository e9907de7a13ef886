// The rows of knobs.inc as a table, and knobs as text.
#include "base/knobs.h"

#include <algorithm>
#include <charconv>

#include "base/rules.h"
#include "base/text.h"

namespace convgrad {
namespace {

#define CONVGRAD_KNOB(name, least, most, keeps_bits, meaning, ...) \
  constexpr std::int64_t kTries_##name[] = {__VA_ARGS__};
#include "convgrad/knobs.inc"
#undef CONVGRAD_KNOB

constexpr KnobInfo kKnobs[] = {
#define CONVGRAD_KNOB(name, least, most, keeps_bits, meaning, ...) \
  {#name, &Knobs::name, least, most, keeps_bits, meaning, kTries_##name},
#include "convgrad/knobs.inc"
#undef CONVGRAD_KNOB
};

// What was got is not repeated: it may come from a file of any bytes.
Status refuse_word(std::string_view argument, std::string reason, std::string wanted) {
  return refuse("knobs", {.rule = Rule::policy,
                          .argument = argument,
                          .reason = std::move(reason),
                          .got = "other text",
                          .wanted = std::move(wanted)});
}

Result<const KnobInfo*> knob_named(std::string_view name) {
  std::string names;
  for (const KnobInfo& knob : kKnobs) {
    if (knob.name == name) return &knob;
    names += concat(names.empty() ? "" : ", ", knob.name);
  }
  return refuse_word("knobs", "there is no knob of that name", concat("one of: ", names));
}

Status set_word(std::string_view word, Knobs& knobs) {
  const std::size_t equals = std::min(word.find('='), word.size());
  const Result<const KnobInfo*> knob = knob_named(word.substr(0, equals));
  if (!knob.ok()) return knob.status();
  const std::string_view digits = word.substr(std::min(equals + 1, word.size()));
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size())
    return refuse_word((*knob)->name, concat((*knob)->name, " has no number"), concat((*knob)->name, "=NUMBER"));
  knobs.*(*knob)->field = value;
  return {};
}

}  // namespace

std::span<const KnobInfo> all_knobs() { return kKnobs; }

std::string to_text(const Knobs& knobs) {
  std::string text;
  for (const KnobInfo& knob : kKnobs) {
    if (knobs.*knob.field != 0) text += concat(text.empty() ? "" : " ", knob.name, "=", knobs.*knob.field);
  }
  return text;
}

Result<Knobs> parse_knobs(std::string_view text) {
  Knobs knobs;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) CONVGRAD_RETURN_IF_ERROR(set_word(text.substr(0, end), knobs));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  CONVGRAD_RETURN_IF_ERROR(knobs_in_range(knobs));
  return knobs;
}

Status knobs_in_range(const Knobs& knobs) {
  for (const KnobInfo& knob : kKnobs) {
    const std::int64_t value = knobs.*knob.field;
    if (value == 0 || (value >= knob.least && value <= knob.most)) continue;
    return refuse("knobs", {.rule = Rule::policy,
                            .argument = knob.name,
                            .reason = concat(knob.name, " is out of range"),
                            .got = concat(value),
                            .wanted = concat("0 (the engine's own) or ", knob.least, " to ", knob.most)});
  }
  return {};
}

}  // namespace convgrad
