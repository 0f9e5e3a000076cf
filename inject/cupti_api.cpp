#include "cupti_api.h"

#include <dlfcn.h>

#include "debug.h"

namespace pyrometer::inject::cupti {
namespace {

template <typename Function>
bool resolve(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(::dlsym(library, name));
  if (*function == nullptr) {
    debug("libcupti has no %s", name);
  }
  return *function != nullptr;
}

}  // namespace

bool load_api(void* library, Api* api) {
  resolve(library, "cuptiActivityRegisterTimestampCallback", &api->register_timestamp_callback);
  resolve(library, "cuptiActivityEnableRuntimeApi", &api->enable_runtime_api);
  resolve(library, "cuptiActivityEnableDriverApi", &api->enable_driver_api);
  return resolve(library, "cuptiGetVersion", &api->get_version) &&
         resolve(library, "cuptiSubscribe", &api->subscribe) &&
         resolve(library, "cuptiUnsubscribe", &api->unsubscribe) &&
         resolve(library, "cuptiActivityRegisterCallbacks", &api->register_callbacks) &&
         resolve(library, "cuptiActivityEnable", &api->enable) &&
         resolve(library, "cuptiActivityDisable", &api->disable) &&
         resolve(library, "cuptiActivityFlushAll", &api->flush_all) &&
         resolve(library, "cuptiActivityGetNextRecord", &api->get_next_record) &&
         resolve(library, "cuptiActivityGetNumDroppedRecords", &api->get_dropped) &&
         resolve(library, "cuptiActivitySetAttribute", &api->set_attribute) &&
         resolve(library, "cuptiGetTimestamp", &api->get_timestamp) &&
         resolve(library, "cuptiGetCallbackName", &api->get_callback_name) &&
         resolve(library, "cuptiSetThreadIdType", &api->set_thread_id_type) &&
         resolve(library, "cuptiGetThreadIdType", &api->get_thread_id_type);
}

}  // namespace pyrometer::inject::cupti
