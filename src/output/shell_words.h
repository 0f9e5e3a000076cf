// Commands as a shell reads them back.
#pragma once

#include <span>
#include <string>

namespace pyrometer::output {

// A word, quoted where that is needed.
[[nodiscard]] std::string shell_word(const std::string& word);
[[nodiscard]] std::string shell_line(std::span<const std::string> words);

}  // namespace pyrometer::output
