// A stand-in for libdcmi.so: card 0 with two chips for training (HBM), card 3 with one for
// inference (DDR). stub_dcmi_set() makes things go wrong.
#include <cstdint>
#include <cstring>
#include <map>
#include <string>

namespace {

constexpr int kSuccess = 0, kNoDevice = -8008, kNotSupported = -8255, kNotPermitted = -8002;

std::map<std::string, int>& settings() {
  static std::map<std::string, int> all;
  return all;
}
int setting(const std::string& name) {
  const auto found = settings().find(name);
  return found == settings().end() ? 0 : found->second;
}
bool is_there(int card, int chip) {
  return (card == 0 && (chip == 0 || chip == 1)) || (card == 3 && chip == 0);
}
bool has_hbm(int card) { return card == 0; }
// What every call about a device says first.
int answer(int card, int chip) {
  if (!is_there(card, chip) || (setting("lost") != 0 && card == 0 && chip == 1)) return kNoDevice;
  return kSuccess;
}

struct Chip {
  char type[32], name[32], version[32];
  unsigned cores;
};
struct Hbm {
  unsigned long long size;
  unsigned frequency;
  unsigned long long used;
  int temperature;
  unsigned bandwidth;
};
struct Memory {
  unsigned long long size, available;
  unsigned frequency;
  unsigned long huge_size, huge_total, huge_free;
  unsigned used;
  unsigned char reserved[60];
};
struct Pcie {
  unsigned vendor, subvendor, device, subdevice;
  int domain;
  unsigned bus, slot, function;
  unsigned char reserved[32];
};
struct Ecc {
  int on;
  unsigned single, twice, single_ever, twice_ever, single_pages, twice_pages;
};
struct Process {
  int pid;
  unsigned long bytes;
};

}  // namespace

extern "C" {

// Null: everything is well again.
void stub_dcmi_set(const char* name, int value) {
  if (name == nullptr) return settings().clear();
  settings()[name] = value;
}

int dcmi_init() { return setting("init"); }
int dcmi_get_card_list(int* count, int* cards, int length) {
  *count = setting("cards") == -1 ? 0 : 2;
  if (length >= 2) {
    cards[0] = 0;
    cards[1] = 3;
  }
  return kSuccess;
}
int dcmi_get_device_num_in_card(int card, int* count) {
  *count = card == 0 ? 2 : 1;
  return kSuccess;
}
int dcmi_get_device_id_in_card(int card, int* most, int* mcu, int* cpu) {
  *most = card == 0 ? 2 : 1;
  *mcu = *most;
  *cpu = -1;
  return kSuccess;
}
int dcmi_get_device_logic_id(int* id, int card, int chip) {
  *id = card == 0 ? chip : 2;
  return kSuccess;
}
int dcmi_get_driver_version(char* text, unsigned length) {
  std::strncpy(text, "24.1.rc2", length);
  return kSuccess;
}
int dcmi_get_device_chip_info(int card, int chip, Chip* info) {
  if (const int code = answer(card, chip)) return code;
  std::strcpy(info->type, "Ascend");
  std::strcpy(info->name, has_hbm(card) ? "910B3" : "310P3");
  info->cores = 20;
  return kSuccess;
}
int dcmi_get_device_pcie_info_v2(int card, int chip, Pcie* info) {
  if (const int code = answer(card, chip)) return code;
  info->domain = 0;
  info->bus = card == 0 ? 0xc1U + static_cast<unsigned>(chip) : 0x82;
  info->slot = info->function = 0;
  return kSuccess;
}
int dcmi_get_device_die_v2(int card, int chip, int kind, unsigned* words) {
  if (const int code = answer(card, chip)) return code;
  for (unsigned i = 0; i < 5; ++i)
    words[i] = static_cast<unsigned>(card * 16 + chip * 4 + kind) + i;
  return kSuccess;
}
int dcmi_get_device_utilization_rate(int card, int chip, int kind, unsigned* percent) {
  if (const int code = answer(card, chip)) return code;
  if (kind == 13 && setting("old") != 0) return kNotSupported;
  *percent = setting("nonsense") != 0 ? 4711 : kind == 13 ? 84 : 61;
  return kSuccess;
}
int dcmi_get_device_hbm_info(int card, int chip, Hbm* info) {
  if (const int code = answer(card, chip)) return code;
  if (!has_hbm(card)) return kNotSupported;
  *info = {65536, 1600, setting("nonsense") != 0 ? 99999999ULL : 32768ULL, 55, 40};
  return kSuccess;
}
int dcmi_get_device_memory_info_v3(int card, int chip, Memory* info) {
  if (const int code = answer(card, chip)) return code;
  info->size = 24576;
  info->available = 20480;
  info->frequency = 2133;
  info->used = 17;
  return kSuccess;
}
int dcmi_get_device_power_info(int card, int chip, int* tenths) {
  if (const int code = answer(card, chip)) return code;
  *tenths = 1624;
  return kSuccess;
}
int dcmi_get_device_temperature(int card, int chip, int* celsius) {
  if (const int code = answer(card, chip)) return code;
  *celsius = 47;
  return kSuccess;
}
int dcmi_get_device_frequency(int card, int chip, int kind, unsigned* megahertz) {
  if (const int code = answer(card, chip)) return code;
  *megahertz = kind == 9 ? 1850 : kind == 7 ? 1500 : 1600;
  return kSuccess;
}
int dcmi_get_device_health(int card, int chip, unsigned* level) {
  if (const int code = answer(card, chip)) return code;
  *level = static_cast<unsigned>(setting("health"));
  return kSuccess;
}
int dcmi_get_device_errorcode_v2(int card, int chip, int* count, unsigned* codes, unsigned length) {
  if (const int code = answer(card, chip)) return code;
  *count = setting("errors");
  for (int i = 0; i < *count && i < static_cast<int>(length); ++i) {
    codes[i] = 0x80E01801U + static_cast<unsigned>(i);
  }
  return kSuccess;
}
int dcmi_get_device_ecc_info(int card, int chip, int memory, Ecc* info) {
  if (const int code = answer(card, chip)) return code;
  if (memory != (has_hbm(card) ? 2 : 0)) return kNotSupported;
  *info = {1, 3, 0, 30, 1, 0, 0};
  return kSuccess;
}
int dcmi_get_device_resource_info(int card, int chip, Process* list, int* count) {
  if (const int code = answer(card, chip)) return code;
  if (setting("no-processes") != 0) return kNotPermitted;
  *count = chip == 0 ? 1 : 0;
  list[0] = {4242, 1UL << 30};
  return kSuccess;
}
}
