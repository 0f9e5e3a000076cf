// Lists of fields as they are typed: --query index,utilization.gpu
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "readout/fields.h"

namespace pyrometer::cli {

// Returns what is wrong, as a sentence without its period, or "".
[[nodiscard]] std::string parse_field_list(std::string_view text,
                                           std::vector<readout::Field>& fields);

// The words of a list that is separated by commas, without the blanks around them.
[[nodiscard]] std::vector<std::string> split_list(std::string_view text);

// All fields with unit and meaning, as a page of text.
[[nodiscard]] std::string field_reference(int width, bool unicode, bool color);

}  // namespace pyrometer::cli
