#include "tests/support/pack.h"

#include <archive.h>
#include <archive_entry.h>
#include <unistd.h>
#include <zstd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace pyrometer::testing {
namespace {

using Setup = int (*)(archive*);

std::string pack(Setup format, Setup filter, const Members& members) {
  std::string out(1 << 16, '\0');
  for (const auto& [name, content] : members) out.resize(out.size() + content.size() + 4096);
  archive* a = archive_write_new();
  format(a);
  filter(a);
  archive_write_set_bytes_in_last_block(a, 1);
  std::size_t used = 0;
  archive_write_open_memory(a, out.data(), out.size(), &used);
  for (const auto& [name, content] : members) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, name.c_str());
    const bool folder = name.ends_with('/');
    archive_entry_set_filetype(entry, folder ? AE_IFDIR : AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, static_cast<la_int64_t>(content.size()));
    if (archive_write_header(a, entry) != ARCHIVE_OK) throw std::runtime_error("packing failed");
    archive_write_data(a, content.data(), content.size());
    archive_entry_free(entry);
  }
  archive_write_close(a);
  archive_write_free(a);
  out.resize(used);
  return out;
}

}  // namespace

std::string gzip(const std::string& text) {
  return pack(archive_write_set_format_raw, archive_write_add_filter_gzip, {{"x", text}});
}

std::string xz(const std::string& text) {
  return pack(archive_write_set_format_raw, archive_write_add_filter_xz, {{"x", text}});
}

std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

std::string tar(const Members& members) {
  return pack(archive_write_set_format_ustar, archive_write_add_filter_none, members);
}

std::string zip(const Members& members) {
  return pack(archive_write_set_format_zip, archive_write_add_filter_none, members);
}

void write_file(const std::string& path, const std::string& content) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << content;
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "pyrometer-test-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace pyrometer::testing
