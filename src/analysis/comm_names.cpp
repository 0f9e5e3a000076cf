#include "analysis/comm_names.h"

#include <array>
#include <cctype>
#include <string>

namespace pyrometer::analysis {
namespace {

using model::Collective;

struct Pattern {
  std::string_view text;  // lower case, letters only
  Collective collective;
};

// First match wins, so longer names stand before the names they contain.
constexpr std::array kPatterns = {
    Pattern{"reducescatter", Collective::kReduceScatter},
    Pattern{"allreduce", Collective::kAllReduce},
    Pattern{"allgather", Collective::kAllGather},
    Pattern{"alltoall", Collective::kAllToAll},
    Pattern{"sendrecv", Collective::kSendRecv},
    Pattern{"broadcast", Collective::kBroadcast},
    Pattern{"barrier", Collective::kBarrier},
    // vLLM's all-reduce over peer memory.
    Pattern{"crossdevicereduce", Collective::kAllReduce},
};
// Too short to be looked for anywhere in a name: they must be the whole of it.
constexpr std::array kWholeNames = {
    Pattern{"reduce", Collective::kReduce},    Pattern{"gather", Collective::kGather},
    Pattern{"scatter", Collective::kScatter},  Pattern{"send", Collective::kSend},
    Pattern{"recv", Collective::kRecv},        Pattern{"reducecoalesced", Collective::kReduce},
    Pattern{"reduceoop", Collective::kReduce}, Pattern{"isend", Collective::kSend},
    Pattern{"irecv", Collective::kRecv},
};

// Lower-case letters of `text`, so that "_all_gather-Base" and "AllGatherBase" are the same.
std::string squeezed(std::string_view text) {
  std::string letters;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalpha(byte) != 0) letters += static_cast<char>(std::tolower(byte));
  }
  return letters;
}

template <std::size_t N>
Collective contained(const std::array<Pattern, N>& patterns, std::string_view letters) {
  for (const Pattern& p : patterns) {
    if (letters.find(p.text) != std::string_view::npos) return p.collective;
  }
  return Collective::kUnknown;
}

Collective whole(std::string_view letters) {
  for (const Pattern& p : kWholeNames) {
    if (letters == p.text) return p.collective;
  }
  return Collective::kUnknown;
}

// The word after "Kernel_" in NCCL's and RCCL's kernel names.
std::string_view nccl_function(std::string_view kernel) {
  constexpr std::string_view kMark = "Kernel_";
  const std::size_t at = kernel.find(kMark);
  if (at == std::string_view::npos || !kernel.starts_with("nccl")) return {};
  const std::string_view rest = kernel.substr(at + kMark.size());
  return rest.substr(0, rest.find_first_of("_(<"));
}

}  // namespace

std::string_view collective_name(Collective collective) {
  switch (collective) {
    case Collective::kAllReduce:
      return "all_reduce";
    case Collective::kAllGather:
      return "all_gather";
    case Collective::kReduceScatter:
      return "reduce_scatter";
    case Collective::kAllToAll:
      return "all_to_all";
    case Collective::kBroadcast:
      return "broadcast";
    case Collective::kReduce:
      return "reduce";
    case Collective::kGather:
      return "gather";
    case Collective::kScatter:
      return "scatter";
    case Collective::kSendRecv:
      return "send_recv";
    case Collective::kSend:
      return "send";
    case Collective::kRecv:
      return "recv";
    case Collective::kBarrier:
      return "barrier";
    case Collective::kUnknown:
      break;
  }
  return "unknown";
}

Collective collective_of_name(std::string_view name) {
  // "nccl:send 0->1": the namespace before and the peers after are not part of the name.
  const std::size_t colon = name.rfind(':');
  if (colon != std::string_view::npos) name.remove_prefix(colon + 1);
  name = name.substr(0, name.find(' '));
  const std::string letters = squeezed(name);
  const Collective found = contained(kPatterns, letters);
  return found != Collective::kUnknown ? found : whole(letters);
}

Collective collective_of_kernel(std::string_view name) {
  const std::string_view function = nccl_function(name);
  if (!function.empty()) return collective_of_name(function);
  return contained(kPatterns, squeezed(name));
}

int dtype_bytes(std::string_view dtype) {
  std::string key;
  for (const char c : dtype) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) key += static_cast<char>(std::tolower(byte));
  }
  struct Width {
    std::string_view prefix;
    int bytes;
  };
  // By prefix, longest first: "Float8_e4m3fn" is not "Float".
  static constexpr std::array kWidths = {
      Width{"complexdouble", 16},
      Width{"complexfloat", 8},
      Width{"complexhalf", 4},
      Width{"complex128", 16},
      Width{"complex64", 8},
      Width{"complex32", 4},
      Width{"c10complexdouble", 16},
      Width{"c10complexfloat", 8},
      Width{"c10half", 2},
      Width{"c10bfloat16", 2},
      Width{"c10float8", 1},
      Width{"bfloat16", 2},
      Width{"bf16", 2},
      Width{"float8", 1},
      Width{"float16", 2},
      Width{"float32", 4},
      Width{"float64", 8},
      Width{"f16", 2},
      Width{"f32", 4},
      Width{"f64", 8},
      Width{"half", 2},
      Width{"double", 8},
      Width{"float", 4},
      Width{"longint", 8},
      Width{"long", 8},
      Width{"uint8", 1},
      Width{"uint16", 2},
      Width{"uint32", 4},
      Width{"uint64", 8},
      Width{"int8", 1},
      Width{"int16", 2},
      Width{"int32", 4},
      Width{"int64", 8},
      Width{"int", 4},
      Width{"short", 2},
      Width{"byte", 1},
      Width{"char", 1},
      Width{"unsignedchar", 1},
      Width{"signedchar", 1},
      Width{"bool", 1},
  };
  for (const Width& w : kWidths) {
    if (key.starts_with(w.prefix)) return w.bytes;
  }
  return 0;
}

bool ends_together(Collective collective) {
  switch (collective) {
    case Collective::kAllReduce:
    case Collective::kAllGather:
    case Collective::kReduceScatter:
    case Collective::kAllToAll:
    case Collective::kBarrier:
    case Collective::kSendRecv:
      return true;
    default:
      return false;
  }
}

double bus_factor(Collective collective, int size) {
  if (size < 2) return 0;
  const double others = static_cast<double>(size - 1) / size;
  switch (collective) {
    case Collective::kAllReduce:
      return 2 * others;
    case Collective::kAllGather:
    case Collective::kReduceScatter:
    case Collective::kAllToAll:
    case Collective::kGather:
    case Collective::kScatter:
      return others;
    case Collective::kBroadcast:
    case Collective::kReduce:
    case Collective::kSend:
    case Collective::kRecv:
      return 1;
    default:
      return 0;  // the message's size says nothing about the bytes moved
  }
}

}  // namespace pyrometer::analysis
