// The grammar of PYTORCH_CUDA_ALLOC_CONF, as far as the override `allocator` takes it.
#pragma once

#include <string>
#include <string_view>

namespace pyrometer::model {

// What is wrong with "key:value,key:value", as a clause that follows "a value"; "" where torch
// would take it. The limits are those that torch's parser checks (c10, AllocatorConfig): a wrong
// one raises an error in the training when it first uses a GPU.
[[nodiscard]] std::string wrong_allocator_settings(std::string_view text);

}  // namespace pyrometer::model
