# What `cmake --install` puts where. A relocatable build also brings the shared libraries that exist
# in no other form, and the licences of all that it links.
include(GNUInstallDirs)

install(TARGETS pyrometer RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS pyrometer_inject LIBRARY DESTINATION lib/pyrometer)
install(DIRECTORY python/pyrometer_hook/ DESTINATION lib/pyrometer/hook
  PATTERN __pycache__ EXCLUDE)
# The build tree looks like an installation: the program finds its parts in the same way.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/lib/pyrometer)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/python/pyrometer_hook ${PROJECT_BINARY_DIR}/lib/pyrometer/hook
  SYMBOLIC)
install(FILES LICENSE README.md CHANGELOG.md CONTRIBUTING.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs deploy DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Man page and completions come from the program itself.
install(CODE "
  set(program \"$<TARGET_FILE:pyrometer>\")
  set(share \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}\")
  function(pyrometer_generate file)
    get_filename_component(folder \${share}/\${file} DIRECTORY)
    file(MAKE_DIRECTORY \${folder})
    execute_process(COMMAND \${program} \${ARGN} OUTPUT_FILE \${share}/\${file}
      COMMAND_ERROR_IS_FATAL ANY)
    message(STATUS \"Installing: \${share}/\${file}\")
  endfunction()
  pyrometer_generate(man/man1/pyrometer.1 man)
  pyrometer_generate(bash-completion/completions/pyrometer completion bash)
  pyrometer_generate(zsh/site-functions/_pyrometer completion zsh)
  pyrometer_generate(fish/vendor_completions.d/pyrometer.fish completion fish)
")

if(PYROMETER_RELOCATABLE)
  # An RPATH rather than a RUNPATH: it also serves the needs of the bundled libraries.
  set_target_properties(pyrometer PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
  target_link_options(pyrometer PRIVATE -Wl,--disable-new-dtags)
  # simdjson comes as a shared object alone, and needs libstdc++ as one: so there is one libstdc++ in
  # the process, bundled, rather than two.
  find_library(PYROMETER_LIBISAL isal REQUIRED)
  find_library(PYROMETER_LIBFMT fmt REQUIRED)
  get_target_property(simdjson_file simdjson::simdjson IMPORTED_LOCATION_RELWITHDEBINFO)
  set(bundled ${PYROMETER_LIBISAL} ${PYROMETER_LIBFMT} ${simdjson_file})
  foreach(name libstdc++.so.6 libgcc_s.so.1)
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${name}
      OUTPUT_VARIABLE file OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    list(APPEND bundled ${file})
  endforeach()
  foreach(file IN LISTS bundled)
    execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${file}
      OUTPUT_VARIABLE headers COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCH "SONAME +([^\n ]+)" soname "${headers}")
    file(REAL_PATH ${file} real_file)
    install(PROGRAMS ${real_file} DESTINATION lib RENAME ${CMAKE_MATCH_1})
  endforeach()

  foreach(package libisal-dev libsimdjson-dev libstdc++6 libgcc-s1 libarchive-dev nettle-dev
      liblzma-dev liblz4-dev libzstd-dev libbz2-dev zlib1g-dev libfmt-dev libcli11-dev libexpected-dev
      nlohmann-json3-dev libtomlplusplus-dev libxxhash-dev libsqlite3-dev libncurses-dev)
    find_file(notice NAMES copyright PATHS /usr/share/doc/${package} NO_DEFAULT_PATH NO_CACHE REQUIRED)
    install(FILES ${notice} DESTINATION ${CMAKE_INSTALL_DOCDIR}/third-party RENAME ${package}.txt)
    unset(notice)
  endforeach()
endif()
