# tfsdk_plugin(name [SUMMARY text] [LIBS ...]): makes a plugin of the C files of the current folder.
#
# Each file `x.c` that defines a unit (TFSDK_UNIT_...) is enrolled by its name; other files are helpers.
# A folder with a `plugin.c` of its own manifest uses that; the generated units.h then declares
# `tfsdk_units[]`, which its enroll walks.
set_property(GLOBAL PROPERTY TFSDK_PLUGINS "")

function(tfsdk_plugin name)
  cmake_parse_arguments(P "" "SUMMARY;KINDS" "LIBS" ${ARGN})
  if(NOT P_KINDS)
    set(P_KINDS TFSDK_KIND_OP)
  endif()
  file(GLOB sources CONFIGURE_DEPENDS *.c kernels/*.c layers/*.c)
  string(MAKE_C_IDENTIFIER ${name} id)
  set(decls "")
  set(list "")
  foreach(src IN LISTS sources)
    file(STRINGS ${src} units REGEX "^TFSDK_UNIT_[A-Z]+\\(")
    if(units)
      get_filename_component(base ${src} NAME_WE)
      string(APPEND decls "extern const tfsdk_unit tfsdk_unit_${base};\n")
      string(APPEND list "  &tfsdk_unit_${base},\n")
    endif()
  endforeach()
  set(gen ${CMAKE_CURRENT_BINARY_DIR}/units.h)
  file(CONFIGURE OUTPUT ${gen} @ONLY CONTENT "/* Generated from the folder's file names. */
#include <tfsdk/unit.h>
@decls@
static const tfsdk_unit *const tfsdk_units[] = {
@list@  NULL};
")
  if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/plugin.c)
    set(main ${CMAKE_CURRENT_BINARY_DIR}/plugin_main.c)
    file(CONFIGURE OUTPUT ${main} @ONLY CONTENT "/* Generated. */
#include \"units.h\"
static tfsdk_status *enroll(void *self, tfsdk_registrar *r) {
  (void)self;
  for (const tfsdk_unit *const *u = tfsdk_units; *u != NULL; u++) TFSDK_TRY(tfsdk_unit_enroll(*u, r));
  return NULL;
}
static const tfsdk_plugin manifest = {TFSDK_PLUGIN_HEAD(@P_KINDS@), .name = \"@name@\",
  .version = \"@PROJECT_VERSION@\", .summary = \"@P_SUMMARY@\", .enroll = enroll};
TFSDK_PLUGIN_ENTRY(@id@, &manifest)
")
    list(APPEND sources ${main})
  endif()
  if(TFSDK_STATIC)
    # One relocatable object per plugin, its hidden symbols made local: plugins cannot meet by name.
    add_library(plugin_${id} OBJECT ${sources})
    target_compile_definitions(plugin_${id} PRIVATE TFSDK_STATIC_PLUGIN)
    set(whole ${CMAKE_CURRENT_BINARY_DIR}/${id}.o)
    add_custom_command(OUTPUT ${whole} DEPENDS plugin_${id} $<TARGET_OBJECTS:plugin_${id}> VERBATIM COMMAND_EXPAND_LISTS
      COMMAND ${CMAKE_LINKER} -r -o ${whole} $<TARGET_OBJECTS:plugin_${id}>
      COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${whole} COMMENT "Joining ${name}")
    add_custom_target(static_${id} DEPENDS ${whole})
    set_property(GLOBAL APPEND PROPERTY TFSDK_STATIC_OBJECTS ${whole})
    set_property(GLOBAL APPEND PROPERTY TFSDK_STATIC_LIBS ${P_LIBS})
  else()
    add_library(plugin_${id} MODULE ${sources})
    set_target_properties(plugin_${id} PROPERTIES PREFIX "" OUTPUT_NAME ${name}
      LIBRARY_OUTPUT_DIRECTORY ${TFSDK_PLUGIN_OUT})
    target_link_options(plugin_${id} PRIVATE -Wl,-z,now -Wl,-Bsymbolic-functions)
    if(NOT TFSDK_SANITIZE)
      target_link_options(plugin_${id} PRIVATE -Wl,--no-undefined)
    endif()
    install(TARGETS plugin_${id} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tfsdk-1/plugins)
  endif()
  target_include_directories(plugin_${id} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_BINARY_DIR})
  target_link_libraries(plugin_${id} PRIVATE tfsdk_flags tfsdk_sdk m ${P_LIBS})
  set_property(GLOBAL APPEND PROPERTY TFSDK_PLUGINS ${id})
endfunction()

# tfsdk_plugin_lua(name): the .lua files of the folder's lua/ go to a folder beside the plugin, from which the
# Lua module runs init.lua when tf.NAME is first touched. A static build embeds them (frontends/lua).
function(tfsdk_plugin_lua name)
  file(GLOB_RECURSE files RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/lua CONFIGURE_DEPENDS lua/*.lua)
  if(TFSDK_STATIC)
    return()
  endif()
  set(copies "")
  foreach(file IN LISTS files)
    set(copy ${TFSDK_PLUGIN_OUT}/${name}/${file})
    add_custom_command(OUTPUT ${copy} DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/lua/${file}
      COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_CURRENT_SOURCE_DIR}/lua/${file} ${copy} VERBATIM)
    list(APPEND copies ${copy})
  endforeach()
  add_custom_target(lua_${name} ALL DEPENDS ${copies})
  install(DIRECTORY lua/ DESTINATION ${CMAKE_INSTALL_LIBDIR}/tfsdk-1/plugins/${name} FILES_MATCHING PATTERN "*.lua")
endfunction()

# In a static build the plugins become part of the library, which enrolls them when a runtime is made.
function(tfsdk_link_static_plugins)
  get_property(ids GLOBAL PROPERTY TFSDK_PLUGINS)
  get_property(objects GLOBAL PROPERTY TFSDK_STATIC_OBJECTS)
  get_property(libs GLOBAL PROPERTY TFSDK_STATIC_LIBS)
  set(decls "")
  set(list "")
  foreach(id IN LISTS ids)
    string(APPEND decls "extern tfsdk_plugin_query_fn ${id}_LTX_tfsdk_plugin_query;\n")
    string(APPEND list "  ${id}_LTX_tfsdk_plugin_query,\n")
    add_dependencies(tfsdk static_${id})
  endforeach()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/static_plugins.c @ONLY CONTENT "/* Generated. */
#include <tfsdk/plugin.h>
@decls@extern tfsdk_plugin_query_fn *const tfsdk__static_plugins[];
tfsdk_plugin_query_fn *const tfsdk__static_plugins[] = {
@list@  NULL};
")
  set_source_files_properties(${objects} TARGET_DIRECTORY tfsdk PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  target_sources(tfsdk PRIVATE ${PROJECT_BINARY_DIR}/static_plugins.c ${objects})
  target_compile_definitions(tfsdk PRIVATE TFSDK_STATIC_PLUGINS)
  target_link_libraries(tfsdk PRIVATE ${libs})
endfunction()

# The index of what is in which file is written once all plugins are built.
function(tfsdk_finish_plugins)
  get_property(ids GLOBAL PROPERTY TFSDK_PLUGINS)
  if(NOT TFSDK_STATIC AND TARGET tfsdk_program)
    set(targets "")
    foreach(id IN LISTS ids)
      list(APPEND targets plugin_${id})
    endforeach()
    add_custom_command(OUTPUT ${TFSDK_PLUGIN_OUT}/index.txt
      COMMAND $<TARGET_FILE:tfsdk_program> plugin index ${TFSDK_PLUGIN_OUT}
      DEPENDS ${targets} tfsdk_program COMMENT "Indexing plugins")
    add_custom_target(tfsdk_index ALL DEPENDS ${TFSDK_PLUGIN_OUT}/index.txt)
    install(FILES ${TFSDK_PLUGIN_OUT}/index.txt DESTINATION ${CMAKE_INSTALL_LIBDIR}/tfsdk-1/plugins)
  endif()
endfunction()
