#include <utility>

#include "sources/amd/amd_source.h"
#include "sources/ascend/ascend_source.h"
#include "sources/nvml/nvml_source.h"
#include "sources/procfs/host_source.h"
#include "sources/procfs/process_source.h"
#include "sources/procfs/rapl_source.h"
#include "sources/source.h"
#include "sources/stand_in.h"

namespace pyrometer::sources {

std::vector<std::unique_ptr<Source>> make_gpu_sources(const SourceOptions& options) {
  std::vector<std::unique_ptr<Source>> sources;
  if (options.stand_in != nullptr) {
    sources.push_back(options.stand_in->source(options));
    return sources;
  }
  sources.push_back(std::make_unique<nvml::NvmlSource>(
      nvml::NvmlOptions{.root = options.root,
                        .devices = options.gpus,
                        .brief = options.brief,
                        .may_block = options.may_block,
                        .identify_always = options.identify_always}));
  if (amd::has_amd_gpu(options.root)) {
    amd::AmdOptions amd{.root = options.root,
                        .devices = options.gpus,
                        .brief = options.brief,
                        .identify_always = options.identify_always};
    if (!options.root.empty()) amd.open = nullptr;
    sources.push_back(std::make_unique<amd::AmdSource>(std::move(amd)));
  }
  if (ascend::has_ascend(options.root)) {
    sources.push_back(std::make_unique<ascend::AscendSource>(
        ascend::AscendOptions{.root = options.root,
                              .devices = options.gpus,
                              .brief = options.brief,
                              .identify_always = options.identify_always}));
  }
  return sources;
}

std::vector<std::unique_ptr<Source>> make_sources(const SourceOptions& options) {
  std::vector<std::unique_ptr<Source>> sources = make_gpu_sources(options);
  sources.push_back(std::make_unique<HostSource>(options.root, options.root_pid));
  sources.push_back(std::make_unique<RaplSource>(options.root));
  if (options.root_pid > 0) {
    sources.push_back(
        std::make_unique<ProcessSource>(options.root, options.root_pid, options.reaper_pid));
  }
  return sources;
}

}  // namespace pyrometer::sources
