if(PYROMETER_SANITIZE)
  add_compile_options(-fsanitize=${PYROMETER_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${PYROMETER_SANITIZE})
endif()
