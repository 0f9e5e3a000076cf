#include "sources/nvml/nvml_source.h"
#include "sources/procfs/host_source.h"
#include "sources/procfs/process_source.h"
#include "sources/source.h"

namespace pyrometer::sources {

std::vector<std::unique_ptr<Source>> make_sources(const SourceOptions& options) {
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(std::make_unique<nvml::NvmlSource>(
      nvml::NvmlOptions{.root = options.root, .devices = options.gpus}));
  sources.push_back(std::make_unique<HostSource>(options.root, options.root_pid));
  if (options.root_pid > 0) {
    sources.push_back(
        std::make_unique<ProcessSource>(options.root, options.root_pid, options.reaper_pid));
  }
  return sources;
}

}  // namespace pyrometer::sources
